/* SPDX-License-Identifier: Apache-2.0 */
/* The `*_trace` reports of device work and of calls. */
#include <stdio.h>

#include "report/model/api.h"
#include "report/styles/nsys_reports.h"

/* ---- cuda_gpu_trace ---- */

static void set_name(const void *row, struct table_cell *cell)
{
	const struct trace_row *of = row;

	if (of->target) {
		nsys_set_name(cell, nsys_operation(of->event.copy));
	} else {
		nsys_set_kernel(of->trace, &of->event, cell);
	}
}

struct table *nsys_gpu_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("start_ns", "Start (ns)", TABLE_TIME, TRACE_MEMBER(start_ns)),
		TABLE_COLUMN("duration_ns", "Duration (ns)", TABLE_TIME, TRACE_MEMBER(duration_ns)),
		TABLE_COLUMN("correlation", "CorrId", TABLE_ID, TRACE_MEMBER(event.correlation)),
		TABLE_COLUMN("grid_x", "GrdX", TABLE_ID, TRACE_MEMBER(grid[0])),
		TABLE_COLUMN("grid_y", "GrdY", TABLE_ID, TRACE_MEMBER(grid[1])),
		TABLE_COLUMN("grid_z", "GrdZ", TABLE_ID, TRACE_MEMBER(grid[2])),
		TABLE_COLUMN("block_x", "BlkX", TABLE_ID, TRACE_MEMBER(block[0])),
		TABLE_COLUMN("block_y", "BlkY", TABLE_ID, TRACE_MEMBER(block[1])),
		TABLE_COLUMN("block_z", "BlkZ", TABLE_ID, TRACE_MEMBER(block[2])),
		TABLE_COLUMN("registers", "Reg/Trd", TABLE_ID, TRACE_MEMBER(registers)),
		TABLE_COLUMN(
			"static_bytes", "StcSMem (MB)", TABLE_SIZE, TRACE_MEMBER(static_bytes)),
		TABLE_COLUMN(
			"dynamic_bytes", "DymSMem (MB)", TABLE_SIZE, TRACE_MEMBER(dynamic_bytes)),
		TABLE_COLUMN("bytes", "Bytes (MB)", TABLE_SIZE, TRACE_MEMBER(bytes)),
		TABLE_COLUMN("rate", "Throughput (MB/s)", TABLE_RATE, TRACE_MEMBER(bytes_per_s)),
		TABLE_COLUMN("source", "SrcMemKd", TABLE_TEXT, TRACE_MEMBER(left)),
		TABLE_COLUMN("target", "DstMemKd", TABLE_TEXT, TABLE_IF(trace_row, target, source)),
		TABLE_COLUMN("device", "Device", TABLE_TEXT, TRACE_SET(nsys_set_device)),
		TABLE_COLUMN("context", "Ctx", TABLE_ID, TRACE_MEMBER(context)),
		TABLE_COLUMN("green_context", "GreenCtx", TABLE_ID),
		TABLE_COLUMN("stream", "Strm", TABLE_ID, TRACE_MEMBER(stream)),
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TRACE_SET(set_name)),
	};
	struct trace *trace = trace_view_take(views[0]);

	trace->hint = ask;
	return trace_table(trace, columns, sizeof(columns) / sizeof(columns[0]));
}

/* ---- calls of CUDA alone ---- */

static void init(void *state)
{
	struct trace_view *view = state;

	view->trace = trace_create(&view->input, TRACE_BY_CALL);
}

static void take_call(void *context, const struct op_call *call, const struct op *op)
{
	struct trace *trace = ((struct trace_view *)context)->trace;
	uint8_t api = GPROF_API_THREAD;

	process_call_name(trace->process, call->call, &api);
	if (api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER) {
		trace_call(trace, call, op);
	}
}

static const struct scan_want wants[] = {TRACE_NESTED_CALLS};

static void take_nested(void *context, struct process *process, const struct batch *batch)
{
	(void)process;
	trace_nested_calls(((struct trace_view *)context)->trace, batch);
}

const struct view_class view_nsys_api = {
	.name = "nsys calls",
	.is_asked_only = true,
	.scan = {wants, 1, NULL, trace_view_begin, take_nested, NULL},
	.ops = {.begin = trace_view_begin, .call = take_call},
	VIEW_STATE(struct trace_view),
	.init = init,
	.fini = trace_view_fini,
};

/* ---- cuda_api_trace ---- */

struct table *nsys_api_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN(
			"start_ns", "Start (ns)", TABLE_TIME, TRACE_MEMBER(event.api_begin_ns)),
		TABLE_COLUMN(
			"duration_ns", "Duration (ns)", TABLE_TIME, TRACE_MEMBER(event.api_dur_ns)),
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TRACE_MEMBER(call)),
		TABLE_COLUMN("result", "Result", TABLE_ID, TRACE_MEMBER(result)),
		TABLE_COLUMN("correlation", "CorrID", TABLE_ID, TRACE_MEMBER(event.correlation)),
		TABLE_COLUMN("pid", "Pid", TABLE_ID, VIEW_PID(trace_row, process)),
		TABLE_COLUMN("tid", "Tid", TABLE_ID, TRACE_MEMBER(tid)),
		TABLE_COLUMN("priority", "T-Pri", TABLE_ID),
		TABLE_COLUMN("thread_name", "Thread Name", TABLE_TEXT, TRACE_MEMBER(thread_name)),
	};

	(void)ask;
	return trace_table(
		trace_view_take(views[0]), columns, sizeof(columns) / sizeof(columns[0]));
}
