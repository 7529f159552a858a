/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of NVTX ranges by name, of both kinds together or of one. */
#include <stdlib.h>

#include "report/styles/nsys_reports.h"
#include "report/styles/nsys_walk.h"

struct ranges_view {
	struct view_input input;
	struct keyed_stats tally; /* kind: enum gprof_nvtx, PUSH or START */
	struct ranges *pairs;
	bool is_finished;
};

static void begin(void *context, struct process *process)
{
	struct ranges_view *view = context;

	(void)process;
	view->pairs = ranges_create();
}

static void take_range(void *context, const struct range *range)
{
	struct ranges_view *view = context;
	uint64_t ticks = range->end > range->begin ? range->end - range->begin : 0;
	uint32_t name, row;

	if (range->op == GPROF_NVTX_MARK) {
		return;
	}
	name = nsys_range_name(range);
	row = keyed_stats_find(&view->tally, (uint64_t)range->op << 32 | name, name, range->op);
	histogram_add(&view->tally.times, row,
		clock_map_duration(&view->input.process->host_clock, ticks));
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct ranges_view *view = context;

	ranges_add_batch(view->pairs, process, batch, take_range, view);
}

static void end(void *context, struct process *process)
{
	struct ranges_view *view = context;

	(void)process;
	ranges_destroy(view->pairs);
	view->pairs = NULL;
}

static void fini(void *state)
{
	ranges_destroy(((struct ranges_view *)state)->pairs);
}

const struct view_class view_nsys_ranges = {
	.name = "nsys ranges",
	.scan = {nsys_walk_wants, 1, NULL, begin, take, end},
	VIEW_KEYED_STATE(struct ranges_view, tally),
	.fini = fini,
};

static const char *const styles[] = {
	[GPROF_NVTX_PUSH] = "PushPop", [GPROF_NVTX_START] = "StartEnd"};

/* kind: of that kind alone, without a column that says so; GPROF_NVTX_MARK: of both. */
static struct table *make_table(struct ranges_view *view, uint32_t kind)
{
	static const struct table_column both[] = {
		NSYS_TIMES("Instances"),
		TABLE_COLUMN("style", "Style", TABLE_TEXT, TABLE_NAMED(nsys_sum_row, kind, styles)),
		TABLE_COLUMN("name", "Range", TABLE_TEXT, TABLE_MEMBER(nsys_sum_row, name)),
	};
	static const struct table_column one[] = {
		NSYS_TIMES("Instances"),
		TABLE_COLUMN("name", "Range", TABLE_TEXT, TABLE_MEMBER(nsys_sum_row, name)),
	};
	bool is_both = kind == GPROF_NVTX_MARK;
	struct table *table = table_create("rows", "", is_both ? both : one,
		(is_both ? sizeof(both) : sizeof(one)) / sizeof(both[0]));
	const struct keyed_stats *tally = &view->tally;
	double total_ns = 0;

	if (!view->is_finished) {
		keyed_stats_finish(&view->tally);
		view->is_finished = true;
	}
	for (size_t i = 0; i < tally->nr_rows; i++) {
		if (is_both || tally->rows[i].kind == kind) {
			total_ns += (double)tally->times.groups[i].sum;
		}
	}
	for (size_t i = 0; i < tally->nr_rows; i++) {
		const struct keyed_stats_row *row = &tally->rows[i];

		if (is_both || row->kind == kind) {
			table_add(
				table, &(struct nsys_sum_row){keyed_stats_times(tally, i, total_ns),
					       row->name, row->kind});
		}
	}
	table_sort(table, "total");
	return table;
}

struct table *nsys_nvtx_sum(const struct nsys_ask *ask, void *const *views)
{
	(void)ask;
	return make_table(views[0], GPROF_NVTX_MARK);
}

struct table *nsys_nvtx_pushpop_sum(const struct nsys_ask *ask, void *const *views)
{
	(void)ask;
	return make_table(views[0], GPROF_NVTX_PUSH);
}

struct table *nsys_nvtx_startend_sum(const struct nsys_ask *ask, void *const *views)
{
	(void)ask;
	return make_table(views[0], GPROF_NVTX_START);
}
