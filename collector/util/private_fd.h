/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our files among the descriptors of the target: close-on-exec, with a high number if possible. The
 * target may close any number and get it for a file of its own, or dup2 onto it. So each use first
 * checks that the number is still our file. Otherwise we never close it, and the number belongs to
 * the target.
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
	PRIVATE_FD_ANYWHERE, /* as high as the limit allows, rather than fail */
	PRIVATE_FD_LINKED,   /* the same for a path of the user's, who may have put a link there */
	PRIVATE_FD_HIGH,     /* fails if the target may use all numbers */
};

/*
 * Opens or makes (0600) the file, with open's flags; no link, where none is expected. Briefly
 * occupies a low number too. Returns 0 or -errno; fd is -1 then.
 */
int private_fd_open(
	struct private_fd *held, const char *path, int flags, enum private_fd_where where);

/*
 * Takes a descriptor that another call has just opened, and that has no name, for an instant: it is
 * known by its device and inode, but keeps its number.
 */
void private_fd_adopt(struct private_fd *held, int fd);

/*
 * 0: fd is the file. -EBADF: it no longer is, or there is none; fd is -1 now. Other -errno: the
 * file system fails.
 */
int private_fd_check(struct private_fd *held);

/*
 * Reads the beginning of the file and adds a final 0; returns the bytes read, 0 if there are none.
 */
size_t private_fd_read(struct private_fd *held, char *out, size_t out_bytes);

/* Closes it, unless the number belongs to the target; does nothing if fd is -1. */
void private_fd_close(struct private_fd *held);

#endif
