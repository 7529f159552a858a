/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every text that a table may show, once: equal texts of all streams get the same number, so that
 * rows are grouped by number. Number 0 is the empty text. Lives as long as the command.
 */
#ifndef REPORT_UTIL_STRING_POOL_H
#define REPORT_UTIL_STRING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of the text; the bytes are copied. */
uint32_t string_pool_intern(const char *bytes, size_t nr_bytes);

/* How many texts there are; their numbers are below it. */
uint32_t string_pool_nr(void);

/* The text as the stream had it, NUL-terminated (it may hold more NULs); nr_bytes may be NULL. */
const char *string_pool_text(uint32_t name, size_t *nr_bytes);

/* The text with C++ names made readable; the raw text where that does not work. */
const char *string_pool_demangled(uint32_t name, size_t *nr_bytes);

/* string_pool_text or string_pool_demangled, as string_pool_show_mangled was called last (readable
 * at the start). */
const char *string_pool_shown(uint32_t name, size_t *nr_bytes);
void string_pool_show_mangled(bool mangled);

#endif
