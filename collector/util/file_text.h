/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a small file, such as those of /proc and /sys. */
#ifndef COLLECTOR_UTIL_FILE_TEXT_H
#define COLLECTOR_UTIL_FILE_TEXT_H

#include <stddef.h>

/*
 * Reads at most out_bytes - 1 bytes and ends them in 0. Returns their number, 0 if the file cannot
 * be read. It takes a descriptor for an instant.
 */
size_t file_text_read(const char *path, char *out, size_t out_bytes);

#endif
