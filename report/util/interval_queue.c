/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of intervals by falling ends, for the budget's backward sweep. Intervals in order pass
 * through arrays: they are added to `back`, go through a file if there are too many, and are taken
 * from `front`. Those out of order wait in a heap, and taking compares the two tops. It needs no
 * sorter: what comes in order is the order, and is taken by an inline function.
 *
 *   push --> back --> file --> front --> pop
 *   push --> strays (heap, out of order) --> pop
 */
#include "report/util/interval_queue.h"

#include <stdlib.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/files.h"
#include "report/util/heap.h"

/* ---- intervals out of order: a heap ---- */

/*
 * A heap with the latest end on top. Removing late intervals takes logarithmic time and does not
 * touch earlier ones. Only these functions change it; it starts as zeros.
 */

void interval_heap_push(struct intervals *heap, struct interval item)
{
	heap->items = array_grow(heap->items, heap->nr, &heap->capacity, sizeof(item));
	heap_push(heap->items, heap->nr++, sizeof(item), offsetof(struct interval, end), &item);
}

struct interval interval_heap_pop(struct intervals *heap)
{
	struct interval top = heap->items[0], last = heap->items[--heap->nr];

	heap_drop(heap->items, heap->nr, sizeof(last), offsetof(struct interval, end), &last);
	return top;
}

void interval_heap_join(struct intervals *heap)
{
	heap->is_unsorted = true;
	intervals_merge(heap);
	for (size_t i = 0; i < heap->nr / 2; i++) { /* falling items form a heap */
		struct interval item = heap->items[i];

		heap->items[i] = heap->items[heap->nr - 1 - i];
		heap->items[heap->nr - 1 - i] = item;
	}
}

/* ---- the queue ---- */

/* Strays are joined at this number, and then each time their number has doubled. */
#define JOIN_AT 65536u

/* Items read back from the file at a time. */
#define READ_ITEMS 16384u

void interval_queue_fini(struct interval_queue *queue)
{
	if (queue->file) {
		close(queue->file - 1);
	}
	free(queue->front);
	free(queue->back);
	intervals_fini(&queue->strays);
	*queue = (struct interval_queue){0};
}

static bool has_ordered(const struct interval_queue *queue)
{
	return queue->back_nr || queue->nr_written > queue->nr_read ||
	       queue->front_nr > queue->front_head;
}

static void add_stray(struct interval_queue *queue, struct interval item)
{
	interval_heap_push(&queue->strays, item);
	if (queue->strays.nr >= JOIN_AT && queue->strays.nr >= queue->join_at) {
		interval_heap_join(&queue->strays);
		queue->join_at = 2 * queue->strays.nr;
	}
}

static bool write_back(struct interval_queue *queue)
{
	if (!queue->file) {
		queue->file = 1 + temp_file_open();
	}
	return queue->file &&
	       temp_file_write(queue->file - 1, queue->nr_written * sizeof(*queue->back),
		       queue->back, queue->back_nr * sizeof(*queue->back));
}

static void make_room(struct interval_queue *queue)
{
	if (queue->back_nr < INTERVAL_QUEUE_ITEMS || queue->is_kept) {
		return;
	}
	if (write_back(queue)) {
		queue->nr_written += queue->back_nr;
		queue->back_nr = 0;
	} else {
		queue->is_kept = true;
	}
}

/*
 * An interval that ends later than the last one is out of order, unless nothing in order waits:
 * then it may start a new order.
 */
void interval_queue_push_any(struct interval_queue *queue, uint64_t begin, uint64_t end)
{
	struct interval *last = queue->back_nr ? &queue->back[queue->back_nr - 1] : NULL;

	if (begin >= end) {
		return;
	}
	if (end > queue->last_end && has_ordered(queue)) {
		add_stray(queue, (struct interval){begin, end});
	} else if (last && end >= last->begin) { /* they touch: one interval */
		last->begin = begin < last->begin ? begin : last->begin;
	} else {
		make_room(queue);
		queue->back = array_grow(
			queue->back, queue->back_nr, &queue->back_capacity, sizeof(*queue->back));
		queue->back[queue->back_nr++] = (struct interval){begin, end};
		queue->last_end = end;
	}
}

static void read_front(struct interval_queue *queue)
{
	uint64_t nr = queue->nr_written - queue->nr_read;

	nr = nr < READ_ITEMS ? nr : READ_ITEMS;
	if (queue->front_capacity < READ_ITEMS) {
		queue->front = mem_resize(queue->front, READ_ITEMS, sizeof(*queue->front));
		queue->front_capacity = READ_ITEMS;
	}
	temp_file_read_back(queue->file - 1, queue->nr_read * sizeof(*queue->front), queue->front,
		nr * sizeof(*queue->front));
	queue->front_nr = nr;
	queue->nr_read += nr;
	if (queue->nr_read == queue->nr_written) {
		queue->nr_read = queue->nr_written = 0;
	}
}

/*
 * The first interval in order; NULL if there is none. With nothing in the file, `back` becomes
 * `front`, and the emptied array is filled next.
 */
static const struct interval *find_front(struct interval_queue *queue)
{
	struct interval *emptied = queue->front;
	size_t capacity = queue->front_capacity;

	if (queue->front_head < queue->front_nr) {
		return &queue->front[queue->front_head];
	}
	queue->front_head = queue->front_nr = 0;
	if (queue->nr_written) {
		read_front(queue);
	} else if (queue->back_nr) {
		queue->front = queue->back;
		queue->front_nr = queue->back_nr;
		queue->front_capacity = queue->back_capacity;
		queue->back = emptied;
		queue->back_nr = 0;
		queue->back_capacity = capacity;
	}
	return queue->front_nr ? &queue->front[0] : NULL;
}

bool interval_queue_pop_any(struct interval_queue *queue, struct interval *item)
{
	const struct interval *front = find_front(queue);

	if (queue->strays.nr && (!front || queue->strays.items[0].end > front->end)) {
		*item = interval_heap_pop(&queue->strays);
		return true;
	}
	if (front) {
		*item = *front;
		queue->front_head++;
	}
	return front != NULL;
}
