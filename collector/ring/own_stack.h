/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what may be read of a thread's stack, by the thread itself: the C library knows the limits
 * of its threads, but allocates memory to tell them.
 */
#ifndef COLLECTOR_RING_OWN_STACK_H
#define COLLECTOR_RING_OWN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define OWN_STACK_PAGE_BYTES 4096u
/* Of a main thread with a larger stack, or one without a limit, this much counts. */
#define OWN_STACK_MAX_MAIN_BYTES (64u << 20)

/* Where the main thread's stack may lie, by its limit; false if that is not known. */
bool own_stack_of_main(uintptr_t *low, uintptr_t *high);

/* Is memory mapped there? Changes errno. */
bool own_stack_is_readable(uintptr_t at);

#endif
