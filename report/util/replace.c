/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
