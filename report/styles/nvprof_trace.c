/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvprof.c calls nvprof_print_trace() for gpu-trace and api-trace. Text has a unit in each number,
 * so there all cells are texts; CSV has a unit for each column and tables of its own in
 * nvprof_csv.c. Both tables take over the trace of the view and fill a row from it whenever it is
 * read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/styles/nsys_reports.h"
#include "report/styles/nvprof.h"
#include "report/table/print.h"
#include "report/util/text.h"
#include "report/analysis/trace.h"
#include "report/util/rate.h"

#define MAX_COLUMNS 20u

/* ---- what both formats have ---- */

uint32_t nvprof_name(const struct trace *trace, const struct trace_event *event)
{
	char text[64];
	int length;

	if (event->table == GPROF_TABLE_memset) {
		length = snprintf(text, sizeof(text), "[CUDA memset]");
	} else if (event->table == GPROF_TABLE_memcpy) {
		length = snprintf(text, sizeof(text), "[CUDA memcpy %s]",
			api_copy_name(copy_kind_of(event->copy)));
	} else {
		return trace_name(trace, event);
	}
	return string_pool_intern(text, (size_t)length);
}

bool nvprof_is_copy(const struct trace_event *event)
{
	return gprof_table_is(event->table, GPROF_IS_COPYING);
}

const char *nvprof_source(const struct trace_event *event)
{
	uint32_t kind = event->copy;

	if (!nvprof_is_copy(event)) {
		return NULL;
	}
	return api_memory_name(
		event->table == GPROF_TABLE_memset ? copy_target_of(kind) : copy_source_of(kind));
}

const char *nvprof_target(const struct trace_event *event)
{
	return event->table == GPROF_TABLE_memcpy ? api_memory_name(copy_target_of(event->copy))
						  : NULL;
}

bool nvprof_has_rate(const struct trace_event *event)
{
	return nvprof_is_copy(event) && event->is_timed && event->dur_ns;
}

double nvprof_rate(const struct trace_event *event)
{
	return rate_of((double)event->bytes, event->dur_ns);
}

