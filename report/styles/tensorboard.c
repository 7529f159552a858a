/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of PyTorch's TensorBoard plugin as tables, one set for each process that did something:
 * its columns in its order, times in us. Errors of its formulas are corrected here: see budget.h,
 * occupancy.h and kernel_class.h; "Unknown" is a third answer about tensor cores.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/budget/budget.h"
#include "report/analysis/op_average.h"
#include "report/memory/op_memory.h"
#include "report/comm/nccl_job.h"
#include "report/model/kernel_class.h"
#include "report/session/summary.h"
#include "report/util/text.h"
#include "report/util/sort.h"

enum tensorboard_page {
	TENSORBOARD_PAGE_OVERVIEW,
	TENSORBOARD_PAGE_OPERATOR,
	TENSORBOARD_PAGE_KERNEL,
	TENSORBOARD_PAGE_MEMORY,
	TENSORBOARD_PAGE_MODULE,
	TENSORBOARD_PAGE_DISTRIBUTED,
	NR_TENSORBOARD_PAGES,
};

/* The views that pages are made of. */
enum tensorboard_source {
	TENSORBOARD_STEPS,
	TENSORBOARD_GPUS,
	TENSORBOARD_AVERAGES,
	TENSORBOARD_KERNELS,
	TENSORBOARD_KERNELS_BY_OPERATOR,
	TENSORBOARD_MEMORY,
	TENSORBOARD_MODULES,
	TENSORBOARD_OVERLAP,
	NR_TENSORBOARD_SOURCES,
};

struct tensorboard {
	const struct summary *summary;
	bool is_wanted[NR_TENSORBOARD_PAGES];
	void *views[NR_TENSORBOARD_SOURCES]; /* of the current process; NULL where no page wants
						them */
	struct nccl_job job;		     /* of all processes; empty where no page wants it */
	struct process *process;	     /* the current one */
	struct buf *out;
	bool is_sorted; /* some table has the column that the user sorts by */
};

/* Also the views that choose them. */
static const char *const page_names[NR_TENSORBOARD_PAGES] = {
	"overview", "operator", "kernel", "memory", "module", "distributed"};

static const struct view_class *const sources[NR_TENSORBOARD_SOURCES] = {&view_breakdown,
	&view_gpu_summary, &view_op_average, &view_kernel, &view_kernel_operator, &view_op_memory,
	&view_module, &view_distributed};
static const enum tensorboard_page page_of[NR_TENSORBOARD_SOURCES] = {TENSORBOARD_PAGE_OVERVIEW,
	TENSORBOARD_PAGE_OVERVIEW, TENSORBOARD_PAGE_OPERATOR, TENSORBOARD_PAGE_KERNEL,
	TENSORBOARD_PAGE_KERNEL, TENSORBOARD_PAGE_MEMORY, TENSORBOARD_PAGE_MODULE,
	TENSORBOARD_PAGE_DISTRIBUTED};

/* Prints a table as the user wants it, times in us, and destroys it. */
static void print_table(struct tensorboard *pages, struct table *table)
{
	struct table_style style = pages->summary->asked.table;

	style.unit = "us";
	if (pages->summary->sort) {
		pages->is_sorted |= table_sort(table, pages->summary->sort);
	}
	table_cut(table, pages->summary->asked.top);
	table_print(table, &style, pages->out);
	table_destroy(table);
}

/* "yes" as "Yes": how the plugin writes answers about tensor cores. */
static void set_answer(struct table_cell *cell, const char *text)
{
	char answer[16];

	snprintf(answer, sizeof(answer), "%s", text);
	answer[0] = (char)toupper((unsigned char)answer[0]);
	table_set_string(cell, answer);
}

/* ---- rows of figures that no view shows ---- */

/* The second key of the rows of a table of operators, after their names. */
enum group_by { BY_NAME, BY_SHAPE, BY_STACK };

static int by_key(const void *a, const void *b)
{
	const struct op_average_key *x = &((const struct op_average *)a)->key;
	const struct op_average_key *y = &((const struct op_average *)b)->key;

	return ORDER(COMPARE(x->name, y->name), COMPARE(x->shape, y->shape),
		COMPARE(x->stack, y->stack));
}

