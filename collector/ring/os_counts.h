/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the C library that are only counted, as they are shorter than GPROF_OS_MIN_NS. Threads
 * share some sets of counters, so that neither the start nor the end of a thread has a part in it.
 */
#ifndef COLLECTOR_RING_OS_COUNTS_H
#define COLLECTOR_RING_OS_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct own_code;

/* libgprof-os.so is there, and that is its code. Before the recorder starts. */
void os_counts_want(const struct own_code *code);
bool os_counts_are_wanted(void);
/* Is it an address in that library? */
bool os_counts_is_code(uintptr_t address);

/* The names of the functions, in the order of os_calls.def; NULL behind the last one. */
const char *os_counts_name(unsigned int call);

/*
 * At the start, before the first call: the factor of ticks (clock.h); the id in table `call` of the
 * first function, which the others follow.
 */
void os_counts_start(uint64_t tick_mult, uint32_t first_call);

/* Calls that are shorter than this, in units of the raw clock, are only counted. */
extern _Atomic uint64_t os_counts_min_raw __attribute__((visibility("hidden")));
/* The id of the first function. */
uint32_t os_counts_first_call(void);

/* Counts a call. Any thread, also in signal handlers. */
void os_counts_add(unsigned int call, uint64_t bytes);

/* Calls count(context, call, nr, bytes) for what was counted since the last time. Any thread. */
void os_counts_take(void (*count)(void *context, unsigned int call, uint64_t nr, uint64_t bytes),
	void *context);

/* In a forked child: what the parent counted is not its own. */
void os_counts_forget(void);

#endif
