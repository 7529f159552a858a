/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says which long calls of a process are start-up: those of a kind that does not come again. It is
 * known before the pass over events, since the pass goes back in time and cannot see what is
 * earlier.
 *
 * The kind of a call is its name, and how long it takes: one of less than a quarter is of another
 * kind, such as the further ones behind a cudaMalloc that created the context. Calls of a kind are
 * start-up
 *
 * - in one step alone, whichever that is;
 * - in several steps, if after them follow at least as many without one as lie from the first of
 *   them to the last;
 * - in two steps, if they load code: launches and loads of modules. Each step may load other code.
 *
 * Where all of a recording is one step, nothing shows whether a kind would come again. There calls
 * that load code are start-up, and so is the first one of each other kind.
 *
 * What comes before the first step or after the last complete one does not show that a kind comes
 * again.
 *
 * Memory: 40 bytes for each long call. It reads the blocks of calls that may hold one.
 */
#ifndef REPORT_BUDGET_LONG_CALLS_H
#define REPORT_BUDGET_LONG_CALLS_H

#include "report/model/model.h"

/* A call that is as long as this, no wait and no copy, may be start-up. */
#define LONG_CALLS_NS 20000000u

struct long_call {
	uint64_t begin; /* tick */
	uint64_t ns;
	uint32_t name; /* of string_pool.h */
	uint32_t step; /* as in long_calls_find */
	bool loads_code, is_startup;
};

/* Zero-initialized. */
struct long_calls {
	struct long_call *items; /* by their begins, once they are found */
	size_t nr, capacity;
};

/*
 * step_of: for each number of process_steps_begun, which step of nr_steps that is, from 1 on; 0: of
 * none. NULL: all of the process is one step.
 */
void long_calls_find(struct long_calls *calls, struct process *process, const uint32_t *step_of,
	uint32_t nr_steps);
void long_calls_fini(struct long_calls *calls);

/* Is the call of that name that begins at that tick start-up? */
bool long_calls_has_startup(const struct long_calls *calls, uint64_t begin, uint32_t name);

#endif