/* Copies of the rows of operators, with the part of their keys that counts, in its order. */
static struct op_average *operators_by(
	const struct tensorboard *pages, enum group_by group, size_t *nr_operators)
{
	size_t nr;
	const struct op_average **rows = op_average_rows(pages->views[TENSORBOARD_AVERAGES], &nr);
	struct op_average *operators = mem_zeroed(nr + 1, sizeof(*operators));

	*nr_operators = 0;
	for (size_t i = 0; i < nr; i++) {
		struct op_average *copy = &operators[*nr_operators];

		if (rows[i]->key.kind != OP_AVERAGE_OP || !rows[i]->is_operator) {
			continue;
		}
		*copy = *rows[i];
		copy->key.shape = group == BY_SHAPE ? copy->key.shape : 0;
		copy->key.stack = group == BY_STACK ? copy->key.stack : 0;
		if (group == BY_NAME || copy->key.shape || copy->key.stack) {
			++*nr_operators;
		}
	}
	qsort(operators, *nr_operators, sizeof(*operators), by_key);
	return operators;
}

/* As the plugin, calls and totals are of operators that lie in none of the same name. */
struct operator_row {
	struct op_average average;
	const char *is_eligible;
	uint32_t group; /* shape or stack */
};

/* minor: leave totals and tensor cores out first, for the sake of shapes and stacks. */
#define OPERATOR_COLUMNS(minor)                                                                  \
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(operator_row, average.key.name)),  \
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT,                                      \
			TABLE_MEMBER(operator_row, average.outer_calls)),                        \
		TABLE_COLUMN("device_self_ns", "Device Self Duration", TABLE_TIME,               \
			TABLE_MEMBER(operator_row, average.device_self_ns)),                     \
		TABLE_COLUMN("device_total_ns", "Device Total Duration", TABLE_TIME,             \
			.is_minor = minor, TABLE_MEMBER(operator_row, average.outer_device_ns)), \
		TABLE_COLUMN("host_self_ns", "Host Self Duration", TABLE_TIME,                   \
			TABLE_MEMBER(operator_row, average.self_ns)),                            \
		TABLE_COLUMN("host_total_ns", "Host Total Duration", TABLE_TIME,                 \
			.is_minor = minor, TABLE_MEMBER(operator_row, average.outer_ns)),        \
		TABLE_COLUMN("tensor_eligible", "Tensor Cores Eligible", TABLE_TEXT,             \
			.is_minor = minor, TABLE_MEMBER(operator_row, is_eligible)),             \
		TABLE_COLUMN("tensor_self_pct", "Tensor Cores Self (%)", TABLE_PERCENT,          \
			.is_minor = minor,                                                       \
			TABLE_SHARE(                                                             \
				operator_row, average.tensor_self_ns, average.device_self_ns)),  \
		TABLE_COLUMN("tensor_total_pct", "Tensor Cores Total (%)", TABLE_PERCENT,        \
			.is_minor = minor,                                                       \
			TABLE_SHARE(                                                             \
				operator_row, average.outer_tensor_ns, average.outer_device_ns))

/*
 * Operators come sorted by the key of the group, so those of one row are neighbours. The second
 * sort keeps the order of equal rows.
 */
static void print_operators_by(struct tensorboard *pages, enum group_by group)
{
	static const struct table_column by_name[] = {OPERATOR_COLUMNS(false)};
	static const struct table_column by_shape[] = {
		OPERATOR_COLUMNS(true), TABLE_COLUMN("shapes", "Input Shape", TABLE_NAME,
						TABLE_NONZERO(operator_row, group))};
	static const struct table_column by_stack[] = {
		OPERATOR_COLUMNS(true), TABLE_COLUMN("stack", "Call Stack", TABLE_NAME,
						TABLE_NONZERO(operator_row, group))};
	static const struct {
		const char *title;
		const struct table_column *columns;
		unsigned int nr_columns;
	} tables[] = {[BY_NAME] = {"Operator", by_name, 9},
		[BY_SHAPE] = {"Operator: Name + Input Shape", by_shape, 10},
		[BY_STACK] = {"Operator: Call Stack", by_stack, 10}};
	struct op_average *operators;
	struct table *table;
	size_t nr;

	operators = operators_by(pages, group, &nr);
	table = table_create(
		"operator", tables[group].title, tables[group].columns, tables[group].nr_columns);
	for (size_t i = 0, next; i < nr; i = next) {
		for (next = i + 1; next < nr && !by_key(&operators[i], &operators[next]); next++) {
			op_average_add(&operators[i], &operators[next], 1);
		}
		table_add(table, &(struct operator_row){operators[i],
					 tensor_is_eligible(operators[i].key.name) ? "Yes" : "No",
					 operators[i].key.shape | operators[i].key.stack});
	}
	free(operators);
	table_sort(table, "host_self");
	table_sort(table, "device_self");
	if (nr || group == BY_NAME) {
		print_table(pages, table);
	} else {
		table_destroy(table);
	}
}

