/* SPDX-License-Identifier: Apache-2.0 */
/* Files without a name, in $TMPDIR or /tmp, for what memory should not hold. */
#ifndef REPORT_UTIL_TEMP_FILE_H
#define REPORT_UTIL_TEMP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor to be closed, -1 where there is no room for one. */
int temp_file_open(void);

/* False if not all could be written, or read. */
bool temp_file_write(int fd, uint64_t offset, const void *bytes, size_t nr_bytes);
bool temp_file_read(int fd, uint64_t offset, void *bytes, size_t nr_bytes);

/* Reads back what was written to a file that nobody else has open, or ends the program. */
void temp_file_read_back(int fd, uint64_t offset, void *bytes, size_t nr_bytes);

#endif
