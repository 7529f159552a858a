/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of PyTorch's TensorBoard plugin as tables, one set for each process that did something:
 * its columns in its order, times in us. What its formulas get wrong is right here: see
 * breakdown.h, occupancy.h and kernel_class.h; "Unknown" is a third answer about tensor cores.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/breakdown.h"
#include "report/op_average.h"
#include "report/op_memory.h"
#include "report/summary.h"
#include "report/text.h"

#define MOST_COLUMNS 16u

enum page {
	PAGE_OVERVIEW,
	PAGE_OPERATOR,
	PAGE_KERNEL,
	PAGE_MEMORY,
	PAGE_MODULE,
	PAGE_DISTRIBUTED,
	NR_PAGES,
};

/* Also the views that choose them. */
static const char *const page_names[NR_PAGES] = {
	"overview", "operator", "kernel", "memory", "module", "distributed"};

enum source {
	STEPS,
	GPUS,
	AVERAGES,
	KERNELS,
	KERNELS_BY_OPERATOR,
	MEMORY,
	MODULES,
	OVERLAP,
	NR_SOURCES,
};

static const struct view_class *const sources[NR_SOURCES] = {&view_breakdown, &view_gpu_use,
	&view_op_average, &view_kernel, &view_kernel_operator, &view_op_memory, &view_module,
	&view_distributed};
static const enum page page_of[NR_SOURCES] = {PAGE_OVERVIEW, PAGE_OVERVIEW, PAGE_OPERATOR,
	PAGE_KERNEL, PAGE_KERNEL, PAGE_MEMORY, PAGE_MODULE, PAGE_DISTRIBUTED};

struct pages {
	const struct summary *summary;
	bool is_wanted[NR_PAGES];
	void *views[NR_SOURCES]; /* of the process at hand; NULL where no page wants them */
	struct buf *out;
	bool is_sorted;
};

/* A column of a page: which of a view's table it is. */
struct page_column {
	const char *from;
	struct table_column column;
};

static void print_page(struct pages *pages, struct table *table)
{
	struct table_style style = pages->summary->table;

	style.unit = "us";
	if (pages->summary->sort) {
		pages->is_sorted |= table_sort(table, pages->summary->sort);
	}
	table_cut(table, pages->summary->top);
	table_print(table, &style, pages->out);
	table_destroy(table);
}

/* ---- pages that are a view's table ---- */

static void set_answer(struct table_cell *cell, const char *text)
{
	char answer[16];

	snprintf(answer, sizeof(answer), "%s", text);
	answer[0] = (char)toupper((unsigned char)answer[0]);
	table_set_string(cell, answer);
}

static void copy_cell(
	const struct table_column *column, const struct table_cell *from, struct table_cell *to)
{
	if (!from || !from->is_known) {
		return;
	}
	switch (column->type) {
	case TABLE_TEXT:
		if (strncmp(column->key, "tensor", 6) == 0) {
			set_answer(to, from->text);
		} else {
			table_set_text(to, from->text, from->nr_text);
		}
		break;
	case TABLE_MEAN_TIME:
	case TABLE_MEAN_SIZE:
	case TABLE_RATE:
	case TABLE_PERCENT:
	case TABLE_NUMBER:
		table_set_number(to, from->number);
		break;
	default:
		table_set_integer(to, from->integer);
		break;
	}
}

/* Prints those columns of a view's table, which it destroys. */
static void print_view(struct pages *pages, struct table *from, const char *title,
	const struct page_column *columns, unsigned int nr_columns)
{
	struct table_column own[MOST_COLUMNS];
	struct table *table;

	for (unsigned int i = 0; i < nr_columns; i++) {
		own[i] = columns[i].column;
	}
	table = table_create(from->key, title, own, nr_columns);
	for (size_t row = 0; row < from->nr_rows; row++) {
		struct table_cell *cells = table_add_row(table);

		for (unsigned int i = 0; i < nr_columns; i++) {
			copy_cell(&own[i], table_find_cell(from, row, columns[i].from), &cells[i]);
		}
	}
	if (from->note) {
		table_note(table, "%s", from->note);
	}
	print_page(pages, table);
	table_destroy(from);
}

#define PRINT_VIEW(pages, source, title, columns)                                         \
	print_view(pages, sources[source]->table((pages)->views[source]), title, columns, \
		sizeof(columns) / sizeof((columns)[0]))

