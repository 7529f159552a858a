/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers that hosts do not reach; with fewer allowed than that all of them are the host's. */
#define LOWEST_FD   500
#define LEAST_LIMIT 1024

static bool is_same(int fd, const struct held *held)
{
	struct stat now;

	return !syscall(SYS_fstat, fd, &now) && now.st_dev == held->device &&
	       now.st_ino == held->inode;
}

int held_open(struct held *held, const char *path)
{
	struct rlimit limit;
	struct stat now;
	int fd, high;

	held->fd = -1;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < LEAST_LIMIT) {
		return -EMFILE;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (high >= 0 && !syscall(SYS_fstat, high, &now)) {
		held->device = now.st_dev;
		held->inode = now.st_ino;
		held->fd = high;
	}
	/* Meanwhile the host may have put a file of its own there, by dup2. */
	if (held->fd < 0 || is_same(fd, held)) {
		close(fd);
	}
	return held->fd < 0 ? -EMFILE : 0;
}

size_t held_read(struct held *held, char *out, size_t out_bytes)
{
	ssize_t n = -1;

	/* The host may have closed it and got its number for a file of its own. */
	if (held->fd >= 0 && is_same(held->fd, held)) {
		n = pread(held->fd, out, out_bytes - 1, 0);
	} else {
		held->fd = -1;
	}
	out[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

void held_close(struct held *held)
{
	if (held->fd >= 0 && is_same(held->fd, held)) {
		close(held->fd);
	}
	held->fd = -1;
}