void nvprof_set_device(const struct trace *trace, const struct trace_event *event,
	const struct model_place *place, struct table_cell *cell)
{
	const struct process *process = trace->processes[event->process];
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes;

	if (place->device == UINT32_MAX) {
		table_set_string(cell, "-");
		return;
	}
	bytes = string_pool_text(process_device_name(process, place->device), &nr_bytes);
	buf_add(&text, bytes, nr_bytes);
	buf_printf(&text, " (%u)", place->device);
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

/* ---- text: every cell is one ---- */

enum {
	T_START,
	T_DURATION,
	T_GRID,
	T_BLOCK,
	T_REGISTERS,
	T_STATIC,
	T_DYNAMIC,
	T_SIZE,
	T_RATE,
	T_SOURCE,
	T_TARGET,
	T_DEVICE,
	T_CONTEXT,
	T_STREAM,
	T_NAME,
	NR_T,
};

static void set_time(struct table_cell *cell, uint64_t ns)
{
	struct buf text = {0};

	table_add_auto_time(&text, (double)ns);
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

/* Sets up to five digits and a unit, after that `per`. */
static void set_size(struct table_cell *cell, double bytes, const char *per)
{
	static const char *const units[] = {"B", "KB", "MB", "GB"};
	char text[64];
	int unit = 0, decimals;

	while (unit < 3 && bytes >= 1024) {
		bytes /= 1024;
		unit++;
	}
	decimals = unit ? (bytes < 10 ? 4 : bytes < 100 ? 3 : bytes < 1000 ? 2 : 0) : 0;
	snprintf(text, sizeof(text), "%.*f%s%s", decimals, bytes, units[unit], per);
	table_set_string(cell, text);
}

static void set_extent(struct table_cell *cell, const uint32_t *extent)
{
	char text[64];

	snprintf(text, sizeof(text), "(%u %u %u)", extent[0], extent[1], extent[2]);
	table_set_string(cell, text);
}

void nvprof_set_number(struct table_cell *cell, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	table_set_string(cell, text);
}

/* Sets "name [7]": kernels carry their correlation ID. */
static void set_name(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cell)
{
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes = string_pool_shown(nvprof_name(trace, event), &nr_bytes);

	buf_add(&text, bytes, nr_bytes);
	if (!nvprof_is_copy(event)) {
		buf_printf(&text, " [%" PRIu64 "]", event->correlation);
	}
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

/* A value that an event does not have is a dash. */
static void fill_text(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct model_shape shape = trace_shape(trace, event);
	const struct model_place place = trace_place(trace, event);

	for (int c = 0; c < T_NAME; c++) {
		table_set_string(&cells[c], "-");
	}
	if (event->is_timed) {
		set_time(&cells[T_START], event->begin_ns);
		set_time(&cells[T_DURATION], event->dur_ns);
	}
	if (shape.grid[0]) {
		set_extent(&cells[T_GRID], shape.grid);
		set_extent(&cells[T_BLOCK], shape.block);
		nvprof_set_number(&cells[T_REGISTERS], shape.registers);
		if (trace_has_static(trace, event)) {
			set_size(&cells[T_STATIC], shape.static_shared_bytes, "");
		}
		set_size(&cells[T_DYNAMIC], shape.dynamic_shared_bytes, "");
	}
	if (nvprof_is_copy(event)) {
		set_size(&cells[T_SIZE], (double)event->bytes, "");
		table_set_string(&cells[T_SOURCE], nvprof_source(event));
		table_set_string(
			&cells[T_TARGET], nvprof_target(event) ? nvprof_target(event) : "-");
	}
	if (nvprof_has_rate(event)) {
		set_size(&cells[T_RATE], nvprof_rate(event), "/s");
	}
	nvprof_set_device(trace, event, &place, &cells[T_DEVICE]);
	if (place.device != UINT32_MAX) {
		nvprof_set_number(&cells[T_CONTEXT], place.context);
		nvprof_set_number(&cells[T_STREAM], place.stream);
	}
	set_name(trace, event, &cells[T_NAME]);
}

enum { CALL_START, CALL_DURATION, CALL_NAME };

static void fill_call_text(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	size_t nr_bytes;
	const char *bytes = string_pool_shown(event->call, &nr_bytes);

	(void)trace;
	set_time(&cells[CALL_START], event->api_begin_ns);
	set_time(&cells[CALL_DURATION], event->api_dur_ns);
	table_set_text(&cells[CALL_NAME], bytes, nr_bytes);
}

/* Adjusts all columns to the right but the last. */
static void print_row(const struct table *table, const struct table_cell *cells,
	const size_t *widths, struct buf *out)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		struct buf text = {0};
		size_t width;

		if (cells) {
			width = text_add_shown(&text, cells[c].text, cells[c].nr_text, 0);
		} else {
			buf_text(&text, table->columns[c].title);
			width = text.nr_bytes;
		}
		buf_text(out, c ? "  " : "");
		buf_pad(out, ' ', c + 1 < table->nr_columns ? widths[c] - width : 0);
		buf_add(out, text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
	buf_char(out, '\n');
	buf_flush_if_large(out);
}

/* Columns grow with their texts from 8 characters; the last one is as long as its text. */
static void print_text(const struct table *table, struct buf *out)
{
	size_t widths[MAX_COLUMNS];
	struct buf text = {0};

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		widths[c] = strlen(table->columns[c].title);
		widths[c] = widths[c] < 8 ? 8 : widths[c];
	}
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c + 1 < table->nr_columns; c++) {
			size_t width;

			text.nr_bytes = 0;
			width = text_add_shown(&text, cells[c].text, cells[c].nr_text, 0);
			widths[c] = width > widths[c] ? width : widths[c];
		}
	}
	buf_fini(&text);
	print_row(table, NULL, widths, out);
	for (size_t row = 0; row < table->nr_rows; row++) {
		print_row(table, table_row(table, row), widths, out);
	}
	if (table->nr_cut) {
		buf_printf(out, "%zu more\n", table->nr_cut);
	}
}

