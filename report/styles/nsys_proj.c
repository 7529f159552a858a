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

/* The data that the table of a trace owns. */
struct range_rows {
	struct external_sort *rows;
	struct process **processes;
	void (*fill)(const struct range_rows *rows, const struct nsys_range *range,
		struct table_cell *cells);
};

static void fill_row(void *context, size_t row, struct table_cell *cells)
{
	const struct range_rows *rows = context;

	rows->fill(rows, external_sort_at(rows->rows, row), cells);
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

static struct table *trace_of(struct proj_view *view, const struct table_column *columns,
	unsigned int nr_columns,
	void (*fill)(const struct range_rows *rows, const struct nsys_range *range,
		struct table_cell *cells))
{
	struct table *table = table_create("rows", "", columns, nr_columns);
	struct table_source *source = mem_zeroed(1, sizeof(*source));
	struct range_rows *rows = mem_zeroed(1, sizeof(*rows));

	external_sort_finish(view->rows);
	*rows = (struct range_rows){view->rows, view->walk->records->processes, fill};
	*source = (struct table_source){.context = rows, .row = fill_row, .destroy = destroy_rows};
	table_set_source(table, source, external_sort_nr(view->rows));
	view->rows = NULL;
	return table;
}

/* ":1:2:3", of more than NSYS_STACK the innermost. */
static void set_stack(const struct nsys_range *range, struct table_cell *cell)
{
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

static void set_tree(const struct nsys_range *range, struct table_cell *cell)
{
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes = string_pool_text(range->name, &nr_bytes);

	buf_pad(&text, '-', 2 * (range->level < 64 ? range->level : 64));
	buf_add(&text, bytes, nr_bytes);
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

/* Lvl, NumChild, RangeId, ParentId, RangeStack. */
static void set_place(const struct nsys_range *range, struct table_cell *cells)
{
	table_set_integer(&cells[0], range->level);
	table_set_integer(&cells[1], range->nr_children);
	table_set_integer(&cells[2], range->id);
	if (range->parent) {
		table_set_integer(&cells[3], range->parent);
	}
	set_stack(range, &cells[4]);
}

static void fill_pushpop(
	const struct range_rows *rows, const struct nsys_range *range, struct table_cell *cells)
{
	uint64_t ns = range->end_ns - range->head.key;

	table_set_integer(&cells[0], range->head.key);
	table_set_integer(&cells[1], range->end_ns);
	table_set_integer(&cells[2], ns);
	table_set_integer(&cells[3], range->child_ns);
	table_set_integer(&cells[4], ns > range->child_ns ? ns - range->child_ns : 0);
	nsys_set_name(&cells[5], range->name);
	nsys_set_thread(rows->processes[range->process], range->thread, &cells[6]);
	set_place(range, &cells[8]);
	set_tree(range, &cells[13]);
}

#define PLACE_COLUMNS                                                                           \
	TABLE_COLUMN("level", "Lvl", TABLE_ID), TABLE_COLUMN("children", "NumChild", TABLE_ID), \
		TABLE_COLUMN("id", "RangeId", TABLE_ID),                                        \
		TABLE_COLUMN("parent", "ParentId", TABLE_ID),                                   \
		TABLE_COLUMN("stack", "RangeStack", TABLE_TEXT)

struct table *nsys_nvtx_pushpop_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("start_ns", "Start (ns)", TABLE_TIME),
		TABLE_COLUMN("end_ns", "End (ns)", TABLE_TIME),
		TABLE_COLUMN("duration_ns", "Duration (ns)", TABLE_TIME),
		TABLE_COLUMN("child_ns", "DurChild (ns)", TABLE_TIME),
		TABLE_COLUMN("self_ns", "DurNonChild (ns)", TABLE_TIME),
		TABLE_COLUMN("name", "Name", TABLE_TEXT),
		TABLE_COLUMN("pid", "PID", TABLE_ID),
		TABLE_COLUMN("tid", "TID", TABLE_ID),
		PLACE_COLUMNS,
		TABLE_COLUMN("tree", "NameTree", TABLE_TEXT),
	};
	struct proj_view *view = views[0];

	(void)ask;
	nsys_walk_run(view->walk, NULL, keep_range, view);
	return trace_of(view, columns, 14, fill_pushpop);
}

static void fill_proj(
	const struct range_rows *rows, const struct nsys_range *range, struct table_cell *cells)
{
	nsys_set_name(&cells[0], range->name);
	table_set_integer(&cells[1], range->proj_begin_ns);
	table_set_integer(&cells[2], range->proj_end_ns - range->proj_begin_ns);
	table_set_integer(&cells[3], range->head.key);
	table_set_integer(&cells[4], range->end_ns - range->head.key);
	table_set_string(&cells[5], "PushPop");
	nsys_set_thread(rows->processes[range->process], range->thread, &cells[6]);
	table_set_integer(&cells[8], range->nr_activities);
	set_place(range, &cells[9]);
}

struct table *nsys_nvtx_gpu_proj_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Name", TABLE_TEXT),
		TABLE_COLUMN("proj_start_ns", "Projected Start (ns)", TABLE_TIME),
		TABLE_COLUMN("proj_duration_ns", "Projected Duration (ns)", TABLE_TIME),
		TABLE_COLUMN("start_ns", "Orig Start (ns)", TABLE_TIME),
		TABLE_COLUMN("duration_ns", "Orig Duration (ns)", TABLE_TIME),
		TABLE_COLUMN("style", "Style", TABLE_TEXT),
		TABLE_COLUMN("pid", "PID", TABLE_ID),
		TABLE_COLUMN("tid", "TID", TABLE_ID),
		TABLE_COLUMN("gpu_activities", "NumGPUOps", TABLE_ID),
		PLACE_COLUMNS,
	};
	struct proj_view *view = views[0];

	(void)ask;
	nsys_walk_run(view->walk, NULL, keep_projected, view);
	return trace_of(view, columns, 14, fill_proj);
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

