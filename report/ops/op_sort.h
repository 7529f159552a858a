/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts op_events in the order of their ends. What threads and tables wrote is in order by itself,
 * so runs are merged, and of keys: the events stay where they are.
 */
#ifndef REPORT_OPS_OP_SORT_H
#define REPORT_OPS_OP_SORT_H

#include "report/ops/op_load.h"

struct op_sort_key {
	uint64_t end;
	uint32_t place; /* of the event */
};

/* Starts with all zeros. */
struct op_sort {
	struct op_sort_key *keys;  /* after op_sort_end, rising */
	struct op_sort_key *aside; /* of the shorter of two runs */
	size_t *runs;		   /* where those begin that wait to be merged */
	size_t nr_keys, nr_runs, key_capacity, aside_capacity, run_capacity;
};

void op_sort_fini(struct op_sort *sort);

/*
 * Where ends are the same, operators come last, since the last is taken first, in the order in
 * which they were written: what encloses is written after what lies in it. Pushes and pops of
 * ranges stay as they were written, so one without a length pairs with itself. At most UINT32_MAX
 * events.
 *
 * op_sort_add takes those since the last time, best while they are in the cache; `events` may have
 * moved in between.
 */
void op_sort_begin(struct op_sort *sort);
void op_sort_add(struct op_sort *sort, const struct op_event *events, size_t nr_events);
void op_sort_end(struct op_sort *sort, const struct op_event *events);

/* How many of the keys have that end or an earlier one. */
size_t op_sort_up_to(const struct op_sort *sort, uint64_t end);

#endif
