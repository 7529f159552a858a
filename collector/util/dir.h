/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of the streams, and the properties of its file system. For the drain thread. */
#ifndef COLLECTOR_UTIL_DIR_H
#define COLLECTOR_UTIL_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Makes every missing part of `dir`, 0700, and writes its absolute path. Returns 0 or -errno;
 * -EPERM: a part is another user's link, or another user's directory in a public folder like /tmp.
 */
int dir_make(const char *dir, char absolute[PATH_MAX]);

/*
 * Calls look(context, name) for each entry of a directory, or never if it cannot be read. A
 * descriptor is open meanwhile. Any thread, and signal handlers.
 */
void dir_each(const char *dir, void (*look)(void *context, const char *name), void *context);

struct private_fd;

/*
 * The same in two parts: dir_open returns 0 or -errno, and dir_read begins with the first entry
 * each time. private_fd_close ends it.
 */
int dir_open(struct private_fd *file, const char *dir);
void dir_read(
	struct private_fd *file, void (*look)(void *context, const char *name), void *context);

/* lstat(), in the version that every C library has. */
int dir_look(const char *path, struct stat *status);

/*
 * Does space stay reserved for a mapped file there, and a store into it wait for no server? Not on
 * network, FUSE and copy-on-write file systems: on these a store needs new space, and raises
 * SIGBUS where there is none.
 */
bool dir_can_reserve(const char *dir);

/* Is it in memory (tmpfs)? Then a store into a mapped file never waits for a disk. */
bool dir_is_memory(const char *path);

/* Are more than `bytes` free on the file system of that path? `otherwise` if that is unknown. */
bool dir_has_room(const char *path, uint64_t bytes, bool otherwise);

#endif
