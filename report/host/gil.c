/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for Python's lock (GIL) by thread, and what other threads ran meanwhile: the one that has
 * the lock is among them.
 *
 * Memory: 24 bytes for each wait, and for each CPU sample in Python.
 */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/host/os_threads.h"
#include "report/model/mixed_stack.h"
#include "report/model/os_kind.h"
#include "report/util/hash.h"
#include "report/util/idmap.h"

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

struct sample {
	uint64_t time_ns, stack;
	uint32_t task;
};

/* Samples at one place of the code, which is a number of string_pool.h. */
struct place_sum {
	uint32_t place; /* 0: none */
	uint64_t nr;
};

/* The waits and samples of one process, then what of its rows is found in them. */
struct gil_view {
	struct view_input input;
	struct keyed_stats stats; /* by thread that waits */
	struct waiting_thread *threads;
	struct waiting_thread **thread_of; /* of each row */
	struct meanwhile {
		struct place_sum most;
		uint64_t nr_all;
	} * meanwhile; /* of each row */
	size_t thread_capacity, meanwhile_capacity;
	struct wait *waits;
	struct sample *samples;
	size_t nr_waits, wait_capacity, nr_samples, sample_capacity;
	bool has_calls, has_samples;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_os_call,
		COL_BIT(COL_api_begin) | COL_BIT(COL_api_dur) | COL_BIT(COL_api_thread) |
			COL_BIT(COL_api_call),
		0},
	{GPROF_TABLE_cpu_sample,
		COL_BIT(COL_cpu_sample_time) | COL_BIT(COL_cpu_sample_task) |
			COL_BIT(COL_cpu_sample_native_stack) | COL_BIT(COL_cpu_sample_py_stack),
		0},
};

/* ---- reading ---- */

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
	view->thread_of =
		array_grow(view->thread_of, nr, &view->thread_capacity, sizeof(*view->thread_of));
	view->thread_of[nr] = found;
	view->meanwhile = array_grow(
		view->meanwhile, nr, &view->meanwhile_capacity, sizeof(*view->meanwhile));
	view->meanwhile[nr] = (struct meanwhile){0};
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
		uint64_t stack = mixed_stack_id(
			b->col[COL_cpu_sample_native_stack][i], b->col[COL_cpu_sample_py_stack][i]);

		if (!mixed_stack_has_python(stack)) {
			continue;
		}
		view->has_samples = true;
		view->samples = array_grow(view->samples, view->nr_samples, &view->sample_capacity,
			sizeof(*view->samples));
		view->samples[view->nr_samples++] = (struct sample){
			clock_map_time(&process->host_clock, b->col[COL_cpu_sample_time][i]), stack,
			(uint32_t)b->col[COL_cpu_sample_task][i]};
	}
}