static void print_overview(struct pages *pages)
{
	static const struct page_column gpus[] = {
		{"device", {"device", "GPU", TABLE_ID, false}},
		{"name", {"name", "Name", TABLE_NAME, false}},
		{"memory_bytes", {"memory_bytes", "Memory", TABLE_SIZE, false}},
		{"capability", {"capability", "Compute Capability", TABLE_TEXT, false}},
		{"utilization_pct", {"utilization_pct", "GPU Utilization %", TABLE_PERCENT, false}},
		{"sm_efficiency_pct",
			{"sm_efficiency_pct", "Est. SM Efficiency %", TABLE_PERCENT, false}},
		{"occupancy_pct",
			{"occupancy_pct", "Est. Achieved Occupancy %", TABLE_PERCENT, false}},
		{"tensor_pct",
			{"tensor_pct", "Kernel Time using Tensor Cores %", TABLE_PERCENT, false}},
		{"unknown_tensor_pct", {"unknown_tensor_pct", "(unknown %)", TABLE_PERCENT, false}},
	};
	struct page_column steps[2 + NR_BREAKDOWN_PARTS] = {
		{"step", {"step", "Step", TABLE_TEXT, false}},
		{"total_ns", {"total_ns", "Total", TABLE_MEAN_TIME, true}},
	};

	for (unsigned int i = 0; i < NR_BREAKDOWN_PARTS; i++) {
		steps[2 + i] = (struct page_column){breakdown_keys[i],
			{breakdown_keys[i], breakdown_titles[i], TABLE_MEAN_TIME, false}};
	}
	PRINT_VIEW(pages, STEPS, "Overview: Step Time Breakdown", steps);
	PRINT_VIEW(pages, GPUS, "Overview: GPU Summary", gpus);
}

static void print_kernels(struct pages *pages)
{
	static const struct page_column by_operator[] = {
		{"name", {"name", "Name", TABLE_NAME, false}},
		{"operator", {"operator", "Operator", TABLE_NAME, false}},
		{"grid", {"grid", "Grid", TABLE_TEXT, false}},
		{"block", {"block", "Block", TABLE_TEXT, false}},
		{"registers", {"registers", "Register Per Thread", TABLE_COUNT, false}},
		{"shared_bytes", {"shared_bytes", "Shared Memory", TABLE_SIZE, false}},
		{"tensor_cores", {"tensor_cores", "Kernel Uses Tensor Cores", TABLE_TEXT, false}},
		{"tensor_eligible",
			{"tensor_eligible", "Op is Tensor Cores eligible", TABLE_TEXT, false}},
		{"calls", {"calls", "Calls", TABLE_COUNT, false}},
		{"total_ns", {"total_ns", "Total Duration", TABLE_TIME, false}},
		{"avg_ns", {"avg_ns", "Mean Duration", TABLE_MEAN_TIME, false}},
		{"max_ns", {"max_ns", "Max Duration", TABLE_TIME, false}},
		{"min_ns", {"min_ns", "Min Duration", TABLE_TIME, false}},
		{"blocks_per_sm", {"blocks_per_sm", "Mean Blocks Per SM", TABLE_NUMBER, false}},
		{"occupancy_pct", {"occupancy_pct", "Mean Est. Achieved Occupancy (%)",
					  TABLE_PERCENT, false}},
	};
	static const struct page_column by_name[] = {
		{"name", {"name", "Name", TABLE_NAME, false}},
		{"tensor_cores", {"tensor_cores", "Tensor Cores Used", TABLE_TEXT, false}},
		{"calls", {"calls", "Calls", TABLE_COUNT, false}},
		{"total_ns", {"total_ns", "Total Duration", TABLE_TIME, false}},
		{"avg_ns", {"avg_ns", "Mean Duration", TABLE_MEAN_TIME, false}},
		{"max_ns", {"max_ns", "Max Duration", TABLE_TIME, false}},
		{"min_ns", {"min_ns", "Min Duration", TABLE_TIME, false}},
		{"blocks_per_sm", {"blocks_per_sm", "Mean Blocks Per SM", TABLE_NUMBER, false}},
		{"occupancy_pct", {"occupancy_pct", "Mean Est. Achieved Occupancy (%)",
					  TABLE_PERCENT, false}},
	};

	PRINT_VIEW(pages, KERNELS_BY_OPERATOR, "Kernel: Name + Op Name", by_operator);
	PRINT_VIEW(pages, KERNELS, "Kernel: Name", by_name);
}

