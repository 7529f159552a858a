/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the stacks that threads have copied as they called an API, and tells the threads by which
 * words they know them again. For the drain thread; the threads' side is call_stack.h.
 *
 *   call_stack.h --copy--> launch_stack_look() --> stack_walk() --> id, recipe
 *   row with the number of a copy --> launch_stack_id() --> id
 */
#ifndef COLLECTOR_SAMPLE_LAUNCH_STACK_H
#define COLLECTOR_SAMPLE_LAUNCH_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

/* At the start, before the first call. tick_mult: the factor of ticks (clock.h). */
void launch_stack_init(uint64_t tick_mult);

/* Walks the stacks that threads have left. now_ns: of the monotonic clock. */
void launch_stack_look(uint64_t now_ns);

/* When it should be called next, in ns of the monotonic clock. */
uint64_t launch_stack_due_ns(void);

/* Is it an id, and not the number of a copy? */
static inline bool launch_stack_is_id(uint32_t stack)
{
	return !(stack & GPROF_STACK_OF_COPY);
}

/* The id of a stack that a row has as the number of its copy; 0: unknown, which is counted. */
uint32_t launch_stack_id(uint32_t stack);

/* No call takes a stack any more; those that threads have left are walked. */
void launch_stack_end(void);

/* In a forked child. Keeps the memory. */
void launch_stack_forget(void);

#endif
