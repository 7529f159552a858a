/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is known by its device and inode, never by its number. Opening one gets two numbers, that
 * of open() and a high copy of it; choose() keeps one of them, after it has checked that the file
 * there is ours.
 */
#include "collector/util/private_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers that targets do not reach; with a lower limit, the target may use all of them. */
#define LOWEST_FD 500
#define MIN_LIMIT 1024

/* glibc has fstat as a symbol only since 2.33; the kernel's struct is the same on our machines. */
static int look_at(int fd, struct stat *status)
{
	return (int)syscall(SYS_fstat, fd, status);
}

static bool is_it(const struct private_fd *held, const struct stat *status)
{
	return status->st_dev == held->device && status->st_ino == held->inode;
}

/* The lowest acceptable number, -1 if there is none. */
static int high_number(enum private_fd_where where)
{
	struct rlimit limit;
	bool is_known = !getrlimit(RLIMIT_NOFILE, &limit);

	if (where == PRIVATE_FD_HIGH && (!is_known || limit.rlim_cur < MIN_LIMIT)) {
		return -1;
	}
	return is_known && limit.rlim_cur <= LOWEST_FD ? (int)(limit.rlim_cur * 3 / 4) : LOWEST_FD;
}

/*
 * If a look is refused (seccomp), the number is taken for ours: else each file that we open would
 * stay open.
 */
static bool is_at(const struct private_fd *held, int fd)
{
	struct stat now;

	if (fd < 0) {
		return false;
	}
	return look_at(fd, &now) ? errno != EBADF : is_it(held, &now);
}

/* Finds which file has that name now. Returns 0 or -errno. */
static int identify(struct private_fd *held, const char *path, enum private_fd_where where)
{
	int flags = where == PRIVATE_FD_LINKED ? 0 : AT_SYMLINK_NOFOLLOW;
	struct stat named = {0};
	int rc = syscall(SYS_newfstatat, AT_FDCWD, path, &named, flags) ? -errno : 0;

	held->device = named.st_dev;
	held->inode = named.st_ino;
	return rc;
}

/*
 * Chooses one of two numbers: the high one, a copy unknown to others, if there is one. In between
 * the target may have replaced the file at the low number by dup2, and the copy be of that: the
 * name identifies our file, and checking it needs no other descriptor. The file that had it before
 * may be gone by now, as those of a process in /proc are.
 */
static int choose(
	struct private_fd *held, const char *path, int low, int high, enum private_fd_where where)
{
	int rc = is_at(held, low) ? 0 : identify(held, path, where);
	bool is_low = !rc && is_at(held, low);

	if (!rc && is_at(held, high)) {
		held->fd = high;
	} else if (high >= 0) {
		close(high);
	} else if (is_low && where != PRIVATE_FD_HIGH) {
		held->fd = low;
	}
	if (is_low && held->fd != low) {
		close(low);
	}
	return held->fd >= 0 ? 0 : rc ? rc : is_low ? -EMFILE : -EBADF;
}

/*
 * Identifies the name before it opens the file: afterwards the target may already have another file
 * at that number.
 */
int private_fd_open(
	struct private_fd *held, const char *path, int flags, enum private_fd_where where)
{
	int lowest = high_number(where), fd, rc;

	held->fd = -1;
	if (lowest < 0) {
		return -EMFILE;
	}
	identify(held, path, where);
	flags |= O_CLOEXEC | (where == PRIVATE_FD_LINKED ? 0 : O_NOFOLLOW);
	do {
		fd = open(path, flags, 0600);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0) {
		return -errno;
	}
	rc = choose(held, path, fd, fcntl(fd, F_DUPFD_CLOEXEC, lowest), where);
	if (rc && (flags & O_EXCL)) {
		unlink(path); /* what was made here must not stay */
	}
	return rc;
}

void private_fd_adopt(struct private_fd *held, int fd)
{
	struct stat status = {0};

	look_at(fd, &status);
	*held = (struct private_fd){fd, status.st_dev, status.st_ino};
}

int private_fd_check(struct private_fd *held)
{
	struct stat now;
	int rc = held->fd < 0 ? -EBADF : look_at(held->fd, &now) ? -errno : 0;

	if (!rc && !is_it(held, &now)) {
		rc = -EBADF;
	}
	if (rc == -EBADF) {
		held->fd = -1;
	}
	return rc;
}

size_t private_fd_read(struct private_fd *held, char *out, size_t out_bytes)
{
	ssize_t n = private_fd_check(held) ? -1 : pread(held->fd, out, out_bytes - 1, 0);

	out[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

void private_fd_close(struct private_fd *held)
{
	if (private_fd_check(held) != -EBADF) {
		close(held->fd);
	}
	held->fd = -1;
}
