/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds a summary in memory and adds summaries up. `reduce` makes one of each stream (reduce.c) and
 * writes it; `reduce`, `summary` and `html` merge files of any number of them.
 *
 * All that a merge does is independent of order: sums and sketches add up, extremes prefer the
 * smaller rank where times are equal, and the lists are sorted before they are written. Hence one
 * file for one set of streams, however it was divided:
 *
 *   stream 0 --\
 *               >-- merge --\
 *   stream 1 --/             >-- merge -- the same bytes as of 0 + (1 + 2)
 *   stream 2 ---------------/
 */
#include "report/reduce/reduced.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/stats/step_series.h"
#include "report/util/err.h"
#include "report/util/string_pool.h"
#include "report/util/sort.h"

static void row_fini(struct reduced_row *row)
{
	sketch_fini(&row->times);
	sketch_fini(&row->of_processes);
}

void reduced_fini(struct reduced *reduced)
{
	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		row_fini(row);
	}
	hash_free(reduced->rows);
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		free(reduced->processes[i].bytes);
	}
	free(reduced->processes);
	*reduced = (struct reduced){0};
}

struct reduced_row *reduced_row(
	struct reduced *reduced, enum reduced_view view, uint32_t kind, uint32_t name)
{
	struct reduced_key key = {(uint32_t)view, kind, name};
	struct reduced_row *row;

	HASH_FIND(hh, reduced->rows, &key, sizeof(key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key;
		sketch_init(&row->times);
		sketch_init(&row->of_processes);
		HASH_ADD(hh, reduced->rows, key, sizeof(key), row);
	}
	return row;
}

/* ---- processes ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return COMPARE(a, b);
}

static int compare_names(uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(string_pool_text(a, NULL), string_pool_text(b, NULL));
}

int reduced_compare(const struct reduced_process *a, const struct reduced_process *b)
{
	int order = COMPARE(a->rank, b->rank);

	order = order ? order : compare_names(a->host, b->host);
	order = order ? order : compare_numbers(a->pid, b->pid);
	order = order ? order : compare_numbers(a->start_ns, b->start_ns);
	return order ? order : compare_numbers(a->stream_id, b->stream_id);
}

static int compare_packed(const void *a, const void *b)
{
	return reduced_compare(
		&((const struct reduced_packed *)a)->who, &((const struct reduced_packed *)b)->who);
}

void reduced_sort(struct reduced *reduced)
{
	if (reduced->nr_processes) {
		qsort(reduced->processes, reduced->nr_processes, sizeof(*reduced->processes),
			compare_packed);
	}
}

static void add_packed(struct reduced *reduced, struct reduced_packed packed)
{
	reduced->processes = array_grow(reduced->processes, reduced->nr_processes,
		&reduced->capacity, sizeof(*reduced->processes));
	reduced->processes[reduced->nr_processes++] = packed;
}

struct reduced_who reduced_who_of(const struct reduced_process *process)
{
	char text[320];
	int length = snprintf(text, sizeof(text), "%.300s:%u",
		string_pool_text(process->host, NULL), process->pid);

	return (struct reduced_who){process->rank, string_pool_intern(text, (size_t)length)};
}

/*
 * The rows are those of one process, thus its sum is the least and the most of each row. The steps
 * are kept packed as in a file: 40 bytes or so instead of 96.
 */
void reduced_add_process(struct reduced *reduced, const struct reduced_process *process)
{
	struct reduced_packed packed = {.who = *process};
	struct reduced_who who = reduced_who_of(process);
	struct buf bytes = {0};

	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		row->nr_processes = 1;
		if (!row->times.group.count) {
			continue; /* nothing is known of its times, which is not 0 */
		}
		row->least = row->most =
			(struct reduced_extreme){histogram_sum(&row->times.group), who};
		sketch_add(&row->of_processes, row->most.ns);
	}
	reduced_pack_process(process, &bytes);
	packed.who.steps = NULL;
	packed.bytes = mem_resize(bytes.bytes, bytes.nr_bytes, 1);
	packed.nr_bytes = bytes.nr_bytes;
	add_packed(reduced, packed);
}

struct reduced_process reduced_process(const struct reduced *reduced, size_t i)
{
	const struct reduced_packed *packed = &reduced->processes[i];
	const unsigned char *bytes = (const unsigned char *)packed->bytes;
	struct unpack from = {bytes, bytes + packed->nr_bytes, false};
	struct reduced_process process;

	/* Cannot fail: the bytes come from reduced_pack_process. */
	reduced_unpack_process(&process, &from, REDUCED_VERSION);
	return process;
}

void reduced_process_fini(struct reduced_process *process)
{
	free(process->steps);
	*process = (struct reduced_process){0};
}

/* ---- merging ---- */

static int compare_who(const struct reduced_who *a, const struct reduced_who *b)
{
	return a->rank != b->rank ? COMPARE(a->rank, b->rank) : compare_names(a->name, b->name);
}

static void take_extreme(
	struct reduced_extreme *into, const struct reduced_extreme *from, bool is_beyond)
{
	if (is_beyond || (from->ns == into->ns && compare_who(&from->who, &into->who) < 0)) {
		*into = *from;
	}
}

