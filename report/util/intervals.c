/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of intervals, for the selection of steps, phases and pipelines. Operations expect merged
 * sets: sorted, without overlap. Adding keeps a set merged if intervals come in order, which is the
 * common case; else intervals_merge() sorts, with a merge sort of runs that rise or fall already.
 */
#include "report/util/intervals.h"

#include <stdlib.h>

#include "report/util/buf.h"

/* ---- sorting ---- */

void interval_sort_fini(struct interval_sort *sort)
{
	free(sort->scratch);
	free(sort->runs);
	*sort = (struct interval_sort){0};
}

static void add_run(struct interval_sort *sort, size_t begin)
{
	sort->runs = array_grow(sort->runs, sort->nr_runs, &sort->run_capacity, sizeof(size_t));
	sort->runs[sort->nr_runs++] = begin;
}

static void turn(struct interval *items, size_t nr)
{
	for (size_t i = 0, k = nr; i + 1 < k; i++) {
		struct interval item = items[i];

		items[i] = items[--k];
		items[k] = item;
	}
}

/*
 * The length of the run at the start, which rises afterwards. Only strictly falling runs are
 * reversed, to keep the sort stable.
 */
static size_t find_run(struct interval *items, size_t nr)
{
	size_t n = 1;

	if (nr > 1 && items[1].begin < items[0].begin) {
		while (n < nr && items[n].begin < items[n - 1].begin) {
			n++;
		}
		turn(items, n);
	}
	while (n < nr && items[n].begin >= items[n - 1].begin) {
		n++;
	}
	return n;
}

static void merge(const struct interval *a, const struct interval *a_end, const struct interval *b,
	const struct interval *b_end, struct interval *out)
{
	while (a < a_end && b < b_end) {
		*out++ = b->begin < a->begin ? *b++ : *a++;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges neighbouring runs pairwise. */
static void halve(struct interval_sort *sort, const struct interval *from, struct interval *to)
{
	size_t *runs = sort->runs, nr = 0;

	for (size_t i = 0; i + 1 < sort->nr_runs; i += 2) {
		size_t begin = runs[i], middle = runs[i + 1];
		size_t end = i + 2 < sort->nr_runs ? runs[i + 2] : middle;

		merge(from + begin, from + middle, from + middle, from + end, to + begin);
		runs[nr++] = begin;
	}
	runs[nr++] = runs[sort->nr_runs - 1];
	sort->nr_runs = nr;
}

/*
 * Each round merges pairs of runs from one array to the other; runs[] has their begins and, as
 * last, the end.
 */
void interval_sort_run(struct interval_sort *sort, struct interval *items, size_t nr_items)
{
	struct interval *from = items, *to;

	sort->nr_runs = 0;
	for (size_t at = 0; at < nr_items; at += find_run(items + at, nr_items - at)) {
		add_run(sort, at);
	}
	add_run(sort, nr_items);
	if (sort->nr_runs <= 2) {
		return;
	}
	if (sort->capacity < nr_items) {
		sort->capacity = nr_items + nr_items / 2;
		sort->scratch = mem_resize(sort->scratch, sort->capacity, sizeof(*sort->scratch));
	}
	to = sort->scratch;
	while (sort->nr_runs > 2) {
		struct interval *other = from;

		halve(sort, from, to);
		from = to;
		to = other;
	}
	if (from != items) {
		memcpy(items, from, nr_items * sizeof(*items));
	}
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
	struct interval_sort sort = {0};
	size_t nr = set->nr;

	if (!set->is_unsorted) {
		return;
	}
	interval_sort_run(&sort, set->items, nr);
	interval_sort_fini(&sort);
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
	size_t low = 0, high = set->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->items[middle].end > time) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return low;
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