/* ---- tables ---- */

static struct table *make_gpu(void *view, bool is_csv)
{
	static const struct table_column texts[NR_T] = {
		[T_START] = TABLE_COLUMN("start", "Start", TABLE_TEXT),
		[T_DURATION] = TABLE_COLUMN("duration", "Duration", TABLE_TEXT),
		[T_GRID] = TABLE_COLUMN("grid", "Grid Size", TABLE_TEXT),
		[T_BLOCK] = TABLE_COLUMN("block", "Block Size", TABLE_TEXT),
		[T_REGISTERS] = TABLE_COLUMN("registers", "Regs*", TABLE_TEXT),
		[T_STATIC] = TABLE_COLUMN("static", "SSMem*", TABLE_TEXT),
		[T_DYNAMIC] = TABLE_COLUMN("dynamic", "DSMem*", TABLE_TEXT),
		[T_SIZE] = TABLE_COLUMN("size", "Size", TABLE_TEXT),
		[T_RATE] = TABLE_COLUMN("rate", "Throughput", TABLE_TEXT),
		[T_SOURCE] = TABLE_COLUMN("source", "SrcMemType", TABLE_TEXT),
		[T_TARGET] = TABLE_COLUMN("target", "DstMemType", TABLE_TEXT),
		[T_DEVICE] = TABLE_COLUMN("device", "Device", TABLE_TEXT),
		[T_CONTEXT] = TABLE_COLUMN("context", "Context", TABLE_TEXT),
		[T_STREAM] = TABLE_COLUMN("stream", "Stream", TABLE_TEXT),
		[T_NAME] = TABLE_COLUMN("name", "Name", TABLE_TEXT),
	};
	struct trace *trace = trace_view_take(view);

	return is_csv ? nvprof_csv_gpu(trace)
		      : trace_table(trace, "rows", "", texts, NR_T, fill_text);
}

/* Makes the table of calls of CUDA alone. */
static struct table *make_calls(struct trace *trace, bool is_csv)
{
	static const struct table_column texts[] = {
		TABLE_COLUMN("start", "Start", TABLE_TEXT),
		TABLE_COLUMN("duration", "Duration", TABLE_TEXT),
		TABLE_COLUMN("name", "Name", TABLE_TEXT),
	};

	return is_csv ? nvprof_csv_calls(trace)
		      : trace_table(trace, "rows", "", texts, 3, fill_call_text);
}

void nvprof_print_trace(const struct summary *summary, struct process *process,
	const struct view_class *class, struct buf *out)
{
	struct view_input input = {
		.processes = &process, .nr_processes = 1, .nr_rows = summary->asked.top};
	bool is_csv = summary->asked.table.format == TABLE_CSV;
	bool is_gpu = class == &view_gpu_trace;
	const struct view_class *source = is_gpu ? &view_gpu_trace : &view_nsys_api;
	struct table *table;
	void *view;

	view_run(&input, &source, 1, &view);
	table = is_gpu ? make_gpu(view, is_csv) : make_calls(trace_view_take(view), is_csv);
	table_cut(table, summary->asked.top);
	nvprof_print_head(process, is_csv, out);
	if (!table->nr_rows) {
		buf_text(out, is_gpu ? "No kernels were profiled.\n"
				     : "No API activities were profiled.\n");
	} else if (is_csv) {
		nvprof_csv_print(table, out);
	} else {
		print_text(table, out);
	}
	if (table->nr_rows && is_gpu && !is_csv) {
		buf_text(out, "\n"
			      "Regs: Number of registers used per CUDA thread.\n"
			      "SSMem: Static shared memory allocated per CUDA block.\n"
			      "DSMem: Dynamic shared memory allocated per CUDA block.\n");
	}
	table_destroy(table);
	view_destroy(source, view);
}
