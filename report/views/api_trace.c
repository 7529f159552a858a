/* SPDX-License-Identifier: Apache-2.0 */
/* A row for each API call, in the order in which they began. */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/analysis/trace.h"

static void set_api(const void *api, struct table_cell *cell)
{
	table_set_string(cell, api_name(*(const uint8_t *)api));
}

static const struct table_column columns[] = {
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording",
		TRACE_MEMBER(event.api_begin_ns)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TRACE_MEMBER(event.api_dur_ns)),
	TRACE_RANK_PID_COLUMNS,
	TABLE_COLUMN("tid", "Thread", TABLE_ID, TRACE_MEMBER(tid)),
	TABLE_COLUMN("correlation", "Correlation", TABLE_ID,
		.help = "correlation ID, which the GPU activities of the call share",
		TABLE_NONZERO(trace_row, event.correlation)),
	TABLE_COLUMN("step", "Step", TABLE_ID, TRACE_MEMBER(step)),
	TABLE_COLUMN("result", "Result", TABLE_ID,
		.help = "error code that the call returned; 0 is success", TRACE_MEMBER(result)),
	TABLE_COLUMN("api", "API", TABLE_TEXT, .is_wide_only = true,
		TABLE_SET(trace_row, event.api, set_api)),
	TABLE_COLUMN("thread_name", "Thread name", TABLE_NAME, .is_wide_only = true,
		TABLE_NONZERO(trace_row, thread_name)),
	TABLE_COLUMN("operator", "Operator", TABLE_NAME,
		.help = "innermost operator around the call", TABLE_NONZERO(trace_row, event.op)),
	TABLE_COLUMN("name", "Call", TABLE_NAME, TRACE_MEMBER(call)),
};

/* ---- the view ---- */

struct api_trace_view {
	struct trace_view trace;
	bool has_counted; /* calls that have no row each */
};

static void init(void *state)
{
	struct trace_view *view = state;

	view->trace = trace_create(&view->input, TRACE_BY_CALL);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	trace_call(((struct trace_view *)context)->trace, call, op);
}

static const struct scan_want wants[] = {
	TRACE_NESTED_CALLS, {GPROF_TABLE_api_count, COLS(api_count, nr), 0}};

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct api_trace_view *view = context;

	(void)process;
	if (batch->table == GPROF_TABLE_api_count) {
		view->has_counted = true;
	} else {
		trace_nested_calls(view->trace.trace, batch);
	}
}

static void fill_table(void *state, struct table *table)
{
	const struct api_trace_view *view = state;

	trace_fill(trace_view_take(state), table);
	if (view->has_counted) {
		table_note(table, "Of calls that are only counted, such as cudaGetDevice, only "
				  "each thread's first one and those that failed have rows. "
				  "GPROF_CALLS=all times every call.");
	}
}

VIEW(api_trace, 520) = {
	.name = "api-trace",
	.subject = VIEW_ABOUT_HOST,
	.help = "every CUDA API call in order of start time",
	.is_asked_only = true,
	.title = "API call trace",
	VIEW_COLUMNS(columns),
	.state = {.size = sizeof(struct api_trace_view),
		.input = offsetof(struct api_trace_view, trace.input)},
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, trace_view_begin, on_batch, NULL},
	.ops = {.begin = trace_view_begin, .call = on_call},
	.init = init,
	.fill = fill_table,
	.fini = trace_view_fini,
};
