/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of intervals, for the selection of steps, phases and pipelines. Operations expect merged
 * sets: sorted, without overlap. Adding keeps a set merged if intervals come in order, which is the
 * common case; else intervals_merge() sorts, with a merge sort of runs that rise or fall already.
 */
#include "report/util/intervals.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

/* ---- sorting ---- */

static inline bool begins_before(const void *context, const void *a, const void *b)
{
	(void)context;
	return ((const struct interval *)a)->begin < ((const struct interval *)b)->begin;
}

void interval_sort(struct run_sort *sort, struct interval *items, size_t nr_sorted, size_t nr)
{
	run_sort_begin(sort, nr_sorted);
	run_sort_add(sort, items, nr, sizeof(*items), begins_before, NULL);
	run_sort_end(sort, items, sizeof(*items), begins_before, NULL);
}

/* ---- sets ---- */

void intervals_fini(struct intervals *set)
{
	free(set->items);
	*set = (struct intervals){0};
}

/* Removes all intervals but keeps the memory. */
static void clear(struct intervals *set)
{
	set->nr = 0;
	set->is_unsorted = false;
}

void intervals_add(struct intervals *set, uint64_t begin, uint64_t end)
{
	struct interval *last = set->nr ? &set->items[set->nr - 1] : NULL;

	if (begin >= end) {
		return;
	}
	if (last && begin >= last->begin && begin <= last->end) {
		last->end = end > last->end ? end : last->end;
		return;
	}
	set->is_unsorted |= last && begin < last->begin;
	set->items = array_grow(set->items, set->nr, &set->capacity, sizeof(*set->items));
	set->items[set->nr++] = (struct interval){begin, end};
}

void intervals_merge(struct intervals *set)
{
	struct run_sort sort = {0};
	size_t nr = set->nr;

	if (!set->is_unsorted) {
		return;
	}
	interval_sort(&sort, set->items, 0, nr);
	run_sort_fini(&sort);
	clear(set);
	for (size_t i = 0; i < nr; i++) { /* never writes behind i */
		intervals_add(set, set->items[i].begin, set->items[i].end);
	}
}

uint64_t intervals_length(const struct intervals *set)
{
	uint64_t length = 0;

	for (size_t i = 0; i < set->nr; i++) {
		length += set->items[i].end - set->items[i].begin;
	}
	return length;
}

/* The first interval that ends after `time`; nr if there is none. */
static size_t first_after(const struct intervals *set, uint64_t time)
{
	size_t at;

	BISECT(at, 0, set->nr, set->items[at].end <= time);
	return at;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void intervals_clip(
	const struct intervals *set, uint64_t begin, uint64_t end, struct intervals *out)
{
	clear(out);
	for (size_t i = first_after(set, begin); i < set->nr && set->items[i].begin < end; i++) {
		intervals_add(
			out, later(set->items[i].begin, begin), earlier(set->items[i].end, end));
	}
}

/* Both sets are walked together; whichever interval ends first can meet nothing further. */
void intervals_intersect(
	const struct intervals *a, const struct intervals *b, struct intervals *out)
{
	size_t i = 0, j = 0;

	clear(out);
	while (i < a->nr && j < b->nr) {
		intervals_add(out, later(a->items[i].begin, b->items[j].begin),
			earlier(a->items[i].end, b->items[j].end));
		if (a->items[i].end < b->items[j].end) {
			i++;
		} else {
			j++;
		}
	}
}
