/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges runs of activities for gpu_activities.c: a heap of runs, each sorted, by the begin of
 * their next activity. When too many wait, those in memory become one run, of which all but the
 * first part goes to a temporary file. A run that comes to the end of its part in memory reads on.
 */
#include "report/gpu/gpu_activities.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/files.h"
#include "report/util/heap.h"

static int by_begin(const void *a, const void *b)
{
	const struct gpu_activity *x = a, *y = b;

	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

void gpu_activity_runs_fini(struct gpu_activity_runs *runs)
{
	for (size_t i = 0; i < runs->nr_runs; i++) {
		free(runs->runs[i].items);
	}
	free(runs->runs);
	if (runs->file) {
		close(runs->file - 1);
	}
	*runs = (struct gpu_activity_runs){0};
}

/* ---- the heap ---- */

static bool comes_before(const void *a, const void *b)
{
	const struct gpu_activity_run *x = a, *y = b;

	return by_begin(&x->items[x->at], &y->items[y->at]) < 0;
}

static void push(struct gpu_activity_runs *runs, const struct gpu_activity_run *run)
{
	runs->runs = array_grow(runs->runs, runs->nr_runs, &runs->capacity, sizeof(*runs->runs));
	runs->runs[runs->nr_runs] = *run;
	heap_rise(runs->runs, runs->nr_runs++, sizeof(*runs->runs), comes_before);
}

/* ---- the file ---- */

static bool was_filed(const struct gpu_activity_run *run)
{
	return run->file_end != 0;
}

/* Joins the runs that never were in the file to one. The heap keeps the others alone. */
static struct gpu_activity_run gather(struct gpu_activity_runs *runs)
{
	struct gpu_activity_run one = {.items = mem_zeroed(runs->nr_kept, sizeof(*one.items))};
	size_t nr_runs = runs->nr_runs;

	runs->nr_runs = 0;
	for (size_t i = 0; i < nr_runs; i++) {
		struct gpu_activity_run run = runs->runs[i];

		if (was_filed(&run)) {
			push(runs, &run); /* at `i` or before it */
		} else {
			memcpy(one.items + one.nr, run.items + run.at,
				(run.nr - run.at) * sizeof(*one.items));
			one.nr += run.nr - run.at;
			free(run.items);
		}
	}
	qsort(one.items, one.nr, sizeof(*one.items), by_begin);
	return one;
}

/* Puts all of a run but its first part into the file. False if it has no room. */
static bool write_run(struct gpu_activity_runs *runs, struct gpu_activity_run *run)
{
	size_t nr_bytes = sizeof(*run->items), nr = run->nr - GPU_ACTIVITIES_RUNS_READ;

	if (!runs->file) {
		runs->file = 1 + temp_file_open();
	}
	if (!runs->file || !temp_file_write(runs->file - 1, runs->nr_written * nr_bytes,
				   run->items + GPU_ACTIVITIES_RUNS_READ, nr * nr_bytes)) {
		return false;
	}
	run->file_at = runs->nr_written;
	run->file_end = runs->nr_written += nr;
	run->nr = GPU_ACTIVITIES_RUNS_READ;
	run->items = mem_resize(run->items, run->nr, nr_bytes);
	runs->nr_filed++;
	return true;
}

/* A run that is too short to be worth writing goes back to the heap. */
static void make_room(struct gpu_activity_runs *runs)
{
	struct gpu_activity_run run;

	if (runs->is_full || runs->nr_kept <= (runs->most ? runs->most : GPU_ACTIVITIES_RUNS_MAX)) {
		return;
	}
	run = gather(runs);
	runs->nr_kept = run.nr;
	if (run.nr > GPU_ACTIVITIES_RUNS_READ) {
		runs->is_full = !write_run(runs, &run);
		runs->nr_kept = runs->is_full ? run.nr : 0;
	}
	push(runs, &run);
}

/*
 * Reads the next part of a run that has come to the end of the one in memory; false: there is
 * none.
 */
static bool read_on(struct gpu_activity_runs *runs, struct gpu_activity_run *run)
{
	uint64_t nr = run->file_end - run->file_at;

	nr = nr < GPU_ACTIVITIES_RUNS_READ ? nr : GPU_ACTIVITIES_RUNS_READ;
	if (!nr) {
		return false;
	}
	temp_file_read_back(runs->file - 1, run->file_at * sizeof(*run->items), run->items,
		nr * sizeof(*run->items));
	run->file_at += nr;
	run->at = 0;
	run->nr = nr;
	return true;
}

/* A run is at its end. */
static void forget(struct gpu_activity_runs *runs, struct gpu_activity_run *run)
{
	if (!was_filed(run)) {
		runs->nr_kept -= run->nr;
	} else if (!--runs->nr_filed) {
		runs->nr_written = 0; /* the file is empty */
	}
	free(run->items);
}

/* ---- sorting ---- */

struct key {
	uint64_t after; /* how long after the first one it begins */
	size_t place;
};

#define DIGIT_BITS 11u
#define NR_DIGITS  (1u << DIGIT_BITS)

static size_t digit_of(const struct key *key, unsigned int shift)
{
	return key->after >> shift & (NR_DIGITS - 1);
}

/* Puts the keys in the order of one digit of their times; keys with the same keep their order. */
static void sort_digit(const struct key *keys, size_t nr, unsigned int shift, struct key *to)
{
	size_t counts[NR_DIGITS] = {0}, first = 0;

	for (size_t i = 0; i < nr; i++) {
		counts[digit_of(&keys[i], shift)]++;
	}
	for (size_t i = 0; i < NR_DIGITS; i++) {
		size_t count = counts[i];

		counts[i] = first;
		first += count;
	}
	for (size_t i = 0; i < nr; i++) {
		to[counts[digit_of(&keys[i], shift)]++] = keys[i];
	}
}

/*
 * Sorts from the last digit of the times to the first (radix sort): activities of several streams
 * come in no order. Times count from the first of the batch, so they have few digits.
 */
static struct key *sort_keys(struct key *keys, size_t nr, struct key *spare)
{
	uint64_t last = 0;

	for (size_t i = 0; i < nr; i++) {
		last = keys[i].after > last ? keys[i].after : last;
	}
	for (unsigned int shift = 0; shift < 64 && last >> shift; shift += DIGIT_BITS) {
		struct key *from = keys;

		sort_digit(from, nr, shift, spare);
		keys = spare;
		spare = from;
	}
	return keys;
}

/* Returns them in memory of their own; frees `items`. */
static struct gpu_activity *sort(struct gpu_activity *items, size_t nr)
{
	struct key *keys = mem_resize(NULL, 2 * nr, sizeof(*keys)), *in_order;
	struct gpu_activity *sorted = mem_resize(NULL, nr, sizeof(*sorted));
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < nr; i++) {
		first = items[i].begin < first ? items[i].begin : first;
	}
	for (size_t i = 0; i < nr; i++) {
		keys[i] = (struct key){items[i].begin - first, i};
	}
	in_order = sort_keys(keys, nr, keys + nr);
	for (size_t i = 0; i < nr; i++) {
		sorted[i] = items[in_order[i].place];
	}
	free(keys);
	free(items);
	return sorted;
}

