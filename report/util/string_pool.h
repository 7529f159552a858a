/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned texts: equal texts of all streams get the same number, so that rows can be grouped by
 * number. Number 0 is the empty text. Texts live until the program ends.
 */
#ifndef REPORT_UTIL_STRING_POOL_H
#define REPORT_UTIL_STRING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of the text. The bytes are copied. */
uint32_t string_pool_intern(const char *bytes, size_t nr_bytes);

/* The number of texts. Numbers are below it. */
uint32_t string_pool_nr(void);

/* The text as recorded, NUL-terminated (it may contain more NULs). nr_bytes may be NULL. */
const char *string_pool_text(uint32_t name, size_t *nr_bytes);

/* The text with C++ names demangled; the raw text if that fails. */
const char *string_pool_demangled(uint32_t name, size_t *nr_bytes);

/*
 * string_pool_text or string_pool_demangled, as set by string_pool_show_mangled. Demangled at
 * first.
 */
const char *string_pool_shown(uint32_t name, size_t *nr_bytes);
void string_pool_show_mangled(bool mangled);

#endif
