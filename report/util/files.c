/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens, writes and replaces files for the rest of report/. Reading and writing go on after signals
 * and short counts. Temporary files lose their name at once, so nothing remains if the reporter is
 * killed.
 */
#include "report/util/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/err.h"
#include "report/util/buf.h"

int plain_file_open(const char *path, uint64_t *nr_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error;
	struct stat status;

	if (fd < 0 || fstat(fd, &status)) {
		error = err_set(-errno, "%s", strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		error = err_set(-EINVAL, "not a regular file");
	} else {
		*nr_bytes = (uint64_t)status.st_size;
		return fd;
	}
	if (fd >= 0) {
		close(fd);
	}
	return error;
}

int temp_file_open(void)
{
	const char *directory = getenv("TMPDIR");
	struct buf path = {0};
	int fd;

	buf_printf(&path, "%s/gprof-report.XXXXXX", directory && *directory ? directory : "/tmp");
	buf_char(&path, '\0');
	fd = mkstemp(path.bytes);
	if (fd >= 0) {
		unlink(path.bytes);
	}
	buf_fini(&path);
	return fd;
}

bool temp_file_write(int fd, uint64_t offset, const void *bytes, size_t nr_bytes)
{
	const char *rest = bytes;

	while (nr_bytes) {
		ssize_t n = pwrite(fd, rest, nr_bytes, (off_t)offset);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return false;
		}
		rest += n;
		offset += (uint64_t)n;
		nr_bytes -= (size_t)n;
	}
	return true;
}

static bool temp_file_read(int fd, uint64_t offset, void *bytes, size_t nr_bytes)
{
	char *rest = bytes;

	while (nr_bytes) {
		ssize_t n = pread(fd, rest, nr_bytes, (off_t)offset);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return false;
		}
		rest += n;
		offset += (uint64_t)n;
		nr_bytes -= (size_t)n;
	}
	return true;
}

void temp_file_read_back(int fd, uint64_t offset, void *bytes, size_t nr_bytes)
{
	if (!temp_file_read(fd, offset, bytes, nr_bytes)) {
		fputs("gprof-report: cannot read back a temporary file\n", stderr);
		exit(1);
	}
}

static int fill(int fd, const char *bytes, size_t nr_bytes)
{
	while (nr_bytes) {
		ssize_t n = write(fd, bytes, nr_bytes);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n ? -errno : -ENOSPC;
		}
		bytes += n;
		nr_bytes -= (size_t)n;
	}
	return fchmod(fd, 0644) ? -errno : 0;
}

/* Writes beside the target and renames: both are on one file system, and rename() is atomic. */
int replace_file(const char *path, const char *bytes, size_t nr_bytes)
{
	char *made = NULL;
	int fd, rc;

	if (asprintf(&made, "%s.XXXXXX", path) < 0) {
		return -ENOMEM;
	}
	fd = mkstemp(made);
	rc = fd < 0 ? -errno : fill(fd, bytes, nr_bytes);
	if (fd >= 0 && close(fd) && !rc) {
		rc = -errno;
	}
	if (!rc && rename(made, path)) {
		rc = -errno;
	}
	if (rc && fd >= 0) {
		unlink(made);
	}
	free(made);
	return rc;
}
