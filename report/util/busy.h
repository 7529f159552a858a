/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The union of intervals that arrive roughly in order: how long was at least one of them running.
 * Intervals are kept only until no earlier one can come any more.
 */
#ifndef REPORT_UTIL_BUSY_H
#define REPORT_UTIL_BUSY_H

#include "report/util/intervals.h"

struct busy_sum {
	uint64_t busy_ns;
	uint64_t until; /* counted up to here */
};

struct busy {
	struct interval *waiting; /* from `head` on */
	struct interval *scratch;
	struct interval_sort sort;
	size_t head, nr_waiting, capacity, scratch_capacity;
	size_t nr_sorted;  /* of them, the first ones */
	uint64_t earliest; /* begin of any of them */
	uint64_t nr_intervals;
	uint64_t first, last; /* begin of the first, end of the last; first > last: none */
	struct busy_sum sum;
};

void busy_init(struct busy *busy);
void busy_fini(struct busy *busy);
void busy_add(struct busy *busy, uint64_t begin, uint64_t end);

/* No interval that begins before `time` will be added any more: counts what it can. */
void busy_advance(struct busy *busy, uint64_t time);

/* Counts the rest. */
void busy_finish(struct busy *busy);

/*
 * The same of several that advance together: sums[k], of as many, is the union of parts 0 to k.
 * The last time is UINT64_MAX.
 */
void busy_advance_all(struct busy *parts, size_t nr_parts, uint64_t time, struct busy_sum *sums);

#endif
