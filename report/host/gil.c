/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for Python's lock (GIL) by thread, and what other threads ran meanwhile: the one that has
 * the lock is among them.
 *
 * Memory: 24 bytes for each wait of a process and, if calls of the system were recorded, its CPU
 * samples in Python (timed_samples.h).
 */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/budget/timed_samples.h"
#include "report/host/os_threads.h"
#include "report/model/os_kind.h"
#include "report/util/hash.h"
#include "report/util/idmap.h"
#include "report/util/sort.h"

struct waiting_thread {
	struct {
		struct process *process;
		uint64_t thread; /* its number in the stream */
	} key;
	uint32_t row;
	UT_hash_handle hh;
};

struct wait {
	uint64_t begin_ns, end_ns;
	uint32_t row;
};

/* The number of samples of a stack, or at a place: a number of string_pool.h. */
struct count {
	uint64_t of, nr;
};

/* What other threads ran while the thread of a row waited. */
struct meanwhile {
	struct count most; /* the place with most samples */
	uint64_t nr_samples;
};

struct row {
	const struct waiting_thread *thread;
	struct meanwhile meanwhile;
};

struct gil_view {
	struct view_input input;
	struct keyed_stats stats; /* by thread that waits */
	struct waiting_thread *threads;
	struct row *rows; /* as many as stats has */
	size_t row_capacity;
	/* of the process that is being read */
	struct wait *waits;
	size_t nr_waits, wait_capacity;
	struct timed_samples samples;
	bool has_calls, has_samples;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_os_call, COLS(api, begin, dur, thread, call), 0},
	{GPROF_TABLE_cpu_sample, TIMED_SAMPLE_COLUMNS, 0},
};

/* ---- reading ---- */

/* Without calls of the system nothing waits. */
static bool needs(void *context, struct process *process, unsigned int table)
{
	const struct stream_table *calls = stream_table(process->stream, GPROF_TABLE_os_call);

	(void)context;
	(void)table;
	return calls && calls->nr_rows;
}

static uint32_t find_row(struct gil_view *view, struct process *process, uint64_t thread)
{
	size_t nr = view->stats.nr_rows;
	struct waiting_thread key, *found;

	memset(&key, 0, sizeof(key));
	key.key.process = process;
	key.key.thread = thread;
	HASH_FIND(hh, view->threads, &key.key, sizeof(key.key), found);
	if (found) {
		return found->row;
	}
	hash_put(view->threads, key, &key.key, found);
	found->row =
		keyed_stats_find(&view->stats, nr, os_thread_name(process, (uint32_t)thread), 0);
	view->rows = array_grow(view->rows, nr, &view->row_capacity, sizeof(*view->rows));
	view->rows[nr] = (struct row){.thread = found};
	return found->row;
}

static void add_calls(struct gil_view *view, struct process *process, const struct batch *b)
{
	view->has_calls = true;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t name = process_call_name(process, b->col[COL_api_call][i], NULL);
		struct wait *wait;

		if (os_kind_of(name) != GPROF_OS_GIL) {
			continue;
		}
		view->waits = array_grow(
			view->waits, view->nr_waits, &view->wait_capacity, sizeof(*view->waits));
		wait = &view->waits[view->nr_waits++];
		wait->begin_ns = clock_map_time(&process->host_clock, b->col[COL_api_begin][i]);
		wait->end_ns = wait->begin_ns +
			       clock_map_duration(&process->host_clock, b->col[COL_api_dur][i]);
		wait->row = find_row(view, process, b->col[COL_api_thread][i]);
		histogram_add(&view->stats.times, wait->row, wait->end_ns - wait->begin_ns);
	}
}

static void add_samples(struct gil_view *view, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct timed_sample sample = timed_sample_of(process, b, i);

		if (mixed_stack_has_python(sample.stack)) {
			timed_samples_add(&view->samples, &sample);
		}
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	if (b->table == GPROF_TABLE_os_call) {
		add_calls(context, process, b);
	} else {
		add_samples(context, process, b);
	}
}

/* ---- what others run meanwhile ---- */

static int by_row(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return COMPARE(x->row, y->row);
}

static void add_count(struct idmap *counts, uint64_t of, uint64_t nr)
{
	struct count *count = idmap_put(counts, of);

	count->of = of;
	count->nr += nr;
}

/* Counts the samples of other threads than `task` in a wait, by their stacks. */
static void count_stacks(
	const struct gil_view *view, const struct wait *wait, uint32_t task, struct idmap *stacks)
{
	const struct timed_samples *samples = &view->samples;

	for (size_t i = timed_samples_from(samples, wait->begin_ns);
		i < samples->nr && samples->all[i].time_ns < wait->end_ns; i++) {
		if (samples->all[i].task != task) {
			add_count(stacks, samples->all[i].stack, 1);
		}
	}
}

