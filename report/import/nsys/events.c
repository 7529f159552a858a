/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads all tables of events at once, each sorted by SQLite, and writes their rows by their ends:
 * the order of streams. What happens on the host comes by its begin, and waits here for its end;
 * so nesting is known when an event begins.
 *
 * Memory: what is open at one time. SQLite sorts in temporary files what does not fit its cache.
 */
#include "report/import/nsys/trace.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/heap.h"
#include "report/util/progress.h"

/* Rows of a group; op_load.h explains its cost for the reader. */
#define GROUP_ROWS 65536u

struct cursor {
	const struct nsys_source *source;
	struct nsys_query *query;
	uint64_t begin; /* of the current row */
	uint64_t key;	/* when it is due */
};

bool nsys_tick(const struct nsys_query *query, unsigned int column, uint64_t *tick)
{
	int64_t ns;

	if (!nsys_query_integer(query, column, &ns) || ns < -(int64_t)NSYS_TICKS_BEFORE / 2 ||
		ns > INT64_MAX / 4) {
		return false;
	}
	*tick = (uint64_t)(ns + (int64_t)NSYS_TICKS_BEFORE);
	return true;
}

struct nsys_thread *nsys_thread_of(struct nsys_trace *trace, uint64_t global_tid, uint64_t seen)
{
	struct nsys_thread *thread = idmap_put(&trace->threads, global_tid & NSYS_ID_MASK);

	if (!thread->id) {
		thread->id = (uint32_t)trace->threads.nr;
		thread->tid = global_tid & NSYS_ID_MASK;
		thread->seen = UINT64_MAX;
	}
	thread->seen = seen < thread->seen ? seen : thread->seen;
	return thread;
}

/* ---- open events ---- */

/* If two end together, the one that begins later comes first: it is the inner one. */
static bool ends_before(const void *one, const void *other)
{
	const struct nsys_open *a = one, *b = other;

	if (a->end != b->end) {
		return a->end < b->end;
	}
	return a->begin != b->begin ? a->begin > b->begin : a->order > b->order;
}

struct nsys_open *nsys_open_add(
	struct nsys_trace *trace, uint8_t table, uint32_t tid, uint64_t begin, uint64_t end)
{
	size_t at = trace->nr_open++;

	trace->open = array_grow(trace->open, at, &trace->open_capacity, sizeof(*trace->open));
	trace->open[at] = (struct nsys_open){.begin = begin,
		.end = end,
		.order = trace->nr_orders++,
		.thread = tid,
		.table = table};
	return &trace->open[heap_rise(trace->open, at, sizeof(*trace->open), ends_before)];
}

static struct nsys_open take_first(struct nsys_trace *trace)
{
	struct nsys_open first = trace->open[0];

	trace->open[0] = trace->open[--trace->nr_open];
	heap_sink(trace->open, trace->nr_open, sizeof(*trace->open), ends_before);
	return first;
}

static void count_row(struct nsys_trace *trace, uint64_t tick)
{
	if (++trace->nr_rows % GROUP_ROWS == 0) {
		import_out_close_group(trace->out, tick);
		progress_add(nsys_database_read_bytes(trace->database));
	}
}

static void close_until(struct nsys_trace *trace, uint64_t tick)
{
	while (trace->nr_open && trace->open[0].end <= tick) {
		struct nsys_open open = take_first(trace);

		nsys_host_close(trace, &open);
		count_row(trace, open.end);
	}
}

/* ---- sources ---- */

/* Moves to the next row with times; false behind the last one. */
static bool advance(struct nsys_trace *trace, struct cursor *cursor)
{
	while (nsys_query_next(cursor->query)) {
		bool is_by_begin = cursor->source->is_by_begin;

		if (nsys_tick(cursor->query, 0, &cursor->begin) &&
			nsys_tick(cursor->query, is_by_begin ? 0 : 1, &cursor->key)) {
			return true;
		}
		trace->nr_incomplete++;
	}
	nsys_table_close(trace, cursor->query);
	cursor->query = NULL;
	return false;
}

/* Returns cursors of the sources that have a row, to be freed. */
static struct cursor *open_sources(struct nsys_trace *trace, size_t *nr_open)
{
	const struct nsys_source *source;
	struct cursor *cursors = NULL;
	size_t nr = 0, capacity = 0;

	for (size_t i = 0; (source = nsys_source_at(i)); i++) {
		const struct nsys_query_want want = {.table = source->table,
			.columns = source->columns,
			.nr_columns = source->nr_columns,
			.nr_needed = source->nr_needed,
			.key = source->key,
			.where = source->where,
			.order = source->is_by_begin ? "1, 2 DESC" : "2, 1 DESC"};

		cursors = array_grow(cursors, nr, &capacity, sizeof(*cursors));
		cursors[nr].source = source;
		cursors[nr].query = nsys_table_open(trace, &want);
		if (cursors[nr].query && advance(trace, &cursors[nr])) {
			nr++;
		}
	}
	*nr_open = nr;
	return cursors;
}

static struct cursor *find_next(struct cursor *cursors, size_t nr)
{
	struct cursor *next = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (cursors[i].query && (!next || cursors[i].key < next->key)) {
			next = &cursors[i];
		}
	}
	return next;
}

void nsys_events_read(struct nsys_trace *trace)
{
	size_t nr;
	struct cursor *cursors = open_sources(trace, &nr), *next;

	while ((next = find_next(cursors, nr))) {
		close_until(trace, next->key);
		trace->first_tick =
			next->begin < trace->first_tick ? next->begin : trace->first_tick;
		trace->last_tick = next->key > trace->last_tick ? next->key : trace->last_tick;
		next->source->take(trace, next->query, next->begin);
		if (!next->source->is_by_begin) {
			count_row(trace, next->key);
		}
		advance(trace, next);
	}
	free(cursors);
	close_until(trace, UINT64_MAX);
	import_out_close_group(trace->out, 0);
}

void nsys_events_fini(struct nsys_trace *trace)
{
	free(trace->open);
}
