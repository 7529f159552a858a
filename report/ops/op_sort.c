/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts events by their ends, for op_load.c. Rows come as long rising runs, one for each thread and
 * table, so run_sort merges them, rather than sorting anew. It moves keys of 16 bytes, not events;
 * the order of equal ends is looked up in the events, since ties are rare.
 */
#include "report/ops/op_load.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

void op_sort_fini(struct op_sort *sort)
{
	free(sort->keys);
	run_sort_fini(&sort->runs);
	*sort = (struct op_sort){0};
}

/* Pushes and pops are of one table, whose order of writing holds. */
static unsigned int rank_of(const struct op_event *event)
{
	return event->kind == OP_EVENT_POP ? OP_EVENT_PUSH : event->kind;
}

/* Does y come before x, which ends at the same time? */
static bool is_tie_before(const struct op_event *y, const struct op_event *x)
{
	unsigned int y_rank = rank_of(y), x_rank = rank_of(x);

	return y_rank != x_rank ? y_rank > x_rank : y->order < x->order;
}

static inline bool is_before(const void *context, const void *a, const void *b)
{
	const struct op_event *events = context;
	const struct op_sort_key *y = a, *x = b;

	if (y->end != x->end) {
		return y->end < x->end;
	}
	return is_tie_before(&events[y->place], &events[x->place]);
}

void op_sort_begin(struct op_sort *sort)
{
	run_sort_begin(&sort->runs, 0);
}

void op_sort_add(struct op_sort *sort, const struct op_event *events, size_t nr_events)
{
	if (sort->key_capacity < nr_events) {
		sort->key_capacity = nr_events + nr_events / 4;
		sort->keys = mem_resize(sort->keys, sort->key_capacity, sizeof(*sort->keys));
	}
	for (size_t i = sort->runs.end; i < nr_events; i++) {
		sort->keys[i] = (struct op_sort_key){events[i].end, (uint32_t)i};
	}
	run_sort_add(&sort->runs, sort->keys, nr_events, sizeof(*sort->keys), is_before, events);
}

void op_sort_end(struct op_sort *sort, const struct op_event *events)
{
	run_sort_end(&sort->runs, sort->keys, sizeof(*sort->keys), is_before, events);
}

size_t op_sort_up_to(const struct op_sort *sort, uint64_t end)
{
	size_t at;

	BISECT(at, 0, sort->runs.end, sort->keys[at].end <= end);
	return at;
}
