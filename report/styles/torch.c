/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table that key_averages().table() of PyTorch's profiler prints (the columns of 2.6):
 * operators, calls of CUDA and what ran on devices, each with its own and its total time. --detail
 * takes rows apart by the shapes of inputs, --detail=all by Python stacks as well. All processes
 * are one table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/op_average.h"
#include "report/ops/flops.h"
#include "report/session/summary.h"
#include "report/util/text.h"
#include "report/util/sort.h"

#define COLUMN_WIDTH 12u
#define MAX_NAME     55u
#define MAX_SHAPES   80u
#define MAX_STACK    75u

enum column {
	NAME,
	SELF_SHARE,
	SELF,
	TOTAL_SHARE,
	TOTAL,
	AVERAGE,
	DEVICE_SELF,
	DEVICE_SHARE,
	DEVICE_TOTAL,
	DEVICE_AVERAGE,
	CPU_MEMORY,
	CPU_MEMORY_SELF,
	DEVICE_MEMORY,
	DEVICE_MEMORY_SELF,
	CALLS,
	SHAPES,
	STACK,
	FLOPS,
	NR_COLUMNS,
};

static const char *const titles[NR_COLUMNS] = {"Name", "Self CPU %", "Self CPU", "CPU total %",
	"CPU total", "CPU time avg", "Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg",
	"CPU Mem", "Self CPU Mem", "CUDA Mem", "Self CUDA Mem", "# of Calls", "Input Shapes",
	"Source Location", "Total "};

/* As large as the least of the column takes. */
static const struct flops_unit {
	double flops;
	const char *name;
} flops_units[] = {{1e15, "PFLOPs"}, {1e12, "TFLOPs"}, {1e9, "GFLOPs"}, {1e6, "MFLOPs"},
	{1e3, "KFLOPs"}, {1, "FLOPs"}};

struct torch_table {
	const struct op_average **rows;
	size_t nr_rows, nr_shown;
	uint64_t self_ns, device_ns; /* the sums that shares are of */
	const struct flops_unit *flops_unit;
	bool has_column[NR_COLUMNS];
	bool has_cpu_memory; /* of operators; shared memory of loader workers alone is none */
	size_t widths[NR_COLUMNS];
	bool is_wide, is_csv;
};

/* ---- order ---- */

static uint64_t mean_of(uint64_t sum, uint64_t calls)
{
	return calls ? sum / calls : 0;
}

static const char *const sort_keys[] = {"self_cpu_time_total", "cpu_time_total", "cpu_time",
	"self_cuda_time_total", "cuda_time_total", "cuda_time", "cpu_memory_usage",
	"self_cpu_memory_usage", "cuda_memory_usage", "self_cuda_memory_usage", "count", NULL};
static const char *const our_keys[] = {"self", "total", "avg", "gpu_self", "gpu_total", "gpu_avg",
	"memory", "memory_self", "gpu_memory", "gpu_memory_self", "calls", NULL};

static int64_t memory_of(const struct op_average *row, enum column column)
{
	const struct op_average_memory *memory =
		&row->memory[column < DEVICE_MEMORY ? OP_AVERAGE_CPU : OP_AVERAGE_GPU];

	return column == CPU_MEMORY || column == DEVICE_MEMORY ? memory->total : memory->self;
}

/* As a number that compares as the signed one does. */
static uint64_t memory_value(const struct op_average *row, enum column column)
{
	return (uint64_t)memory_of(row, column) ^ (uint64_t)1 << 63;
}

static uint64_t sort_value(const struct op_average *row, int key)
{
	const uint64_t values[] = {row->self_ns, row->total_ns, mean_of(row->total_ns, row->calls),
		row->device_self_ns, row->device_total_ns,
		mean_of(row->device_total_ns, row->calls), memory_value(row, CPU_MEMORY),
		memory_value(row, CPU_MEMORY_SELF), memory_value(row, DEVICE_MEMORY),
		memory_value(row, DEVICE_MEMORY_SELF), row->calls};

	return values[key];
}

static int sort_key; /* of qsort */

