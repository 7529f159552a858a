/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of ours that stay open among the descriptors of the host: close-on-exec, with a high number
 * where there is one. A host may close any number and get it for a file of its own, or put one
 * there; so each use asks first whether the number still is the file. It is never closed otherwise,
 * and a host that closed it has the number for good.
 */
#ifndef COLLECTOR_UTIL_PRIVATE_FD_H
#define COLLECTOR_UTIL_PRIVATE_FD_H

#include <stddef.h>
#include <stdint.h>

struct private_fd {
	int fd; /* -1: none */
	uint64_t device, inode;
};

enum private_fd_where {
	PRIVATE_FD_ANYWHERE, /* as high as the process may have descriptors, rather than not at all
			      */
	PRIVATE_FD_HIGH,     /* nowhere, where all numbers may be the host's */
};

/*
 * Opens or makes (0600) the file, no link, with open's flags. For a moment it takes one of the low
 * numbers too. Returns 0 or -errno; fd is -1 then.
 */
int private_fd_open(
	struct private_fd *held, const char *path, int flags, enum private_fd_where where);

/*
 * 0: fd is the file. -EBADF: it is not any more, or there is none; fd is -1 now. Else -errno, of a
 * file system that is in trouble with it.
 */
int private_fd_check(struct private_fd *held);

/* The file's first bytes now, ended by 0; their number, 0 if there is nothing (any more). */
size_t private_fd_read(struct private_fd *held, char *out, size_t out_bytes);

/* Closes it, unless it is the host's; nothing happens where fd is -1. */
void private_fd_close(struct private_fd *held);

#endif
