/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the stage of a data loader in which a sample was taken, by its Python stack:
 *
 *     read -> decode -> transform -> collate -> hand over to the loop -> pin
 *
 * The innermost frame that a rule of loader_stage.def knows decides. A frame of the program's own
 * code ends the search, unless a function calls it that all counts with, such as Compose.
 */
#ifndef REPORT_BUDGET_LOADER_STAGE_H
#define REPORT_BUDGET_LOADER_STAGE_H

#include "report/budget/wait_samples.h"

enum loader_stage {
	LOADER_STAGE_NONE, /* the stack is not in a loader */
	LOADER_STAGE_READ,
	LOADER_STAGE_DECODE,
	LOADER_STAGE_TRANSFORM,
	LOADER_STAGE_OWN, /* code of the program that no rule knows, and what it calls */
	LOADER_STAGE_COLLATE,
	LOADER_STAGE_HAND_OVER, /* pickles batches, and moves them between processes */
	LOADER_STAGE_PIN,
	LOADER_STAGE_WAIT,  /* for the loop to want a batch, or to take one */
	LOADER_STAGE_CPU,   /* waits for a CPU; no sample is of it */
	LOADER_STAGE_OTHER, /* the loader itself, imports, and unknown stacks */
	NR_LOADER_STAGES,
};

/* "read", "transform"; of LOADER_STAGE_NONE "". */
const char *loader_stage_name(enum loader_stage stage);

/* The stage as a verb for a sentence. NULL: it says no more than the line does. */
const char *loader_stage_verb(enum loader_stage stage);

/*
 * Returns the stage of a CPU sample's Python stack (an id of the stream; GPROF_PY_STACK_NOT_READ
 * allowed). is_worker: all that the process runs is of a loader; else only what a loader calls.
 */
enum loader_stage loader_stage_of(const struct process *process, uint32_t py_stack, bool is_worker);

/* The same of a wait: reads of files are of LOADER_STAGE_READ, whoever calls them. */
enum loader_stage loader_stage_of_wait(
	struct process *process, const struct wait_key *key, bool is_worker);

/*
 * Returns the innermost line of the program's own code that the loader has called, a number of
 * string_pool.h; 0: there is none.
 */
uint32_t loader_stage_own_line(const struct process *process, uint32_t py_stack);

/* The line that stands for such a stack: that one, else the innermost of all; 0: unknown. */
uint32_t loader_stage_line(const struct process *process, uint32_t py_stack);

/*
 * Does a worker wait in such a call for the next batch to make, or until the last one is taken?
 * kind: enum gprof_os_kind; object: "pipe:[4711]" or, where pipes share one, "pipe"; a number of
 * string_pool.h, 0 for none.
 */
bool loader_stage_is_queue(unsigned int kind, uint32_t object);

#endif
