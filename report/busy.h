/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The union of intervals that arrive roughly in order: how long was at least one of them running.
 * Intervals are kept only until no earlier one can come any more.
 */
#ifndef REPORT_BUSY_H
#define REPORT_BUSY_H

#include "report/interval_sort.h"

struct busy {
	struct busy_interval *waiting; /* from `head` on */
	struct busy_interval *scratch;
	struct interval_sort sort;
	size_t head, nr_waiting, capacity, scratch_capacity;
	size_t nr_sorted;  /* of them, the first ones */
	uint64_t earliest; /* begin of any of them */
	uint64_t nr_intervals;
	uint64_t first, last; /* begin of the first, end of the last; first > last: none */
	uint64_t busy_ns;
	uint64_t until; /* counted up to here */
};

void busy_init(struct busy *busy);
void busy_fini(struct busy *busy);
void busy_add(struct busy *busy, uint64_t begin, uint64_t end);

/* No interval that begins before `time` will be added any more: counts what it can. */
void busy_advance(struct busy *busy, uint64_t time);

/* Counts the rest. */
void busy_finish(struct busy *busy);

#endif
