/* SPDX-License-Identifier: Apache-2.0 */
/* Files: opening input, temporary files for large data, and replacing a file that others read. */
#ifndef REPORT_UTIL_FILES_H
#define REPORT_UTIL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens a regular file for reading and gets its size. It refuses anything else, because opening a
 * FIFO or a device may block for ever. Returns a descriptor, or -errno with err_set.
 */
int plain_file_open(const char *path, uint64_t *nr_bytes);

/* Opens a temporary file without a name in $TMPDIR or /tmp. Returns a descriptor that the caller
 * closes, -1 if there is no room for a file. */
int temp_file_open(void);

/* False if not all bytes could be written. */
bool temp_file_write(int fd, uint64_t offset, const void *bytes, size_t nr_bytes);

/* Reads back bytes that this process wrote, or exits with status 1. */
void temp_file_read_back(int fd, uint64_t offset, void *bytes, size_t nr_bytes);

/*
 * Replaces the file at `path` by a new one (mode 0644), written under a temporary name beside it.
 * Readers see all of the old file or all of the new one. Returns 0 or -errno. After an error
 * nothing has changed and nothing is left over.
 */
int replace_file(const char *path, const char *bytes, size_t nr_bytes);

#endif
