/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/api.h"
#include "report/copy.h"
#include "report/nsys.h"
#include "report/nvprof.h"
#include "report/table_print.h"
#include "report/text.h"
#include "report/trace.h"

#define MOST_COLUMNS 20u

/* ---- what both formats have ---- */

static uint32_t name_of(const struct trace *trace, const struct trace_event *event)
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
	return names_intern(text, (size_t)length);
}

static bool is_copy(const struct trace_event *event)
{
	return event->table == GPROF_TABLE_memcpy || event->table == GPROF_TABLE_memset;
}

/* Of a set the memory stands on the left; NULL: none. */
static const char *source_of(const struct trace_event *event)
{
	uint32_t kind = event->copy;

	if (!is_copy(event)) {
		return NULL;
	}
	return api_memory_name(
		event->table == GPROF_TABLE_memset ? copy_target_of(kind) : copy_source_of(kind));
}

static const char *target_of(const struct trace_event *event)
{
	return event->table == GPROF_TABLE_memcpy ? api_memory_name(copy_target_of(event->copy))
						  : NULL;
}

static bool has_rate(const struct trace_event *event)
{
	return is_copy(event) && event->is_timed && event->dur_ns;
}

static double rate_of(const struct trace_event *event)
{
	return (double)event->bytes * 1e9 / (double)event->dur_ns;
}

static void set_text(struct table_cell *cell, const char *text)
{
	table_set_text(cell, text, strlen(text));
}

static void set_device(const struct trace *trace, const struct trace_event *event,
	const struct model_place *place, struct table_cell *cell)
{
	const struct process *process = trace->processes[event->process];
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes;

	if (place->device == UINT32_MAX) {
		set_text(cell, "-");
		return;
	}
	bytes = names_raw(process_device_name(process, place->device), &nr_bytes);
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

/* Five digits and a unit, after that `per`. */
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
	set_text(cell, text);
}

static void set_extent(struct table_cell *cell, const uint32_t *extent)
{
	char text[64];

	snprintf(text, sizeof(text), "(%u %u %u)", extent[0], extent[1], extent[2]);
	set_text(cell, text);
}

static void set_number(struct table_cell *cell, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	set_text(cell, text);
}

/* "name [7]": kernels carry their correlation id. */
static void set_name(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cell)
{
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes = names_shown(name_of(trace, event), &nr_bytes);

	buf_add(&text, bytes, nr_bytes);
	if (!is_copy(event)) {
		buf_printf(&text, " [%u]", event->correlation);
	}
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

static void fill_text(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct model_shape shape = trace_shape(trace, event);
	const struct model_place place = trace_place(trace, event);

	for (int c = 0; c < T_NAME; c++) {
		set_text(&cells[c], "-");
	}
	if (event->is_timed) {
		set_time(&cells[T_START], event->begin_ns);
		set_time(&cells[T_DURATION], event->dur_ns);
	}
	if (shape.grid[0]) {
		set_extent(&cells[T_GRID], shape.grid);
		set_extent(&cells[T_BLOCK], shape.block);
		set_number(&cells[T_REGISTERS], shape.registers);
		set_size(&cells[T_STATIC], shape.static_shared_bytes, "");
		set_size(&cells[T_DYNAMIC], shape.dynamic_shared_bytes, "");
	}
	if (is_copy(event)) {
		set_size(&cells[T_SIZE], (double)event->bytes, "");
		set_text(&cells[T_SOURCE], source_of(event));
		set_text(&cells[T_TARGET], target_of(event) ? target_of(event) : "-");
	}
	if (has_rate(event)) {
		set_size(&cells[T_RATE], rate_of(event), "/s");
	}
	set_device(trace, event, &place, &cells[T_DEVICE]);
	if (place.device != UINT32_MAX) {
		set_number(&cells[T_CONTEXT], place.context);
		set_number(&cells[T_STREAM], place.stream);
	}
	set_name(trace, event, &cells[T_NAME]);
}

static void fill_call_text(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	size_t nr_bytes;
	const char *bytes = names_shown(event->call, &nr_bytes);

	(void)trace;
	set_time(&cells[0], event->api_begin_ns);
	set_time(&cells[1], event->api_dur_ns);
	table_set_text(&cells[2], bytes, nr_bytes);
}

/* To the right but for the last column. */
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
	buf_flush_much(out);
}

