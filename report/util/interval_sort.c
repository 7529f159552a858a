/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/interval_sort.h"

#include <stdlib.h>

#include "report/util/buf.h"

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

static void turn(struct busy_interval *items, size_t nr)
{
	for (size_t i = 0, k = nr; i + 1 < k; i++) {
		struct busy_interval item = items[i];

		items[i] = items[--k];
		items[k] = item;
	}
}

/* Length of the run at the start, which rises afterwards. Only what falls strictly is turned. */
static size_t find_run(struct busy_interval *items, size_t nr)
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

static void merge(const struct busy_interval *a, const struct busy_interval *a_end,
	const struct busy_interval *b, const struct busy_interval *b_end, struct busy_interval *out)
{
	while (a < a_end && b < b_end) {
		*out++ = b->begin < a->begin ? *b++ : *a++;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges neighbours, two and two. */
static void halve(
	struct interval_sort *sort, const struct busy_interval *from, struct busy_interval *to)
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

void interval_sort_run(struct interval_sort *sort, struct busy_interval *items, size_t nr_items)
{
	struct busy_interval *from = items, *to;

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
		struct busy_interval *other = from;

		halve(sort, from, to);
		from = to;
		to = other;
	}
	if (from != items) {
		memcpy(items, from, nr_items * sizeof(*items));
	}
}