/* The page's choice "Operator + Input Shape" needs --detail, its stacks do not. */
static void print_operators(struct tensorboard *pages)
{
	print_operators_by(pages, BY_NAME);
	if (pages->summary->is_detailed) {
		print_operators_by(pages, BY_SHAPE);
	}
	print_operators_by(pages, BY_STACK);
}

struct memory_row {
	uint32_t name;
	uint64_t calls, nr, nr_self;
	double increase_kb, self_increase_kb, size_kb, self_size_kb;
};

static void print_memory_of(struct tensorboard *pages, uint32_t device)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Operator Name", TABLE_NAME, TABLE_MEMBER(memory_row, name)),
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(memory_row, calls)),
		TABLE_COLUMN("increase_kb", "Size Increase (KB)", TABLE_NUMBER,
			TABLE_MEMBER(memory_row, increase_kb)),
		TABLE_COLUMN("self_increase_kb", "Self Size Increase (KB)", TABLE_NUMBER,
			TABLE_MEMBER(memory_row, self_increase_kb)),
		TABLE_COLUMN("allocations", "Allocation Count", TABLE_COUNT,
			TABLE_MEMBER(memory_row, nr)),
		TABLE_COLUMN("self_allocations", "Self Allocation Count", TABLE_COUNT,
			TABLE_MEMBER(memory_row, nr_self)),
		TABLE_COLUMN("size_kb", "Allocation Size (KB)", TABLE_NUMBER,
			TABLE_MEMBER(memory_row, size_kb)),
		TABLE_COLUMN("self_size_kb", "Self Allocation Size (KB)", TABLE_NUMBER,
			TABLE_MEMBER(memory_row, self_size_kb)),
	};
	const struct op_memory **rows;
	struct table *table;
	char title[64];
	size_t nr;

	snprintf(title, sizeof(title), "Memory View: %s",
		string_pool_text(op_memory_device_name(device), NULL));
	table = table_create("memory", title, columns, sizeof(columns) / sizeof(columns[0]));
	rows = op_memory_rows(pages->views[TENSORBOARD_MEMORY], &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct op_memory *row = rows[i];

		if (row->key.device != device) {
			continue;
		}
		table_add(table, &(struct memory_row){.name = row->key.name,
					 .calls = row->calls,
					 .nr = row->total.count,
					 .nr_self = row->self.count,
					 .increase_kb = (double)row->total.increase / 1024,
					 .self_increase_kb = (double)row->self.increase / 1024,
					 .size_kb = (double)row->total.bytes / 1024,
					 .self_size_kb = (double)row->self.bytes / 1024});
	}
	table_sort(table, "self_increase_kb");
	print_table(pages, table);
}

struct block_row {
	uint32_t device, name;
	double size_kb;
	uint64_t alloc_ns, free_ns, duration_ns;
};

