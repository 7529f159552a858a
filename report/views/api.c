/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API calls by name, whatever source recorded them, with driver calls that these made if they were
 * recorded.
 */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/analysis/view.h"

#define NR_CALLS 65536u
#define NONE	 UINT32_MAX

struct api_view {
	struct view_input input;
	struct keyed_stats calls;
	uint32_t *group_of; /* by the id of a call, of the current process */
	uint32_t *groups;
	uint64_t *values;
	bool has_results; /* of any process: some traces have none */
	bool has_nested;
	bool has_counted; /* of some functions, calls were only counted */
	bool is_selected; /* a part of the recording, which has none of these */
	bool has_gaps;	  /* functions without a hook were called, and not all of them recorded */
};

#define CALL_COLUMNS COLS(api, dur, call, result, source)

static const struct scan_want wants[] = {
	{SCAN_WITH(GPROF_IS_CALL), CALL_COLUMNS, 0},
	{GPROF_TABLE_api_nested, CALL_COLUMNS, 0},
	{GPROF_TABLE_api_count, COLS(api_count, call, nr), 0},
};

static void init(void *state)
{
	struct api_view *view = state;

	view->group_of = mem_zeroed(NR_CALLS, sizeof(*view->group_of));
	view->groups = mem_zeroed(GPROF_BLOCK_ROWS, sizeof(*view->groups));
	view->values = mem_zeroed(GPROF_BLOCK_ROWS, sizeof(*view->values));
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

/* With GPROF_DRIVER=0, functions without a hook are recorded only if they do something on a GPU. */
static bool has_gap(const struct process *process, const struct batch *batch)
{
	const uint64_t *sources = batch->col[COL_api_source];

	if (batch->table != GPROF_TABLE_api || process->stream->is_trace ||
		process_number(process, "config.GPROF_DRIVER") != 0) {
		return false;
	}
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		if (sources[i] == GPROF_SOURCE_CALLBACK) {
			return true;
		}
	}
	return false;
}

/* They have no times of their own, so a step has none of them. */
static void on_counts(struct api_view *view, const struct process *process, const struct batch *b)
{
	view->has_counted = true;
	view->is_selected |= process->select != NULL;
	for (uint32_t i = 0; i < b->nr_rows && !process->select; i++) {
		uint32_t group = find_group(view, process, b->col[COL_api_count_call][i]);

		view->calls.rows[group].untimed += b->col[COL_api_count_nr][i];
		view->calls.rows[group].is_counted = true;
	}
}

static void on_calls(struct api_view *view, struct process *process, const struct batch *batch)
{
	const uint64_t *calls = batch->col[COL_api_call];
	const uint64_t *results = batch->col[COL_api_result];
	const uint64_t *ticks = batch->col[COL_api_dur];

	view->has_results |= !process->stream->is_bare;
	view->has_nested |= batch->table == GPROF_TABLE_api_nested;
	view->has_gaps = view->has_gaps || has_gap(process, batch);
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

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct api_view *view = context;

	if (batch->table == GPROF_TABLE_api_count) {
		on_counts(view, process, batch);
	} else {
		on_calls(view, process, batch);
	}
}

static void set_api(const void *kind, struct table_cell *cell)
{
	table_set_string(cell, api_name(*(const uint32_t *)kind));
}

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of API time"),
	TABLE_COLUMN("failed", "Failed", TABLE_COUNT, .help = "calls that returned an error",
		TABLE_MEMBER(keyed_stats_row, failed)),
	TABLE_COLUMN("api", "API", TABLE_TEXT, .help = "runtime or driver API",
		TABLE_SET(keyed_stats_row, kind, set_api)),
	TABLE_COLUMN("name", "Call", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct api_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->calls);
	total_ns = keyed_stats_total_ns(&view->calls);
	for (size_t i = 0; i < view->calls.nr_rows; i++) {
		struct keyed_stats_row row = view->calls.rows[i];

		row.failed = view->has_results ? row.failed : UINT64_MAX;
		keyed_stats_add(&view->calls, i, total_ns, &row, table);
	}
	keyed_stats_note(&view->calls, table);
	if (view->has_counted) {
		table_note(table, view->is_selected ? "Calls that are only counted (cudaGetDevice "
						      "and the like) belong to no "
						      "step: the whole recording has them. "
						      "GPROF_CALLS=all times every call."
						    : "Calls without times are only counted, since "
						      "timing would take longer than "
						      "they do. GPROF_CALLS=all times every call.");
	}
	if (view->has_nested) {
		table_note(table, "Driver calls within other calls are rows, too; their time is "
				  "part of those.");
	}
	if (view->has_gaps) {
		table_note(table,
			"Some functions have no hook (static runtime, cuGetProcAddress); of these, "
			"only calls that start GPU work, allocate or wait are recorded. "
			"GPROF_DRIVER=1 records all.");
	}
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct api_view *view = state;

	free(view->group_of);
	free(view->groups);
	free(view->values);
}