static bool is_sorted(const struct gpu_activity *items, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (by_begin(&items[i - 1], &items[i]) > 0) {
			return false;
		}
	}
	return true;
}

/* ---- in and out ---- */

/*
 * A batch that is sorted costs one look. The radix sort compares times alone, so equal begins with
 * falling IDs still need the last one.
 */
void gpu_activity_runs_add(struct gpu_activity_runs *runs, struct gpu_activity *items, size_t nr)
{
	if (!nr) {
		free(items);
		return;
	}
	if (!is_sorted(items, nr)) {
		items = sort(items, nr);
	}
	if (!is_sorted(items, nr)) { /* by their ids, too */
		qsort(items, nr, sizeof(*items), by_begin);
	}
	push(runs, &(struct gpu_activity_run){.items = items, .nr = nr});
	runs->nr_kept += nr;
	make_room(runs);
}

const struct gpu_activity *gpu_activity_runs_first(const struct gpu_activity_runs *runs)
{
	return runs->nr_runs ? &runs->runs[0].items[runs->runs[0].at] : NULL;
}

void gpu_activity_runs_drop(struct gpu_activity_runs *runs)
{
	struct gpu_activity_run *run = &runs->runs[0];

	if (++run->at == run->nr && !read_on(runs, run)) {
		forget(runs, run);
		runs->runs[0] = runs->runs[--runs->nr_runs];
	}
	heap_sink(runs->runs, runs->nr_runs, sizeof(*runs->runs), comes_before);
}
