/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the launches of a process, and those that lack their activity: while these may have run,
 * nobody knows when the GPU was idle. Fed by op_walk.c, from the last call to the first.
 */
#ifndef REPORT_BUDGET_LAUNCH_COUNTER_H
#define REPORT_BUDGET_LAUNCH_COUNTER_H

#include "report/model/scan.h"
#include "report/model/select.h"
#include "report/ops/op_walk.h"
#include "report/table/table.h"
#include "report/util/buf.h"
#include "report/util/idset.h"

/* Launches that the user chose and no graph captures. */
struct budget_launches {
	uint64_t all, graphs;
	/*
	 * Those of which nothing ran, as far as is recorded, or nobody knows when; the latter
	 * alone. None is lost where no GPU activity was recorded at all.
	 */
	uint64_t lost, timeless;
};

/* The meaning of a call's name. */
struct launch_name {
	bool is_graph, begins_capture, ends_capture;
};
struct launch_name launch_name_of(uint32_t name);

/* Starts with all zeros. */
struct launch_counter {
	struct budget_launches sum;
	bool is_capturing; /* going back in time */
	/* The launch that came last: what follows it shows what ran of it. */
	bool is_open, has_id, is_graph, is_launching, is_untimed;
};

/* Used by the inline function: the launch that came last is complete. */
void launch_counter_close(struct launch_counter *counter);

static inline void launch_counter_call(struct launch_counter *counter,
	const struct process *process, const struct op_call *call, const struct launch_name *name)
{
	if (counter->is_open) {
		launch_counter_close(counter);
	}
	if (name->begins_capture || name->ends_capture) {
		counter->is_capturing = !name->begins_capture;
	}
	if (call->table == GPROF_TABLE_api_launch &&
		(!process->select || select_has_tick(process, call->begin))) {
		counter->is_open = true;
		counter->has_id = call->correlation != 0;
		counter->is_graph = name->is_graph;
		counter->is_launching = counter->is_untimed = false;
	}
}

/* A record without times still shows that its launch ran something. */
static inline void launch_counter_record(
	struct launch_counter *counter, const struct op_record *record, const struct op_call *call)
{
	counter->is_launching |= call != NULL;
	counter->is_untimed |= call && (!record->is_timed || record->begin_ns > record->end_ns);
}

/* After the last one of the process. */
void launch_counter_end(struct launch_counter *counter, const struct process *process);

/* ---- the same of each process, from a scan; starts with all zeros ---- */

struct launch_counts {
	struct budget_launches *of; /* by process, in the order of the scan */
	size_t nr;
	/* of the current one */
	const struct process *process;
	struct launch_counter counter;
	struct idmap names;		/* struct launch_name by call */
	struct idset *worked, *untimed; /* correlation IDs of activities, with times and without */
	struct idset *called;		/* and of launches */
	struct capture_mark *marks;	/* by their ends */
	size_t nr_marks, mark_capacity;
};
extern const struct scan_view launch_counts_scan;
void launch_counts_fini(struct launch_counts *counts);

/* ---- what they mean ---- */

/* Do so many launches lack their activity, more than 2 %, that idle time is unknown? */
static inline bool budget_has_lost(const struct budget_launches *launches)
{
	return 50 * launches->lost > launches->all;
}

void budget_add_launches(struct budget_launches *sum, const struct budget_launches *launches);

/* Adds "60 of 120 launches have no GPU activity". */
void budget_add_lost(const struct budget_launches *launches, struct buf *out);

/* If idle time is unknown, warns of the lost launches: sanity_add. */
void budget_warn_lost(const struct process *process, const struct budget_launches *launches);
/* If idle time is unknown, says so below the table. */
void budget_note_lost(
	struct table *table, const struct process *process, const struct budget_launches *launches);

#endif
