/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvprof.c calls nvprof_print_trace() for gpu-trace and api-trace. Text has a unit in each number,
 * so there all cells are texts; CSV has a unit for each column and tables of its own in
 * nvprof_csv.c. Both tables take over the trace of the view and fill a row from it whenever it is
 * read.
 */
#include <inttypes.h>
#include <math.h>
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

#define MAX_COLUMNS 20u

/* ---- what both formats have ---- */

/* "[CUDA memcpy HtoD]" or the kernel's name, of string_pool.h. */
static uint32_t name_of(const struct trace_row *row)
{
	char text[64];
	int length;

	if (!row->target) {
		return trace_name(row->trace, &row->event);
	}
	length = row->source ? snprintf(text, sizeof(text), "[CUDA memcpy %s]",
				       api_copy_name(copy_kind_of(row->event.copy)))
			     : snprintf(text, sizeof(text), "[CUDA memset]");
	return string_pool_intern(text, (size_t)length);
}

void nvprof_set_name(const void *row, struct table_cell *cell)
{
	table_set_integer(cell, name_of(row));
}

void nvprof_set_number(const void *number, struct table_cell *cell)
{
	uint64_t value = *(const uint64_t *)number;
	char text[24];

	if (value != UINT64_MAX) {
		snprintf(text, sizeof(text), "%" PRIu64, value);
		table_set_string(cell, text);
	}
}

/* ---- text: every cell is one, and a dash where it is unknown ---- */

static void set_time(const void *ns, struct table_cell *cell)
{
	uint64_t value = *(const uint64_t *)ns;
	struct buf text = {0};

	if (value != UINT64_MAX) {
		table_add_auto_time(&text, (double)value);
		table_set_text(cell, text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
}

/* Sets up to five digits and a unit, after that `per`. */
static void set_bytes(double bytes, const char *per, struct table_cell *cell)
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

static void set_size(const void *bytes, struct table_cell *cell)
{
	uint64_t value = *(const uint64_t *)bytes;

	if (value != UINT64_MAX) {
		set_bytes((double)value, "", cell);
	}
}

static void set_rate(const void *rate, struct table_cell *cell)
{
	double value = *(const double *)rate;

	if (!isnan(value)) {
		set_bytes(value, "/s", cell);
	}
}

static void set_extent(const uint64_t *extent, struct table_cell *cell)
{
	char text[64];

	if (extent[0] != UINT64_MAX) {
		snprintf(text, sizeof(text), "(%" PRIu64 " %" PRIu64 " %" PRIu64 ")", extent[0],
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

/* Sets "name [7]": kernels carry their correlation ID. */
static void set_name(const void *row, struct table_cell *cell)
{
	const struct trace_row *of = row;
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes = string_pool_shown(name_of(of), &nr_bytes);

	buf_add(&text, bytes, nr_bytes);
	if (!of->target) {
		buf_printf(&text, " [%" PRIu64 "]", of->event.correlation);
	}
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

static size_t add_cell(
	const struct table *table, const struct table_cell *cells, unsigned int c, struct buf *text)
{
	size_t nr_bytes;
	const char *bytes = table_cell_text(&table->columns[c], &cells[c], &nr_bytes);

	return cells[c].is_known ? text_add_shown(text, bytes, nr_bytes, 0)
				 : text_add_shown(text, "-", 1, 0);
}

/* Adjusts all columns to the right but the last. */
static void print_row(const struct table *table, const struct table_cell *cells,
	const size_t *widths, struct buf *out)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		struct buf text = {0};
		size_t width;

		if (cells) {
			width = add_cell(table, cells, c, &text);
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
			width = add_cell(table, cells, c, &text);
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
	static const struct table_column texts[] = {
		TABLE_COLUMN(
			"start", "Start", TABLE_TEXT, TABLE_SET(trace_row, start_ns, set_time)),
		TABLE_COLUMN("duration", "Duration", TABLE_TEXT,
			TABLE_SET(trace_row, duration_ns, set_time)),
		TABLE_COLUMN("grid", "Grid Size", TABLE_TEXT, TRACE_SET(set_grid)),
		TABLE_COLUMN("block", "Block Size", TABLE_TEXT, TRACE_SET(set_block)),
		TABLE_COLUMN("registers", "Regs*", TABLE_TEXT,
			TABLE_SET(trace_row, registers, nvprof_set_number)),
		TABLE_COLUMN("static", "SSMem*", TABLE_TEXT,
			TABLE_SET(trace_row, static_bytes, set_size)),
		TABLE_COLUMN("dynamic", "DSMem*", TABLE_TEXT,
			TABLE_SET(trace_row, dynamic_bytes, set_size)),
		TABLE_COLUMN("size", "Size", TABLE_TEXT, TABLE_SET(trace_row, bytes, set_size)),
		TABLE_COLUMN("rate", "Throughput", TABLE_TEXT,
			TABLE_SET(trace_row, bytes_per_s, set_rate)),
		TABLE_COLUMN("source", "SrcMemType", TABLE_TEXT, TRACE_MEMBER(left)),
		TABLE_COLUMN(
			"target", "DstMemType", TABLE_TEXT, TABLE_IF(trace_row, target, source)),
		TABLE_COLUMN("device", "Device", TABLE_TEXT, TRACE_SET(nsys_set_device)),
		TABLE_COLUMN("context", "Context", TABLE_TEXT,
			TABLE_SET(trace_row, context, nvprof_set_number)),
		TABLE_COLUMN("stream", "Stream", TABLE_TEXT,
			TABLE_SET(trace_row, stream, nvprof_set_number)),
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TRACE_SET(set_name)),
	};
	struct trace *trace = trace_view_take(view);

	return is_csv ? nvprof_csv_gpu(trace)
		      : trace_table(trace, texts, sizeof(texts) / sizeof(texts[0]));
}

/* Makes the table of calls of CUDA alone. */
static struct table *make_calls(struct trace *trace, bool is_csv)
{
	static const struct table_column texts[] = {
		TABLE_COLUMN("start", "Start", TABLE_TEXT,
			TABLE_SET(trace_row, event.api_begin_ns, set_time)),
		TABLE_COLUMN("duration", "Duration", TABLE_TEXT,
			TABLE_SET(trace_row, event.api_dur_ns, set_time)),
		TABLE_COLUMN("name", "Name", TABLE_NAME, TRACE_MEMBER(call)),
	};

	return is_csv ? nvprof_csv_calls(trace) : trace_table(trace, texts, 3);
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
