/* SPDX-License-Identifier: Apache-2.0 */
/* Small files, such as those of /proc and /sys. Each function opens a descriptor for an instant. */
#ifndef COLLECTOR_UTIL_FILE_TEXT_H
#define COLLECTOR_UTIL_FILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads at most out_bytes - 1 bytes and ends them in 0. Returns their number, 0 if the file cannot
 * be read.
 */
size_t file_text_read(const char *path, char *out, size_t out_bytes);

/*
 * Calls `look` with each line of a file, without the byte that ends it, until it returns true.
 * Returns false if it never does. The file may have any length; a line longer than a path is cut.
 */
bool file_text_find(
	const char *path, char line_end, bool (*look)(const char *line, void *data), void *data);

/* The same in the caller's memory: a line of room_bytes or more is cut. */
bool file_text_find_in(const char *path, char line_end, char *room, size_t room_bytes,
	bool (*look)(const char *line, void *data), void *data);

/* Finds the line that begins with `name`, and reads the number after it; false if none does. */
bool file_text_number(const char *path, const char *name, uint64_t *number);

#endif
