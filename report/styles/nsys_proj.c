/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushed NVTX ranges one by one, and what was launched in them: a range's projection is from the
 * begin of the first to the end of the last device work whose call lies in it, on its thread, also
 * in ranges in it, whenever that ran. Ranges of start and end belong to no thread and are not
 * projected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/styles/nsys_reports.h"
#include "report/styles/nsys_walk.h"

struct proj_view {
	struct nsys_walk *walk; /* first */
	struct view_input input;
	struct external_sort *rows; /* struct nsys_range, by their begins */
};

static void init(void *state)
{
	struct proj_view *view = state;

	view->walk = nsys_walk_create(&view->input);
	view->rows = external_sort_create(sizeof(struct nsys_range), 0, 0);
}

static void fini(void *state)
{
	struct proj_view *view = state;

	nsys_walk_destroy(view->walk);
	external_sort_destroy(view->rows);
}

const struct view_class view_nsys_pushpop = {
	.name = "nsys pushed ranges",
	.is_asked_only = true,
	.scan = NSYS_WALK_SCAN,
	VIEW_STATE(struct proj_view),
	.init = init,
	.fini = fini,
};

const struct view_class view_nsys_proj = {
	.name = "nsys projected ranges",
	.is_asked_only = true,
	.scan = NSYS_WALK_SCAN,
	.ops = {.begin = nsys_walk_begin_ops, .record = nsys_walk_take_record},
	VIEW_STATE(struct proj_view),
	.init = init,
	.fini = fini,
};

/* ---- a row for each range ---- */

/* A range as shown. */
struct range_row {
	struct nsys_range range;
	uint64_t ns, self_ns, proj_ns;
	struct nsys_thread thread;
	const char *style;
};

/* The data that the table of a trace owns. */
struct range_rows {
	struct external_sort *rows;
	struct process **processes;
	const struct table_column *columns;
	unsigned int nr_columns;
};

static void fill_row(void *context, size_t row, struct table_cell *cells)
{
	const struct range_rows *rows = context;
	const struct nsys_range *range = external_sort_at(rows->rows, row);
	uint64_t ns = range->end_ns - range->head.key;
	const struct range_row shown = {.range = *range,
		.ns = ns,
		.self_ns = ns > range->child_ns ? ns - range->child_ns : 0,
		.proj_ns = range->proj_end_ns - range->proj_begin_ns,
		.thread = nsys_thread(rows->processes[range->process], range->thread),
		.style = "PushPop"};

	table_fill(rows->columns, rows->nr_columns, &shown, cells);
}

static void destroy_rows(void *context)
{
	struct range_rows *rows = context;

	external_sort_destroy(rows->rows);
	free(rows);
}

static void keep_range(void *context, const struct nsys_range *range)
{
	struct proj_view *view = context;
	struct nsys_range *row = external_sort_add(view->rows);

	*row = *range;
	row->head.order = range->id;
}

static void keep_projected(void *context, const struct nsys_range *range)
{
	if (range->nr_activities) {
		keep_range(context, range);
	}
}

static struct table *trace_of(
	struct proj_view *view, const struct table_column *columns, unsigned int nr_columns)
{
	struct table *table = table_create("rows", "", columns, nr_columns);
	struct table_source *source = mem_zeroed(1, sizeof(*source));
	struct range_rows *rows = mem_zeroed(1, sizeof(*rows));

	external_sort_finish(view->rows);
	*rows = (struct range_rows){
		view->rows, view->walk->records->processes, columns, nr_columns};
	*source = (struct table_source){.context = rows, .row = fill_row, .destroy = destroy_rows};
	table_set_source(table, source, external_sort_nr(view->rows));
	view->rows = NULL;
	return table;
}