static int by_key(const void *a, const void *b)
{
	const struct op_average *x = *(const struct op_average *const *)a;
	const struct op_average *y = *(const struct op_average *const *)b;
	uint64_t one = sort_value(x, sort_key), other = sort_value(y, sort_key);

	return ORDER(COMPARE(other, one),
		strcmp(string_pool_text(x->key.name, NULL), string_pool_text(y->key.name, NULL)));
}

/* PyTorch's names, with cuda or device, and ours. -1: there is none. */
static int find_sort_key(const char *text)
{
	char name[64];
	size_t length = strlen(text);
	const char *device = strstr(text, "device");

	if (length >= sizeof(name)) {
		return -1;
	}
	memcpy(name, text, length + 1);
	if (device) {
		snprintf(name, sizeof(name), "%.*scuda%s", (int)(device - text), text, device + 6);
	}
	for (int i = 0; sort_keys[i]; i++) {
		if (strcmp(name, sort_keys[i]) == 0 || strcmp(name, our_keys[i]) == 0) {
			return i;
		}
	}
	return -1;
}

/* ---- cells ---- */

static void add_time(const struct torch_table *table, struct buf *out, double ns)
{
	if (table->is_csv) {
		buf_printf(out, "%.3f", ns / 1e3);
	} else if (ns >= 1e9) {
		buf_printf(out, "%.3fs", ns / 1e9);
	} else if (ns >= 1e6) {
		buf_printf(out, "%.3fms", ns / 1e6);
	} else {
		buf_printf(out, "%.3fus", ns / 1e3);
	}
}

static void add_share(
	const struct torch_table *table, struct buf *out, uint64_t ns, uint64_t all_ns)
{
	if (all_ns) {
		buf_printf(
			out, table->is_csv ? "%.2f" : "%.2f%%", 100 * (double)ns / (double)all_ns);
	} else {
		buf_text(out, table->is_csv ? "" : "--");
	}
}

static void add_memory(const struct torch_table *table, struct buf *out, int64_t bytes)
{
	static const char *const units[] = {"Kb", "Mb", "Gb"};
	double size = (double)bytes;
	int unit = -1;

	if (table->is_csv) {
		buf_printf(out, "%" PRId64, bytes);
		return;
	}
	while (unit < 2 && (size >= 1024 || size <= -1024)) {
		size /= 1024;
		unit++;
	}
	buf_printf(out, unit < 0 ? "%.0f %s" : "%.2f %s", size, unit < 0 ? "b" : units[unit]);
}

static void add_name(
	const struct torch_table *table, struct buf *out, enum column column, uint32_t name)
{
	size_t nr_bytes, width = table->is_wide ? 0 : table->widths[column];
	const char *bytes = string_pool_shown(name, &nr_bytes);

	if (table->is_csv) {
		text_add_csv(out, bytes, nr_bytes);
	} else {
		text_add_shown(out, bytes, nr_bytes, width);
	}
}

/* Returns the flops of the operators that have some in PyTorch, else 0. */
static double flops_of_row(const struct op_average *row)
{
	return flops_in_torch(row->key.name) ? row->flops : 0;
}

static void add_cell(const struct torch_table *table, struct buf *out, enum column column,
	const struct op_average *row)
{
	double calls = (double)row->calls;

	switch (column) {
	case SELF_SHARE:
		add_share(table, out, row->self_ns, table->self_ns);
		break;
	case SELF:
		add_time(table, out, (double)row->self_ns);
		break;
	case TOTAL_SHARE:
		add_share(table, out, row->total_ns, table->self_ns);
		break;
	case TOTAL:
		add_time(table, out, (double)row->total_ns);
		break;
	case AVERAGE:
		add_time(table, out, calls > 0 ? (double)row->total_ns / calls : 0);
		break;
	case DEVICE_SELF:
		add_time(table, out, (double)row->device_self_ns);
		break;
	case DEVICE_SHARE:
		add_share(table, out, row->device_self_ns, table->device_ns);
		break;
	case DEVICE_TOTAL:
		add_time(table, out, (double)row->device_total_ns);
		break;
	case DEVICE_AVERAGE:
		add_time(table, out, calls > 0 ? (double)row->device_total_ns / calls : 0);
		break;
	case CPU_MEMORY:
	case CPU_MEMORY_SELF:
		if (!table->has_cpu_memory) {
			buf_text(out, table->is_csv ? "" : "--");
			break;
		}
		/* fallthrough */
	case DEVICE_MEMORY:
	case DEVICE_MEMORY_SELF:
		add_memory(table, out, memory_of(row, column));
		break;
	case CALLS:
		buf_uint(out, row->calls);
		break;
	case FLOPS:
		if (flops_of_row(row) > 0) {
			buf_printf(out, "%.3f", flops_of_row(row) / table->flops_unit->flops);
		} else {
			buf_text(out, table->is_csv ? "" : "--");
		}
		break;
	default:
		add_name(table, out, column,
			column == NAME	   ? row->key.name
			: column == SHAPES ? row->key.shape
					   : row->key.stack);
		break;
	}
}

