/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row for each record of device work, in the order in which they began, with its call and its
 * operator. Queue is the time from the end of the call to the begin of the work; it is unknown
 * where the work began before its call returned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/analysis/trace.h"
#include "report/util/text.h"
#include "report/util/rate.h"

enum {
	START,
	DURATION,
	RANK,
	PID,
	DEVICE,
	CONTEXT,
	STREAM,
	CORRELATION,
	STEP,
	GRID,
	BLOCK,
	REGISTERS,
	STATIC_SHARED,
	DYNAMIC_SHARED,
	BYTES,
	RATE,
	SOURCE,
	TARGET,
	QUEUE,
	CALL,
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
	[DEVICE] = TABLE_COLUMN("device", "Device", TABLE_ID),
	[CONTEXT] = TABLE_COLUMN(
		"context", "Context", TABLE_ID, .is_wide_only = true, .help = "CUDA context ID"),
	[STREAM] = TABLE_COLUMN("stream", "Stream", TABLE_ID, .help = "CUDA stream ID"),
	[CORRELATION] = TABLE_COLUMN("correlation", "Correlation", TABLE_ID, .is_wide_only = true,
		.help = "correlation ID, which the launching call shares"),
	[STEP] = TABLE_COLUMN("step", "Step", TABLE_ID),
	[GRID] = TABLE_COLUMN("grid", "Grid", TABLE_TEXT),
	[BLOCK] = TABLE_COLUMN("block", "Block", TABLE_TEXT),
	[REGISTERS] = TABLE_COLUMN("registers", "Regs", TABLE_COUNT, .is_wide_only = true,
		.help = "registers per thread"),
	[STATIC_SHARED] = TABLE_COLUMN("static_shared_bytes", "Static shared", TABLE_SIZE,
		.is_wide_only = true, .help = "shared memory per block, static"),
	[DYNAMIC_SHARED] = TABLE_COLUMN("dynamic_shared_bytes", "Dynamic shared", TABLE_SIZE,
		.is_wide_only = true, .help = "shared memory per block, dynamic"),
	[BYTES] = TABLE_COLUMN("bytes", "Size", TABLE_SIZE),
	[RATE] = TABLE_COLUMN("bytes_per_s", "Rate", TABLE_RATE),
	[SOURCE] = TABLE_COLUMN("source", "From", TABLE_TEXT, .is_wide_only = true),
	[TARGET] = TABLE_COLUMN("target", "To", TABLE_TEXT, .is_wide_only = true),
	[QUEUE] = TABLE_COLUMN("queue_ns", "Queue", TABLE_TIME,
		.help = "from the end of the call to the start of the activity"),
	[CALL] = TABLE_COLUMN(
		"call", "Call", TABLE_NAME, .is_wide_only = true, .help = "call that launched it"),
	[OPERATOR] = TABLE_COLUMN(
		"operator", "Operator", TABLE_NAME, .help = "innermost operator around the call"),
	[NAME] = TABLE_COLUMN("name", "Name", TABLE_NAME, .is_kernel = true),
};

static void fill_kernel(const struct model_shape *shape, bool has_static, struct table_cell *cells)
{
	char text[64];

	if (!shape->grid[0]) {
		return; /* not known */
	}
	snprintf(text, sizeof(text), "%u %u %u", shape->grid[0], shape->grid[1], shape->grid[2]);
	table_set_string(&cells[GRID], text);
	snprintf(text, sizeof(text), "%u %u %u", shape->block[0], shape->block[1], shape->block[2]);
	table_set_string(&cells[BLOCK], text);
	table_set_integer(&cells[REGISTERS], shape->registers);
	if (has_static) {
		table_set_integer(&cells[STATIC_SHARED], shape->static_shared_bytes);
	}
	table_set_integer(&cells[DYNAMIC_SHARED], shape->dynamic_shared_bytes);
}

static void fill_copy(const struct trace_event *event, struct table_cell *cells)
{
	table_set_integer(&cells[BYTES], event->bytes);
	if (event->is_timed && event->dur_ns) {
		table_set_number(&cells[RATE], rate_of((double)event->bytes, event->dur_ns));
	}
	if (event->table == GPROF_TABLE_memcpy) {
		table_set_string(&cells[SOURCE], api_memory_name(copy_source_of(event->copy)));
	}
	table_set_string(&cells[TARGET], api_memory_name(copy_target_of(event->copy)));
}

static void fill_call(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct process *process = trace->processes[event->process];
	uint64_t begin_ns, dur_ns;

	table_set_integer(&cells[CALL], event->call);
	if (event->op) {
		table_set_integer(&cells[OPERATOR], event->op);
	}
	if (event->step && event->step <= process->nr_steps) {
		table_set_integer(&cells[STEP], process->steps[event->step - 1].step);
	}
	if (trace_queue(event, &begin_ns, &dur_ns)) {
		table_set_integer(&cells[QUEUE], dur_ns);
	}
}

static void fill(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct process *process = trace->processes[event->process];
	const struct model_shape shape = trace_shape(trace, event);
	const struct model_place place = trace_place(trace, event);

	if (event->is_timed) {
		table_set_integer(&cells[START], event->begin_ns);
		table_set_integer(&cells[DURATION], event->dur_ns);
	}
	if (process->rank >= 0) {
		table_set_integer(&cells[RANK], (uint64_t)process->rank);
	}
	table_set_integer(&cells[PID], process->pid);
	if (place.device != UINT32_MAX) {
		table_set_integer(&cells[DEVICE], place.device);
		table_set_integer(&cells[CONTEXT], place.context);
		table_set_integer(&cells[STREAM], place.stream);
	}
	table_set_integer(&cells[CORRELATION], event->correlation);
	if (event->table == GPROF_TABLE_kernel) {
		fill_kernel(&shape, trace_has_static(trace, event), cells);
	} else if (event->table != GPROF_TABLE_graph) {
		fill_copy(event, cells);
	}
	if (event->has_call) {
		fill_call(trace, event, cells);
	}
	table_set_integer(&cells[NAME], trace_name(trace, event));
}

/* ---- the view ---- */

static void init(void *state)
{
	struct trace_view *view = state;

	view->trace = trace_create(&view->input, TRACE_BY_RECORD);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	trace_record(((struct trace_view *)context)->trace, record, call, op);
}

static void fill_table(void *state, struct table *table)
{
	struct trace_view *view = state;
	struct trace *trace = trace_view_take(state);
	uint64_t nr_untimed = trace->nr_untimed, nr_without_call = trace->nr_without_call;

	trace_fill(trace, table, fill);
	view_note_devices(table, &view->input, "");
	if (nr_untimed) {
		table_note(table, "%llu GPU %s last.", (unsigned long long)nr_untimed,
			text_many(nr_untimed, "activity has no times and stands",
				"activities have no times and stand"));
	}
	if (nr_without_call) {
		table_note(table, "%llu GPU %s no recorded call.",
			(unsigned long long)nr_without_call,
			text_many(nr_without_call, "activity has", "activities have"));
	}
}

VIEW(gpu_trace, 510) = {
	.name = "gpu-trace",
	.subject = VIEW_ABOUT_GPU,
	.help = "every kernel, copy and memset in order of start time, with its launch",
	.is_asked_only = true,
	.title = "GPU activity trace",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct trace_view),
	.ops = {.begin = trace_view_begin, .record = on_record},
	.init = init,
	.fill = fill_table,
	.fini = trace_view_fini,
};
