/* SPDX-License-Identifier: Apache-2.0 */
/* Tells gprof's own code from the target's. */
#ifndef COLLECTOR_UTIL_OWN_CODE_H
#define COLLECTOR_UTIL_OWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Where the code of the library is that is compiled with this; made by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* The code of one library of gprof. */
struct own_code {
	const char *begin, *end;
};

static inline bool own_code_contains(const struct own_code *code, uintptr_t address)
{
	return address - (uintptr_t)code->begin < (uintptr_t)code->end - (uintptr_t)code->begin;
}

/* Is it an address in this library? */
static inline bool own_code_has(uintptr_t address)
{
	return own_code_contains(&(struct own_code){__ehdr_start, etext}, address);
}

#endif