static void print_blocks(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("device", "Device", TABLE_NAME, TABLE_MEMBER(block_row, device)),
		TABLE_COLUMN("name", "Operator", TABLE_NAME, TABLE_MEMBER(block_row, name)),
		TABLE_COLUMN(
			"size_kb", "Size (KB)", TABLE_NUMBER, TABLE_MEMBER(block_row, size_kb)),
		TABLE_COLUMN("allocation_ns", "Allocation Time", TABLE_TIME,
			TABLE_MEMBER(block_row, alloc_ns)),
		TABLE_COLUMN(
			"release_ns", "Release Time", TABLE_TIME, TABLE_MEMBER(block_row, free_ns)),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME,
			TABLE_MEMBER(block_row, duration_ns)),
	};
	struct table *table = table_create(
		"memory_events", "Memory Events", columns, sizeof(columns) / sizeof(columns[0]));
	struct allocations *all = op_memory_blocks(pages->views[TENSORBOARD_MEMORY]);
	const struct allocation *blocks;
	size_t nr;

	blocks = allocations_sorted(all, &nr);
	for (size_t i = 0; i < nr; i++) {
		bool is_asked = blocks[i].alloc_ns != BLOCK_UNSEEN;
		bool is_freed = blocks[i].free_ns != BLOCK_UNSEEN;
		bool is_whole = is_asked && is_freed && blocks[i].free_ns >= blocks[i].alloc_ns;

		table_add(table,
			&(struct block_row){.device = op_memory_device_name(blocks[i].device),
				.name = blocks[i].name,
				.size_kb = (double)blocks[i].bytes / 1024,
				.alloc_ns = is_asked ? blocks[i].alloc_ns : UINT64_MAX,
				.free_ns = is_freed ? blocks[i].free_ns : UINT64_MAX,
				.duration_ns = is_whole ? blocks[i].free_ns - blocks[i].alloc_ns
							: UINT64_MAX});
	}
	allocations_note(all, table);
	if (all->nr_all > nr) {
		table_note(table, "The table has the %zu largest of %" PRIu64 " blocks.", nr,
			all->nr_all);
	}
	print_table(pages, table);
}

/* Prints a table of operators for each device with memory, and one of single blocks. */
static void print_memory(struct tensorboard *pages)
{
	const struct op_memory **rows;
	size_t nr;

	rows = op_memory_rows(pages->views[TENSORBOARD_MEMORY], &nr);
	for (size_t i = 0; i < nr; i++) {
		bool is_first = true;

		rows = op_memory_rows(pages->views[TENSORBOARD_MEMORY], &nr);
		for (size_t k = 0; k < i; k++) {
			is_first &= rows[k]->key.device != rows[i]->key.device;
		}
		if (is_first) {
			print_memory_of(pages, rows[i]->key.device);
		}
	}
	print_blocks(pages);
}

/* ---- communication ---- */

struct collective_row {
	uint32_t name;
	uint64_t nr, bytes, nr_timed, ns, nr_with_wait, transfer_ns;
};

static const struct table_column collective_columns[] = {
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(collective_row, name)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(collective_row, nr)),
	TABLE_COLUMN(
		"bytes", "Total Size (bytes)", TABLE_COUNT, TABLE_MEMBER(collective_row, bytes)),
	TABLE_COLUMN("avg_bytes", "Avg Size (bytes)", TABLE_NUMBER,
		TABLE_MEAN(collective_row, bytes, nr)),
	TABLE_COLUMN("total_ns", "Total Latency", TABLE_TIME, TABLE_MEMBER(collective_row, ns)),
	TABLE_COLUMN(
		"avg_ns", "Avg Latency", TABLE_MEAN_TIME, TABLE_MEAN(collective_row, ns, nr_timed)),
	TABLE_COLUMN("transfer_ns", "Data Transfer Time", TABLE_TIME,
		TABLE_MEMBER(collective_row, transfer_ns)),
	TABLE_COLUMN("avg_transfer_ns", "Avg Data Transfer Time", TABLE_MEAN_TIME,
		TABLE_MEAN(collective_row, transfer_ns, nr_with_wait)),
};