VIEW(api, 310) = {
	.name = "api",
	.subject = VIEW_ABOUT_HOST,
	.help = "CUDA API calls by name",
	.title = "API calls",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct api_view, calls),
	.merge = {.keys = {"api", "name"}},
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, NULL},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};

/* ---- calls that wait or query, and CUPTI's records of the same waits ---- */

struct sync_view {
	struct view_input input;
	struct keyed_stats tally;
	bool has_records; /* of CUPTI */
	bool is_off;	  /* a recording was made without them */
};

#define SEEN_BY_CUPTI (1ull << 40)

static const struct scan_want sync_wants[] = {
	{GPROF_TABLE_sync, COLS(sync, dur, type), 0},
	{GPROF_TABLE_api_sync, COLS(api_sync, dur, call), 0},
};

/* CUPTI's records of waits make every call of CUDA longer, so they are off by default. */
static bool is_without_records(const struct process *process)
{
	return !process->stream->is_trace && process_number(process, "config.GPROF_CUPTI") == 1 &&
	       !strcmp(process_fact(process, "config.GPROF_CALLS", ""), "work");
}

static void on_sync_batch(void *context, struct process *process, const struct batch *b)
{
	struct sync_view *view = context;

	view->has_records |= b->table == GPROF_TABLE_sync;
	view->is_off |= is_without_records(process);
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t row;

		if (b->table == GPROF_TABLE_sync) {
			uint32_t type = (uint32_t)b->col[COL_sync_type][i];
			const char *text = api_sync_name(type);
			uint32_t name = string_pool_intern(text, strlen(text));

			row = keyed_stats_find(&view->tally, SEEN_BY_CUPTI | type, name, 1);
			histogram_add(&view->tally.times, row, b->col[COL_sync_dur][i]);
		} else {
			uint64_t ticks = b->col[COL_api_sync_dur][i];
			uint32_t name =
				process_call_name(process, b->col[COL_api_sync_call][i], NULL);

			row = keyed_stats_find(&view->tally, name, name, 0);
			histogram_add(&view->tally.times, row,
				clock_map_duration(&process->host_clock, ticks));
		}
	}
}

static const char *const recorders[] = {"host call", "CUPTI"};

static const struct table_column sync_columns[] = {
	KEYED_STATS_COLUMNS("% of its kind"),
	TABLE_COLUMN("recorded_by", "Recorded by", TABLE_TEXT, .help = "host call or CUPTI",
		TABLE_NAMED(keyed_stats_row, kind, recorders)),
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_sync(void *state, struct table *table)
{
	struct sync_view *view = state;
	double total_ns[2] = {0, 0};

	keyed_stats_finish(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		total_ns[view->tally.rows[i].kind] += (double)view->tally.times.groups[i].sum;
	}
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		keyed_stats_add(&view->tally, i, total_ns[view->tally.rows[i].kind], NULL, table);
	}
	keyed_stats_note(&view->tally, table);
	if (view->is_off && !view->has_records) {
		table_note(table, "CUPTI's records of these waits are off by default, since they "
				  "make every call of CUDA longer. GPROF_CALLS=all records them.");
	}
	table_sort(table, "total");
}

VIEW(sync, 320) = {
	.name = "sync",
	.subject = VIEW_ABOUT_HOST,
	.help = "synchronization calls and CUPTI synchronization records",
	.about = "Host calls and CUPTI records describe the same waits; do not add them up.",
	.is_empty_hidden = true,
	.title = "Synchronization",
	VIEW_COLUMNS(sync_columns),
	VIEW_KEYED_STATE(struct sync_view, tally),
	.scan = {sync_wants, sizeof(sync_wants) / sizeof(sync_wants[0]), NULL, NULL, on_sync_batch,
		NULL},
	.fill = fill_sync,
};
