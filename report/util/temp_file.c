/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/temp_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/util/buf.h"

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

bool temp_file_read(int fd, uint64_t offset, void *bytes, size_t nr_bytes)
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