/* ---- lines ---- */

static void add_rule(const struct torch_table *table, struct buf *out)
{
	for (unsigned int i = 0; i < NR_COLUMNS; i++) {
		if (table->has_column[i]) {
			buf_pad(out, '-', table->widths[i]);
			buf_text(out, "  ");
		}
	}
	buf_char(out, '\n');
}

/* In CSV every number of a column is in one unit, which the title names. */
static const char *csv_unit(enum column column)
{
	switch (column) {
	case SELF:
	case TOTAL:
	case AVERAGE:
	case DEVICE_SELF:
	case DEVICE_TOTAL:
	case DEVICE_AVERAGE:
		return " (us)";
	case CPU_MEMORY:
	case CPU_MEMORY_SELF:
	case DEVICE_MEMORY:
	case DEVICE_MEMORY_SELF:
		return " (bytes)";
	default:
		return "";
	}
}

static size_t columns_of(const struct buf *text)
{
	const char *at = text->bytes, *end = text->bytes + text->nr_bytes;
	size_t width = 0;

	while (at < end) {
		width += text_width(text_next(&at, end));
	}
	return width;
}

/* All to the right but stacks, as they are there. row: NULL for the titles. */
static void add_line(const struct torch_table *table, struct buf *out, const struct op_average *row)
{
	struct buf text = {0};
	bool is_first = true;

	for (unsigned int i = 0; i < NR_COLUMNS; i++) {
		size_t width, pad;

		if (!table->has_column[i]) {
			continue;
		}
		text.nr_bytes = 0;
		if (row) {
			add_cell(table, &text, (enum column)i, row);
		} else {
			buf_printf(&text, "%s%s%s", titles[i],
				table->is_csv ? csv_unit((enum column)i) : "",
				i == FLOPS ? table->flops_unit->name : "");
		}
		if (table->is_csv) {
			buf_text(out, is_first ? "" : ",");
			buf_add(out, text.bytes, text.nr_bytes);
			is_first = false;
			continue;
		}
		width = text.nr_bytes ? columns_of(&text) : 0;
		pad = width < table->widths[i] ? table->widths[i] - width : 0;
		buf_pad(out, ' ', i == STACK ? 0 : pad);
		buf_add(out, text.bytes, text.nr_bytes);
		buf_pad(out, ' ', (i == STACK ? pad : 0) + 2);
	}
	buf_char(out, '\n');
	buf_fini(&text);
}

static size_t name_width(uint32_t name)
{
	struct buf text = {0};
	size_t nr_bytes, width;
	const char *bytes = string_pool_shown(name, &nr_bytes);

	width = text_add_shown(&text, bytes, nr_bytes, 0);
	buf_fini(&text);
	return width;
}

/* As wide as the longest and 4 more, up to `most` unless --wide. */
static void widen(struct torch_table *table, enum column column, uint32_t name, size_t most)
{
	size_t width = name_width(name) + 4;

	width = !table->is_wide && width > most ? most : width;
	table->widths[column] = width > table->widths[column] ? width : table->widths[column];
}