static void fill_proj_sum(const struct proj_sums *sums, size_t row, struct table_cell *cells)
{
	const struct histogram_group *proj = &sums->tally.times.groups[row];
	const struct proj_sum *sum = &sums->sums[row];
	double count = (double)proj->count;

	nsys_set_name(&cells[0], sums->tally.rows[row].name);
	table_set_string(&cells[1], "PushPop");
	table_set_integer(&cells[2], histogram_sum(proj));
	table_set_integer(&cells[3], sum->range_ns);
	table_set_integer(&cells[4], proj->count);
	table_set_number(&cells[5], histogram_mean(proj));
	table_set_number(&cells[6], histogram_median(proj));
	table_set_integer(&cells[7], proj->min);
	table_set_integer(&cells[8], proj->max);
	table_set_number(&cells[9], histogram_deviation(proj));
	table_set_integer(&cells[10], sum->nr_activities);
	table_set_number(&cells[11], (double)sum->nr_activities / count);
	table_set_number(&cells[12], (double)sum->levels / count);
	table_set_number(&cells[13], (double)sum->children / count);
}

struct table *nsys_nvtx_gpu_proj_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Range", TABLE_TEXT),
		TABLE_COLUMN("style", "Style", TABLE_TEXT),
		TABLE_COLUMN("total_ns", "Total Proj Time (ns)", TABLE_TIME),
		TABLE_COLUMN("range_ns", "Total Range Time (ns)", TABLE_TIME),
		TABLE_COLUMN("calls", "Range Instances", TABLE_COUNT),
		TABLE_COLUMN("avg_ns", "Proj Avg (ns)", TABLE_MEAN_TIME),
		TABLE_COLUMN("median_ns", "Proj Med (ns)", TABLE_MEAN_TIME),
		TABLE_COLUMN("min_ns", "Proj Min (ns)", TABLE_TIME),
		TABLE_COLUMN("max_ns", "Proj Max (ns)", TABLE_TIME),
		TABLE_COLUMN("stddev_ns", "Proj StdDev (ns)", TABLE_MEAN_TIME),
		TABLE_COLUMN("gpu_activities", "Total GPU Ops", TABLE_COUNT),
		TABLE_COLUMN("avg_gpu_activities", "Avg GPU Ops", TABLE_NUMBER),
		TABLE_COLUMN("avg_level", "Avg Range Lvl", TABLE_NUMBER),
		TABLE_COLUMN("avg_children", "Avg Num Child", TABLE_NUMBER),
	};
	struct table *table = table_create("rows", "", columns, 14);
	struct proj_view *view = views[0];
	struct proj_sums sums = {0};

	(void)ask;
	keyed_stats_init(&sums.tally);
	nsys_walk_run(view->walk, NULL, add_projection, &sums);
	keyed_stats_finish(&sums.tally);
	for (size_t i = 0; i < sums.tally.nr_rows; i++) {
		fill_proj_sum(&sums, i, table_add_row(table));
	}
	keyed_stats_fini(&sums.tally);
	free(sums.sums);
	table_sort(table, "total");
	return table;
}
