/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hosts and devices did in a step and before it, for critical.h, collected from the last step
 * to the first in a pass over operators (op_walk.h). Devices may be a whole queue behind, so what
 * came before is as much as holds CRITICAL_BEFORE records of work, at least one step and at most
 * CRITICAL_STEPS: so many are in memory at a time. A process without steps counts as one, from its
 * first call or operator to the end of its last.
 *
 * Which stream or event a call was about is what CUPTI's records of synchronisations and events
 * say, by correlation id (table sync, table event; 24 bytes each in memory). A call that
 * synchronises without such a record waits for all work. Operators that go on over more than one
 * step are not seen.
 */
#ifndef REPORT_ANALYSIS_CRITICAL_LOAD_H
#define REPORT_ANALYSIS_CRITICAL_LOAD_H

#include "report/analysis/critical.h"
#include "report/ops/op_walk.h"
#include "report/model/scan.h"

#define CRITICAL_BEFORE 2048u
#define CRITICAL_STEPS	16u

/* A step that needs more operators and calls, or more records, has no path: 250 MB. */
#define CRITICAL_MOST 2000000u

struct critical_load {
	struct process *process;
	struct critical_load_marks *marks; /* of all processes, from the scan */
	size_t nr_marks, mark_capacity;
	const struct critical_load_marks *of_process;
	struct critical_item *items;
	size_t nr_items, item_capacity;
	struct critical_record *records;
	size_t nr_records, record_capacity;
	size_t next;	    /* 1 + the place of the step that comes next; 0 none is left */
	uint64_t begin;	    /* of it, ns */
	uint64_t near, far; /* begin of the step before it, and of CRITICAL_STEPS before it */
	uint64_t nr_before; /* records that were launched before it */
	uint64_t too_many;  /* steps that end later than that have more than CRITICAL_MOST */
	/* Gets each step that has anything in it. */
	void (*take)(void *context, struct critical_step *step);
	void *context;
	uint64_t nr_steps, nr_too_long, nr_empty; /* of all processes: taken, and left out */
	uint64_t nr_lone;			  /* records without a launch */
};

#define CRITICAL_LOAD_NR_WANTS 2u
extern const struct scan_want critical_load_wants[CRITICAL_LOAD_NR_WANTS];

/* For scan_view. */
void critical_load_mark(
	struct critical_load *load, struct process *process, const struct batch *batch);

/* For op_view. */
void critical_load_begin(struct critical_load *load, struct process *process);
void critical_load_op(struct critical_load *load, const struct op *op);
void critical_load_call(struct critical_load *load, const struct op_call *call);
void critical_load_record(
	struct critical_load *load, const struct op_record *record, const struct op_call *call);
void critical_load_end(struct critical_load *load);

void critical_load_fini(struct critical_load *load);

#endif
