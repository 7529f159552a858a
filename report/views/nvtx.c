/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges and marks by domain and name. */
#include <stdlib.h>
#include <string.h>

#include "report/model/ranges.h"
#include "report/analysis/view.h"

struct nvtx_view {
	struct keyed_stats tally;
	struct ranges *ranges; /* of the process at hand */
	struct process *process;
	uint64_t nr_open, nr_unmatched;
	bool is_finished;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_nvtx, RANGES_MASK, 0},
};

static void *create(const struct view_input *input)
{
	struct nvtx_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	keyed_stats_init(&view->tally);
	return view;
}

static void begin(void *context, struct process *process)
{
	struct nvtx_view *view = context;

	view->process = process;
	view->ranges = ranges_create();
}

static void take_range(void *context, const struct range *range)
{
	struct nvtx_view *view = context;
	struct clock_map *clock = &view->process->host_clock;
	uint32_t name = range_full_name(range);
	uint32_t row =
		keyed_stats_find(&view->tally, (uint64_t)range->op << 32 | name, name, range->op);
	uint64_t ticks = range->end > range->begin ? range->end - range->begin : 0;

	if (range->op == GPROF_NVTX_MARK) {
		view->tally.rows[row].untimed++;
	} else {
		histogram_add(&view->tally.times, row, clock_map_duration(clock, ticks));
	}
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct nvtx_view *view = context;

	ranges_add_batch(view->ranges, process, batch, take_range, view);
}

static void end(void *context, struct process *process)
{
	struct nvtx_view *view = context;

	(void)process;
	view->nr_open += ranges_nr_open(view->ranges);
	view->nr_unmatched += ranges_nr_unmatched(view->ranges);
	ranges_destroy(view->ranges);
	view->ranges = NULL;
}

const char *view_nvtx_style(uint32_t op)
{
	return op == GPROF_NVTX_PUSH ? "PushPop" : op == GPROF_NVTX_START ? "StartEnd" : "Mark";
}

static void finish(struct nvtx_view *view)
{
	if (!view->is_finished) {
		keyed_stats_finish(&view->tally);
		view->is_finished = true;
	}
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[] = {
		KEYED_STATS_COLUMNS("% of range time"),
		{"style", "Style", TABLE_TEXT, false},
		{"name", "Range", TABLE_NAME, false},
	};
	struct nvtx_view *view = context;
	struct table *table =
		table_create("nvtx", "NVTX ranges", columns, KEYED_STATS_NR_COLUMNS + 2);
	double total_ns;

	finish(view);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		const struct keyed_stats_row *row = &view->tally.rows[i];
		struct table_cell *cells = table_add_row(table);
		const char *style = view_nvtx_style(row->kind);

		keyed_stats_fill(&view->tally, i, total_ns, cells);
		table_set_string(&cells[KEYED_STATS_NR_COLUMNS], style);
		table_set_integer(&cells[KEYED_STATS_NR_COLUMNS + 1], row->name);
	}
	if (view->nr_open || view->nr_unmatched) {
		table_note(table,
			"%llu ranges did not end, %llu ends had no begin; neither is counted",
			(unsigned long long)view->nr_open, (unsigned long long)view->nr_unmatched);
	}
	keyed_stats_note(&view->tally, table);
	table_sort(table, "total");
	return table;
}

static void destroy(void *context)
{
	struct nvtx_view *view = context;

	keyed_stats_fini(&view->tally);
	ranges_destroy(view->ranges);
	free(view);
}

const struct keyed_stats *view_nvtx_tally(void *context)
{
	finish(context);
	return &((struct nvtx_view *)context)->tally;
}

const struct view_class view_nvtx = {
	.name = "nvtx",
	.help = "NVTX ranges and marks",
	.is_default = true,
	.is_empty_hidden = true,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, take, end},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
