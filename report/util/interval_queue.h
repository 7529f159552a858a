/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of intervals that is filled from its end on and taken out from its end on: what comes by
 * falling ends, as nearly all does in a pass from the last event to the first, goes in and comes
 * out in no time. What comes out of order waits in a heap.
 *
 * Memory: 2 * INTERVAL_QUEUE_ITEMS, 8 MB. What is more and in order lies in a file without a name,
 * in $TMPDIR or /tmp; where there is no room for that it stays in memory. Of what is out of order,
 * `strays`, those that overlap are joined; all the others stay in memory.
 */
#ifndef REPORT_UTIL_INTERVAL_QUEUE_H
#define REPORT_UTIL_INTERVAL_QUEUE_H

#include "report/util/intervals.h"

/* ---- the queue ---- */

/* ---- a heap, the interval with the last end on top ---- */

void interval_heap_push(struct intervals *heap, struct interval item);

/* Removes the interval with the last end. The heap must not be empty. */
struct interval interval_heap_pop(struct intervals *heap);

/* Joins intervals that overlap, so that fewer are kept. */
void interval_heap_join(struct intervals *heap);

/* ---- the queue ---- */

#define INTERVAL_QUEUE_ITEMS (1u << 18)

/* Starts with all zeros. */
struct interval_queue {
	struct interval *front, *back; /* what comes out next; what came in last */
	size_t front_head, front_nr, front_capacity;
	size_t back_nr, back_capacity;
	uint64_t nr_written, nr_read; /* of the file between them */
	int file;		      /* 1 + its descriptor, 0 none */
	bool is_kept;		      /* in memory: there is no file to be had */
	uint64_t last_end;	      /* of the last one in order */
	struct intervals strays;
	size_t join_at;
};

void interval_queue_fini(struct interval_queue *queue);

/* Empty ones, and those that end before they begin, are left out. */
void interval_queue_push(struct interval_queue *queue, uint64_t begin, uint64_t end);

/* Takes out one with the last end. False if there is none. */
bool interval_queue_pop(struct interval_queue *queue, struct interval *item);

#endif