/* If several places have most samples, the one that was met first counts. */
static struct meanwhile meanwhile_of(struct process *process, const struct idmap *stacks)
{
	struct meanwhile meanwhile = {.nr_samples = 0};
	struct idmap places;

	idmap_init(&places, sizeof(struct count));
	for (size_t i = 0; i < stacks->nr; i++) {
		const struct count *stack = idmap_at(stacks, i);
		uint32_t place = mixed_stack_place(process, stack->of);

		if (place) {
			add_count(&places, place, stack->nr);
			meanwhile.nr_samples += stack->nr;
		}
	}
	for (size_t i = 0; i < places.nr; i++) {
		const struct count *place = idmap_at(&places, i);

		if (place->nr > meanwhile.most.nr) {
			meanwhile.most = *place;
		}
	}
	idmap_fini(&places);
	return meanwhile;
}

/* Finds it for the row whose waits begin at `first`; returns where those of the next row begin. */
static size_t find_meanwhile(struct gil_view *view, struct process *process, size_t first)
{
	uint32_t number = view->waits[first].row;
	struct row *row = &view->rows[number];
	uint32_t task = process_tid(process, (uint32_t)row->thread->key.thread);
	struct idmap stacks;
	size_t next = first;

	idmap_init(&stacks, sizeof(struct count));
	for (; next < view->nr_waits && view->waits[next].row == number; next++) {
		count_stacks(view, &view->waits[next], task, &stacks);
	}
	row->meanwhile = meanwhile_of(process, &stacks);
	idmap_fini(&stacks);
	return next;
}

static void end(void *context, struct process *process)
{
	struct gil_view *view = context;

	if (view->nr_waits) {
		timed_samples_sort(&view->samples);
		qsort(view->waits, view->nr_waits, sizeof(*view->waits), by_row);
	}
	for (size_t next = 0; next < view->nr_waits;) {
		next = find_meanwhile(view, process, next);
	}
	view->has_samples |= view->samples.nr != 0;
	view->nr_waits = 0;
	timed_samples_fini(&view->samples);
}

/* ---- the table ---- */

struct gil_row {
	struct keyed_stats_row row;
	const struct process *process;
	uint64_t nr_samples, nr_most, most; /* of CPU samples meanwhile; most: a name */
};

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of waits"),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true, VIEW_PID(gil_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_minor = true, VIEW_RANK(gil_row, process)),
	TABLE_COLUMN("name", "Thread", TABLE_NAME, .help = "that waited",
		TABLE_MEMBER(keyed_stats_row, name)),
	TABLE_COLUMN("meanwhile_pct", "% of samples", TABLE_PERCENT, .is_wide_only = true,
		.help = "of the CPU samples of other threads in Python meanwhile: those at that "
			"line",
		TABLE_SHARE(gil_row, nr_most, nr_samples)),
	TABLE_COLUMN("meanwhile", "Mostly at", TABLE_NAME,
		.help = "the line of Python that other threads run most meanwhile",
		TABLE_IF(gil_row, most, nr_samples)),
};

static void fill_table(void *state, struct table *table)
{
	struct gil_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->stats);
	total_ns = keyed_stats_total_ns(&view->stats);
	for (size_t i = 0; i < view->stats.nr_rows; i++) {
		const struct meanwhile *meanwhile = &view->rows[i].meanwhile;
		struct gil_row row = {view->stats.rows[i], view->rows[i].thread->key.process,
			meanwhile->nr_samples, meanwhile->most.nr, meanwhile->most.of};

		keyed_stats_add(&view->stats, i, total_ns, &row, table);
	}
	table_sort(table, "total");
	/* Two names need the room of a terminal. */
	table_set_wide(table, "median", true);
	table_set_wide(table, "p99", true);
	table_set_wide(table, "min", true);
	table_set_wide(table, "max", true);
	keyed_stats_note(&view->stats, table);
	if (!view->has_calls) {
		table_note(table,
			"Calls of the operating system were not recorded; gprof-record --os "
			"records them. Samples of waits are in the view wait-lines.");
	} else if (table->nr_rows && !view->has_samples) {
		table_note(table,
			"CPU samples would say what other threads run meanwhile; none were "
			"recorded.");
	}
}

static void fini(void *state)
{
	struct gil_view *view = state;

	hash_free(view->threads);
	free(view->rows);
	free(view->waits);
	timed_samples_fini(&view->samples);
}

VIEW(gil, 313) = {
	.name = "gil",
	.subject = VIEW_ABOUT_HOST,
	.help = "waits for Python's lock (GIL) by thread, and what other threads run meanwhile",
	.about = "Only one thread of a process runs Python at a time. The table has waits of at "
		 "least GPROF_OS_MIN_NS. Of the threads that run meanwhile, one holds the lock; "
		 "others may be in C code that has released it.",
	.is_empty_hidden = true,
	.title = "Waits for Python's lock",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct gil_view, stats),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), needs, NULL, on_batch, end, false},
	.fill = fill_table,
	.fini = fini,
};
