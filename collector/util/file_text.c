/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads into a buffer on the stack: a stream of the C library would allocate memory.
 */
#include "collector/util/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/util/private_fd.h"

/* Longer lines are cut here; no caller needs more than a path. */
#define LINE_BYTES (PATH_MAX + 256)

/* pread moves no position, in case the target has put its own file at this number. */
static size_t read_some(struct private_fd *file, char *out, size_t out_bytes, off_t from)
{
	ssize_t n;

	do {
		n = private_fd_check(file) ? 0 : pread(file->fd, out, out_bytes, from);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

size_t file_text_read(const char *path, char *out, size_t out_bytes)
{
	struct private_fd file;
	size_t n = 0;

	if (!private_fd_open(&file, path, O_RDONLY, PRIVATE_FD_LINKED)) {
		n = read_some(&file, out, out_bytes - 1, 0);
		private_fd_close(&file);
	}
	out[n] = 0;
	return n;
}

bool file_text_find(
	const char *path, char line_end, bool (*look)(const char *line, void *data), void *data)
{
	char room[LINE_BYTES + 1];

	return file_text_find_in(path, line_end, room, sizeof(room), look, data);
}

/* A line that the room cannot hold is given once, cut; the rest of it is passed over (is_rest). */
bool file_text_find_in(const char *path, char line_end, char *room, size_t room_bytes,
	bool (*look)(const char *line, void *data), void *data)
{
	const size_t max_bytes = room_bytes - 1;
	struct private_fd file;
	bool is_found = false, is_rest = false;
	size_t nr_bytes = 0, nr_more;
	off_t from = 0;
	char *end;

	if (private_fd_open(&file, path, O_RDONLY, PRIVATE_FD_LINKED)) {
		return false;
	}
	while (!is_found &&
		(nr_more = read_some(&file, room + nr_bytes, max_bytes - nr_bytes, from))) {
		char *line = room;

		from += (off_t)nr_more;
		nr_bytes += nr_more;
		while (!is_found && (end = memchr(line, line_end, nr_bytes))) {
			*end++ = 0;
			is_found = !is_rest && look(line, data);
			is_rest = false;
			nr_bytes -= (size_t)(end - line);
			line = end;
		}
		memmove(room, line, nr_bytes);
		room[nr_bytes] = 0;
		if (nr_bytes == max_bytes) {
			is_found = !is_rest && look(room, data);
			is_rest = true;
			nr_bytes = 0;
		}
	}
	private_fd_close(&file);
	return is_found || (nr_bytes && !is_rest && look(room, data));
}

struct number {
	const char *name;
	uint64_t value;
};

static bool look_for_number(const char *line, void *data)
{
	struct number *number = data;
	size_t length = strlen(number->name);

	if (strncmp(line, number->name, length) != 0) {
		return false;
	}
	number->value = strtoull(line + length, NULL, 10);
	return true;
}

bool file_text_number(const char *path, const char *name, uint64_t *number)
{
	struct number wanted = {name, 0};
	bool is_found = file_text_find(path, '\n', look_for_number, &wanted);

	*number = wanted.value;
	return is_found;
}