/* A row for each kind of operation that the process called. */
static void add_operations(struct tensorboard *pages, struct table *table)
{
	struct nccl_sums sums[UINT8_MAX + 1] = {{0}};
	uint64_t nr = 0, nr_with_wait = 0;

	for (size_t i = 0; i < pages->job.ops.nr_ops; i++) {
		const struct nccl_op *op = &pages->job.ops.ops[i];

		if (pages->job.processes[op->process] == pages->process) {
			nccl_sums_add(&sums[op->kind], op);
		}
	}
	for (unsigned int kind = 0; kind <= UINT8_MAX; kind++) {
		if (sums[kind].nr_calls) {
			const char *name = nccl_names_op((uint8_t)kind);
			const struct nccl_sums *sum = &sums[kind];

			table_add(
				table, &(struct collective_row){
					       .name = string_pool_intern(name, strlen(name)),
					       .nr = sum->nr_calls,
					       .bytes = sum->is_unsized ? UINT64_MAX : sum->bytes,
					       .nr_timed = sum->nr_timed,
					       .ns = sum->nr_timed ? sum->timed_ns : UINT64_MAX,
					       .nr_with_wait = sum->nr_with_wait,
					       .transfer_ns = sum->nr_with_wait
								      ? sum->known_ns - sum->wait_ns
								      : UINT64_MAX});
			nr += sums[kind].nr_calls;
			nr_with_wait += sums[kind].nr_with_wait;
		}
	}
	if (nr_with_wait < nr) {
		table_note(table,
			"Data transfer time is known for %" PRIu64 " of %" PRIu64
			" calls; see the view communication.",
			nr_with_wait, nr);
	}
}

/* Adds rows for kernels of communication, which are all there is if no operations were recorded. */
static void add_kernels(struct tensorboard *pages, struct table *table)
{
	const struct op_average **rows;
	size_t nr;

	rows = op_average_rows(pages->views[TENSORBOARD_AVERAGES], &nr);
	for (size_t i = 0; i < nr; i++) {

		if (rows[i]->key.kind != OP_AVERAGE_DEVICE ||
			kernel_class_of(rows[i]->key.name) != KERNEL_COMMUNICATION) {
			continue;
		}
		table_add(table, &(struct collective_row){.name = rows[i]->key.name,
					 .nr = rows[i]->calls,
					 .bytes = UINT64_MAX,
					 .nr_timed = rows[i]->calls,
					 .ns = rows[i]->device_total_ns,
					 .transfer_ns = UINT64_MAX});
	}
	table_note(table, "Sizes and transfer times are unknown: no operations were recorded, only "
			  "kernels.");
}

static void print_collectives(struct tensorboard *pages)
{
	struct table *table = table_create("communication", "Distributed: Communication Operations",
		collective_columns, sizeof(collective_columns) / sizeof(collective_columns[0]));

	add_operations(pages, table);
	if (!table->nr_rows) {
		add_kernels(pages, table);
	}
	table_sort(table, "total");
	print_table(pages, table);
}

/* ---- columns of views' tables ---- */

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

/* Prints the columns of a view's table that have those keys, and destroys it. */
static void print_view(struct tensorboard *pages, struct table *from, const char *title,
	const struct table_column *columns, unsigned int nr_columns)
{
	struct table *table = table_create(from->key, title, columns, nr_columns);

	for (size_t row = 0; row < from->nr_rows; row++) {
		struct table_cell *cells = table_add_row(table);

		for (unsigned int i = 0; i < nr_columns; i++) {
			copy_cell(
				&columns[i], table_find_cell(from, row, columns[i].key), &cells[i]);
		}
	}
	if (from->note) {
		table_note(table, "%s", from->note);
	}
	print_table(pages, table);
	table_destroy(from);
}

#define PRINT_VIEW(pages, source, title, columns)                                              \
	print_view(pages, view_table(sources[source], (pages)->views[source]), title, columns, \
		sizeof(columns) / sizeof((columns)[0]))

static void print_overview(struct tensorboard *pages)
{
	static const struct table_column gpus[] = {
		TABLE_COLUMN("device", "GPU", TABLE_ID),
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("memory_bytes", "Memory", TABLE_SIZE),
		TABLE_COLUMN("capability", "Compute Capability", TABLE_TEXT),
		TABLE_COLUMN("utilization_pct", "GPU Utilization %", TABLE_PERCENT),
		TABLE_COLUMN("sm_efficiency_pct", "Est. SM Efficiency %", TABLE_PERCENT),
		TABLE_COLUMN("occupancy_pct", "Est. Achieved Occupancy %", TABLE_PERCENT),
		TABLE_COLUMN("tensor_pct", "Kernel Time using Tensor Cores %", TABLE_PERCENT),
		TABLE_COLUMN("unknown_tensor_pct", "(unknown %)", TABLE_PERCENT),
	};
	static const struct table_column steps[] = {
		TABLE_COLUMN("step", "Step", TABLE_TEXT),
		TABLE_COLUMN("total_ns", "Total", TABLE_MEAN_TIME, .is_wide_only = true),
		BUDGET_PLUGIN_COLUMNS,
	};

	PRINT_VIEW(pages, TENSORBOARD_STEPS, "Overview: Step Time Breakdown", steps);
	PRINT_VIEW(pages, TENSORBOARD_GPUS, "Overview: GPU Summary", gpus);
}

