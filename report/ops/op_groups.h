/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For op_load.c: the groups of a stream's blocks. Checkpoints close them, so each holds a prefix of
 * what every thread did since the group before it. One of more than OP_GROUPS_ROWS rows (a recorder
 * that was held up, a stream that has lost its checkpoints or never had any) is cut into several,
 * so that no more are in memory at once than that and what threads and tables are apart.
 */
#ifndef REPORT_OPS_OP_GROUPS_H
#define REPORT_OPS_OP_GROUPS_H

#include "report/model/model.h"

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

#endif
