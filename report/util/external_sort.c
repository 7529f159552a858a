/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts more records than memory should hold: tables with a row per event, activities of GPUs, rows
 * of traces, timelines and tracks. Records fill a run; a full run is sorted and written to a file;
 * a heap merges all runs, each through a window of its own. There are three ways to get records
 * out:
 *
 *   external_sort_at()         all are added, then read by index: merges from the heap
 *   external_sort_rewrite()    all are added, then changed in order and read backwards
 *   external_sort_hand_out()   records leave while others are added, once no earlier one can come;
 *                              what is due is sorted in memory and merged with the runs of the file
 *
 * So a caller whose records come nearly in order never needs the file.
 */
#include "report/util/external_sort.h"

#include <stdlib.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/files.h"
#include "report/util/heap.h"
#include "report/util/sort.h"

#define WINDOW_BYTES (64u << 10) /* read at a time from each run in the file */

/* Sorted records, in the file; the last ones, after external_sort_finish, in memory. */
struct run {
	char *records; /* NULL: they are in the file */
	uint64_t offset;
	size_t nr;
	size_t next; /* the first record not handed out yet */
	char *window;
	size_t window_first, window_nr;
};

/* The next record of a run. */
struct head {
	const void *record;
	int (*compare)(const void *a, const void *b);
	size_t run;
};

struct external_sort {
	size_t bytes; /* of each record */
	int (*compare)(const void *a, const void *b);
	uint64_t flip; /* of the keys: all bits where they fall */
	size_t most;
	size_t run_records;
	char *records; /* of the run that is being filled */
	size_t nr, capacity;
	uint64_t nr_added;
	size_t nr_kept;
	int fd;		  /* -1: none yet */
	bool has_no_room; /* for another run: all further records stay in memory */
	uint64_t file_bytes;
	struct run *runs;
	size_t nr_runs, run_capacity;
	struct head *heap; /* the run with the first record is on top */
	size_t nr_heap, heap_capacity;
	size_t place;					 /* of the record at the top of the heap */
	void (*take)(void *context, const void *record); /* NULL: external_sort_at hands out */
	void *context;
	size_t nr_seen; /* records in memory of which `earliest` is the lowest key */
	uint64_t earliest;
	uint64_t no_earlier;
};

/* ---- order ---- */

static int by_head(const void *a, const void *b)
{
	const struct external_sort_head *x = a, *y = b;

	return ORDER(COMPARE(x->key, y->key), COMPARE(x->order, y->order));
}

static int by_head_and_tie(const void *a, const void *b)
{
	const struct external_sort_head *x = a, *y = b;

	return ORDER(
		by_head(a, b), COMPARE(*(const uint64_t *)(x + 1), *(const uint64_t *)(y + 1)));
}

static int by_falling_head_and_tie(const void *a, const void *b)
{
	const struct external_sort_head *x = a, *y = b;

	return x->key != y->key ? (x->key > y->key ? -1 : 1) : by_head_and_tie(a, b);
}

/* ---- sorters ---- */

struct external_sort *external_sort_create(size_t record_bytes, size_t most, size_t run_bytes)
{
	struct external_sort *sorter = mem_zeroed(1, sizeof(*sorter));

	sorter->bytes = record_bytes;
	sorter->compare = by_head;
	sorter->run_records = (run_bytes ? run_bytes : EXTERNAL_SORT_BYTES) / record_bytes;
	sorter->run_records = sorter->run_records < 2 ? 2 : sorter->run_records;
	/* Selecting more than half a run is as much work as sorting all of it. */
	sorter->most = most <= sorter->run_records / 2 ? most : 0;
	sorter->fd = -1;
	return sorter;
}

void external_sort_break_ties(struct external_sort *sorter)
{
	sorter->compare = by_head_and_tie;
}

