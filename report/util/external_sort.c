/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts more records than memory should hold: tables with a row per event, Chrome timelines and
 * tracks. Records fill a run; a full run is sorted and written to a file; at the end a heap merges
 * all runs, each through a window of its own. There are two ways to get records out:
 *
 *   external_sort_at()         all are added, then read by index: merges from the heap
 *   external_sort_hand_out()   records leave while others are added, once no earlier one can come;
 *                              what is due is sorted in memory and merged with the runs of the file
 *
 * So a caller whose records come nearly in order never needs the file.
 */
#include "report/util/external_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/files.h"

#define WINDOW_BYTES (64u << 10) /* read at a time from each run in the file */

/* Sorted records, in memory or in the file. */
struct run {
	char *records; /* NULL: they are in the file */
	uint64_t offset;
	size_t nr;
	size_t next; /* the first record not handed out yet */
	char *window;
	size_t window_first, window_nr;
};

struct external_sort {
	size_t bytes; /* of each record */
	int (*compare)(const void *a, const void *b);
	size_t most;
	size_t run_records;
	char *records; /* of the run that is being filled */
	size_t nr, capacity;
	uint64_t nr_added;
	size_t nr_kept;
	int fd; /* -1: none yet; -2: no room for one */
	uint64_t file_bytes;
	struct run *runs;
	size_t nr_runs, run_capacity;
	size_t *heap; /* indices of runs; the run with the lowest record is first */
	size_t nr_heap, heap_capacity;
	size_t place;					 /* of the record at the top of the heap */
	void (*take)(void *context, const void *record); /* NULL: external_sort_at hands out */
	void *context;
	uint64_t no_earlier;
};

/* ---- order ---- */

static int by_key(const void *a, const void *b)
{
	const struct external_sort_head *x = a, *y = b;

	if (x->key != y->key) {
		return x->key < y->key ? -1 : 1;
	}
	return (x->order > y->order) - (x->order < y->order);
}

static int by_key_and_tie(const void *a, const void *b)
{
	const struct external_sort_head *x = a, *y = b;
	const uint64_t *tie = (const uint64_t *)(x + 1), *other = (const uint64_t *)(y + 1);
	int order = by_key(a, b);

	return order ? order : (*tie > *other) - (*tie < *other);
}

/* ---- sorters ---- */

struct external_sort *external_sort_create(size_t record_bytes, size_t most, size_t run_bytes)
{
	struct external_sort *sorter = mem_zeroed(1, sizeof(*sorter));

	sorter->bytes = record_bytes;
	sorter->compare = by_key;
	sorter->run_records = (run_bytes ? run_bytes : EXTERNAL_SORT_BYTES) / record_bytes;
	sorter->run_records = sorter->run_records < 2 ? 2 : sorter->run_records;
	/* Selecting more than half a run is as much work as sorting all of it. */
	sorter->most = most <= sorter->run_records / 2 ? most : 0;
	sorter->fd = -1;
	return sorter;
}

void external_sort_break_ties(struct external_sort *sorter)
{
	sorter->compare = by_key_and_tie;
}

void external_sort_hand_out(struct external_sort *sorter,
	void (*take)(void *context, const void *record), void *context)
{
	sorter->take = take;
	sorter->context = context;
}

void external_sort_destroy(struct external_sort *sorter)
{
	if (!sorter) {
		return;
	}
	for (size_t i = 0; i < sorter->nr_runs; i++) {
		free(sorter->runs[i].records);
		free(sorter->runs[i].window);
	}
	if (sorter->fd >= 0) {
		close(sorter->fd);
	}
	free(sorter->runs);
	free(sorter->records);
	free(sorter->heap);
	free(sorter);
}

/* Streams are sorted nearly everywhere, often completely. */
static bool is_sorted(const struct external_sort *sorter)
{
	for (size_t i = 1; i < sorter->nr; i++) {
		const char *record = sorter->records + i * sorter->bytes;

		if (sorter->compare(record - sorter->bytes, record) > 0) {
			return false;
		}
	}
	return true;
}

static void sort(struct external_sort *sorter)
{
	if (!is_sorted(sorter)) {
		qsort(sorter->records, sorter->nr, sorter->bytes, sorter->compare);
	}
	if (sorter->most && sorter->nr > sorter->most) {
		sorter->nr = sorter->most;
	}
}

