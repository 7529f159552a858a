/* SPDX-License-Identifier: Apache-2.0 */
/* Files that users name, or that lie in their directories under a name that suits us. */
#ifndef REPORT_UTIL_PLAIN_FILE_H
#define REPORT_UTIL_PLAIN_FILE_H

#include <stdint.h>

/*
 * Opens a regular file for reading, and tells its size. Nothing else is read, since whoever opens a
 * FIFO or a device may wait for ever. Returns a descriptor, or -errno with the message set.
 */
int plain_file_open(const char *path, uint64_t *nr_bytes);

#endif
