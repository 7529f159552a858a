/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as a terminal may show them. No allocation, no locale; any thread. */
#ifndef COLLECTOR_UTIL_PRINTABLE_H
#define COLLECTOR_UTIL_PRINTABLE_H

#include <stddef.h>

/*
 * Copies foreign text: control characters, characters that change the writing direction, and
 * invalid UTF-8 become \xNN per byte. Writes whole characters, at most out_bytes, without a final
 * 0; returns the bytes written.
 */
size_t printable_copy(char *out, size_t out_bytes, const char *bytes, size_t nr_bytes);

#endif
