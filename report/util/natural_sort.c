/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sort for arrays that are nearly in order, forwards or backwards, such as events of the walk. It
 * merges pointers instead of items, and moves each item once at the end. With one run, as when the
 * array is sorted already, it only compares neighbours.
 */
#include "report/util/natural_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

struct sort {
	size_t size;
	int (*compare)(const void *, const void *);
	size_t *ends; /* of each run: indices */
	size_t nr_runs, capacity;
};

static void reverse(char *items, size_t nr, size_t size)
{
	char *low = items, *high = items + nr * size;
	char spare[256];

	while (low + size < high) {
		high -= size;
		for (size_t at = 0; at < size; at += sizeof(spare)) {
			size_t part = size - at < sizeof(spare) ? size - at : sizeof(spare);

			memcpy(spare, low + at, part);
			memcpy(low + at, high + at, part);
			memcpy(high + at, spare, part);
		}
		low += size;
	}
}

/* Returns the end of the run that begins at `first`; turns one that falls round. */
static size_t end_of_run(const struct sort *sort, char *items, size_t first, size_t nr)
{
	const size_t size = sort->size;
	size_t end = first + 1;
	bool is_falling;

	if (end == nr) {
		return nr;
	}
	is_falling = sort->compare(items + first * size, items + end * size) > 0;
	for (end++; end < nr; end++) {
		int order = sort->compare(items + (end - 1) * size, items + end * size);

		if (is_falling != (order > 0)) {
			break;
		}
	}
	if (is_falling) {
		reverse(items + first * size, end - first, size);
	}
	return end;
}

static void find_runs(struct sort *sort, char *items, size_t nr)
{
	for (size_t at = 0; at < nr;) {
		char *before, *first = items + at * sort->size;

		at = end_of_run(sort, items, at, nr);
		before = sort->nr_runs ? first - sort->size : NULL;
		if (before && sort->compare(before, first) <= 0) {
			sort->ends[sort->nr_runs - 1] = at; /* a run that goes on */
			continue;
		}
		sort->ends =
			array_grow(sort->ends, sort->nr_runs, &sort->capacity, sizeof(*sort->ends));
		sort->ends[sort->nr_runs++] = at;
	}
}

/* Merges two neighbouring runs of pointers to items into `to`. */
static void merge(const struct sort *sort, const char *const *items, size_t first, size_t middle,
	size_t end, const char **to)
{
	size_t a = first, b = middle;

	to += first;
	while (a < middle && b < end) {
		*to++ = sort->compare(items[a], items[b]) <= 0 ? items[a++] : items[b++];
	}
	memcpy(to, items + a, (middle - a) * sizeof(*to));
	memcpy(to + (middle - a), items + b, (end - b) * sizeof(*to));
}

/* Merges runs in pairs into `to`. */
static void merge_all(struct sort *sort, const char *const *items, const char **to)
{
	size_t nr = 0, first = 0;

	for (size_t i = 0; i < sort->nr_runs; i += 2) {
		size_t middle = sort->ends[i];
		size_t end = i + 1 < sort->nr_runs ? sort->ends[i + 1] : middle;

		merge(sort, items, first, middle, end, to);
		sort->ends[nr++] = first = end;
	}
	sort->nr_runs = nr;
}

/* Merges pointers to the items until they are one run, and then moves each item once. */
static void merge_runs(struct sort *sort, char *items, size_t nr)
{
	const char **pointers = mem_resize(NULL, 2 * nr, sizeof(*pointers));
	const char **from = pointers, **to = pointers + nr;
	char *sorted;

	for (size_t i = 0; i < nr; i++) {
		from[i] = items + i * sort->size;
	}
	while (sort->nr_runs > 1) {
		const char **merged = to;

		merge_all(sort, from, to);
		to = from;
		from = merged;
	}
	sorted = mem_resize(NULL, nr, sort->size);
	for (size_t i = 0; i < nr; i++) {
		memcpy(sorted + i * sort->size, from[i], sort->size);
	}
	memcpy(items, sorted, nr * sort->size);
	free(sorted);
	free(pointers);
}

void natural_sort(void *items, size_t nr, size_t size, int (*compare)(const void *, const void *))
{
	struct sort sort = {.size = size, .compare = compare};

	find_runs(&sort, items, nr);
	/* Sorts what follows a long run first, so that merging moves that run only once. */
	if (sort.nr_runs > 2 && sort.ends[0] >= nr / 2) {
		natural_sort((char *)items + sort.ends[0] * size, nr - sort.ends[0], size, compare);
		sort.ends[1] = nr;
		sort.nr_runs = 2;
	}
	if (sort.nr_runs > 1) {
		merge_runs(&sort, items, nr);
	}
	free(sort.ends);
}
