/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is checked before it is opened, and again afterwards, since another one may have its name
 * by then. Each refusal becomes one sentence in file->problem, which config.c reports.
 */
#include "collector/util/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/util/log.h"
#include "collector/util/private_fd.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define REMEDY		"none of its settings are used; name a text file of lines NAME=value"

/* glibc has these as symbols only since 2.33; the kernel's struct is the same on our machines. */
static int look_at(int fd, const char *path, struct stat *status)
{
	return syscall(SYS_newfstatat, fd, path, status, *path ? 0 : AT_EMPTY_PATH) ? -errno : 0;
}

/* Refuses all of the file, for this reason. */
static int refuse(struct config_file *file, const char *why, int rc)
{
	file->bytes[0] = 0;
	log_format(file->problem, sizeof(file->problem), "%s: " REMEDY, why);
	return rc;
}

static int refuse_error(struct config_file *file, int rc)
{
	char why[64];

	log_format(why, sizeof(why), "cannot be read (error %d%s)", -rc,
		rc == -ENOENT	? ", there is no such file"
		: rc == -EACCES ? ", no permission"
				: "");
	return refuse(file, why, rc);
}

/*
 * Returns 0 if reading it cannot block. Files of the kernel have no size; some of them (/proc/kmsg)
 * block, or return each byte only once.
 */
static int check(struct config_file *file, const struct stat *status)
{
	if (S_ISDIR(status->st_mode)) {
		return refuse(file, "is a directory", -EISDIR);
	}
	if (!S_ISREG(status->st_mode)) {
		return refuse(
			file, "is not a regular file but a pipe, a socket or a device", -EINVAL);
	}
	return status->st_size ? 0 : refuse(file, "is empty (its size is 0)", -ENODATA);
}

/* Does not even open a device, since that may change its state. */
static int open_file(struct config_file *file, const char *path, struct private_fd *held)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	struct stat status;
	int rc = look_at(AT_FDCWD, path, &status);

	rc = rc ? refuse_error(file, rc) : check(file, &status);
	if (rc) {
		return rc;
	}
	rc = private_fd_open(held, path, flags, PRIVATE_FD_LINKED);
	if (rc) {
		return refuse_error(file, rc);
	}
	/* Another file may have the name by now. */
	rc = look_at(held->fd, "", &status);
	rc = rc ? refuse_error(file, rc) : check(file, &status);
	if (rc) {
		private_fd_close(held);
	}
	return rc;
}

/* Returns the number of bytes, which is one more than fit if the file is longer; or -errno. */
static ssize_t read_bytes(struct private_fd *held, char *bytes)
{
	size_t used = 0;
	ssize_t n;

	do {
		n = private_fd_check(held) ? -1
					   : pread(held->fd, bytes + used,
						     CONFIG_FILE_BYTES + 1 - used, (off_t)used);
		used += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && used <= CONFIG_FILE_BYTES) || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : (ssize_t)used;
}

static unsigned int count_lines(const char *bytes, size_t nr_bytes)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < nr_bytes; i++) {
		nr += bytes[i] == '\n';
	}
	return nr;
}

/* Keeps the whole lines of what was read, which may end in the middle of one. */
static int cut(struct config_file *file, size_t nr_bytes)
{
	while (nr_bytes && file->bytes[nr_bytes - 1] != '\n') {
		nr_bytes--;
	}
	file->bytes[nr_bytes] = 0;
	log_format(file->problem, sizeof(file->problem),
		"is longer than %u bytes: its settings after line %u are not used; shorten it",
		CONFIG_FILE_BYTES, count_lines(file->bytes, nr_bytes));
	return -EFBIG;
}

/*
 * A file that is too long is used up to its last whole line. Every other problem refuses all of it.
 */
int config_file_read(struct config_file *file, const char *path)
{
	struct private_fd held;
	int rc = open_file(file, path, &held);
	const char *zero;
	ssize_t nr_bytes;

	if (rc) {
		return rc;
	}
	nr_bytes = read_bytes(&held, file->bytes);
	private_fd_close(&held);
	if (nr_bytes < 0) {
		return refuse_error(file, (int)nr_bytes);
	}
	file->problem[0] = file->bytes[nr_bytes] = 0;
	zero = memchr(file->bytes, 0, (size_t)nr_bytes);
	if (zero) {
		char why[64];

		log_format(why, sizeof(why), "is not text (line %u contains a zero byte)",
			count_lines(file->bytes, (size_t)(zero - file->bytes)) + 1);
		return refuse(file, why, -EINVAL);
	}
	if (!strncmp(file->bytes, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK))) {
		memmove(file->bytes, file->bytes + strlen(BYTE_ORDER_MARK),
			(size_t)nr_bytes + 1 - strlen(BYTE_ORDER_MARK));
		nr_bytes -= (ssize_t)strlen(BYTE_ORDER_MARK);
	}
	return (size_t)nr_bytes > CONFIG_FILE_BYTES ? cut(file, (size_t)nr_bytes) : 0;
}
