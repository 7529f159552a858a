/* SPDX-License-Identifier: Apache-2.0 */
/* API calls by name, whichever door they came through. */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/analysis/view.h"

#define NR_CALLS 65536u
#define NONE	 UINT32_MAX

struct api_view {
	struct keyed_stats calls;
	uint32_t *group_of; /* by the id of a call, of the process at hand */
	uint32_t *groups;
	uint64_t *values;
	bool has_results; /* of any process: traces have none */
	bool is_finished;
};

static const struct scan_want wants[] = {
	SCAN_CALLS(COL_BIT(COL_api_dur) | COL_BIT(COL_api_call) | COL_BIT(COL_api_result)),
};

static void *create(const struct view_input *input)
{
	struct api_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	keyed_stats_init(&view->calls);
	view->group_of = mem_zeroed(NR_CALLS, sizeof(*view->group_of));
	view->groups = mem_zeroed(GPROF_BLOCK_ROWS, sizeof(*view->groups));
	view->values = mem_zeroed(GPROF_BLOCK_ROWS, sizeof(*view->values));
	return view;
}

static void begin(void *context, struct process *process)
{
	struct api_view *view = context;

	(void)process;
	for (size_t i = 0; i < NR_CALLS; i++) {
		view->group_of[i] = NONE;
	}
}

static uint32_t find_group(struct api_view *view, const struct process *process, uint64_t call)
{
	uint8_t api;
	uint32_t name = process_call_name(process, call, &api);
	uint32_t group = keyed_stats_find(&view->calls, (uint64_t)api << 32 | name, name, api);

	if (call < NR_CALLS) {
		view->group_of[call] = group;
	}
	return group;
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct api_view *view = context;
	const uint64_t *calls = batch->col[COL_api_call];
	const uint64_t *results = batch->col[COL_api_result];
	const uint64_t *ticks = batch->col[COL_api_dur];

	view->has_results |= !process->stream->is_trace;
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint32_t group = calls[i] < NR_CALLS ? view->group_of[calls[i]] : NONE;

		if (group == NONE) {
			group = find_group(view, process, calls[i]);
		}
		view->groups[i] = group;
		view->values[i] = clock_map_duration(&process->host_clock, ticks[i]);
		if (results[i] && api_is_failure(results[i])) {
			view->calls.rows[group].failed++;
		}
	}
	histogram_add_many(&view->calls.times, view->groups, view->values, batch->nr_rows);
}

static void finish(struct api_view *view)
{
	if (!view->is_finished) {
		keyed_stats_finish(&view->calls);
		view->is_finished = true;
	}
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[] = {
		KEYED_STATS_COLUMNS("% of API time"),
		{"failed", "Failed", TABLE_COUNT, false},
		{"api", "API", TABLE_TEXT, false},
		{"name", "Call", TABLE_NAME, false},
	};
	struct api_view *view = context;
	struct table *table = table_create("api", "API calls", columns, KEYED_STATS_NR_COLUMNS + 3);
	double total_ns;

	finish(view);
	total_ns = keyed_stats_total_ns(&view->calls);
	for (size_t i = 0; i < view->calls.nr_rows; i++) {
		const struct keyed_stats_row *row = &view->calls.rows[i];
		struct table_cell *cells = table_add_row(table);
		const char *api = api_name(row->kind);

		keyed_stats_fill(&view->calls, i, total_ns, cells);
		if (view->has_results) {
			table_set_integer(&cells[KEYED_STATS_NR_COLUMNS], row->failed);
		}
		table_set_string(&cells[KEYED_STATS_NR_COLUMNS + 1], api);
		table_set_integer(&cells[KEYED_STATS_NR_COLUMNS + 2], row->name);
	}
	keyed_stats_note(&view->calls, table);
	table_sort(table, "total");
	return table;
}

static void destroy(void *context)
{
	struct api_view *view = context;

	keyed_stats_fini(&view->calls);
	free(view->group_of);
	free(view->groups);
	free(view->values);
	free(view);
}

const struct keyed_stats *view_api_tally(void *context)
{
	finish(context);
	return &((struct api_view *)context)->calls;
}

const struct view_class view_api = {
	.name = "api",
	.help = "CUDA API calls of the host by name",
	.is_default = true,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, take, NULL},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
