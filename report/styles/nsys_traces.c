/* SPDX-License-Identifier: Apache-2.0 */
/* The `*_trace` reports of device work and of calls. */
#include <stdio.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/styles/nsys_reports.h"
#include "report/util/rate.h"

/* ---- cuda_gpu_trace ---- */

enum {
	G_START,
	G_DURATION,
	G_CORRELATION,
	G_GRID,
	G_BLOCK = G_GRID + 3,
	G_REGISTERS = G_BLOCK + 3,
	G_STATIC,
	G_DYNAMIC,
	G_BYTES,
	G_RATE,
	G_SOURCE,
	G_TARGET,
	G_DEVICE,
	G_CONTEXT,
	G_GREEN,
	G_STREAM,
	G_NAME,
	NR_G,
};

static void fill_gpu_kernel(
	const struct model_shape *shape, bool has_static, struct table_cell *cells)
{
	for (int k = 0; k < 3 && shape->grid[0]; k++) {
		table_set_integer(&cells[G_GRID + k], shape->grid[k]);
		table_set_integer(&cells[G_BLOCK + k], shape->block[k]);
	}
	if (shape->grid[0]) {
		table_set_integer(&cells[G_REGISTERS], shape->registers);
		if (has_static) {
			table_set_integer(&cells[G_STATIC], shape->static_shared_bytes);
		}
		table_set_integer(&cells[G_DYNAMIC], shape->dynamic_shared_bytes);
	}
}

static void fill_gpu_copy(const struct trace_event *event, struct table_cell *cells)
{
	uint32_t source = copy_source_of(event->copy), target = copy_target_of(event->copy);
	bool is_set = event->table == GPROF_TABLE_memset;

	table_set_integer(&cells[G_BYTES], event->bytes);
	if (event->is_timed && event->dur_ns) {
		table_set_number(&cells[G_RATE], rate_of((double)event->bytes, event->dur_ns));
	}
	/* nsys shows the memory of a set on the left. */
	table_set_string(&cells[G_SOURCE], api_memory_name(is_set ? target : source));
	if (!is_set) {
		table_set_string(&cells[G_TARGET], api_memory_name(target));
	}
	nsys_set_name(&cells[G_NAME], nsys_operation(event->copy));
}

static void fill_gpu(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct model_place place = trace_place(trace, event);
	const struct model_shape shape = trace_shape(trace, event);

	if (event->is_timed) {
		table_set_integer(&cells[G_START], event->begin_ns);
		table_set_integer(&cells[G_DURATION], event->dur_ns);
	}
	table_set_integer(&cells[G_CORRELATION], event->correlation);
	nsys_set_device(&cells[G_DEVICE], trace->processes[event->process], &place);
	if (place.device != UINT32_MAX) {
		table_set_integer(&cells[G_CONTEXT], place.context);
		table_set_integer(&cells[G_STREAM], place.stream);
	}
	if (gprof_table_is(event->table, GPROF_IS_COPYING)) {
		fill_gpu_copy(event, cells);
	} else {
		fill_gpu_kernel(&shape, trace_has_static(trace, event), cells);
		nsys_set_kernel(trace, event, &cells[G_NAME]);
	}
}

struct table *nsys_gpu_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[NR_G] = {
		[G_START] = TABLE_COLUMN("start_ns", "Start (ns)", TABLE_TIME),
		[G_DURATION] = TABLE_COLUMN("duration_ns", "Duration (ns)", TABLE_TIME),
		[G_CORRELATION] = TABLE_COLUMN("correlation", "CorrId", TABLE_ID),
		[G_GRID] = TABLE_COLUMN("grid_x", "GrdX", TABLE_ID),
		TABLE_COLUMN("grid_y", "GrdY", TABLE_ID),
		TABLE_COLUMN("grid_z", "GrdZ", TABLE_ID),
		[G_BLOCK] = TABLE_COLUMN("block_x", "BlkX", TABLE_ID),
		TABLE_COLUMN("block_y", "BlkY", TABLE_ID),
		TABLE_COLUMN("block_z", "BlkZ", TABLE_ID),
		[G_REGISTERS] = TABLE_COLUMN("registers", "Reg/Trd", TABLE_ID),
		[G_STATIC] = TABLE_COLUMN("static_bytes", "StcSMem (MB)", TABLE_SIZE),
		[G_DYNAMIC] = TABLE_COLUMN("dynamic_bytes", "DymSMem (MB)", TABLE_SIZE),
		[G_BYTES] = TABLE_COLUMN("bytes", "Bytes (MB)", TABLE_SIZE),
		[G_RATE] = TABLE_COLUMN("rate", "Throughput (MB/s)", TABLE_RATE),
		[G_SOURCE] = TABLE_COLUMN("source", "SrcMemKd", TABLE_TEXT),
		[G_TARGET] = TABLE_COLUMN("target", "DstMemKd", TABLE_TEXT),
		[G_DEVICE] = TABLE_COLUMN("device", "Device", TABLE_TEXT),
		[G_CONTEXT] = TABLE_COLUMN("context", "Ctx", TABLE_ID),
		[G_GREEN] = TABLE_COLUMN("green_context", "GreenCtx", TABLE_ID),
		[G_STREAM] = TABLE_COLUMN("stream", "Strm", TABLE_ID),
		[G_NAME] = TABLE_COLUMN("name", "Name", TABLE_TEXT),
	};
	struct trace *trace = trace_view_take(views[0]);

	trace->hint = ask;
	return trace_table(trace, "rows", "", columns, NR_G, fill_gpu);
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

enum {
	A_START,
	A_DURATION,
	A_NAME,
	A_RESULT,
	A_CORRELATION,
	A_PID,
	A_TID,
	A_PRIORITY,
	A_THREAD,
	NR_A,
};

static void fill_api(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct process *process = trace->processes[event->process];
	const struct model_thread *thread = idmap_get(&process->threads, event->thread);

	table_set_integer(&cells[A_START], event->api_begin_ns);
	table_set_integer(&cells[A_DURATION], event->api_dur_ns);
	nsys_set_name(&cells[A_NAME], event->call);
	if (trace_has_result(trace, event)) {
		table_set_integer(&cells[A_RESULT], (uint32_t)event->result);
	}
	table_set_integer(&cells[A_CORRELATION], event->correlation);
	table_set_integer(&cells[A_PID], process->pid);
	if (thread) {
		table_set_integer(&cells[A_TID], thread->tid);
		nsys_set_name(&cells[A_THREAD], thread->name);
	}
}

struct table *nsys_api_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[NR_A] = {
		[A_START] = TABLE_COLUMN("start_ns", "Start (ns)", TABLE_TIME),
		[A_DURATION] = TABLE_COLUMN("duration_ns", "Duration (ns)", TABLE_TIME),
		[A_NAME] = TABLE_COLUMN("name", "Name", TABLE_TEXT),
		[A_RESULT] = TABLE_COLUMN("result", "Result", TABLE_ID),
		[A_CORRELATION] = TABLE_COLUMN("correlation", "CorrID", TABLE_ID),
		[A_PID] = TABLE_COLUMN("pid", "Pid", TABLE_ID),
		[A_TID] = TABLE_COLUMN("tid", "Tid", TABLE_ID),
		[A_PRIORITY] = TABLE_COLUMN("priority", "T-Pri", TABLE_ID),
		[A_THREAD] = TABLE_COLUMN("thread_name", "Thread Name", TABLE_TEXT),
	};

	(void)ask;
	return trace_table(trace_view_take(views[0]), "rows", "", columns, NR_A, fill_api);
}
