/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of /proc that is read over and over: held open, since opening it each time would take one
 * of the low numbers for a moment, which a host that closes 0 and opens a file counts on. The
 * descriptor has a high number and is closed at exec. A host that closes it has it back for good.
 */
#ifndef COLLECTOR_HELD_H
#define COLLECTOR_HELD_H

#include <stddef.h>
#include <stdint.h>

struct held {
	int fd; /* -1: none */
	uint64_t device, inode;
};

/* Opens it, unless the process may have too few descriptors; returns 0 or -errno. */
int held_open(struct held *held, const char *path);

/* The file's first bytes now, ended by 0; their number, 0 if there is nothing (any more). */
size_t held_read(struct held *held, char *out, size_t out_bytes);

/* In a forked child, whose /proc/self is another one; nothing happens where fd is -1. */
void held_close(struct held *held);

#endif
