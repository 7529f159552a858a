/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts intervals by their begins, equal ones staying in order. Work comes in a few rising runs,
 * one a stream, and passes from the end give falling ones: runs are found, turned and merged.
 */
#ifndef REPORT_UTIL_INTERVAL_SORT_H
#define REPORT_UTIL_INTERVAL_SORT_H

#include <stddef.h>
#include <stdint.h>

struct busy_interval {
	uint64_t begin, end;
};

/* What it works with, to be used again. Starts with all zeros. */
struct interval_sort {
	struct busy_interval *scratch;
	size_t *runs; /* where they begin, and the end */
	size_t nr_runs, capacity, run_capacity;
};

void interval_sort_fini(struct interval_sort *sort);
void interval_sort_run(struct interval_sort *sort, struct busy_interval *items, size_t nr_items);

#endif
