/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without a stream, and so without memory.
 */
#include "collector/util/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

size_t file_text_read(const char *path, char *out, size_t out_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		do {
			n = read(fd, out, out_bytes - 1);
		} while (n < 0 && errno == EINTR);
		close(fd);
	}
	out[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}
