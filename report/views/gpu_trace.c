/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row for each record of device work, in the order in which they began, with its call and its
 * operator. Queue is the time from the end of the call to the begin of the work; it is unknown
 * where the work began before its call returned.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/trace.h"
#include "report/util/text.h"

static void set_extent(const uint64_t *extent, struct table_cell *cell)
{
	char text[64];

	if (extent[0] != UINT64_MAX) {
		snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRIu64, extent[0],
			extent[1], extent[2]);
		table_set_string(cell, text);
	}
}

static void set_grid(const void *row, struct table_cell *cell)
{
	set_extent(((const struct trace_row *)row)->grid, cell);
}

static void set_block(const void *row, struct table_cell *cell)
{
	set_extent(((const struct trace_row *)row)->block, cell);
}

static void set_name(const void *row, struct table_cell *cell)
{
	const struct trace_row *of = row;

	table_set_integer(cell, trace_name(of->trace, &of->event));
}

static const struct table_column columns[] = {
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording",
		TRACE_MEMBER(start_ns)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TRACE_MEMBER(duration_ns)),
	TRACE_RANK_PID_COLUMNS,
	TABLE_COLUMN("device", "Device", TABLE_ID, TRACE_MEMBER(device)),
	TABLE_COLUMN("context", "Context", TABLE_ID, .is_wide_only = true,
		.help = "CUDA context ID", TRACE_MEMBER(context)),
	TABLE_COLUMN("stream", "Stream", TABLE_ID, .help = "CUDA stream ID", TRACE_MEMBER(stream)),
	TABLE_COLUMN("correlation", "Correlation", TABLE_ID, .is_wide_only = true,
		.help = "correlation ID, which the launching call shares",
		TRACE_MEMBER(event.correlation)),
	TABLE_COLUMN("step", "Step", TABLE_ID, TRACE_MEMBER(step)),
	TABLE_COLUMN("grid", "Grid", TABLE_TEXT, TRACE_SET(set_grid)),
	TABLE_COLUMN("block", "Block", TABLE_TEXT, TRACE_SET(set_block)),
	TABLE_COLUMN("registers", "Regs", TABLE_COUNT, .is_wide_only = true,
		.help = "registers per thread", TRACE_MEMBER(registers)),
	TABLE_COLUMN("static_shared_bytes", "Static shared", TABLE_SIZE, .is_wide_only = true,
		.help = "shared memory per block, static", TRACE_MEMBER(static_bytes)),
	TABLE_COLUMN("dynamic_shared_bytes", "Dynamic shared", TABLE_SIZE, .is_wide_only = true,
		.help = "shared memory per block, dynamic", TRACE_MEMBER(dynamic_bytes)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, TRACE_MEMBER(bytes)),
	TABLE_COLUMN("bytes_per_s", "Rate", TABLE_RATE, TRACE_MEMBER(bytes_per_s)),
	TABLE_COLUMN("source", "From", TABLE_TEXT, .is_wide_only = true, TRACE_MEMBER(source)),
	TABLE_COLUMN("target", "To", TABLE_TEXT, .is_wide_only = true, TRACE_MEMBER(target)),
	TABLE_COLUMN("queue_ns", "Queue", TABLE_TIME,
		.help = "from the end of the call to the start of the activity",
		TRACE_MEMBER(queue_ns)),
	TABLE_COLUMN("call", "Call", TABLE_NAME, .is_wide_only = true,
		.help = "call that launched it", TRACE_MEMBER(call)),
	TABLE_COLUMN("operator", "Operator", TABLE_NAME,
		.help = "innermost operator around the call", TABLE_NONZERO(trace_row, event.op)),
	TABLE_COLUMN("name", "Name", TABLE_NAME, .is_kernel = true, TRACE_SET(set_name)),
};

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

	trace_fill(trace, table);
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