static void print_modules(struct pages *pages)
{
	static const struct page_column columns[] = {
		{"module", {"module", "Module Name", TABLE_NAME, false}},
		{"calls", {"calls", "Occurences", TABLE_COUNT, false}},
		{"operators", {"operators", "Operators", TABLE_COUNT, false}},
		{"total_ns", {"total_ns", "Host Total Time", TABLE_TIME, false}},
		{"self_ns", {"self_ns", "Host Self Time", TABLE_TIME, false}},
		{"gpu_total_ns", {"gpu_total_ns", "Device Total Time", TABLE_TIME, false}},
		{"gpu_self_ns", {"gpu_self_ns", "Device Self Time", TABLE_TIME, false}},
	};

	PRINT_VIEW(pages, MODULES, "Module", columns);
}

/* ---- pages of rows for styles ---- */

/* As the plugin, calls and totals are of operators that lie in none of the same name. */
static void print_operators(struct pages *pages)
{
	static const struct table_column columns[] = {
		{"name", "Name", TABLE_NAME, false},
		{"calls", "Calls", TABLE_COUNT, false},
		{"device_self_ns", "Device Self Duration", TABLE_TIME, false},
		{"device_total_ns", "Device Total Duration", TABLE_TIME, false},
		{"host_self_ns", "Host Self Duration", TABLE_TIME, false},
		{"host_total_ns", "Host Total Duration", TABLE_TIME, false},
		{"tensor_eligible", "Tensor Cores Eligible", TABLE_TEXT, false},
		{"tensor_self_pct", "Tensor Cores Self (%)", TABLE_PERCENT, false},
		{"tensor_total_pct", "Tensor Cores Total (%)", TABLE_PERCENT, false},
	};
	struct table *table =
		table_create("operator", "Operator", columns, sizeof(columns) / sizeof(columns[0]));
	const struct op_average **rows;
	size_t nr;

	rows = op_average_rows(pages->views[AVERAGES], &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct op_average *row = rows[i];
		struct table_cell *cells;

		if (row->key.kind != OP_AVERAGE_OP || !row->is_operator) {
			continue;
		}
		cells = table_add_row(table);
		table_set_integer(&cells[0], row->key.name);
		table_set_integer(&cells[1], row->outer_calls);
		table_set_integer(&cells[2], row->device_self_ns);
		table_set_integer(&cells[3], row->outer_device_ns);
		table_set_integer(&cells[4], row->self_ns);
		table_set_integer(&cells[5], row->outer_ns);
		set_answer(&cells[6], tensor_is_eligible(row->key.name) ? "yes" : "no");
		table_set_share(&cells[7], row->tensor_self_ns, row->device_self_ns);
		table_set_share(&cells[8], row->outer_tensor_ns, row->outer_device_ns);
	}
	table_sort(table, "host_self");
	table_sort(table, "device_self");
	print_page(pages, table);
}

static void print_memory_of(struct pages *pages, uint32_t device)
{
	static const struct table_column columns[] = {
		{"name", "Operator Name", TABLE_NAME, false},
		{"calls", "Calls", TABLE_COUNT, false},
		{"increase_kb", "Size Increase (KB)", TABLE_NUMBER, false},
		{"self_increase_kb", "Self Size Increase (KB)", TABLE_NUMBER, false},
		{"allocations", "Allocation Count", TABLE_COUNT, false},
		{"self_allocations", "Self Allocation Count", TABLE_COUNT, false},
		{"size_kb", "Allocation Size (KB)", TABLE_NUMBER, false},
		{"self_size_kb", "Self Allocation Size (KB)", TABLE_NUMBER, false},
	};
	const struct op_memory **rows;
	struct table *table;
	char title[64];
	size_t nr;

	snprintf(title, sizeof(title), "Memory View: %s",
		names_raw(op_memory_device_name(device), NULL));
	table = table_create("memory", title, columns, sizeof(columns) / sizeof(columns[0]));
	rows = op_memory_rows(pages->views[MEMORY], &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct op_memory *row = rows[i];
		struct table_cell *cells;

		if (row->key.device != device) {
			continue;
		}
		cells = table_add_row(table);
		table_set_integer(&cells[0], row->key.name);
		table_set_integer(&cells[1], row->calls);
		table_set_number(&cells[2], (double)row->total.increase / 1024);
		table_set_number(&cells[3], (double)row->self.increase / 1024);
		table_set_integer(&cells[4], row->total.count);
		table_set_integer(&cells[5], row->self.count);
		table_set_number(&cells[6], (double)row->total.bytes / 1024);
		table_set_number(&cells[7], (double)row->self.bytes / 1024);
	}
	table_sort(table, "self_increase_kb");
	print_page(pages, table);
}