/* Both tables end with them. */
#define KERNEL_TIMES                                                               \
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT),                               \
		TABLE_COLUMN("total_ns", "Total Duration", TABLE_TIME),            \
		TABLE_COLUMN("avg_ns", "Mean Duration", TABLE_MEAN_TIME),          \
		TABLE_COLUMN("max_ns", "Max Duration", TABLE_TIME),                \
		TABLE_COLUMN("min_ns", "Min Duration", TABLE_TIME),                \
		TABLE_COLUMN("blocks_per_sm", "Mean Blocks Per SM", TABLE_NUMBER), \
		TABLE_COLUMN("occupancy_pct", "Mean Est. Achieved Occupancy (%)", TABLE_PERCENT)

static void print_kernels(struct tensorboard *pages)
{
	static const struct table_column by_operator[] = {
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("operator", "Operator", TABLE_NAME),
		TABLE_COLUMN("grid", "Grid", TABLE_TEXT),
		TABLE_COLUMN("block", "Block", TABLE_TEXT),
		TABLE_COLUMN("registers", "Register Per Thread", TABLE_COUNT),
		TABLE_COLUMN("shared_bytes", "Shared Memory", TABLE_SIZE),
		TABLE_COLUMN("tensor_cores", "Kernel Uses Tensor Cores", TABLE_TEXT),
		TABLE_COLUMN("tensor_eligible", "Op is Tensor Cores eligible", TABLE_TEXT),
		KERNEL_TIMES,
	};
	static const struct table_column by_name[] = {
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("tensor_cores", "Tensor Cores Used", TABLE_TEXT),
		KERNEL_TIMES,
	};

	PRINT_VIEW(pages, TENSORBOARD_KERNELS_BY_OPERATOR, "Kernel: Name + Op Name", by_operator);
	PRINT_VIEW(pages, TENSORBOARD_KERNELS, "Kernel: Name", by_name);
}

static void print_modules(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Module Name", TABLE_NAME),
		TABLE_COLUMN("calls", "Occurences", TABLE_COUNT),
		TABLE_COLUMN("operators", "Operators", TABLE_COUNT),
		TABLE_COLUMN("total_ns", "Host Total Time", TABLE_TIME),
		TABLE_COLUMN("self_ns", "Host Self Time", TABLE_TIME),
		TABLE_COLUMN("gpu_total_ns", "Device Total Time", TABLE_TIME),
		TABLE_COLUMN("gpu_self_ns", "Device Self Time", TABLE_TIME),
		TABLE_COLUMN("class", "Class", TABLE_NAME), /* ours */
	};

	PRINT_VIEW(pages, TENSORBOARD_MODULES, "Module", columns);
}

static void print_distributed(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("step", "Step", TABLE_ID),
		TABLE_COLUMN("computation_alone_ns", "Computation - Overlap", TABLE_TIME),
		TABLE_COLUMN("overlap_ns", "Overlap", TABLE_TIME),
		TABLE_COLUMN("communication_alone_ns", "Communication - Overlap", TABLE_TIME),
		TABLE_COLUMN("other_ns", "Other", TABLE_TIME),
	};
	static const struct table_column waiting[] = {
		TABLE_COLUMN("step", "Step", TABLE_ID),
		TABLE_COLUMN("transfer_ns", "Data Transfer Time", TABLE_TIME),
		TABLE_COLUMN("waiting_ns", "Synchronizing Time", TABLE_TIME),
	};

	PRINT_VIEW(pages, TENSORBOARD_OVERLAP, "Distributed: Computation/Communication Overview",
		columns);
	if (pages->job.ops.nr_ops) {
		PRINT_VIEW(pages, TENSORBOARD_OVERLAP,
			"Distributed: Synchronizing/Communication Overview", waiting);
	}
	print_collectives(pages);
}

