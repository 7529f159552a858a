/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of the C library's functions, in the rows of gprof or of another profiler. */
#ifndef REPORT_MODEL_OS_KIND_H
#define REPORT_MODEL_OS_KIND_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the kind of the function with that name (of string_pool.h): enum gprof_os_kind. */
unsigned int os_kind_of(uint32_t name);

/* Do such calls wait for other threads, for descriptors or for a time? */
bool os_kind_waits(unsigned int kind);

/* A word for it, such as "read". */
const char *os_kind_name(unsigned int kind);

#endif
