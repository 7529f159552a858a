/* SPDX-License-Identifier: Apache-2.0 */
/* Tells gprof's own code from the target's. */
#ifndef COLLECTOR_UTIL_OWN_CODE_H
#define COLLECTOR_UTIL_OWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Is it an address in this library? */
static inline bool own_code_has(uintptr_t address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char etext[] __attribute__((visibility("hidden")));

	return address - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

#endif
