/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of a process are wanted, by steps and by windows of the schedule. Views know nothing
 * of it: scan.c hands them batches cut to the chosen rows, op_walk.c the chosen operators, calls
 * and records.
 *
 *     what hosts do     is in the step in which it begins, on any thread; what is pushed or
 *                       started (NVTX) with its end
 *     work on devices   is in the step of the call that launched it, by correlation id, whenever
 *                       it ran; without a call it is in no step, and is counted
 *     facts             definitions, clocks, losses, threads: always there
 *
 * A step ends where the next row of table step begins one. The last row begins none that is known
 * to have ended: that is no step. Steps of no length (the clock went back, or two loops count at
 * once) have no events, and are counted.
 *
 * Phases of steps, and operators' own times and those of what they launched, are computed from all
 * events, and then chosen: they are the same as without a choice.
 */
#ifndef REPORT_MODEL_SELECT_H
#define REPORT_MODEL_SELECT_H

#include "report/util/idset.h"
#include "report/util/intervals.h"
#include "report/model/model.h"
#include "report/util/numbers.h"
#include "report/table/table.h"

/* ---- one process ---- */

/* What is asked for; an empty list asks for everything. */
struct select_options {
	struct numbers steps;	/* -N: the last of those that ended */
	struct numbers windows; /* of table window */
};

struct select {
	const struct process *process;
	struct intervals spans;		 /* ticks */
	bool *has_step;			 /* by place in process.steps */
	size_t nr_steps;		 /* chosen */
	size_t nr_empty;		 /* of these: without a length */
	uint64_t nr_activities, nr_lone; /* records of work: all, and those without a call */
	struct idset *launched;		 /* correlation ids of the calls that are chosen */
	uint64_t **kept; /* rows of NVTX by block, a bit each; NULL: none of the block */
};

/* By what rows of a table are chosen. */
enum select_rule {
	SELECT_ALL,
	SELECT_TICK,   /* the column is when it happened or began, in ticks */
	SELECT_LAUNCH, /* the column is the correlation id of a call */
	SELECT_NVTX,   /* as SELECT_TICK, and what belongs to a chosen row */
};

enum select_rule select_rule_of(unsigned int table, unsigned int *column);

/* Has something been asked? */
bool select_is_set(const struct select_options *options);

/*
 * Finds out what the answer is for a process, and reads what calls launched in it: the process has
 * its selection until select_drop. Memory: a bit for each call and NVTX row, and one batch for all
 * processes.
 */
void select_make(struct process *process, const struct select_options *options);
void select_drop(struct process *process);

/* Without a selection everything is chosen. */
bool select_has_tick(const struct process *process, uint64_t tick);
bool select_has_step(const struct process *process, size_t place);

/* Cuts a time, in ticks, to what is from the first to the last moment in it that is chosen; false:
 * none is. */
bool select_cut_time(const struct process *process, uint64_t *begin, uint64_t *end);

/* The columns of a table that select_cut must have; 0 without a selection. */
uint32_t select_mask(const struct process *process, unsigned int table);

/* Leaves the rows that are chosen, in memory that lasts until the next call. */
void select_cut(const struct process *process, struct batch *batch);

/* ---- all processes ---- */

/* Choices for all processes of a report: whether they choose anything, and what they chose. */

/*
 * Makes the choice for all processes. False if part of it fits none of them; then `why` says which
 * steps or windows there are, and nothing is chosen.
 */
bool select_all(struct process *const *processes, size_t nr_processes,
	const struct select_options *options, struct buf *why);
void select_drop_all(struct process *const *processes, size_t nr_processes);

/* What was chosen of each process, to be destroyed; NULL where there was no choice. */
struct table *select_table(struct process *const *processes, size_t nr_processes);

#endif
