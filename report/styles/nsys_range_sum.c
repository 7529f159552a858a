/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by the pushed NVTX ranges that their launch lies in: each counts in every one of them. */
#include <stdlib.h>

#include "report/util/hash.h"
#include "report/styles/nsys_reports.h"
#include "report/styles/nsys_walk.h"

/* Kernels of a range on a thread, or outside of all: name 0. */
struct kern_key {
	uint32_t process, thread, range, kernel;
};

struct kern_row {
	struct kern_key key;
	uint32_t place;	    /* in the tally */
	uint64_t nr_ranges; /* instances of the range with that kernel */
	uint32_t *last;	    /* that was counted, by level */
	size_t nr_levels, capacity;
	UT_hash_handle hh;
};

struct kern_view {
	struct nsys_walk *walk; /* first */
	struct view_input input;
	struct keyed_stats kernels;
	struct kern_row *rows;
};

static void init(void *state)
{
	struct kern_view *view = state;

	view->walk = nsys_walk_create(&view->input);
}

static void fini(void *state)
{
	struct kern_view *view = state;

	nsys_walk_destroy(view->walk);
	for (struct kern_row *row = view->rows; row; row = row->hh.next) {
		free(row->last);
	}
	hash_free(view->rows);
}

static void take_kernel(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->table == GPROF_TABLE_kernel) {
		nsys_walk_take_record(context, record, call, op);
	}
}

const struct view_class view_nsys_range_sum = {
	.name = "nsys kernels of ranges",
	.is_asked_only = true,
	.scan = NSYS_WALK_SCAN,
	.ops = {.begin = nsys_walk_begin_ops, .record = take_kernel},
	VIEW_KEYED_STATE(struct kern_view, kernels),
	.init = init,
	.fini = fini,
};

static struct kern_row *find_kern_row(struct kern_view *view, const struct kern_key *key)
{
	struct kern_row *row;

	HASH_FIND(hh, view->rows, key, sizeof(*key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = *key;
		/* Rows are found by their keys here, so a number distinguishes them there. */
		row->place =
			keyed_stats_find(&view->kernels, view->kernels.nr_rows, key->kernel, 0);
		HASH_ADD(hh, view->rows, key, sizeof(row->key), row);
	}
	return row;
}

static struct kern_row *add_kernel(
	struct kern_view *view, const struct trace_event *event, uint32_t range)
{
	const struct kern_key key = {.process = event->process,
		.thread = event->thread,
		.range = range,
		.kernel = trace_name(view->walk->records, event)};
	struct kern_row *row = find_kern_row(view, &key);

	if (event->is_timed) {
		histogram_add(&view->kernels.times, row->place, event->dur_ns);
	} else {
		view->kernels.rows[row->place].untimed++;
	}
	return row;
}

/* On a thread one range of a level is open at a time. */
static void count_range(struct kern_row *row, const struct nsys_range *range)
{
	while (row->nr_levels <= range->level) {
		row->last =
			array_grow(row->last, row->nr_levels, &row->capacity, sizeof(*row->last));
		row->last[row->nr_levels++] = 0;
	}
	row->nr_ranges += row->last[range->level] != range->id;
	row->last[range->level] = range->id;
}

static void take_launch(void *context, const struct trace_event *event,
	const struct nsys_range *ranges, size_t nr_ranges)
{
	struct kern_view *view = context;

	for (size_t i = 0; i < nr_ranges; i++) {
		count_range(add_kernel(view, event, ranges[i].name), &ranges[i]);
	}
	if (!nr_ranges) {
		add_kernel(view, event, 0);
	}
}

struct shown_row {
	struct keyed_stats_times times;
	uint32_t range, name;
	struct nsys_thread thread;
	uint64_t total_ns, nr_ranges;
	const char *style; /* NULL outside of all ranges */
};

static void add_kern(struct kern_view *view, const struct nsys_ask *ask, const struct kern_row *row,
	struct table *table)
{
	table_add(table,
		&(struct shown_row){.times = keyed_stats_times(&view->kernels, row->place, 0),
			.range = row->key.range,
			.name = nsys_kernel_name(ask, row->key.kernel),
			.thread = nsys_thread(
				view->walk->records->processes[row->key.process], row->key.thread),
			.total_ns = histogram_sum(&view->kernels.times.groups[row->place]),
			.nr_ranges = row->nr_ranges,
			.style = row->key.range ? "PushPop" : NULL});
}

struct table *nsys_nvtx_kern_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("range", "NVTX Range", TABLE_TEXT, TABLE_NONZERO(shown_row, range)),
		TABLE_COLUMN("style", "Style", TABLE_TEXT, TABLE_MEMBER(shown_row, style)),
		TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(shown_row, thread.pid)),
		TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_MEMBER(shown_row, thread.tid)),
		TABLE_COLUMN(
			"ranges", "NVTX Inst", TABLE_COUNT, TABLE_IF(shown_row, nr_ranges, range)),
		TABLE_COLUMN(
			"calls", "Kern Inst", TABLE_COUNT, TABLE_MEMBER(shown_row, times.calls)),
		TABLE_COLUMN("total_ns", "Total Time (ns)", TABLE_TIME,
			TABLE_MEMBER(shown_row, total_ns)),
		TABLE_COLUMN("avg_ns", "Avg (ns)", TABLE_MEAN_TIME,
			TABLE_MEMBER(shown_row, times.avg_ns)),
		TABLE_COLUMN("median_ns", "Med (ns)", TABLE_MEAN_TIME,
			TABLE_MEMBER(shown_row, times.median_ns)),
		TABLE_COLUMN(
			"min_ns", "Min (ns)", TABLE_TIME, TABLE_MEMBER(shown_row, times.min_ns)),
		TABLE_COLUMN(
			"max_ns", "Max (ns)", TABLE_TIME, TABLE_MEMBER(shown_row, times.max_ns)),
		TABLE_COLUMN("stddev_ns", "StdDev (ns)", TABLE_MEAN_TIME,
			TABLE_MEMBER(shown_row, times.stddev_ns)),
		TABLE_COLUMN("name", "Kernel Name", TABLE_TEXT, TABLE_MEMBER(shown_row, name)),
	};
	struct kern_view *view = views[0];
	struct table *table =
		table_create("rows", "", columns, sizeof(columns) / sizeof(columns[0]));

	nsys_walk_run(view->walk, take_launch, NULL, view);
	keyed_stats_finish(&view->kernels);
	for (const struct kern_row *row = view->rows; row; row = row->hh.next) {
		add_kern(view, ask, row, table);
	}
	table_sort(table, "total");
	return table;
}
