/* SPDX-License-Identifier: Apache-2.0 */
#include "report/busy.h"

#include <stdlib.h>
#include <string.h>

#include "report/buf.h"

void busy_init(struct busy *busy)
{
	*busy = (struct busy){.first = UINT64_MAX};
}

void busy_fini(struct busy *busy)
{
	free(busy->waiting);
	free(busy->scratch);
	*busy = (struct busy){0};
}

void busy_add(struct busy *busy, uint64_t begin, uint64_t end)
{
	busy->waiting = array_grow(
		busy->waiting, busy->nr_waiting, &busy->capacity, sizeof(*busy->waiting));
	busy->waiting[busy->nr_waiting++] = (struct busy_interval){begin, end};
	busy->nr_intervals++;
	busy->first = begin < busy->first ? begin : busy->first;
	busy->last = end > busy->last ? end : busy->last;
}

/* Merges two sorted runs in place of the first; returns nothing new if they are in order already.
 */
static void merge(struct busy_interval *a, size_t nr_a, size_t nr_b, struct busy_interval *scratch)
{
	struct busy_interval *b = a + nr_a;
	size_t i = 0, j = 0, k = 0;

	if (b[0].begin >= a[nr_a - 1].begin) {
		return;
	}
	memcpy(scratch, a, nr_a * sizeof(*a));
	while (i < nr_a && j < nr_b) {
		if (b[j].begin < scratch[i].begin) {
			a[k++] = b[j++];
		} else {
			a[k++] = scratch[i++];
		}
	}
	memcpy(a + k, scratch + i, (nr_a - i) * sizeof(*a));
}

/* Length of the rising run at the start. */
static size_t run_length(const struct busy_interval *a, size_t nr)
{
	size_t n = 1;

	while (n < nr && a[n].begin >= a[n - 1].begin) {
		n++;
	}
	return n;
}

/*
 * Sorts by begin. Natural merge sort: work comes in a few rising runs, one a stream, so that mostly
 * one or two passes do.
 */
static void sort(struct busy *busy)
{
	size_t nr = busy->nr_waiting;

	if (busy->scratch_capacity < nr) {
		busy->scratch_capacity = busy->capacity;
		busy->scratch =
			mem_resize(busy->scratch, busy->scratch_capacity, sizeof(*busy->scratch));
	}
	while (nr > 1) {
		size_t at = 0, nr_runs = 0;

		while (at < nr) {
			size_t a = run_length(busy->waiting + at, nr - at);
			size_t b =
				at + a < nr ? run_length(busy->waiting + at + a, nr - at - a) : 0;

			if (b) {
				merge(busy->waiting + at, a, b, busy->scratch);
			}
			at += a + b;
			nr_runs++;
		}
		if (nr_runs <= 1) {
			return;
		}
	}
}

void busy_advance(struct busy *busy, uint64_t time)
{
	size_t i = 0;

	if (!busy->nr_waiting) {
		return;
	}
	sort(busy);
	for (; i < busy->nr_waiting && busy->waiting[i].begin < time; i++) {
		uint64_t begin = busy->waiting[i].begin;
		uint64_t end = busy->waiting[i].end;

		begin = begin > busy->until ? begin : busy->until;
		if (end > begin) {
			busy->busy_ns += end - begin;
			busy->until = end;
		}
	}
	busy->nr_waiting -= i;
	memmove(busy->waiting, busy->waiting + i, busy->nr_waiting * sizeof(*busy->waiting));
}

void busy_finish(struct busy *busy)
{
	busy_advance(busy, UINT64_MAX);
}
