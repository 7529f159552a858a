/* SPDX-License-Identifier: Apache-2.0 */
#include "report/op_sort.h"

#include <stdlib.h>

#include "report/buf.h"

void op_sort_fini(struct op_sort *sort)
{
	free(sort->keys);
	free(sort->other);
	free(sort->runs);
	*sort = (struct op_sort){0};
}

/* A push and a pop are of one table: what was written first was first. */
static unsigned int rank_of(const struct op_event *event)
{
	return event->kind == OP_EVENT_POP ? OP_EVENT_PUSH : event->kind;
}

/* Of events that end at the same time: does y come before x? */
static bool is_tie_before(const struct op_event *y, const struct op_event *x)
{
	unsigned int y_rank = rank_of(y), x_rank = rank_of(x);

	return y_rank != x_rank ? y_rank > x_rank : y->order < x->order;
}

static inline bool is_before(
	const struct op_event *events, const struct op_sort_key *y, const struct op_sort_key *x)
{
	if (y->end != x->end) {
		return y->end < x->end;
	}
	return is_tie_before(&events[y->place], &events[x->place]);
}

static void add_run(struct op_sort *sort, size_t begin)
{
	sort->runs = array_grow(sort->runs, sort->nr_runs, &sort->run_capacity, sizeof(size_t));
	sort->runs[sort->nr_runs++] = begin;
}

/* The keys as they stand, and where a run of rising ones begins. */
static void find_runs(struct op_sort *sort, const struct op_event *events, size_t nr_events)
{
	sort->nr_runs = 0;
	for (size_t i = 0; i < nr_events; i++) {
		sort->keys[i] = (struct op_sort_key){events[i].end, (uint32_t)i};
		if (!i || is_before(events, &sort->keys[i], &sort->keys[i - 1])) {
			add_run(sort, i);
		}
	}
	add_run(sort, nr_events);
}

static void merge(const struct op_event *events, const struct op_sort_key *a,
	const struct op_sort_key *a_end, const struct op_sort_key *b,
	const struct op_sort_key *b_end, struct op_sort_key *out)
{
	while (a < a_end && b < b_end) {
		*out++ = is_before(events, b, a) ? *b++ : *a++;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges neighbours, two and two. */
static void halve(struct op_sort *sort, const struct op_event *events)
{
	struct op_sort_key *from = sort->keys, *to = sort->other;
	size_t *runs = sort->runs, nr = 0;

	for (size_t i = 0; i + 1 < sort->nr_runs; i += 2) {
		size_t begin = runs[i], middle = runs[i + 1];
		size_t end = i + 2 < sort->nr_runs ? runs[i + 2] : middle;

		merge(events, from + begin, from + middle, from + middle, from + end, to + begin);
		runs[nr++] = begin;
	}
	runs[nr++] = runs[sort->nr_runs - 1];
	sort->nr_runs = nr;
	sort->keys = to;
	sort->other = from;
}

void op_sort_run(struct op_sort *sort, const struct op_event *events, size_t nr_events)
{
	if (sort->key_capacity < nr_events) {
		sort->key_capacity = nr_events + nr_events / 2;
		sort->keys = mem_resize(sort->keys, sort->key_capacity, sizeof(*sort->keys));
		sort->other = mem_resize(sort->other, sort->key_capacity, sizeof(*sort->other));
	}
	find_runs(sort, events, nr_events);
	while (sort->nr_runs > 2) {
		halve(sort, events);
	}
}
