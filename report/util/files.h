/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_UTIL_FILES_H
#define REPORT_UTIL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files that users name, or that lie in their directories under a name that suits us. */

/*
 * Opens a regular file for reading, and tells its size. Nothing else is read, since whoever opens a
 * FIFO or a device may wait for ever. Returns a descriptor, or -errno with the message set.
 */
int plain_file_open(const char *path, uint64_t *nr_bytes);

/* Files without a name, in $TMPDIR or /tmp, for what memory should not hold. */

/* A descriptor to be closed, -1 where there is no room for one. */
int temp_file_open(void);

/* False if not all could be written, or read. */
bool temp_file_write(int fd, uint64_t offset, const void *bytes, size_t nr_bytes);
bool temp_file_read(int fd, uint64_t offset, void *bytes, size_t nr_bytes);

/* Reads back what was written to a file that nobody else has open, or ends the program. */
void temp_file_read_back(int fd, uint64_t offset, void *bytes, size_t nr_bytes);

/* A file that others read while it is written anew: they see all of the old one or of the new. */

/*
 * Puts a new file (0644) in the place of that one, by a name beside it. Returns 0 or -errno; then
 * nothing has changed, and nothing is left over.
 */
int replace_file(const char *path, const char *bytes, size_t nr_bytes);

#endif