void external_sort_fall(struct external_sort *sorter)
{
	sorter->compare = by_falling_head_and_tie;
	sorter->flip = UINT64_MAX;
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

static int compare_at(const void *context, size_t a, size_t b)
{
	const struct external_sort *sorter = context;

	return sorter->compare(
		sorter->records + a * sorter->bytes, sorter->records + b * sorter->bytes);
}

static struct sort_key key_of(const struct external_sort *sorter, size_t at)
{
	const struct external_sort_head *head =
		(const void *)(sorter->records + at * sorter->bytes);

	return (struct sort_key){head->key ^ sorter->flip, at};
}

/* Moves each record to where its key stands: one cycle of moves after the other. */
static void put_in_order(struct external_sort *sorter, struct sort_key *keys)
{
	char *records = sorter->records, *aside = mem_resize(NULL, 1, sorter->bytes);
	const size_t bytes = sorter->bytes;

	for (size_t i = 0; i < sorter->nr; i++) {
		size_t at = i, from;

		if (keys[i].at == i) {
			continue;
		}
		memcpy(aside, records + i * bytes, bytes);
		for (; (from = keys[at].at) != i; at = from) {
			memcpy(records + at * bytes, records + from * bytes, bytes);
			keys[at].at = at;
		}
		memcpy(records + at * bytes, aside, bytes);
		keys[at].at = at;
	}
	free(aside);
}

static void sort(struct external_sort *sorter)
{
	if (!is_sorted(sorter)) {
		struct sort_key *keys = mem_resize(NULL, 2 * sorter->nr, sizeof(*keys));

		for (size_t i = 0; i < sorter->nr; i++) {
			keys[i] = key_of(sorter, i);
		}
		put_in_order(
			sorter, key_sort(keys, keys + sorter->nr, sorter->nr, compare_at, sorter));
		free(keys);
	}
	if (sorter->most && sorter->nr > sorter->most) {
		sorter->nr = sorter->most;
	}
}

/* ---- the file ---- */

static size_t window_records(const struct external_sort *sorter)
{
	return WINDOW_BYTES > sorter->bytes ? WINDOW_BYTES / sorter->bytes : 1;
}

static void read_window(struct external_sort *sorter, struct run *run)
{
	size_t most = window_records(sorter);
	size_t nr = run->nr - run->next < most ? run->nr - run->next : most;

	if (!run->window) {
		run->window = mem_zeroed(most, sorter->bytes);
	}
	temp_file_read_back(sorter->fd, run->offset + run->next * sorter->bytes, run->window,
		nr * sorter->bytes);
	run->window_first = run->next;
	run->window_nr = nr;
}

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

/* ---- the heap ---- */

static bool comes_before(const void *a, const void *b)
{
	const struct head *x = a, *y = b;

	return x->compare(x->record, y->record) < 0;
}

static void add_to_heap(struct external_sort *sorter, size_t run)
{
	size_t at = sorter->nr_heap++;

	sorter->heap = array_grow(sorter->heap, at, &sorter->heap_capacity, sizeof(*sorter->heap));
	sorter->heap[at] =
		(struct head){first_of(sorter, &sorter->runs[run]), sorter->compare, run};
	heap_rise(sorter->heap, at, sizeof(*sorter->heap), comes_before);
}

static void drop_first(struct external_sort *sorter)
{
	struct head *top = &sorter->heap[0];
	struct run *run = &sorter->runs[top->run];

	if (++run->next < run->nr) {
		top->record = first_of(sorter, run);
	} else {
		free(run->window);
		run->window = NULL;
		*top = sorter->heap[--sorter->nr_heap];
	}
	heap_sink(sorter->heap, sorter->nr_heap, sizeof(*sorter->heap), comes_before);
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
			add_to_heap(sorter, i);
		}
	}
}

/* ---- runs ---- */

static bool write_run(struct external_sort *sorter)
{
	if (sorter->fd == -1) {
		sorter->fd = temp_file_open();
	}
	return sorter->fd >= 0 && temp_file_write(sorter->fd, sorter->file_bytes, sorter->records,
					  sorter->nr * sorter->bytes);
}

static void end_run(struct external_sort *sorter)
{
	sort(sorter);
	if (!write_run(sorter)) {
		sorter->has_no_room = true;
		return;
	}
	sorter->runs = array_grow(
		sorter->runs, sorter->nr_runs, &sorter->run_capacity, sizeof(*sorter->runs));
	sorter->runs[sorter->nr_runs++] =
		(struct run){.nr = sorter->nr, .offset = sorter->file_bytes};
	sorter->file_bytes += sorter->nr * sorter->bytes;
	sorter->nr = sorter->nr_seen = 0;
	if (sorter->take) {
		add_to_heap(sorter, sorter->nr_runs - 1);
	}
}

/* ---- handing out while more is added ---- */

static bool is_due(const struct external_sort *sorter, const void *record, bool is_all)
{
	return is_all || ((const struct external_sort_head *)record)->key < sorter->no_earlier;
}

/* Looks at each record once while all of them wait. */
static bool has_due(struct external_sort *sorter)
{
	if (!sorter->nr_seen) {
		sorter->earliest = UINT64_MAX;
	}
	for (; sorter->nr_seen < sorter->nr; sorter->nr_seen++) {
		uint64_t key = key_of(sorter, sorter->nr_seen).key;

		sorter->earliest = key < sorter->earliest ? key : sorter->earliest;
	}
	return sorter->earliest < sorter->no_earlier ||
	       (sorter->nr_heap && is_due(sorter, sorter->heap[0].record, false));
}

static void take_from_runs(struct external_sort *sorter, const char *before, bool is_all)
{
	while (sorter->nr_heap) {
		const void *record = sorter->heap[0].record;

		if (!is_due(sorter, record, is_all) ||
			(before && sorter->compare(before, record) < 0)) {
			return;
		}
		sorter->take(sorter->context, record);
		drop_first(sorter);
	}
	sorter->nr_runs = 0; /* of the file, which is used again */
	sorter->file_bytes = 0;
}

/* So many records ahead are fetched into the cache: they lie far apart. */
#define AHEAD 8u

static void take_due(
	struct external_sort *sorter, const struct sort_key *sorted, size_t nr, bool is_all)
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
static void keep_others(struct external_sort *sorter, const struct sort_key *others, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (others[i].at != i) {
			memcpy(sorter->records + i * sorter->bytes,
				sorter->records + others[i].at * sorter->bytes, sorter->bytes);
		}
	}
	sorter->nr = nr;
	sorter->nr_seen = 0;
}

