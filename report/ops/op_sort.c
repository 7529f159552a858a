/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A natural merge sort of events by their ends, for op_load.c. Rows come as long rising runs, one
 * for each thread and table, so it finds runs and merges them, rather than sorting anew. It moves
 * keys of 16 bytes, not events; the order of equal ends is looked up in the events, since ties are
 * rare.
 *
 *   runs waiting   [ 80 keys            ][ 20      ][ 6 ]      each at least twice the next
 *   new run of 8                                     [ 8 ]     6 < 2 * 8: merged to 14,
 *                                                              20 < 2 * 14: merged to 34
 */
#include "report/ops/op_load.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

void op_sort_fini(struct op_sort *sort)
{
	free(sort->keys);
	free(sort->aside);
	free(sort->runs);
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

static inline bool is_before(
	const struct op_event *events, const struct op_sort_key *y, const struct op_sort_key *x)
{
	if (y->end != x->end) {
		return y->end < x->end;
	}
	return is_tie_before(&events[y->place], &events[x->place]);
}

/* ---- merging ---- */

/* Counts the keys of a rising run that come before x or are equal; x was written later. */
static size_t count_before(const struct op_event *events, const struct op_sort_key *run, size_t nr,
	const struct op_sort_key *x)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(events, x, &run[middle])) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return low;
}

/* Counts the keys of a rising run that come before x, which was written earlier. */
static size_t count_below(const struct op_event *events, const struct op_sort_key *run, size_t nr,
	const struct op_sort_key *x)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(events, &run[middle], x)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Copies the first run aside and merges from the start. */
static void merge_up(const struct op_event *events, struct op_sort_key *out, size_t nr_a,
	size_t nr_b, struct op_sort_key *aside)
{
	const struct op_sort_key *a = aside, *a_end = aside + nr_a;
	const struct op_sort_key *b = out + nr_a, *b_end = b + nr_b;

	memcpy(aside, out, nr_a * sizeof(*out));
	while (a < a_end && b < b_end) {
		*out++ = is_before(events, b, a) ? *b++ : *a++;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
}

/* Copies the second run aside and merges from the end. */
static void merge_down(const struct op_event *events, struct op_sort_key *first, size_t nr_a,
	size_t nr_b, struct op_sort_key *aside)
{
	const struct op_sort_key *a = first + nr_a, *b = aside + nr_b;
	struct op_sort_key *out = first + nr_a + nr_b;

	memcpy(aside, first + nr_a, nr_b * sizeof(*first));
	while (a > first && b > aside) {
		*--out = is_before(events, b - 1, a - 1) ? *--a : *--b;
	}
	memcpy(first, aside, (size_t)(b - aside) * sizeof(*b));
}

/*
 * Merges the last two runs where they overlap: the front of the first and the back of the second
 * mostly stay where they are. Only the shorter of the two parts is copied aside.
 */
static void merge_last(struct op_sort *sort, const struct op_event *events, size_t end)
{
	struct op_sort_key *a = sort->keys + sort->runs[sort->nr_runs - 2];
	struct op_sort_key *b = sort->keys + sort->runs[sort->nr_runs - 1];
	size_t nr_a = (size_t)(b - a), nr_b = (size_t)(sort->keys + end - b), nr_kept;

	sort->nr_runs--;
	nr_kept = count_before(events, a, nr_a, b);
	a += nr_kept;
	nr_a -= nr_kept;
	if (!nr_a) {
		return;
	}
	nr_b = count_below(events, b, nr_b, b - 1);
	if (sort->aside_capacity < (nr_a < nr_b ? nr_a : nr_b)) {
		sort->aside_capacity = nr_a < nr_b ? nr_a : nr_b;
		free(sort->aside);
		sort->aside = mem_zeroed(sort->aside_capacity, sizeof(*sort->aside));
	}
	if (nr_a <= nr_b) {
		merge_up(events, a, nr_a, nr_b, sort->aside);
	} else {
		merge_down(events, a, nr_a, nr_b, sort->aside);
	}
}

/* ---- runs ---- */

/* Adds keys from `begin` on while they rise; returns where the run ends. */
static size_t find_run(
	struct op_sort *sort, const struct op_event *events, size_t begin, size_t nr_events)
{
	size_t i = begin;

	do {
		sort->keys[i] = (struct op_sort_key){events[i].end, (uint32_t)i};
	} while (++i < nr_events &&
		 (events[i].end != events[i - 1].end ? events[i].end > events[i - 1].end
						     : !is_tie_before(&events[i], &events[i - 1])));
	return i;
}

/* The length of a waiting run, counted from the last as 1. */
static size_t run_length(const struct op_sort *sort, size_t nth_last, size_t end)
{
	size_t i = sort->nr_runs - nth_last;

	return (nth_last == 1 ? end : sort->runs[i + 1]) - sort->runs[i];
}

void op_sort_begin(struct op_sort *sort)
{
	sort->nr_keys = 0;
	sort->nr_runs = 0;
}

void op_sort_add(struct op_sort *sort, const struct op_event *events, size_t nr_events)
{
	size_t end = sort->nr_keys;

	if (sort->key_capacity < nr_events) {
		sort->key_capacity = nr_events + nr_events / 4;
		sort->keys = mem_resize(sort->keys, sort->key_capacity, sizeof(*sort->keys));
	}
	while (end < nr_events) {
		sort->runs =
			array_grow(sort->runs, sort->nr_runs, &sort->run_capacity, sizeof(size_t));
		sort->runs[sort->nr_runs++] = end;
		end = find_run(sort, events, end, nr_events);
		/*
		 * Each waiting run stays at least twice as long as the next, so keys move rarely.
		 */
		while (sort->nr_runs > 1 &&
			run_length(sort, 2, end) < 2 * run_length(sort, 1, end)) {
			merge_last(sort, events, end);
		}
	}
	sort->nr_keys = end;
}

void op_sort_end(struct op_sort *sort, const struct op_event *events)
{
	while (sort->nr_runs > 1) {
		merge_last(sort, events, sort->nr_keys);
	}
}

size_t op_sort_up_to(const struct op_sort *sort, uint64_t end)
{
	size_t low = 0, high = sort->nr_keys;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sort->keys[middle].end <= end) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}