/* ---- processes ---- */

static bool is_wanted(const struct tensorboard *pages, enum tensorboard_source source)
{
	return pages->is_wanted[page_of[source]] ||
	       (source == TENSORBOARD_AVERAGES && pages->is_wanted[TENSORBOARD_PAGE_DISTRIBUTED]);
}

/* The view of overlaps runs by itself, since only it gets the collectives of the whole job. */
static void print_process(struct tensorboard *pages, struct process *process)
{
	static void (*const print_pages[NR_TENSORBOARD_PAGES])(struct tensorboard *) = {
		print_overview, print_operators, print_kernels, print_memory, print_modules,
		print_distributed};
	/* By steps, as the plugin's page has it. */
	struct view_input input = {.processes = &process,
		.nr_processes = 1,
		.detail = VIEW_DETAIL_ALL,
		.is_of_plugin = true};
	const struct view_class *classes[NR_TENSORBOARD_SOURCES];
	void *views[NR_TENSORBOARD_SOURCES];
	size_t nr = 0;

	pages->process = process;
	memset(pages->views, 0, sizeof(pages->views));
	for (unsigned int i = 0; i < NR_TENSORBOARD_SOURCES; i++) {
		if (is_wanted(pages, (enum tensorboard_source)i) && i != TENSORBOARD_OVERLAP) {
			classes[nr++] = sources[i];
		}
	}
	view_run(&input, classes, nr, views);
	nr = 0;
	for (unsigned int i = 0; i < NR_TENSORBOARD_SOURCES; i++) {
		if (is_wanted(pages, (enum tensorboard_source)i) && i != TENSORBOARD_OVERLAP) {
			pages->views[i] = views[nr++];
		}
	}
	if (is_wanted(pages, TENSORBOARD_OVERLAP)) {
		input.is_detailed = true;
		input.job = &pages->job;
		view_run(&input, &sources[TENSORBOARD_OVERLAP], 1,
			&pages->views[TENSORBOARD_OVERLAP]);
	}
	for (unsigned int i = 0; i < NR_TENSORBOARD_PAGES; i++) {
		if (pages->is_wanted[i]) {
			print_pages[i](pages);
		}
	}
	for (unsigned int i = 0; i < NR_TENSORBOARD_SOURCES; i++) {
		if (pages->views[i]) {
			view_destroy(sources[i], pages->views[i]);
		}
	}
}

static bool choose_pages(struct tensorboard *pages)
{
	bool is_any = false;

	for (unsigned int i = 0; i < NR_TENSORBOARD_PAGES; i++) {
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
	struct tensorboard pages = {.summary = summary, .out = out, .is_sorted = !summary->sort};
	const char *why;

	if (!choose_pages(&pages)) {
		buf_text(out,
			"TensorBoard has none of these pages, but overview, operator, kernel, "
			"memory, module, distributed.\n");
		return NULL;
	}
	if (pages.is_wanted[TENSORBOARD_PAGE_DISTRIBUTED]) {
		nccl_job_read(&pages.job, input->processes, input->nr_processes);
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		struct process *process = input->processes[i];

		/* Helpers that ran nothing have no pages. */
		if (input->nr_processes > 1 && !op_has_any(process) &&
			!process_has_device_records(process, &why)) {
			continue;
		}
		text_add_shown(out, process_host(process), strlen(process_host(process)), 64);
		buf_printf(out, "_%u\n\n", process->pid);
		print_process(&pages, process);
	}
	nccl_job_fini(&pages.job);
	return pages.is_sorted ? NULL : "no page has such a column for --sort";
}

const struct summary_style style_tensorboard = {
	.name = "tensorboard",
	.help = "the pages of PyTorch's TensorBoard plugin: --view overview, operator, kernel, "
		"memory, module, distributed",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV | 1u << TABLE_MARKDOWN,
	.print = print,
};
