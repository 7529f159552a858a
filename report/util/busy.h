/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The length of the union of intervals that arrive roughly in order. An interval is kept only until
 * no earlier one can arrive.
 */
#ifndef REPORT_UTIL_BUSY_H
#define REPORT_UTIL_BUSY_H

#include "report/util/intervals.h"

struct busy_sum {
	uint64_t busy_ns;
	uint64_t until; /* end of the time counted so far */
};

struct busy {
	struct interval *waiting; /* the first one is at `head` */
	struct run_sort sort;
	size_t head, nr_waiting, capacity;
	size_t nr_sorted;  /* how many of them, from the first, are sorted */
	uint64_t earliest; /* the earliest begin */
	uint64_t nr_intervals;
	uint64_t first, last; /* first begin and last end; first > last: none */
	struct busy_sum sum;
};

void busy_init(struct busy *busy);
void busy_fini(struct busy *busy);
void busy_add(struct busy *busy, uint64_t begin, uint64_t end);

/* Counts what it can. The caller adds no interval that begins before `time` any more. */
void busy_advance(struct busy *busy, uint64_t time);

/* Counts what is left. */
void busy_finish(struct busy *busy);

/* Instead of counting, hands out the intervals that begin before `time`, by their begins. */
void busy_take(struct busy *busy, uint64_t time,
	void (*take)(void *context, const struct interval *interval), void *context);

/*
 * Advances several together: sums[k] becomes the union of parts 0 to k. There are nr_parts sums.
 * The last call has the time UINT64_MAX.
 */
void busy_advance_all(struct busy *parts, size_t nr_parts, uint64_t time, struct busy_sum *sums);

#endif
