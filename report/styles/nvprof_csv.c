/* SPDX-License-Identifier: Apache-2.0 */
/* nvprof's traces as CSV: each number in the unit of its column, which the second line has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/styles/nsys_reports.h"
#include "report/styles/nvprof.h"
#include "report/table/print.h"
#include "report/util/text.h"

#define MAX_COLUMNS 20u

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
		if (trace_has_static(trace, event)) {
			table_set_integer(&cells[C_STATIC], shape.static_shared_bytes);
		}
		table_set_integer(&cells[C_DYNAMIC], shape.dynamic_shared_bytes);
	}
	if (nvprof_is_copy(event)) {
		table_set_integer(&cells[C_SIZE], event->bytes);
		table_set_string(&cells[C_SOURCE], nvprof_source(event));
	}
	if (nvprof_has_rate(event)) {
		table_set_number(&cells[C_RATE], nvprof_rate(event));
	}
	if (nvprof_target(event)) {
		table_set_string(&cells[C_TARGET], nvprof_target(event));
	}
	if (place.device != UINT32_MAX) {
		nvprof_set_device(trace, event, &place, &cells[C_DEVICE]);
		nvprof_set_number(&cells[C_CONTEXT], place.context);
		nvprof_set_number(&cells[C_STREAM], place.stream);
	}
	table_set_integer(&cells[C_NAME], nvprof_name(trace, event));
	table_set_integer(&cells[C_CORRELATION], event->correlation);
}

static const struct table_column call_columns[] = {
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, TABLE_MEMBER(trace_event, api_begin_ns)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TABLE_MEMBER(trace_event, api_dur_ns)),
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(trace_event, call)),
	TABLE_COLUMN(
		"correlation", "Correlation_ID", TABLE_ID, TABLE_MEMBER(trace_event, correlation)),
};

static void fill_call_csv(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	(void)trace;
	TABLE_FILL(call_columns, event, cells);
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

/*
 * Finds for each column the largest unit in which its largest number is at least 1; NULL for most.
 */
static void find_units(const struct table *table, const struct unit **units)
{
	double most[MAX_COLUMNS] = {0};

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

void nvprof_csv_print(const struct table *table, struct buf *out)
{
	const struct unit *units[MAX_COLUMNS];

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
		buf_flush_if_large(out);
	}
}

struct table *nvprof_csv_gpu(struct trace *trace)
{
	static const struct table_column numbers[NR_C] = {
		[C_START] = TABLE_COLUMN("start_ns", "Start", TABLE_TIME),
		[C_DURATION] = TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME),
		[C_GRID] = TABLE_COLUMN("grid_x", "Grid X", TABLE_ID),
		TABLE_COLUMN("grid_y", "Grid Y", TABLE_ID),
		TABLE_COLUMN("grid_z", "Grid Z", TABLE_ID),
		[C_BLOCK] = TABLE_COLUMN("block_x", "Block X", TABLE_ID),
		TABLE_COLUMN("block_y", "Block Y", TABLE_ID),
		TABLE_COLUMN("block_z", "Block Z", TABLE_ID),
		[C_REGISTERS] = TABLE_COLUMN("registers", "Registers Per Thread", TABLE_ID),
		[C_STATIC] = TABLE_COLUMN("static_bytes", "Static SMem", TABLE_SIZE),
		[C_DYNAMIC] = TABLE_COLUMN("dynamic_bytes", "Dynamic SMem", TABLE_SIZE),
		[C_SIZE] = TABLE_COLUMN("bytes", "Size", TABLE_SIZE),
		[C_RATE] = TABLE_COLUMN("rate", "Throughput", TABLE_RATE),
		[C_SOURCE] = TABLE_COLUMN("source", "SrcMemType", TABLE_TEXT),
		[C_TARGET] = TABLE_COLUMN("target", "DstMemType", TABLE_TEXT),
		[C_DEVICE] = TABLE_COLUMN("device", "Device", TABLE_TEXT),
		[C_CONTEXT] = TABLE_COLUMN("context", "Context", TABLE_TEXT),
		[C_STREAM] = TABLE_COLUMN("stream", "Stream", TABLE_TEXT),
		[C_NAME] = TABLE_COLUMN("name", "Name", TABLE_NAME),
		[C_CORRELATION] = TABLE_COLUMN("correlation", "Correlation_ID", TABLE_ID),
	};

	return trace_table(trace, "rows", "", numbers, NR_C, fill_csv);
}

struct table *nvprof_csv_calls(struct trace *trace)
{
	return trace_table(trace, "rows", "", call_columns,
		sizeof(call_columns) / sizeof(call_columns[0]), fill_call_csv);
}
