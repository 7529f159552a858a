/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C and C++ stacks of API calls. The thread that calls does not walk its stack. It looks whether
 * the stack was walked before (stack_recipes.h), and else leaves a copy of it to the drain, which
 * walks it and adds a recipe. Training repeats its stacks in every step.
 *
 *   thread: call_stack_of() -- known --> id of the stack
 *                           -- new ----> copy in a slot, number of the copy
 *   drain:  launch_stack.h
 *
 * A thread spends at most 1 % of its time on copies, apart from the first ones; and calls that are
 * shorter than a limit take no stack.
 */
#ifndef COLLECTOR_RING_CALL_STACK_H
#define COLLECTOR_RING_CALL_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"
#include "collector/ring/stack_recipes.h"
#include "collector/util/loss.h"

#define CALL_STACK_SLOTS 16u
#define CALL_STACK_BYTES 32768u /* of a copy */

/* Calls that take at least this long, in units of the raw clock, have stacks. */
extern _Atomic uint64_t call_stack_min_raw __attribute__((visibility("hidden")));

/*
 * The id of the calling thread's stack, or GPROF_STACK_OF_COPY and a number; 0: none, which is
 * counted. No lock, no allocation; keeps errno. Also in signal handlers.
 */
uint32_t call_stack_take(void);

/* Is a call long enough for a stack, that began and ended then? */
static inline bool call_stack_is_for(uint64_t begin, uint64_t end)
{
	uint64_t min_raw = atomic_load_explicit(&call_stack_min_raw, memory_order_relaxed);

	return __builtin_expect(end - begin >= min_raw, 0);
}

/* The same as call_stack_take for such a call; 0 if it needs no stack. */
static inline __attribute__((always_inline)) uint32_t call_stack_of(uint64_t begin, uint64_t end)
{
	return call_stack_is_for(begin, end) ? call_stack_take() : 0;
}

/* Before and after a library is unloaded: stacks that have its code are not known any more. */
void call_stack_unload(void);

/* ---- for the drain thread ---- */

/* CALL_STACK_WALKED: the drain rests before it takes another copy. */
enum { CALL_STACK_FREE, CALL_STACK_TAKEN, CALL_STACK_FULL, CALL_STACK_WALKED };

/* A copy that waits for the drain. */
struct call_stack_slot {
	_Atomic uint32_t state;
	uint32_t number;  /* of the copy, with GPROF_STACK_OF_COPY */
	uint32_t unloads; /* as it was taken */
	uint64_t pc;
	struct stack_view view;
	uint64_t bytes[CALL_STACK_BYTES / sizeof(uint64_t)];
};

struct call_stacks {
	struct stack_recipes recipes;
	struct call_stack_slot slots[CALL_STACK_SLOTS];
	_Atomic uint32_t nr_copies;
	_Atomic uint32_t unloads;	/* beginnings and ends of dlclose */
	_Atomic uint32_t known_unloads; /* when the recipes were valid last */
	_Atomic uint64_t nr_missed;	/* calls that wanted a stack and have none */
	bool counts_losses;		/* these are losses, too: the user asked for stacks */
};

/*
 * Begins to take stacks of calls of at least min_ns. tick_mult: the factor of ticks (clock.h).
 * Returns NULL if there is no memory. The caller adds the recipes.
 */
struct call_stacks *call_stack_start(uint64_t min_ns, uint64_t tick_mult);

/* Counts a call without a stack. Any thread. */
void call_stack_miss(enum loss_cause cause);

/* No call takes a stack any more. */
void call_stack_stop(void);

/* In a forked child. Keeps the memory. */
void call_stack_forget(void);

#endif