/* ":1:2:3", of more than NSYS_STACK the innermost. */
static void set_stack(const void *member, struct table_cell *cell)
{
	const struct nsys_range *range = member;
	uint32_t nr = range->level < NSYS_STACK ? range->level : NSYS_STACK;
	struct buf text = {0};

	buf_text(&text, range->level > NSYS_STACK ? ":..." : "");
	for (uint32_t i = 0; i < nr; i++) {
		buf_printf(&text, ":%u", range->stack[i]);
	}
	buf_printf(&text, ":%u", range->id);
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

static void set_tree(const void *member, struct table_cell *cell)
{
	const struct nsys_range *range = member;
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes = string_pool_text(range->name, &nr_bytes);

	buf_pad(&text, '-', 2 * (range->level < 64 ? range->level : 64));
	buf_add(&text, bytes, nr_bytes);
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

#define PLACE_COLUMNS                                                                            \
	TABLE_COLUMN("level", "Lvl", TABLE_ID, TABLE_MEMBER(range_row, range.level)),            \
		TABLE_COLUMN("children", "NumChild", TABLE_ID,                                   \
			TABLE_MEMBER(range_row, range.nr_children)),                             \
		TABLE_COLUMN("id", "RangeId", TABLE_ID, TABLE_MEMBER(range_row, range.id)),      \
		TABLE_COLUMN(                                                                    \
			"parent", "ParentId", TABLE_ID, TABLE_NONZERO(range_row, range.parent)), \
		TABLE_COLUMN(                                                                    \
			"stack", "RangeStack", TABLE_TEXT, TABLE_SET(range_row, range, set_stack))

struct table *nsys_nvtx_pushpop_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("start_ns", "Start (ns)", TABLE_TIME,
			TABLE_MEMBER(range_row, range.head.key)),
		TABLE_COLUMN(
			"end_ns", "End (ns)", TABLE_TIME, TABLE_MEMBER(range_row, range.end_ns)),
		TABLE_COLUMN(
			"duration_ns", "Duration (ns)", TABLE_TIME, TABLE_MEMBER(range_row, ns)),
		TABLE_COLUMN("child_ns", "DurChild (ns)", TABLE_TIME,
			TABLE_MEMBER(range_row, range.child_ns)),
		TABLE_COLUMN("self_ns", "DurNonChild (ns)", TABLE_TIME,
			TABLE_MEMBER(range_row, self_ns)),
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TABLE_MEMBER(range_row, range.name)),
		TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(range_row, thread.pid)),
		TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_MEMBER(range_row, thread.tid)),
		PLACE_COLUMNS,
		TABLE_COLUMN("tree", "NameTree", TABLE_TEXT, TABLE_SET(range_row, range, set_tree)),
	};
	struct proj_view *view = views[0];

	(void)ask;
	nsys_walk_run(view->walk, NULL, keep_range, view);
	return trace_of(view, columns, sizeof(columns) / sizeof(columns[0]));
}

struct table *nsys_nvtx_gpu_proj_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TABLE_MEMBER(range_row, range.name)),
		TABLE_COLUMN("proj_start_ns", "Projected Start (ns)", TABLE_TIME,
			TABLE_MEMBER(range_row, range.proj_begin_ns)),
		TABLE_COLUMN("proj_duration_ns", "Projected Duration (ns)", TABLE_TIME,
			TABLE_MEMBER(range_row, proj_ns)),
		TABLE_COLUMN("start_ns", "Orig Start (ns)", TABLE_TIME,
			TABLE_MEMBER(range_row, range.head.key)),
		TABLE_COLUMN("duration_ns", "Orig Duration (ns)", TABLE_TIME,
			TABLE_MEMBER(range_row, ns)),
		TABLE_COLUMN("style", "Style", TABLE_TEXT, TABLE_MEMBER(range_row, style)),
		TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(range_row, thread.pid)),
		TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_MEMBER(range_row, thread.tid)),
		TABLE_COLUMN("gpu_activities", "NumGPUOps", TABLE_ID,
			TABLE_MEMBER(range_row, range.nr_activities)),
		PLACE_COLUMNS,
	};
	struct proj_view *view = views[0];

	(void)ask;
	nsys_walk_run(view->walk, NULL, keep_projected, view);
	return trace_of(view, columns, sizeof(columns) / sizeof(columns[0]));
}

/* ---- sums of projections ---- */

/* Sums of a range's name beside its projections. */
struct proj_sum {
	uint64_t range_ns, nr_activities, levels, children;
};

struct proj_sums {
	struct keyed_stats tally; /* of projections */
	struct proj_sum *sums;
	size_t nr_sums, capacity;
};