static void print_blocks(struct pages *pages)
{
	static const struct table_column columns[] = {
		{"device", "Device", TABLE_NAME, false},
		{"name", "Operator", TABLE_NAME, false},
		{"size_kb", "Size (KB)", TABLE_NUMBER, false},
		{"allocation_ns", "Allocation Time", TABLE_TIME, false},
		{"release_ns", "Release Time", TABLE_TIME, false},
		{"duration_ns", "Duration", TABLE_TIME, false},
	};
	struct table *table = table_create(
		"memory_events", "Memory Events", columns, sizeof(columns) / sizeof(columns[0]));
	const struct op_memory_block *blocks;
	uint64_t nr_all;
	size_t nr;

	blocks = op_memory_blocks(pages->views[MEMORY], &nr);
	nr_all = op_memory_nr_blocks(pages->views[MEMORY]);
	for (size_t i = 0; i < nr; i++) {
		struct table_cell *cells = table_add_row(table);
		bool is_asked = blocks[i].alloc_ns != UINT64_MAX;
		bool is_freed = blocks[i].free_ns != UINT64_MAX;

		table_set_integer(&cells[0], op_memory_device_name(blocks[i].device));
		table_set_integer(&cells[1], blocks[i].name);
		table_set_number(&cells[2], (double)blocks[i].bytes / 1024);
		if (is_asked) {
			table_set_integer(&cells[3], blocks[i].alloc_ns);
		}
		if (is_freed) {
			table_set_integer(&cells[4], blocks[i].free_ns);
		}
		if (is_asked && is_freed && blocks[i].free_ns >= blocks[i].alloc_ns) {
			table_set_integer(&cells[5], blocks[i].free_ns - blocks[i].alloc_ns);
		}
	}
	if (nr_all > nr) {
		table_note(table, "the %zu largest of %llu blocks", nr, (unsigned long long)nr_all);
	}
	print_page(pages, table);
}

/* A table of operators for each device that memory was asked of, and one of single blocks. */
static void print_memory(struct pages *pages)
{
	const struct op_memory **rows;
	size_t nr;

	rows = op_memory_rows(pages->views[MEMORY], &nr);
	for (size_t i = 0; i < nr; i++) {
		bool is_first = true;

		rows = op_memory_rows(pages->views[MEMORY], &nr);
		for (size_t k = 0; k < i; k++) {
			is_first &= rows[k]->key.device != rows[i]->key.device;
		}
		if (is_first) {
			print_memory_of(pages, rows[i]->key.device);
		}
	}
	print_blocks(pages);
}

static void print_collectives(struct pages *pages)
{
	static const struct table_column columns[] = {
		{"name", "Name", TABLE_NAME, false},
		{"calls", "Calls", TABLE_COUNT, false},
		{"total_ns", "Total Latency", TABLE_TIME, false},
		{"avg_ns", "Avg Latency", TABLE_MEAN_TIME, false},
	};
	struct table *table = table_create("communication", "Distributed: Communication Operations",
		columns, sizeof(columns) / sizeof(columns[0]));
	const struct op_average **rows;
	size_t nr;

	rows = op_average_rows(pages->views[AVERAGES], &nr);
	for (size_t i = 0; i < nr; i++) {
		struct table_cell *cells;

		if (rows[i]->key.kind != OP_AVERAGE_DEVICE ||
			kernel_class_of(rows[i]->key.name) != KERNEL_COMMUNICATION) {
			continue;
		}
		cells = table_add_row(table);
		table_set_integer(&cells[0], rows[i]->key.name);
		table_set_integer(&cells[1], rows[i]->calls);
		table_set_integer(&cells[2], rows[i]->device_total_ns);
		table_set_number(
			&cells[3], (double)rows[i]->device_total_ns / (double)rows[i]->calls);
	}
	table_note(table, "what is sent, and for how long ranks wait for each other, is not known");
	table_sort(table, "total");
	print_page(pages, table);
}