/* ---- the file ---- */

static void read_window(struct external_sort *sorter, struct run *run)
{
	size_t most = WINDOW_BYTES / sorter->bytes ? WINDOW_BYTES / sorter->bytes : 1;
	size_t nr = run->nr - run->next < most ? run->nr - run->next : most;

	if (!run->window) {
		run->window = mem_zeroed(most, sorter->bytes);
	}
	temp_file_read_back(sorter->fd, run->offset + run->next * sorter->bytes, run->window,
		nr * sorter->bytes);
	run->window_first = run->next;
	run->window_nr = nr;
}

/* ---- runs ---- */

/*
 * Without room for a file, a run stays in memory. fd -2: no file could be opened, and none is tried
 * again.
 */
static void end_run(struct external_sort *sorter)
{
	struct run *run;

	sort(sorter);
	sorter->runs = array_grow(
		sorter->runs, sorter->nr_runs, &sorter->run_capacity, sizeof(*sorter->runs));
	run = &sorter->runs[sorter->nr_runs++];
	*run = (struct run){.nr = sorter->nr, .offset = sorter->file_bytes};
	if (sorter->fd == -1) {
		sorter->fd = temp_file_open();
		sorter->fd = sorter->fd < 0 ? -2 : sorter->fd;
	}
	if (sorter->fd >= 0 && temp_file_write(sorter->fd, sorter->file_bytes, sorter->records,
				       sorter->nr * sorter->bytes)) {
		sorter->file_bytes += sorter->nr * sorter->bytes;
	} else {
		run->records = sorter->records;
		sorter->records = NULL;
		sorter->capacity = 0;
	}
	sorter->nr = 0;
}

/* ---- reading back ---- */

static const void *first_of(struct external_sort *sorter, struct run *run)
{
	if (run->records) {
		return run->records + run->next * sorter->bytes;
	}
	if (run->next - run->window_first >= run->window_nr) {
		read_window(sorter, run);
	}
	return run->window + (run->next - run->window_first) * sorter->bytes;
}

static bool is_before(struct external_sort *sorter, size_t a, size_t b)
{
	return sorter->compare(first_of(sorter, &sorter->runs[sorter->heap[a]]),
		       first_of(sorter, &sorter->runs[sorter->heap[b]])) < 0;
}

static void sift_down(struct external_sort *sorter, size_t at)
{
	for (size_t child = 2 * at + 1; child < sorter->nr_heap; child = 2 * at + 1) {
		size_t run = sorter->heap[at];

		if (child + 1 < sorter->nr_heap && is_before(sorter, child + 1, child)) {
			child++;
		}
		if (!is_before(sorter, child, at)) {
			return;
		}
		sorter->heap[at] = sorter->heap[child];
		sorter->heap[child] = run;
		at = child;
	}
}

/* Adds a run of the file to the heap. */
static void add_to_heap(struct external_sort *sorter, size_t run)
{
	size_t at = sorter->nr_heap++, up;

	sorter->heap = array_grow(sorter->heap, at, &sorter->heap_capacity, sizeof(*sorter->heap));
	for (sorter->heap[at] = run; at && is_before(sorter, at, (at - 1) / 2); at = up) {
		up = (at - 1) / 2;
		sorter->heap[at] = sorter->heap[up];
		sorter->heap[up] = run;
	}
}

static void drop_first(struct external_sort *sorter)
{
	struct run *run = &sorter->runs[sorter->heap[0]];

	if (++run->next == run->nr) {
		sorter->heap[0] = sorter->heap[--sorter->nr_heap];
	}
	sift_down(sorter, 0);
}

static void begin_again(struct external_sort *sorter)
{
	sorter->nr_heap = 0;
	sorter->place = 0;
	for (size_t i = 0; i < sorter->nr_runs; i++) {
		sorter->runs[i].next = 0;
		sorter->runs[i].window_first = 0;
		sorter->runs[i].window_nr = 0;
		if (sorter->runs[i].nr) {
			sorter->heap[sorter->nr_heap++] = i;
		}
	}
	for (size_t i = sorter->nr_heap / 2; i-- > 0;) {
		sift_down(sorter, i);
	}
}