/* PyTorch has flops only where the program requests them; here they are where shapes give them. */
static void find_flops(struct torch_table *table)
{
	double least = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		double flops = flops_of_row(table->rows[i]);

		least = flops > 0 && (least == 0 || flops < least) ? flops : least;
	}
	table->has_column[FLOPS] = least > 0;
	table->flops_unit = flops_units;
	while (table->flops_unit->flops > 1 && least < table->flops_unit->flops) {
		table->flops_unit++;
	}
}

/*
 * As there: the CPU's wherever memory was recorded, a GPU's where any of it is there. Where the
 * CPU's allocator is unknown its cells are too.
 */
static void find_memory(struct torch_table *table)
{
	bool is_on_gpu = false;

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct op_average_memory *memory = table->rows[i]->memory;

		table->has_cpu_memory |=
			table->rows[i]->is_operator && memory[OP_AVERAGE_CPU].nr_events > 0;
		is_on_gpu |= memory[OP_AVERAGE_GPU].nr_events > 0;
	}
	for (unsigned int i = CPU_MEMORY; i <= DEVICE_MEMORY_SELF; i++) {
		table->has_column[i] = is_on_gpu || (table->has_cpu_memory && i < DEVICE_MEMORY);
	}
}

static void lay_out(struct torch_table *table)
{
	for (unsigned int i = 0; i < NR_COLUMNS; i++) {
		table->has_column[i] = i < DEVICE_SELF || i == CALLS;
		table->widths[i] = i == NAME || i == SHAPES || i == STACK ? strlen(titles[i]) + 4
									  : COLUMN_WIDTH;
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct op_average *row = table->rows[i];

		table->self_ns += row->self_ns;
		table->device_ns += row->key.kind == OP_AVERAGE_DEVICE ? row->device_self_ns : 0;
		table->has_column[SHAPES] |= row->key.shape != 0;
		table->has_column[STACK] |= row->key.stack != 0;
		widen(table, NAME, row->key.name, MAX_NAME);
		widen(table, SHAPES, row->key.shape, MAX_SHAPES);
		widen(table, STACK, row->key.stack, MAX_STACK);
	}
	for (unsigned int i = DEVICE_SELF; i <= DEVICE_AVERAGE; i++) {
		table->has_column[i] = table->device_ns > 0;
	}
	find_memory(table);
	find_flops(table);
}

static void print_table(const struct torch_table *table, struct buf *out)
{
	if (!table->is_csv) {
		add_rule(table, out);
	}
	add_line(table, out, NULL);
	if (!table->is_csv) {
		add_rule(table, out);
	}
	for (size_t i = 0; i < table->nr_shown; i++) {
		add_line(table, out, table->rows[i]);
	}
	if (table->is_csv) {
		return;
	}
	add_rule(table, out);
	buf_text(out, "Self CPU time total: ");
	add_time(table, out, (double)table->self_ns);
	if (table->device_ns) {
		buf_text(out, "\nSelf CUDA time total: ");
		add_time(table, out, (double)table->device_ns);
	}
	buf_char(out, '\n');
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	const struct view_class *const class = &view_op_average;
	struct view_input view_input = {.processes = input->processes,
		.nr_processes = input->nr_processes,
		.is_detailed = summary->is_detailed,
		.detail = summary->detail};
	struct torch_table table = {.is_wide = summary->asked.table.is_wide,
		.is_csv = summary->asked.table.format == TABLE_CSV};
	void *view;

	sort_key = summary->sort ? find_sort_key(summary->sort) : 0;
	if (sort_key < 0) {
		return "no such column of key_averages";
	}
	view_run(&view_input, &class, 1, &view);
	table.rows = op_average_rows(view, &table.nr_rows);
	lay_out(&table);
	if (!summary->sort && table.device_ns) {
		sort_key = find_sort_key("self_cuda_time_total");
	}
	qsort(table.rows, table.nr_rows, sizeof(struct op_average *), by_key);
	table.nr_shown = summary->asked.top && summary->asked.top < table.nr_rows
				 ? summary->asked.top
				 : table.nr_rows;
	print_table(&table, out);
	view_destroy(class, view);
	return NULL;
}

const struct summary_style style_torch = {
	.name = "torch",
	.help = "the table of key_averages of PyTorch's profiler",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV,
	.print = print,
};
