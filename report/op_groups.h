/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For op_load.c: the groups of a stream's blocks that its checkpoints close. Each holds a prefix of
 * what every thread did since the group before it.
 */
#ifndef REPORT_OP_GROUPS_H
#define REPORT_OP_GROUPS_H

#include "report/stream_in.h"

struct op_group {
	size_t first, end;  /* blocks */
	uint64_t last_tick; /* of the events of hosts in it and in the groups before it */
};

/* Starts with all zeros. */
struct op_groups {
	struct op_group *items;
	size_t nr, capacity;
};

/* host_tables: those whose times are ticks that matter, a bit each. At least one group is found. */
void op_groups_find(struct op_groups *groups, const struct stream_in *stream, uint64_t host_tables);
void op_groups_fini(struct op_groups *groups);

#endif