/* ---- handing out while more is added ---- */

/* A record in memory that is handed out now. */
struct due {
	uint64_t key;
	size_t at;
};

#define DIGIT_BITS 11u
#define DIGITS	   (1u << DIGIT_BITS)

/* Up to so many bits are left to comparisons where that saves a digit. */
#define MAX_REST_BITS 8u

/* More records than that, the same but for their rest, are for qsort. */
#define MAX_INSERTED 16u

/* By one digit of the key; equal ones keep their order. */
static void sort_by_digit(const struct due *from, struct due *to, size_t nr, unsigned int shift)
{
	size_t places[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < nr; i++) {
		places[from[i].key >> shift & (DIGITS - 1)]++;
	}
	for (size_t i = 0; i < DIGITS; i++) {
		size_t count = places[i];

		places[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++) {
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
	}
}

static int by_due(const void *a, const void *b, void *context)
{
	const struct due *x = a, *y = b;
	const struct external_sort *sorter = context;
	int order;

	if (x->key != y->key) {
		return x->key < y->key ? -1 : 1;
	}
	order = sorter->compare(
		sorter->records + x->at * sorter->bytes, sorter->records + y->at * sorter->bytes);
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void insert_each(struct external_sort *sorter, struct due *due, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct due moved = due[i];
		size_t at = i;

		for (; at && by_due(&moved, &due[at - 1], sorter) < 0; at--) {
			due[at] = due[at - 1];
		}
		due[at] = moved;
	}
}

/* Sorts those whose keys differ in their last bits alone, if at all. */
static void sort_rests(
	struct external_sort *sorter, struct due *due, size_t nr, unsigned int rest_bits)
{
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && due[end].key >> rest_bits == due[i].key >> rest_bits;
			end++) {
		}
		if (end - i > MAX_INSERTED) {
			qsort_r(due + i, end - i, sizeof(*due), by_due, sorter);
		} else {
			insert_each(sorter, due + i, end - i);
		}
	}
}

/* 0 for 0. */
static unsigned int nr_bits(uint64_t number)
{
	return number ? 64u - (unsigned int)__builtin_clzll(number) : 0;
}

/*
 * Sorts by digits, of which the keys of a short time have few: comparing the records themselves
 * would read the memory of all of them many times. Returns `due` or `spare`, which has as much
 * room.
 */
static struct due *sort_due(
	struct external_sort *sorter, struct due *due, struct due *spare, size_t nr)
{
	uint64_t least = UINT64_MAX, most = 0;
	unsigned int bits, rest_bits;

	for (size_t i = 0; i < nr; i++) {
		least = due[i].key < least ? due[i].key : least;
		most = due[i].key > most ? due[i].key : most;
	}
	for (size_t i = 0; i < nr; i++) {
		due[i].key -= least;
	}
	bits = nr ? nr_bits(most - least) : 0;
	rest_bits = bits % DIGIT_BITS <= MAX_REST_BITS ? bits % DIGIT_BITS : 0;
	for (unsigned int shift = rest_bits; shift < bits; shift += DIGIT_BITS) {
		struct due *sorted = spare;

		sort_by_digit(due, sorted, nr, shift);
		spare = due;
		due = sorted;
	}
	sort_rests(sorter, due, nr, rest_bits);
	return due;
}

static bool is_due(const struct external_sort *sorter, const void *record, bool is_all)
{
	return is_all || ((const struct external_sort_head *)record)->key < sorter->no_earlier;
}

static void take_from_runs(struct external_sort *sorter, const char *before, bool is_all)
{
	while (sorter->nr_heap) {
		const void *record = first_of(sorter, &sorter->runs[sorter->heap[0]]);

		if (!is_due(sorter, record, is_all) ||
			(before && sorter->compare(before, record) < 0)) {
			return;
		}
		sorter->take(sorter->context, record);
		drop_first(sorter);
	}
}

/* So many records ahead are fetched into the cache: they lie far apart. */
#define AHEAD 8u

