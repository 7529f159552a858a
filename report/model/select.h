/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects events of a process by steps and by record windows. Views need not know: scan.c gives
 * them batches cut to the selected rows, op_walk.c the selected operators, calls and records.
 *
 *     host events       belong to the step in which they begin, on any thread; NVTX ranges that are
 *                       pushed or started include their end
 *     GPU activities    belong to the step of the call that launched them, by correlation ID,
 *                       whenever they run; those without a call are in no step, and are counted
 *     facts             (definitions, clocks, losses, threads) always stay
 *
 * A step ends where the next row of table step begins one. The last row has no known end, so it
 * begins no step. Steps without a length (the clock went back, or two loops count at once) have no
 * events, and are counted.
 *
 * Phases, and the own and launched times of operators, are computed from all events before the
 * selection, so the selection does not change them.
 */
#ifndef REPORT_MODEL_SELECT_H
#define REPORT_MODEL_SELECT_H

#include "report/util/idset.h"
#include "report/util/intervals.h"
#include "report/model/model.h"
#include "report/util/numbers.h"
#include "report/table/table.h"

/* ---- one process ---- */

/* The user's choice; an empty list selects everything. */
struct select_options {
	struct numbers steps;	/* -N: the last N that ended */
	struct numbers windows; /* of table window */
};

struct select {
	const struct process *process;
	struct intervals spans;		    /* ticks */
	bool *has_step;			    /* by index in process.steps */
	size_t nr_steps;		    /* selected */
	size_t nr_empty;		    /* of these, without a length */
	uint64_t nr_activities, nr_no_call; /* activities: all, and those without a call */
	struct idset *launched;		    /* correlation IDs of the selected calls */
	uint64_t cut_begin_ns, cut_end_ns;  /* by which the process's time is shorter */
	uint64_t **kept; /* NVTX rows by block, a bit each; NULL: none of the block */
};

/* The rule by which rows of a table are selected. */
enum select_rule {
	SELECT_ALL,
	SELECT_TICK,   /* the column is the time or begin, in ticks */
	SELECT_LAUNCH, /* the column is the correlation ID of a call */
	SELECT_NVTX,   /* as SELECT_TICK, with the rows that belong to a selected one */
};

enum select_rule select_rule_of(unsigned int table, unsigned int *column);

/* Does the user select anything? */
bool select_is_set(const struct select_options *options);

/*
 * Applies the options to a process and reads what calls launched. The process keeps its selection
 * until select_drop. With windows, its time is that from the first of them to the last. Memory: a
 * bit for each call and NVTX row, and one batch for all processes.
 */
void select_make(struct process *process, const struct select_options *options);
void select_drop(struct process *process);

/* Without a selection everything is selected. */
bool select_has_tick(const struct process *process, uint64_t tick);
bool select_has_step(const struct process *process, size_t place);

/*
 * Cuts a span of ticks to the range from its first to its last selected tick; false if there is
 * none.
 */
bool select_cut_time(const struct process *process, uint64_t *begin, uint64_t *end);

/* The columns of a table that select_cut needs; 0 without a selection. */
uint32_t select_mask(const struct process *process, unsigned int table);

/* Keeps only the selected rows, in memory that lasts until the next call. */
void select_cut(const struct process *process, struct batch *batch);

/* ---- all processes ---- */

/* The selection of all processes of a report. */

/*
 * Applies the options to all processes. If a part of them matches none, selects nothing, returns
 * false, and sets `why` to the steps or windows that exist.
 */
bool select_all(struct process *const *processes, size_t nr_processes,
	const struct select_options *options, struct buf *why);
void select_drop_all(struct process *const *processes, size_t nr_processes);

/*
 * A table of what is selected in each process, which the caller destroys; NULL without a selection.
 */
struct table *select_table(struct process *const *processes, size_t nr_processes);

#endif
