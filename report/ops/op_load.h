/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that op_walk.c joins, from the last to the first by their ends, over all threads. Blocks
 * come in groups (FORMAT.md, checkpoints) that hold a prefix of what each thread did; so one group
 * is in memory at a time, and what may still be later than something of the group before it.
 */
#ifndef REPORT_OPS_OP_LOAD_H
#define REPORT_OPS_OP_LOAD_H

#include "report/model/model.h"
#include "report/ops/op_launch.h"
#include "report/ops/op_sort.h"

/* ---- groups of blocks ---- */

/*
 * For op_load.c: the groups of a stream's blocks. Checkpoints close them, so each holds a prefix of
 * what every thread did since the group before it. One of more than OP_GROUPS_ROWS rows (a recorder
 * that was held up, a stream that has lost its checkpoints or never had any) is cut into several,
 * so that no more are in memory at once than that and what threads and tables are apart.
 */

#define OP_GROUPS_ROWS (1u << 20)

struct op_group {
	size_t first, end;  /* blocks */
	uint64_t last_tick; /* of the events of hosts in it and in the groups before it */
	size_t work_from;   /* work of its calls is in this group or in later ones */
};

/* Starts with all zeros. */
struct op_groups {
	struct op_group *items;
	size_t nr, capacity;
};

/*
 * host_tables: those whose times are ticks that matter, a bit each. At least one group is found;
 * none has more than most_rows, but for a block that has more by itself.
 *
 * Work may be written one checkpoint before the call that started it, hardly more. Between cuts the
 * correlation ids tell, which rise.
 */
void op_groups_find(struct op_groups *groups, struct process *process, uint64_t host_tables,
	uint64_t most_rows);
void op_groups_fini(struct op_groups *groups);

/* ---- the load ---- */

/* What costs something, and is handed out to those alone who want it. */
struct op_load_want {
	bool has_ranges;
	bool has_allocs;
	bool has_calls; /* all of them; else those that work or a stack is known of */
	struct op_records
		*records;    /* NULL, or where records stand, for the caller to on_event out */
	uint64_t group_rows; /* in memory at a time, 0 for OP_GROUPS_ROWS; tests */
};

/*
 * Nothing is handed out for a process without ops, allocations and Python stacks, unless ranges,
 * calls or records are wanted. Records wait until their call is read, which was before the work:
 * those kept at once are what was launched later than that. It is known beforehand which calls
 * there are (a bit each), so no record waits in vain.
 */
void op_load_run(struct process *process, const struct op_load_want *want,
	void (*on_event)(void *context, const struct op_event *event), void *context);

/* For the progress. */
uint64_t op_load_nr_rows(const struct process *process, const struct op_load_want *want);

#endif
