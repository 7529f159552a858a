/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/err.h"

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
