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
	static const struct table_column columns[] = {
		TABLE_COLUMN("start_ns", "Start", TABLE_TIME, TRACE_MEMBER(start_ns)),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TRACE_MEMBER(duration_ns)),
		TABLE_COLUMN("grid_x", "Grid X", TABLE_ID, TRACE_MEMBER(grid[0])),
		TABLE_COLUMN("grid_y", "Grid Y", TABLE_ID, TRACE_MEMBER(grid[1])),
		TABLE_COLUMN("grid_z", "Grid Z", TABLE_ID, TRACE_MEMBER(grid[2])),
		TABLE_COLUMN("block_x", "Block X", TABLE_ID, TRACE_MEMBER(block[0])),
		TABLE_COLUMN("block_y", "Block Y", TABLE_ID, TRACE_MEMBER(block[1])),
		TABLE_COLUMN("block_z", "Block Z", TABLE_ID, TRACE_MEMBER(block[2])),
		TABLE_COLUMN(
			"registers", "Registers Per Thread", TABLE_ID, TRACE_MEMBER(registers)),
		TABLE_COLUMN("static_bytes", "Static SMem", TABLE_SIZE, TRACE_MEMBER(static_bytes)),
		TABLE_COLUMN(
			"dynamic_bytes", "Dynamic SMem", TABLE_SIZE, TRACE_MEMBER(dynamic_bytes)),
		TABLE_COLUMN("bytes", "Size", TABLE_SIZE, TRACE_MEMBER(bytes)),
		TABLE_COLUMN("rate", "Throughput", TABLE_RATE, TRACE_MEMBER(bytes_per_s)),
		TABLE_COLUMN("source", "SrcMemType", TABLE_TEXT, TRACE_MEMBER(left)),
		TABLE_COLUMN(
			"target", "DstMemType", TABLE_TEXT, TABLE_IF(trace_row, target, source)),
		TABLE_COLUMN("device", "Device", TABLE_TEXT, TRACE_SET(nsys_set_device)),
		TABLE_COLUMN("context", "Context", TABLE_TEXT,
			TABLE_SET(trace_row, context, nvprof_set_number)),
		TABLE_COLUMN("stream", "Stream", TABLE_TEXT,
			TABLE_SET(trace_row, stream, nvprof_set_number)),
		TABLE_COLUMN("name", "Name", TABLE_NAME, TRACE_SET(nvprof_set_name)),
		TABLE_COLUMN(
			"correlation", "Correlation_ID", TABLE_ID, TRACE_MEMBER(event.correlation)),
	};

	return trace_table(trace, columns, sizeof(columns) / sizeof(columns[0]));
}

struct table *nvprof_csv_calls(struct trace *trace)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("start_ns", "Start", TABLE_TIME, TRACE_MEMBER(event.api_begin_ns)),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TRACE_MEMBER(event.api_dur_ns)),
		TABLE_COLUMN("name", "Name", TABLE_NAME, TRACE_MEMBER(call)),
		TABLE_COLUMN(
			"correlation", "Correlation_ID", TABLE_ID, TRACE_MEMBER(event.correlation)),
	};

	return trace_table(trace, columns, sizeof(columns) / sizeof(columns[0]));
}
