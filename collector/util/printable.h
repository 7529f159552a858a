/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as a terminal may show them. No allocation, no locale; any thread. */
#ifndef COLLECTOR_UTIL_PRINTABLE_H
#define COLLECTOR_UTIL_PRINTABLE_H

#include <stddef.h>

/*
 * Copies text of somebody else's: control characters, what changes the direction of writing, and
 * what is not UTF-8 become \xNN a byte. Writes whole characters, out_bytes at most, and no 0;
 * returns the bytes written.
 */
size_t printable_copy(char *out, size_t out_bytes, const char *bytes, size_t nr_bytes);

#endif