static void print_text(const struct table *table, struct buf *out)
{
	size_t widths[MOST_COLUMNS];
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

/* ---- CSV: numbers in the unit of their column ---- */

enum {
	C_START,
	C_DURATION,
	C_GRID,
	C_BLOCK = C_GRID + 3,
	C_REGISTERS = C_BLOCK + 3,
	C_STATIC,
	C_DYNAMIC,
	C_SIZE,
	C_RATE,
	C_SOURCE,
	C_TARGET,
	C_DEVICE,
	C_CONTEXT,
	C_STREAM,
	C_NAME,
	C_CORRELATION,
	NR_C,
};

static void fill_csv(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct model_shape shape = trace_shape(trace, event);
	const struct model_place place = trace_place(trace, event);

	if (event->is_timed) {
		table_set_integer(&cells[C_START], event->begin_ns);
		table_set_integer(&cells[C_DURATION], event->dur_ns);
	}
	for (int k = 0; k < 3 && shape.grid[0]; k++) {
		table_set_integer(&cells[C_GRID + k], shape.grid[k]);
		table_set_integer(&cells[C_BLOCK + k], shape.block[k]);
	}
	if (shape.grid[0]) {
		table_set_integer(&cells[C_REGISTERS], shape.registers);
		table_set_integer(&cells[C_STATIC], shape.static_shared_bytes);
		table_set_integer(&cells[C_DYNAMIC], shape.dynamic_shared_bytes);
	}
	if (is_copy(event)) {
		table_set_integer(&cells[C_SIZE], event->bytes);
		set_text(&cells[C_SOURCE], source_of(event));
	}
	if (has_rate(event)) {
		table_set_number(&cells[C_RATE], rate_of(event));
	}
	if (target_of(event)) {
		set_text(&cells[C_TARGET], target_of(event));
	}
	if (place.device != UINT32_MAX) {
		set_device(trace, event, &place, &cells[C_DEVICE]);
		set_number(&cells[C_CONTEXT], place.context);
		set_number(&cells[C_STREAM], place.stream);
	}
	table_set_integer(&cells[C_NAME], name_of(trace, event));
	table_set_integer(&cells[C_CORRELATION], event->correlation);
}

static void fill_call_csv(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	(void)trace;
	table_set_integer(&cells[0], event->api_begin_ns);
	table_set_integer(&cells[1], event->api_dur_ns);
	table_set_integer(&cells[2], event->call);
	table_set_integer(&cells[3], event->correlation);
}

struct unit {
	const char *name;
	double factor;
};

static const struct unit time_units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
static const struct unit size_units[] = {
	{"GB", 1073741824}, {"MB", 1048576}, {"KB", 1024}, {"B", 1}};
static const struct unit rate_units[] = {
	{"GB/s", 1073741824}, {"MB/s", 1048576}, {"KB/s", 1024}, {"B/s", 1}};

static const struct unit *units_of(enum table_type type)
{
	switch (type) {
	case TABLE_TIME:
		return time_units;
	case TABLE_SIZE:
		return size_units;
	case TABLE_RATE:
		return rate_units;
	default:
		return NULL;
	}
}

/* Of each column the largest in which its largest number is at least 1; NULL for most. */
static void find_units(const struct table *table, const struct unit **units)
{
	double most[MOST_COLUMNS] = {0};

	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			most[c] = cells[c].number > most[c] ? cells[c].number : most[c];
		}
	}
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		units[c] = units_of(table->columns[c].type);
		for (int k = 0; units[c] && k < 3 && most[c] < units[c]->factor; k++) {
			units[c]++;
		}
	}
}

static void print_csv_cell(const struct table_column *column, const struct table_cell *cell,
	const struct unit *unit, struct buf *out)
{
	size_t nr_bytes;
	const char *bytes;

	if (!cell->is_known) {
		return;
	}
	if (unit) {
		buf_printf(out, "%.6f", cell->number / unit->factor);
	} else if (column->type == TABLE_ID) {
		buf_printf(out, "%" PRIu64, cell->integer);
	} else {
		bytes = table_cell_text(column, cell, &nr_bytes);
		text_add_csv(out, bytes, nr_bytes);
	}
}

static void print_csv(const struct table *table, struct buf *out)
{
	const struct unit *units[MOST_COLUMNS];

	find_units(table, units);
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_printf(out, "%s\"%s\"", c ? "," : "", table->columns[c].title);
	}
	buf_char(out, '\n');
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_printf(out, "%s%s", c ? "," : "", units[c] ? units[c]->name : "");
	}
	buf_char(out, '\n');
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			buf_text(out, c ? "," : "");
			print_csv_cell(&table->columns[c], &cells[c], units[c], out);
		}
		buf_char(out, '\n');
		buf_flush_much(out);
	}
}

/* ---- tables ---- */