/*
 * Splits the records into those that are due and the others, without moving any; only the others
 * move, and only once.
 */
static void hand_out(struct external_sort *sorter, bool is_all)
{
	struct sort_key *due = mem_resize(NULL, 3 * sorter->nr + 1, sizeof(*due));
	struct sort_key *spare = due + sorter->nr, *others = spare + sorter->nr;
	size_t nr = 0, nr_others = 0;

	for (size_t i = 0; i < sorter->nr; i++) {
		const struct sort_key key = key_of(sorter, i);

		if (is_due(sorter, sorter->records + i * sorter->bytes, is_all)) {
			due[nr++] = key;
		} else {
			others[nr_others++] = key;
		}
	}
	take_due(sorter, key_sort(due, spare, nr, compare_at, sorter), nr, is_all);
	keep_others(sorter, others, nr_others);
	free(due);
}

/*
 * Makes room for a record, where there is none or a run is full: hands out, cuts, writes a run into
 * the file. Memory only grows if it is more than half full then.
 */
static void make_room(struct external_sort *sorter)
{
	bool is_full = sorter->nr >= sorter->run_records && !sorter->has_no_room;

	if (sorter->take && sorter->nr >= sorter->run_records) {
		hand_out(sorter, false);
	}
	if (is_full && sorter->most) {
		sort(sorter);
	} else if (is_full && sorter->nr > sorter->run_records / 2) {
		end_run(sorter);
	}
	if (sorter->nr >= sorter->capacity - sorter->capacity / 2) {
		sorter->records = array_double(sorter->records, &sorter->capacity, sorter->bytes);
	}
}

void external_sort_no_earlier(struct external_sort *sorter, uint64_t key)
{
	sorter->no_earlier = key > sorter->no_earlier ? key : sorter->no_earlier;
}

void external_sort_release(struct external_sort *sorter, uint64_t key)
{
	external_sort_no_earlier(sorter, key);
	if (has_due(sorter)) {
		hand_out(sorter, false);
	}
}

/* ---- adding ---- */

void *external_sort_add(struct external_sort *sorter)
{
	struct external_sort_head *head;

	if (sorter->nr == sorter->capacity ||
		(sorter->nr >= sorter->run_records && !sorter->has_no_room)) {
		make_room(sorter);
	}
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
	sorter->nr = 0;
	begin_again(sorter);
}

const void *external_sort_at(struct external_sort *sorter, size_t place)
{
	if (place < sorter->place) {
		begin_again(sorter);
	}
	for (; sorter->place < place; sorter->place++) {
		drop_first(sorter);
	}
	return sorter->heap[0].record;
}

/* ---- there and back ---- */

/* Writes the changed records behind the runs in the file. */
static bool write_changed(struct external_sort *sorter, void (*change)(void *context, void *record),
	void *context, char *window)
{
	size_t most = window_records(sorter), first = 0;

	for (size_t i = 0; i < sorter->nr_kept; i++) {
		char *record = window + (i - first) * sorter->bytes;

		memcpy(record, external_sort_at(sorter, i), sorter->bytes);
		change(context, record);
		if (i + 1 == first + most || i + 1 == sorter->nr_kept) {
			if (!temp_file_write(sorter->fd, sorter->file_bytes + first * sorter->bytes,
				    window, (i + 1 - first) * sorter->bytes)) {
				return false;
			}
			first = i + 1;
		}
	}
	return true;
}

static void read_changed(struct external_sort *sorter,
	void (*use)(void *context, const void *record), void *context, char *window)
{
	size_t most = window_records(sorter);

	for (size_t left = sorter->nr_kept; left;) {
		size_t nr = left < most ? left : most;

		left -= nr;
		temp_file_read_back(sorter->fd, sorter->file_bytes + left * sorter->bytes, window,
			nr * sorter->bytes);
		while (nr-- > 0) {
			use(context, window + nr * sorter->bytes);
		}
	}
}

bool external_sort_rewrite(struct external_sort *sorter,
	void (*change)(void *context, void *record), void (*use)(void *context, const void *record),
	void *context)
{
	bool is_good;
	char *window;

	if (sorter->nr_runs == 1) { /* in memory */
		for (size_t i = 0; i < sorter->nr_kept; i++) {
			change(context, sorter->records + i * sorter->bytes);
		}
		for (size_t i = sorter->nr_kept; i-- > 0;) {
			use(context, sorter->records + i * sorter->bytes);
		}
		return true;
	}
	window = mem_resize(NULL, window_records(sorter), sorter->bytes);
	is_good = write_changed(sorter, change, context, window);
	if (is_good) {
		read_changed(sorter, use, context, window);
	}
	free(window);
	return is_good;
}

size_t external_sort_nr_added(const struct external_sort *sorter)
{
	return sorter->nr_added;
}

size_t external_sort_nr(const struct external_sort *sorter)
{
	return sorter->nr_kept;
}
