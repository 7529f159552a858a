/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the depth of a stream's queue backwards, for the queue view and the dependencies of
 * activities. At the end of the recording the queue is empty. Going back, each begin of an activity
 * puts one in, and each launching call takes one out.
 *
 *   launches    c1 c2     c3                      depth  0 1 2 1 2 1 0
 *   activities         b1    b2 b3                       c c b c b b
 *
 * Begins of one stream may arrive slightly out of order, so 64 of them wait and are sorted.
 */
#include "report/ops/queue_depth.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

/* The depth was the same from `to` until now. */
static void go_back(struct queue_depth *queue, uint64_t to)
{
	uint64_t ns = queue->now > to ? queue->now - to : 0;

	queue->empty_ns += queue->length ? 0 : ns;
	queue->full_ns += queue->length >= QUEUE_DEPTH_FULL ? ns : 0;
	queue->area += (unsigned __int128)queue->length * ns;
	queue->now -= ns;
}

/* A call that finds the queue full waits in the driver, so its whole time counts as blocked. */
static void undo_call(struct queue_depth *queue, const struct queue_depth_call *call)
{
	go_back(queue, call->begin);
	queue->length -= queue->length > 0;
	queue->first = queue->now;
	if (queue->length >= QUEUE_DEPTH_FULL) {
		queue->nr_blocked++;
		queue->blocked_ns += call->ns;
	}
}

static void undo_calls(struct queue_depth *queue, uint64_t from)
{
	while (queue->first_call < queue->nr_calls &&
		queue->calls[queue->first_call].begin >= from) {
		undo_call(queue, &queue->calls[queue->first_call++]);
	}
}

static void undo_begin(struct queue_depth *queue, uint64_t begin)
{
	if (!queue->last) {
		queue->last = begin;
		queue->now = begin;
	}
	undo_calls(queue, begin);
	go_back(queue, begin);
	queue->length++;
	queue->max = queue->length > queue->max ? queue->length : queue->max;
}

/*
 * Inserts it behind later ones; few are out of order. Space before first_call is used again only
 * when the array is full, and more than half of it is free.
 */
static void add_call(struct queue_depth *queue, struct queue_depth_call call)
{
	size_t at;

	if (queue->nr_calls == queue->capacity && queue->first_call > queue->nr_calls / 2) {
		queue->nr_calls -= queue->first_call;
		memmove(queue->calls, queue->calls + queue->first_call,
			queue->nr_calls * sizeof(*queue->calls));
		queue->first_call = 0;
	}
	queue->calls =
		array_grow(queue->calls, queue->nr_calls, &queue->capacity, sizeof(*queue->calls));
	at = queue->nr_calls++;
	while (at > queue->first_call && queue->calls[at - 1].begin < call.begin) {
		queue->calls[at] = queue->calls[at - 1];
		at--;
	}
	queue->calls[at] = call;
}

/* Inserts it behind later ones, as add_call does. */
static void add_begin(struct queue_depth *queue, uint64_t begin)
{
	uint32_t at;

	if (queue->first_begin + queue->nr_begins == 2 * QUEUE_DEPTH_WINDOW) {
		memmove(queue->begins, queue->begins + queue->first_begin,
			queue->nr_begins * sizeof(*queue->begins));
		queue->first_begin = 0;
	}
	at = queue->first_begin + queue->nr_begins++;
	while (at > queue->first_begin && queue->begins[at - 1] < begin) {
		queue->begins[at] = queue->begins[at - 1];
		at--;
	}
	queue->begins[at] = begin;
}

static void undo_last_begin(struct queue_depth *queue)
{
	queue->nr_begins--;
	undo_begin(queue, queue->begins[queue->first_begin++]);
}

void queue_depth_add(
	struct queue_depth *queue, uint64_t call_begin, uint64_t call_end, uint64_t begin)
{
	/* Clocks may show an activity before its launch. */
	call_begin = call_begin < begin ? call_begin : begin;
	add_call(queue, (struct queue_depth_call){
				call_begin, call_end > call_begin ? call_end - call_begin : 0});
	add_begin(queue, begin);
	queue->nr++;
	if (queue->nr_begins > QUEUE_DEPTH_WINDOW) {
		undo_last_begin(queue);
	}
}

void queue_depth_finish(struct queue_depth *queue)
{
	while (queue->nr_begins) {
		undo_last_begin(queue);
	}
	undo_calls(queue, 0);
}

void queue_depth_fini(struct queue_depth *queue)
{
	free(queue->calls);
	*queue = (struct queue_depth){0};
}
