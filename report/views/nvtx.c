/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges and marks by domain and name. */
#include <stdlib.h>
#include <string.h>

#include "report/model/ranges.h"
#include "report/analysis/view.h"

struct nvtx_view {
	struct view_input input;
	struct keyed_stats tally;
	struct ranges *ranges; /* of the current process */
	uint64_t nr_open, nr_unmatched;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_nvtx, RANGES_MASK, 0},
};

static void begin(void *context, struct process *process)
{
	struct nvtx_view *view = context;

	(void)process;
	view->ranges = ranges_create();
}

static void on_range(void *context, const struct range *range)
{
	struct nvtx_view *view = context;
	struct clock_map *clock = &view->input.process->host_clock;
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

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct nvtx_view *view = context;

	ranges_add_batch(view->ranges, process, batch, on_range, view);
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

static const char *const styles[] = {
	[GPROF_NVTX_PUSH] = "PushPop", [GPROF_NVTX_START] = "StartEnd", [GPROF_NVTX_MARK] = "Mark"};

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of range time"),
	TABLE_COLUMN("style", "Style", TABLE_TEXT, .help = "PushPop, StartEnd or Mark",
		TABLE_NAMED(keyed_stats_row, kind, styles)),
	TABLE_COLUMN("name", "Range", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct nvtx_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->tally);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		keyed_stats_add(&view->tally, i, total_ns, NULL, table);
	}
	if (view->nr_open) {
		table_note(table, "%llu ranges without an end are excluded.",
			(unsigned long long)view->nr_open);
	}
	if (view->nr_unmatched) {
		table_note(table, "%llu ends without a start are excluded.",
			(unsigned long long)view->nr_unmatched);
	}
	keyed_stats_note(&view->tally, table);
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct nvtx_view *view = state;

	ranges_destroy(view->ranges);
}

VIEW(nvtx, 330) = {
	.name = "nvtx",
	.subject = VIEW_ABOUT_HOST,
	.help = "NVTX ranges and marks",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "NVTX ranges",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct nvtx_view, tally),
	.merge = {.keys = {"style", "name"}},
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
