/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts how long at least one of many intervals ran, while they arrive. Views of devices and steps
 * feed it from blocks; each block's header says what can no longer come. Waiting intervals are
 * sorted only when some can be counted: new ones as runs, merged into those that are sorted
 * already. The union is then one walk: each interval adds what lies behind `until`. external_sort.h
 * would hand out the same order, at several times the instructions for each interval of 16 bytes.
 *
 *   intervals   [------]       [----]
 *                   [-----]      [--]
 *   counted     |======|==|    |====|         until ----> grows
 */
#include "report/util/busy.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

void busy_init(struct busy *busy)
{
	*busy = (struct busy){.first = UINT64_MAX, .earliest = UINT64_MAX};
}

void busy_fini(struct busy *busy)
{
	free(busy->waiting);
	run_sort_fini(&busy->sort);
	*busy = (struct busy){0};
}

/* Makes room for one more waiting interval, reusing the room of counted ones if possible. */
static void make_room(struct busy *busy)
{
	if (busy->head && busy->head >= busy->nr_waiting) {
		memmove(busy->waiting, busy->waiting + busy->head,
			busy->nr_waiting * sizeof(*busy->waiting));
		busy->head = 0;
	}
	busy->waiting = array_grow(busy->waiting, busy->head + busy->nr_waiting, &busy->capacity,
		sizeof(*busy->waiting));
}

void busy_add(struct busy *busy, uint64_t begin, uint64_t end)
{
	struct interval *at;

	if (busy->head + busy->nr_waiting == busy->capacity) {
		make_room(busy);
	}
	at = busy->waiting + busy->head + busy->nr_waiting;
	*at = (struct interval){begin, end};
	if (busy->nr_sorted == busy->nr_waiting && (!busy->nr_waiting || at[-1].begin <= begin)) {
		busy->nr_sorted++;
	}
	busy->nr_waiting++;
	busy->nr_intervals++;
	busy->earliest = begin < busy->earliest ? begin : busy->earliest;
	busy->first = begin < busy->first ? begin : busy->first;
	busy->last = end > busy->last ? end : busy->last;
}

/* Sorts the new intervals. Sorted ones that begin before all new ones do not move. */
static void sort(struct busy *busy)
{
	if (busy->nr_sorted < busy->nr_waiting) {
		interval_sort(
			&busy->sort, busy->waiting + busy->head, busy->nr_sorted, busy->nr_waiting);
		busy->nr_sorted = busy->nr_waiting;
	}
}

/* The next waiting interval, NULL if none begins before `time`. The intervals are sorted. */
static const struct interval *first_of(const struct busy *busy, uint64_t time)
{
	const struct interval *first;

	if (!busy->nr_waiting) {
		return NULL; /* there may be no array either */
	}
	first = busy->waiting + busy->head;
	return first->begin < time ? first : NULL;
}

/*
 * The part whose next interval is the earliest before `time`, and where the next one of the others
 * begins.
 */
static size_t find_earliest(
	const struct busy *parts, size_t nr_parts, uint64_t time, uint64_t *others)
{
	size_t earliest = nr_parts;
	uint64_t begin = UINT64_MAX;

	*others = time;
	for (size_t k = 0; k < nr_parts; k++) {
		const struct interval *first = first_of(&parts[k], time);

		if (!first) {
			continue;
		}
		if (earliest == nr_parts || first->begin < begin) {
			*others = earliest == nr_parts ? time : begin;
			begin = first->begin;
			earliest = k;
		} else if (first->begin < *others) {
			*others = first->begin;
		}
	}
	return earliest;
}

static inline void count_one(struct busy_sum *sum, const struct interval *one)
{
	uint64_t begin = one->begin > sum->until ? one->begin : sum->until;

	if (one->end > begin) {
		sum->busy_ns += one->end - begin;
		sum->until = one->end;
	}
}

static void drop_first(struct busy *busy, size_t nr)
{
	busy->head += nr;
	busy->nr_waiting -= nr;
	busy->nr_sorted -= nr;
	busy->earliest = busy->nr_waiting ? busy->waiting[busy->head].begin : UINT64_MAX;
}

/* Counts the first interval, and those after it that begin before all of the other parts. */
static void count_run(
	struct busy *parts, size_t nr_parts, size_t part, uint64_t others, struct busy_sum *sums)
{
	struct busy *busy = &parts[part];
	const struct interval *all = busy->waiting + busy->head;
	size_t i = 0;

	do {
		count_one(&busy->sum, &all[i]);
		for (size_t k = part; sums && k < nr_parts; k++) {
			count_one(&sums[k], &all[i]);
		}
	} while (++i < busy->nr_waiting && all[i].begin < others);
	drop_first(busy, i);
}

/*
 * The parts are merged by begin as they are counted, so that each sum sees all of its intervals in
 * order: sums[k] has the parts 0 to k.
 */
void busy_advance_all(struct busy *parts, size_t nr_parts, uint64_t time, struct busy_sum *sums)
{
	uint64_t others;
	size_t part;

	for (size_t k = 0; k < nr_parts; k++) {
		if (parts[k].nr_waiting && parts[k].earliest < time) {
			sort(&parts[k]);
		}
	}
	while ((part = find_earliest(parts, nr_parts, time, &others)) < nr_parts) {
		count_run(parts, nr_parts, part, others, sums);
	}
}

void busy_advance(struct busy *busy, uint64_t time)
{
	busy_advance_all(busy, 1, time, NULL);
}

void busy_finish(struct busy *busy)
{
	busy_advance(busy, UINT64_MAX);
}

void busy_take(struct busy *busy, uint64_t time,
	void (*take)(void *context, const struct interval *interval), void *context)
{
	size_t nr = 0;

	if (!busy->nr_waiting || busy->earliest >= time) {
		return;
	}
	sort(busy);
	while (nr < busy->nr_waiting && busy->waiting[busy->head + nr].begin < time) {
		take(context, &busy->waiting[busy->head + nr++]);
	}
	drop_first(busy, nr);
}
