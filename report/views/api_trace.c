/* SPDX-License-Identifier: Apache-2.0 */
/* A row for each API call, in the order in which they began. */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/analysis/trace.h"

enum {
	START,
	DURATION,
	RANK,
	PID,
	TID,
	CORRELATION,
	STEP,
	RESULT,
	API,
	THREAD,
	OPERATOR,
	NAME,
	NR_COLUMNS,
};

static const struct table_column columns[NR_COLUMNS] = {
	[START] = TABLE_COLUMN(
		"start_ns", "Start", TABLE_TIME, .help = "since the start of the recording"),
	[DURATION] = TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME),
	[RANK] = TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_wide_only = true),
	[PID] = TABLE_COLUMN("pid", "PID", TABLE_ID, .is_wide_only = true),
	[TID] = TABLE_COLUMN("tid", "Thread", TABLE_ID),
	[CORRELATION] = TABLE_COLUMN("correlation", "Correlation", TABLE_ID,
		.help = "correlation ID, which the GPU activities of the call share"),
	[STEP] = TABLE_COLUMN("step", "Step", TABLE_ID),
	[RESULT] = TABLE_COLUMN("result", "Result", TABLE_ID,
		.help = "error code that the call returned; 0 is success"),
	[API] = TABLE_COLUMN("api", "API", TABLE_TEXT, .is_wide_only = true),
	[THREAD] = TABLE_COLUMN("thread_name", "Thread name", TABLE_NAME, .is_wide_only = true),
	[OPERATOR] = TABLE_COLUMN(
		"operator", "Operator", TABLE_NAME, .help = "innermost operator around the call"),
	[NAME] = TABLE_COLUMN("name", "Call", TABLE_NAME),
};

static void fill(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct process *process = trace->processes[event->process];
	const struct model_thread *thread = idmap_get(&process->threads, event->thread);
	const char *api = api_name(event->api);

	table_set_integer(&cells[START], event->api_begin_ns);
	table_set_integer(&cells[DURATION], event->api_dur_ns);
	if (process->rank >= 0) {
		table_set_integer(&cells[RANK], (uint64_t)process->rank);
	}
	table_set_integer(&cells[PID], process->pid);
	if (thread) {
		table_set_integer(&cells[TID], thread->tid);
	}
	if (thread && thread->name) {
		table_set_integer(&cells[THREAD], thread->name);
	}
	if (event->correlation) {
		table_set_integer(&cells[CORRELATION], event->correlation);
	}
	if (event->step && event->step <= process->nr_steps) {
		table_set_integer(&cells[STEP], process->steps[event->step - 1].step);
	}
	if (trace_has_result(trace, event)) {
		table_set_integer(&cells[RESULT], (uint32_t)event->result);
	}
	table_set_string(&cells[API], api);
	if (event->op) {
		table_set_integer(&cells[OPERATOR], event->op);
	}
	table_set_integer(&cells[NAME], event->call);
}

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
	TRACE_NESTED_CALLS, {GPROF_TABLE_api_count, COL_BIT(COL_api_count_nr), 0}};

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

	trace_fill(trace_view_take(state), table, fill);
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