static void begin(void *context, struct process *process)
{
	struct gil_view *view = context;

	(void)process;
	view->nr_waits = view->nr_samples = 0;
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

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int by_row(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->row != y->row) {
		return x->row > y->row ? 1 : -1;
	}
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Returns the first sample from a time on. */
static size_t first_sample(const struct gil_view *view, uint64_t time_ns)
{
	size_t low = 0, high = view->nr_samples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->samples[middle].time_ns < time_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Counts the samples of other threads than `task` in a wait, by their places. */
static void count_places(const struct gil_view *view, struct process *process,
	const struct wait *wait, uint32_t task, struct idmap *places)
{
	for (size_t i = first_sample(view, wait->begin_ns);
		i < view->nr_samples && view->samples[i].time_ns < wait->end_ns; i++) {
		const struct sample *sample = &view->samples[i];
		uint32_t place =
			sample->task != task ? mixed_stack_place(process, sample->stack) : 0;

		if (place) {
			struct place_sum *sum = idmap_put(places, place);

			sum->place = place;
			sum->nr++;
		}
	}
}

/*
 * Finds it for one row from its waits, which begin at `first`; returns where those of the next one
 * begin. Of places with as many samples, the one that was met first counts.
 */
static size_t find_meanwhile(struct gil_view *view, struct process *process, size_t first)
{
	uint32_t row = view->waits[first].row;
	uint32_t task = process_tid(process, (uint32_t)view->thread_of[row]->key.thread);
	struct meanwhile *meanwhile = &view->meanwhile[row];
	struct idmap places;
	size_t next = first;

	idmap_init(&places, sizeof(struct place_sum));
	for (; next < view->nr_waits && view->waits[next].row == row; next++) {
		count_places(view, process, &view->waits[next], task, &places);
	}
	for (size_t i = 0; i < places.nr; i++) {
		const struct place_sum *sum = idmap_at(&places, i);

		meanwhile->nr_all += sum->nr;
		if (sum->nr > meanwhile->most.nr) {
			meanwhile->most = *sum;
		}
	}
	idmap_fini(&places);
	return next;
}

static void end(void *context, struct process *process)
{
	struct gil_view *view = context;

	if (!view->nr_samples || !view->nr_waits) {
		return;
	}
	qsort(view->samples, view->nr_samples, sizeof(*view->samples), by_time);
	qsort(view->waits, view->nr_waits, sizeof(*view->waits), by_row);
	for (size_t next = 0; next < view->nr_waits;) {
		next = find_meanwhile(view, process, next);
	}
}

/* ---- the table ---- */

enum column { MEDIAN = 4, MAX = 7, PID = KEYED_STATS_NR_COLUMNS, RANK, THREAD, SHARE, PLACE };

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of waits"),
	[PID] = TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true),
	[RANK] = TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_minor = true),
	[THREAD] = TABLE_COLUMN("name", "Thread", TABLE_NAME, .help = "that waited",
		TABLE_MEMBER(keyed_stats_row, name)),
	[SHARE] = TABLE_COLUMN("meanwhile_pct", "% of samples", TABLE_PERCENT, .is_wide_only = true,
		.help = "CPU samples of other threads in Python during the waits that are there"),
	[PLACE] = TABLE_COLUMN("meanwhile", "Mostly at", TABLE_NAME,
		.help = "the line of Python with most of them"),
};

static void fill_table(void *state, struct table *table)
{
	struct gil_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->stats);
	total_ns = keyed_stats_total_ns(&view->stats);
	for (size_t i = 0; i < view->stats.nr_rows; i++) {
		const struct meanwhile *meanwhile = &view->meanwhile[i];
		struct table_cell *cells = keyed_stats_add(&view->stats, i, total_ns, table);

		view_fill_process(view->thread_of[i]->key.process, &cells[PID]);
		if (meanwhile->nr_all) {
			table_set_share(&cells[SHARE], (double)meanwhile->most.nr,
				(double)meanwhile->nr_all);
			table_set_integer(&cells[PLACE], meanwhile->most.place);
		}
	}
	table_sort(table, "total");
	/* Two names need the room of a terminal. */
	for (unsigned int i = MEDIAN; i <= MAX; i++) {
		table->columns[i].is_wide_only = true;
	}
	keyed_stats_note(&view->stats, table);
	if (!view->has_calls) {
		table_note(table,
			"Calls of the operating system were not recorded; gprof-record --os "
			"records them.");
	} else if (table->nr_rows && !view->has_samples) {
		table_note(
			table, "gprof-record --cpu also records what other threads run meanwhile.");
	}
}

static void fini(void *state)
{
	struct gil_view *view = state;

	hash_free(view->threads);
	free(view->thread_of);
	free(view->meanwhile);
	free(view->waits);
	free(view->samples);
}

VIEW(gil, 314) = {
	.name = "gil",
	.subject = VIEW_ABOUT_HOST,
	.help = "waits for Python's lock (GIL) by thread, and what other threads run meanwhile",
	.about = "Only one thread of a process runs Python at a time. Waits of at least "
		 "GPROF_OS_MIN_NS are there. The code that runs meanwhile mostly holds the lock; C "
		 "code that has released it is counted as well.",
	.is_empty_hidden = true,
	.title = "Waits for Python's lock",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct gil_view, stats),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end, false},
	.fill = fill_table,
	.fini = fini,
};