static void take_due(struct external_sort *sorter, const struct due *sorted, size_t nr, bool is_all)
{
	for (size_t i = 0; i < nr; i++) {
		const char *record = sorter->records + sorted[i].at * sorter->bytes;

		if (i + AHEAD < nr) {
			__builtin_prefetch(sorter->records + sorted[i + AHEAD].at * sorter->bytes);
		}
		take_from_runs(sorter, record, is_all);
		sorter->take(sorter->context, record);
	}
	take_from_runs(sorter, NULL, is_all);
}

/* Moves the records that are not due yet to the front. */
static void keep_others(struct external_sort *sorter, const struct due *others, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		memmove(sorter->records + i * sorter->bytes,
			sorter->records + others[i].at * sorter->bytes, sorter->bytes);
	}
	sorter->nr = nr;
}

/*
 * Splits the records into those that are due and the others, without moving any; only the others
 * move, and only once.
 */
static void hand_out(struct external_sort *sorter, bool is_all)
{
	struct due *due = mem_resize(NULL, 3 * sorter->nr + 1, sizeof(*due));
	struct due *spare = due + sorter->nr, *others = spare + sorter->nr;
	size_t nr = 0, nr_others = 0;

	for (size_t i = 0; i < sorter->nr; i++) {
		const void *record = sorter->records + i * sorter->bytes;
		const struct due one = {((const struct external_sort_head *)record)->key, i};

		if (is_due(sorter, record, is_all)) {
			due[nr++] = one;
		} else {
			others[nr_others++] = one;
		}
	}
	take_due(sorter, sort_due(sorter, due, spare, nr), nr, is_all);
	keep_others(sorter, others, nr_others);
	free(due);
}

/* Makes room for records. Where few could be handed out, the others go into the file. */
static void make_room(struct external_sort *sorter)
{
	if (sorter->take) {
		hand_out(sorter, false);
	}
	if (sorter->nr > sorter->run_records / 2) {
		end_run(sorter);
		if (sorter->take) {
			add_to_heap(sorter, sorter->nr_runs - 1);
		}
	}
}

void external_sort_no_earlier(struct external_sort *sorter, uint64_t key)
{
	sorter->no_earlier = key > sorter->no_earlier ? key : sorter->no_earlier;
}

/* ---- adding ---- */

void *external_sort_add(struct external_sort *sorter)
{
	struct external_sort_head *head;

	if (sorter->nr == sorter->run_records) {
		if (sorter->most) {
			sort(sorter);
		} else {
			make_room(sorter);
		}
	}
	sorter->records = array_grow(sorter->records, sorter->nr, &sorter->capacity, sorter->bytes);
	head = (struct external_sort_head *)(sorter->records + sorter->nr++ * sorter->bytes);
	memset(head, 0, sorter->bytes);
	head->order = sorter->nr_added++;
	return head;
}

/* ---- the end ---- */

/* With hand_out nothing is left to read: all that remains goes out now. */
void external_sort_finish(struct external_sort *sorter)
{
	if (sorter->take) {
		hand_out(sorter, true);
		return;
	}
	sort(sorter);
	sorter->nr_kept = sorter->nr;
	for (size_t i = 0; i < sorter->nr_runs; i++) {
		sorter->nr_kept += sorter->runs[i].nr;
	}
	sorter->runs = array_grow(
		sorter->runs, sorter->nr_runs, &sorter->run_capacity, sizeof(*sorter->runs));
	/* The last run stays in memory. */
	sorter->runs[sorter->nr_runs++] =
		(struct run){.records = sorter->records, .nr = sorter->nr};
	sorter->records = NULL;
	sorter->nr = 0;
	sorter->heap = mem_zeroed(sorter->nr_runs, sizeof(*sorter->heap));
	begin_again(sorter);
}

static void skip_one(struct external_sort *sorter)
{
	sorter->place++;
	drop_first(sorter);
}

const void *external_sort_at(struct external_sort *sorter, size_t place)
{
	if (place < sorter->place) {
		begin_again(sorter);
	}
	while (sorter->place < place) {
		skip_one(sorter);
	}
	return first_of(sorter, &sorter->runs[sorter->heap[0]]);
}

size_t external_sort_nr_added(const struct external_sort *sorter)
{
	return sorter->nr_added;
}

size_t external_sort_nr(const struct external_sort *sorter)
{
	return sorter->nr_kept;
}
