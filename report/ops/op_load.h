/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the events of a process for op_walk.c, over all threads, from the last end to the first.
 *
 * Blocks come in groups (FORMAT.md, checkpoints) that hold a prefix of what each thread did. So
 * memory holds one group, and the events that may still precede something of the group before it.
 */
#ifndef REPORT_OPS_OP_LOAD_H
#define REPORT_OPS_OP_LOAD_H

#include "report/model/model.h"
#include "report/ops/op_launch.h"
#include "report/ops/op_sort.h"

/* ---- groups of blocks ---- */

/*
 * Groups of a stream's blocks. Checkpoints close them, so each holds a prefix of what every thread
 * did since the group before.
 *
 * A group of more than OP_GROUPS_ROWS rows is split, to bound memory. That happens if the recorder
 * was delayed or the stream has no checkpoints. Memory also holds what threads and tables lag
 * behind each other.
 */

#define OP_GROUPS_ROWS (1u << 20)

struct op_group {
	size_t first, end;	/* blocks */
	uint64_t last_tick;	/* of host events in it and in earlier groups */
	size_t activities_from; /* activities of its calls are in this group or later ones */
};

/* Zero-initialized. */
struct op_groups {
	struct op_group *items;
	size_t nr, capacity;
};

/*
 * host_tables: a bit for each table whose ticks matter. Finds at least one group. None has more
 * than most_rows, unless a single block has.
 *
 * An activity may be written about one checkpoint before its call. Between splits the rising
 * correlation ids decide.
 */
void op_groups_find(struct op_groups *groups, struct process *process, uint64_t host_tables,
	uint64_t most_rows);
void op_groups_fini(struct op_groups *groups);

/* ---- the load ---- */

/* Options that cost something, so only what a view wants is loaded. */
struct op_load_want {
	bool has_ranges;
	bool has_allocs;
	bool has_calls;		    /* all calls; else those with activities or a stack */
	struct op_records *records; /* NULL, or the records of calls, which the caller removes */
	uint64_t group_rows;	    /* in memory at a time, 0 for OP_GROUPS_ROWS; for tests */
};

/*
 * Calls on_event for each event. It does nothing for a process without operators, allocations and
 * Python stacks, unless ranges, calls or records are wanted.
 *
 * A record is kept until its call is read, which started before the activity: kept are those
 * launched later than the current event. Records without a call never wait, because the calls are
 * known in advance (a bit each).
 */
void op_load_run(struct process *process, const struct op_load_want *want,
	void (*on_event)(void *context, const struct op_event *event), void *context);

/* For progress reports. */
uint64_t op_load_nr_rows(const struct process *process, const struct op_load_want *want);

#endif