static void print_distributed(struct pages *pages)
{
	static const struct page_column columns[] = {
		{"step", {"step", "Step", TABLE_ID, false}},
		{"computation_alone_ns",
			{"computation_alone_ns", "Computation - Overlap", TABLE_TIME, false}},
		{"overlap_ns", {"overlap_ns", "Overlap", TABLE_TIME, false}},
		{"communication_alone_ns",
			{"communication_alone_ns", "Communication - Overlap", TABLE_TIME, false}},
		{"other_ns", {"other_ns", "Other", TABLE_TIME, false}},
	};

	PRINT_VIEW(pages, OVERLAP, "Distributed: Computation/Communication Overview", columns);
	print_collectives(pages);
}

/* ---- processes ---- */

static bool is_wanted(const struct pages *pages, enum source source)
{
	return pages->is_wanted[page_of[source]] ||
	       (source == AVERAGES && pages->is_wanted[PAGE_DISTRIBUTED]);
}

static void print_process(struct pages *pages, struct process *process)
{
	static void (*const print_pages[NR_PAGES])(struct pages *) = {print_overview,
		print_operators, print_kernels, print_memory, print_modules, print_distributed};
	/* By steps, as the plugin's page has it; rows of operators are not taken apart. */
	struct view_input input = {.processes = &process, .nr_processes = 1};
	const struct view_class *classes[NR_SOURCES];
	void *views[NR_SOURCES];
	size_t nr = 0;

	memset(pages->views, 0, sizeof(pages->views));
	for (unsigned int i = 0; i < NR_SOURCES; i++) {
		if (is_wanted(pages, (enum source)i) && i != OVERLAP) {
			classes[nr++] = sources[i];
		}
	}
	summary_run(&input, classes, nr, views);
	nr = 0;
	for (unsigned int i = 0; i < NR_SOURCES; i++) {
		if (is_wanted(pages, (enum source)i) && i != OVERLAP) {
			pages->views[i] = views[nr++];
		}
	}
	if (is_wanted(pages, OVERLAP)) {
		input.is_detailed = true;
		summary_run(&input, &sources[OVERLAP], 1, &pages->views[OVERLAP]);
	}
	for (unsigned int i = 0; i < NR_PAGES; i++) {
		if (pages->is_wanted[i]) {
			print_pages[i](pages);
		}
	}
	for (unsigned int i = 0; i < NR_SOURCES; i++) {
		if (pages->views[i]) {
			sources[i]->destroy(pages->views[i]);
		}
	}
}

static bool choose_pages(struct pages *pages)
{
	bool is_any = false;

	for (unsigned int i = 0; i < NR_PAGES; i++) {
		pages->is_wanted[i] = pages->summary->is_default;
		for (size_t k = 0; k < pages->summary->nr_views && !pages->is_wanted[i]; k++) {
			const char *view = pages->summary->views[k]->name;

			pages->is_wanted[i] = strcmp(view, page_names[i]) == 0;
		}
		is_any |= pages->is_wanted[i];
	}
	return is_any;
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	struct pages pages = {.summary = summary, .out = out, .is_sorted = !summary->sort};
	const char *why;

	if (!choose_pages(&pages)) {
		buf_text(out,
			"TensorBoard has none of these pages, but overview, operator, kernel, "
			"memory, module, distributed.\n");
		return NULL;
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		struct process *process = input->processes[i];

		/* Helpers that ran nothing have no pages. */
		if (input->nr_processes > 1 && !op_has_any(process) &&
			!view_has_device_records(process, &why)) {
			continue;
		}
		text_add_shown(out, process_host(process), strlen(process_host(process)), 64);
		buf_printf(out, "_%u\n\n", process->pid);
		print_process(&pages, process);
	}
	return pages.is_sorted ? NULL : "no page has such a column to sort by";
}

const struct summary_style style_tensorboard = {
	.name = "tensorboard",
	.help = "the pages of PyTorch's TensorBoard plugin: --view overview, operator, kernel, "
		"memory, module, distributed",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV | 1u << TABLE_MARKDOWN,
	.print = print,
};