/* A range without launches that have times has no projection, and no part in the sums. */
static void add_projection(void *context, const struct nsys_range *range)
{
	struct proj_sums *sums = context;
	struct proj_sum *sum;
	uint32_t row;

	if (!range->nr_activities) {
		return;
	}
	row = keyed_stats_find(&sums->tally, range->name, range->name, 0);
	if (row == sums->nr_sums) {
		sums->sums =
			array_grow(sums->sums, sums->nr_sums, &sums->capacity, sizeof(*sums->sums));
		sums->sums[sums->nr_sums++] = (struct proj_sum){0};
	}
	sum = &sums->sums[row];
	histogram_add(&sums->tally.times, row, range->proj_end_ns - range->proj_begin_ns);
	sum->range_ns += range->end_ns - range->head.key;
	sum->nr_activities += range->nr_activities;
	sum->levels += range->level;
	sum->children += range->nr_children;
}

struct proj_sum_row {
	struct keyed_stats_times times;
	struct proj_sum sum;
	uint32_t name;
	const char *style;
};

struct table *nsys_nvtx_gpu_proj_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Range", TABLE_TEXT, TABLE_MEMBER(proj_sum_row, name)),
		TABLE_COLUMN("style", "Style", TABLE_TEXT, TABLE_MEMBER(proj_sum_row, style)),
		TABLE_COLUMN("total_ns", "Total Proj Time (ns)", TABLE_TIME,
			TABLE_MEMBER(proj_sum_row, times.total_ns)),
		TABLE_COLUMN("range_ns", "Total Range Time (ns)", TABLE_TIME,
			TABLE_MEMBER(proj_sum_row, sum.range_ns)),
		TABLE_COLUMN("calls", "Range Instances", TABLE_COUNT,
			TABLE_MEMBER(proj_sum_row, times.calls)),
		TABLE_COLUMN("avg_ns", "Proj Avg (ns)", TABLE_MEAN_TIME,
			TABLE_MEMBER(proj_sum_row, times.avg_ns)),
		TABLE_COLUMN("median_ns", "Proj Med (ns)", TABLE_MEAN_TIME,
			TABLE_MEMBER(proj_sum_row, times.median_ns)),
		TABLE_COLUMN("min_ns", "Proj Min (ns)", TABLE_TIME,
			TABLE_MEMBER(proj_sum_row, times.min_ns)),
		TABLE_COLUMN("max_ns", "Proj Max (ns)", TABLE_TIME,
			TABLE_MEMBER(proj_sum_row, times.max_ns)),
		TABLE_COLUMN("stddev_ns", "Proj StdDev (ns)", TABLE_MEAN_TIME,
			TABLE_MEMBER(proj_sum_row, times.stddev_ns)),
		TABLE_COLUMN("gpu_activities", "Total GPU Ops", TABLE_COUNT,
			TABLE_MEMBER(proj_sum_row, sum.nr_activities)),
		TABLE_COLUMN("avg_gpu_activities", "Avg GPU Ops", TABLE_NUMBER,
			TABLE_MEAN(proj_sum_row, sum.nr_activities, times.calls)),
		TABLE_COLUMN("avg_level", "Avg Range Lvl", TABLE_NUMBER,
			TABLE_MEAN(proj_sum_row, sum.levels, times.calls)),
		TABLE_COLUMN("avg_children", "Avg Num Child", TABLE_NUMBER,
			TABLE_MEAN(proj_sum_row, sum.children, times.calls)),
	};
	struct table *table =
		table_create("rows", "", columns, sizeof(columns) / sizeof(columns[0]));
	struct proj_view *view = views[0];
	struct proj_sums sums = {0};

	(void)ask;
	keyed_stats_init(&sums.tally);
	nsys_walk_run(view->walk, NULL, add_projection, &sums);
	keyed_stats_finish(&sums.tally);
	for (size_t i = 0; i < sums.tally.nr_rows; i++) {
		table_add(table, &(struct proj_sum_row){keyed_stats_times(&sums.tally, i, 0),
					 sums.sums[i], sums.tally.rows[i].name, "PushPop"});
	}
	keyed_stats_fini(&sums.tally);
	free(sums.sums);
	table_sort(table, "total");
	return table;
}
