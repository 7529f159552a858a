/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of intervals that is filled and emptied from the latest end to the earliest. A pass from
 * the last event to the first adds nearly all intervals in that order, and these cost no sorting.
 * Others wait in a heap.
 *
 * Memory: 2 * INTERVAL_QUEUE_ITEMS, 8 MB. More intervals in order go to a temporary file ($TMPDIR
 * or /tmp), or stay in memory if there is no room for it. Intervals out of order (`strays`) stay in
 * memory; those that overlap are joined.
 */
#ifndef REPORT_UTIL_INTERVAL_QUEUE_H
#define REPORT_UTIL_INTERVAL_QUEUE_H

#include "report/util/intervals.h"

/* ---- a heap, the interval with the latest end on top ---- */

void interval_heap_push(struct intervals *heap, struct interval item);

/* Removes the interval with the latest end. The heap must not be empty. */
struct interval interval_heap_pop(struct intervals *heap);

/* Joins intervals that overlap, so that fewer are kept. */
void interval_heap_join(struct intervals *heap);

/* ---- the queue ---- */

#define INTERVAL_QUEUE_ITEMS (1u << 18)

/* Zero-initialized. */
struct interval_queue {
	struct interval *front, *back; /* removed from next; added to last */
	size_t front_head, front_nr, front_capacity;
	size_t back_nr, back_capacity;
	uint64_t nr_written, nr_read; /* items of the file between them */
	int file;		      /* 1 + its descriptor, 0: none */
	bool is_kept;		      /* no file can be had: all stays in memory */
	uint64_t last_end;	      /* of the last interval in order */
	struct intervals strays;
	size_t join_at;
};

void interval_queue_fini(struct interval_queue *queue);

/* Used by the inline functions. */
void interval_queue_push_any(struct interval_queue *queue, uint64_t begin, uint64_t end);
bool interval_queue_pop_any(struct interval_queue *queue, struct interval *item);

/* Ignores empty intervals, and those that end before they begin. */
static inline void interval_queue_push(struct interval_queue *queue, uint64_t begin, uint64_t end)
{
	size_t nr = queue->back_nr;

	if (begin >= end || !nr || nr == queue->back_capacity || nr >= INTERVAL_QUEUE_ITEMS ||
		end >= queue->back[nr - 1].begin) {
		interval_queue_push_any(queue, begin, end);
		return;
	}
	queue->back[queue->back_nr++] = (struct interval){begin, end};
	queue->last_end = end;
}

/* Removes an interval with the latest end. False if there is none. */
static inline bool interval_queue_pop(struct interval_queue *queue, struct interval *item)
{
	if (queue->front_head == queue->front_nr || queue->strays.nr) {
		return interval_queue_pop_any(queue, item);
	}
	*item = queue->front[queue->front_head++];
	return true;
}

#endif
