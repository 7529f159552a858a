/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by name and by the Python stack that called them. */
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/model/py_stack.h"
#include "report/util/hash.h"

struct key {
	uint32_t name, stack; /* of string_pool.h */
};

struct row {
	struct key key;
	uint64_t calls, self_ns, total_ns, gpu_self_ns, gpu_total_ns;
	UT_hash_handle hh;
};

struct stacks_view {
	struct view_input input;
	struct row *rows;
	struct process *process;
	uint64_t nr_ops, nr_taken;
	bool has_gpu;
};

static void begin(void *context, struct process *process)
{
	struct stacks_view *view = context;

	view->process = process;
	view->has_gpu |= process->py_stacks.nr && process_has_device_records(process, NULL);
}

static struct row *find_row(struct stacks_view *view, const struct op *op)
{
	struct key key = {op_row_name(op->name), py_stack_text(view->process, op->py_stack)};
	struct row *row;

	hash_put(view->rows, key, &key, row);
	return row;
}

static void on_op(void *context, const struct op *op)
{
	struct stacks_view *view = context;
	const struct clock_map *clock = &view->process->host_clock;
	uint64_t ticks = op->end - op->begin;
	struct row *row;

	if (op_is_module(op->framework, op->scope)) {
		return;
	}
	view->nr_ops += view->process->py_stacks.nr != 0;
	if (!op->py_stack) {
		return;
	}
	view->nr_taken++;
	row = find_row(view, op);
	row->calls++;
	row->total_ns += clock_map_duration(clock, ticks);
	row->self_ns +=
		clock_map_duration(clock, ticks > op->child_ticks ? ticks - op->child_ticks : 0);
	row->gpu_self_ns += op->gpu_self_ns;
	row->gpu_total_ns += op->gpu_total_ns;
}

/* What a launch of a graph ran of it; no call. */
static void on_replay(void *context, const struct op *op)
{
	struct row *row;

	if (op->py_stack && !op_is_module(op->framework, op->scope)) {
		row = find_row(context, op);
		row->gpu_self_ns += op->gpu_self_ns;
		row->gpu_total_ns += op->gpu_total_ns;
	}
}

/* ---- the table ---- */

enum column { CALLS, SELF, TOTAL, GPU_SELF, GPU_TOTAL, NAME, STACK };

static const struct table_column columns[] = {
	[CALLS] = TABLE_COLUMN("calls", "Calls", TABLE_COUNT, .help = "calls with a sampled stack",
		TABLE_MEMBER(row, calls)),
	[SELF] = TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME,
		.help = "without operators inside it", TABLE_MEMBER(row, self_ns)),
	[TOTAL] = TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME,
		.help = "with operators inside it", TABLE_MEMBER(row, total_ns)),
	[GPU_SELF] = TABLE_COLUMN(
		"gpu_self_ns", "Self GPU", TABLE_TIME, .help = "launched by it directly"),
	[GPU_TOTAL] = TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME,
		.help = "launched by it and by operators inside it"),
	[NAME] = TABLE_COLUMN("name", "Operator", TABLE_NAME, TABLE_MEMBER(row, key.name)),
	[STACK] = TABLE_COLUMN("stack", "Called from", TABLE_NAME, .is_major = true,
		.help = "Python stack, innermost function first", TABLE_MEMBER(row, key.stack)),
};

static void fill_table(void *state, struct table *table)
{
	struct stacks_view *view = state;

	table->columns[GPU_SELF].is_wide_only = table->columns[GPU_TOTAL].is_wide_only =
		!view->has_gpu;
	for (struct row *row = view->rows; row; row = row->hh.next) {
		struct table_cell *cells = table_add(table, row);

		if (view->has_gpu) {
			table_set_integer(&cells[GPU_SELF], row->gpu_self_ns);
			table_set_integer(&cells[GPU_TOTAL], row->gpu_total_ns);
		}
	}
	view_note_stacks(table, &view->input, view->nr_taken, view->nr_ops);
	table_sort(table, "self");
	if (view->has_gpu) {
		table_sort(table, "gpu_self");
	}
}

static void fini(void *state)
{
	struct stacks_view *view = state;

	hash_free(view->rows);
}

VIEW(operator_stacks, 352) = {
	.name = "operator-stacks",
	.subject = VIEW_ABOUT_HOST,
	.help = "operators by name and by the Python stack that called them",
	.about = "Self time excludes the operators inside. GPU time is that of the GPU activities "
		 "that the operator launched, whenever they ran.",
	.is_empty_hidden = true,
	.title = "Call stacks of operators",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct stacks_view),
	.ops = {.begin = begin, .op = on_op, .replay = on_replay, .op_is = OP_IS_STACKED},
	.fill = fill_table,
	.fini = fini,
};