static struct table *make_gpu(void *view, bool is_csv)
{
	static const struct table_column texts[NR_T] = {
		[T_START] = {"start", "Start", TABLE_TEXT, false},
		[T_DURATION] = {"duration", "Duration", TABLE_TEXT, false},
		[T_GRID] = {"grid", "Grid Size", TABLE_TEXT, false},
		[T_BLOCK] = {"block", "Block Size", TABLE_TEXT, false},
		[T_REGISTERS] = {"registers", "Regs*", TABLE_TEXT, false},
		[T_STATIC] = {"static", "SSMem*", TABLE_TEXT, false},
		[T_DYNAMIC] = {"dynamic", "DSMem*", TABLE_TEXT, false},
		[T_SIZE] = {"size", "Size", TABLE_TEXT, false},
		[T_RATE] = {"rate", "Throughput", TABLE_TEXT, false},
		[T_SOURCE] = {"source", "SrcMemType", TABLE_TEXT, false},
		[T_TARGET] = {"target", "DstMemType", TABLE_TEXT, false},
		[T_DEVICE] = {"device", "Device", TABLE_TEXT, false},
		[T_CONTEXT] = {"context", "Context", TABLE_TEXT, false},
		[T_STREAM] = {"stream", "Stream", TABLE_TEXT, false},
		[T_NAME] = {"name", "Name", TABLE_TEXT, false},
	};
	static const struct table_column numbers[NR_C] = {
		[C_START] = {"start_ns", "Start", TABLE_TIME, false},
		[C_DURATION] = {"duration_ns", "Duration", TABLE_TIME, false},
		[C_GRID] = {"grid_x", "Grid X", TABLE_ID, false},
		{"grid_y", "Grid Y", TABLE_ID, false},
		{"grid_z", "Grid Z", TABLE_ID, false},
		[C_BLOCK] = {"block_x", "Block X", TABLE_ID, false},
		{"block_y", "Block Y", TABLE_ID, false},
		{"block_z", "Block Z", TABLE_ID, false},
		[C_REGISTERS] = {"registers", "Registers Per Thread", TABLE_ID, false},
		[C_STATIC] = {"static_bytes", "Static SMem", TABLE_SIZE, false},
		[C_DYNAMIC] = {"dynamic_bytes", "Dynamic SMem", TABLE_SIZE, false},
		[C_SIZE] = {"bytes", "Size", TABLE_SIZE, false},
		[C_RATE] = {"rate", "Throughput", TABLE_RATE, false},
		[C_SOURCE] = {"source", "SrcMemType", TABLE_TEXT, false},
		[C_TARGET] = {"target", "DstMemType", TABLE_TEXT, false},
		[C_DEVICE] = {"device", "Device", TABLE_TEXT, false},
		[C_CONTEXT] = {"context", "Context", TABLE_TEXT, false},
		[C_STREAM] = {"stream", "Stream", TABLE_TEXT, false},
		[C_NAME] = {"name", "Name", TABLE_NAME, false},
		[C_CORRELATION] = {"correlation", "Correlation_ID", TABLE_ID, false},
	};
	struct trace *trace = view_gpu_trace_take(view);

	return is_csv ? trace_table(trace, "rows", "", numbers, NR_C, fill_csv)
		      : trace_table(trace, "rows", "", texts, NR_T, fill_text);
}

/* Of CUDA alone; the view is its trace. */
static struct table *make_calls(struct trace *trace, bool is_csv)
{
	static const struct table_column texts[] = {
		{"start", "Start", TABLE_TEXT, false},
		{"duration", "Duration", TABLE_TEXT, false},
		{"name", "Name", TABLE_TEXT, false},
	};
	static const struct table_column numbers[] = {
		{"start_ns", "Start", TABLE_TIME, false},
		{"duration_ns", "Duration", TABLE_TIME, false},
		{"name", "Name", TABLE_NAME, false},
		{"correlation", "Correlation_ID", TABLE_ID, false},
	};
	return is_csv ? trace_table(trace, "rows", "", numbers, 4, fill_call_csv)
		      : trace_table(trace, "rows", "", texts, 3, fill_call_text);
}

void nvprof_print_trace(const struct summary *summary, struct process *process,
	const struct view_class *class, struct buf *out)
{
	struct view_input input = {
		.processes = &process, .nr_processes = 1, .nr_rows = summary->top};
	bool is_csv = summary->table.format == TABLE_CSV;
	bool is_gpu = class == &view_gpu_trace;
	const struct view_class *source = is_gpu ? &view_gpu_trace : &view_nsys_api;
	struct table *table;
	void *view;

	summary_run(&input, &source, 1, &view);
	table = is_gpu ? make_gpu(view, is_csv) : make_calls(view, is_csv);
	table_cut(table, summary->top);
	nvprof_print_head(process, is_csv, out);
	if (!table->nr_rows) {
		buf_text(out, is_gpu ? "No kernels were profiled.\n"
				     : "No API activities were profiled.\n");
	} else if (is_csv) {
		print_csv(table, out);
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
	source->destroy(view);
}