/*
 * Merges the times of processes. Where one side comes from a file that has no sketches of them, the
 * result has none: half a distribution would pass for a whole one.
 */
static void merge_processes(struct reduced_row *into, const struct reduced_row *from)
{
	bool is_first = !into->times.group.count;

	if (!from->times.group.count) {
		return;
	}
	take_extreme(&into->least, &from->least, is_first || from->least.ns < into->least.ns);
	take_extreme(&into->most, &from->most, is_first || from->most.ns > into->most.ns);
	if (is_first || (reduced_row_has_each(into) && reduced_row_has_each(from))) {
		sketch_merge(&into->of_processes, &from->of_processes);
	} else {
		sketch_fini(&into->of_processes);
	}
}

static void merge_row(struct reduced_row *into, const struct reduced_row *from)
{
	merge_processes(into, from); /* first: it looks at the count of `times` before the merge */
	sketch_merge(&into->times, &from->times);
	into->failed += from->failed;
	into->untimed += from->untimed;
	for (unsigned int i = 0; i < VIEW_MERGE_SUMS; i++) {
		into->sums[i] += from->sums[i];
	}
	into->nr_processes += from->nr_processes;
}

/* Walks both lists, which are sorted, side by side. */
static int refuse_duplicates(const struct reduced *into, const struct reduced *from)
{
	size_t i = 0, k = 0;

	while (i < into->nr_processes && k < from->nr_processes) {
		const struct reduced_process *who = &into->processes[i].who;
		int order = reduced_compare(who, &from->processes[k].who);

		if (!order) {
			char rank[32] = "";

			if (who->rank >= 0) {
				snprintf(rank, sizeof(rank), " (rank %lld)", (long long)who->rank);
			}
			return err_set(-EEXIST,
				"the process %u on %s%s is there twice, and would count twice: "
				"leave one of its streams or summaries out",
				who->pid, string_pool_text(who->host, NULL), rank);
		}
		i += order < 0;
		k += order > 0;
	}
	return 0;
}

int reduced_merge(struct reduced *into, struct reduced *from)
{
	int error;

	reduced_sort(into);
	reduced_sort(from);
	error = refuse_duplicates(into, from);
	if (error) {
		return error;
	}
	for (struct reduced_row *row = from->rows; row; row = row->hh.next) {
		merge_row(reduced_row(into, (enum reduced_view)row->key.view, row->key.kind,
				  row->key.name),
			row);
	}
	for (size_t i = 0; i < from->nr_processes; i++) {
		add_packed(into, from->processes[i]);
		from->processes[i].bytes = NULL;
	}
	reduced_fini(from);
	return 0;
}

/* ---- its steps ---- */

static bool has_phases(const struct reduced_process *process)
{
	for (size_t i = 0; i < process->nr_steps; i++) {
		if (process->steps[i].ns[REDUCED_OTHERS] != UINT64_MAX) {
			return true;
		}
	}
	return false;
}

/*
 * As far as `known` says which steps are whole, from `first` on. Two passes: the first finds the
 * times of the steps that may count, the second asks the series of these times which ones warm up
 * or lie far out. Returns how many count.
 */
static size_t find_counted(const struct reduced_process *process, enum reduced_time known,
	size_t first, bool is_all, bool *counts)
{
	uint64_t *ns = mem_zeroed(process->nr_steps + 1, sizeof(*ns));
	struct step_series series = STEP_SERIES_ALL;
	size_t nr = 0, nr_counted = 0;

	for (size_t i = 0; i < process->nr_steps; i++) {
		counts[i] = i >= first && process->steps[i].ns[known] != UINT64_MAX &&
			    process->steps[i].ns[REDUCED_DURATION] != UINT64_MAX;
		if (counts[i]) {
			ns[nr++] = process->steps[i].ns[REDUCED_DURATION];
		}
	}
	if (!is_all) {
		series = step_series_of(ns, nr);
	}
	for (size_t i = nr = 0; i < process->nr_steps; i++) {
		if (counts[i]) {
			counts[i] = step_series_counts(&series, nr, ns[nr]);
			nr_counted += counts[i];
			nr++;
		}
	}
	free(ns);
	return nr_counted;
}

struct budget_launches reduced_launches(const struct reduced_process *process)
{
	const uint64_t *facts = &process->facts[REDUCED_LAUNCHES];

	return facts[0] == UINT64_MAX ? (struct budget_launches){0} : budget_set_launches(facts);
}

bool *reduced_counted_steps(const struct reduced_process *process, bool is_all)
{
	uint64_t nr = process->facts[REDUCED_BUDGET + BUDGET_SUM_STEPS];
	bool *counts = mem_zeroed(process->nr_steps + 1, sizeof(*counts));
	bool is_first_whole;

	if (has_phases(process)) {
		find_counted(process, REDUCED_OTHERS, 0, is_all, counts);
		return counts;
	}
	is_first_whole = find_counted(process, REDUCED_DURATION, 0, false, counts) == nr;
	find_counted(process, REDUCED_DURATION, is_first_whole ? 0 : 1, is_all, counts);
	return counts;
}
