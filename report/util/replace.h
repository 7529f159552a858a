/* SPDX-License-Identifier: Apache-2.0 */
/* A file that others read while it is written anew: they see all of the old one or of the new. */
#ifndef REPORT_UTIL_REPLACE_H
#define REPORT_UTIL_REPLACE_H

#include <stddef.h>

/*
 * Puts a new file (0644) in the place of that one, by a name beside it. Returns 0 or -errno; then
 * nothing has changed, and nothing is left over.
 */
int replace_file(const char *path, const char *bytes, size_t nr_bytes);

#endif
