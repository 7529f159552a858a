/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators and launches by the Python stack that called them; and operators by name and stack, as
 * torch.profiler groups them.
 */
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"
#include "report/model/py_stack.h"
#include "report/analysis/view.h"

struct key {
	uint32_t stack,
		op; /* of string_pool.h; op is 0 where operators are merged, and for launches */
};

struct row {
	struct key key;
	uint64_t nr_ops, self_ns, nr_launches, gpu_ns;
	UT_hash_handle hh;
};

struct python_view {
	struct view_input input;
	struct row *rows;
	uint64_t nr_ops, nr_taken;
	double self_ns, gpu_ns; /* of all rows */
	bool has_gpu;
};

static void begin(void *context, struct process *process)
{
	struct python_view *view = context;

	if (process->py_stacks.nr) {
		view->has_gpu |= process_has_device_records(process, NULL);
	}
}

static struct row *find_row(struct python_view *view, uint32_t py_stack, uint32_t op)
{
	struct key key = {.stack = py_stack_text(view->input.process, py_stack),
		.op = view->input.is_detailed ? op : 0};
	struct row *row;

	hash_put(view->rows, key, &key, row);
	return row;
}

static void on_op(void *context, const struct op *op)
{
	struct python_view *view = context;
	uint64_t ticks = op->end - op->begin;
	struct row *row;

	if (op_is_module(op->framework, op->scope)) {
		return;
	}
	view->nr_ops += view->input.process->py_stacks.nr != 0;
	if (!op->py_stack) {
		return;
	}
	row = find_row(view, op->py_stack, op->name);
	row->nr_ops++;
	row->self_ns += clock_map_duration(&view->input.process->host_clock,
		ticks > op->child_ticks ? ticks - op->child_ticks : 0);
	view->nr_taken++;
}

/* Activities belong to the stack of their launch, else to the one that its operator has. */
static void on_gpu_call(void *context, const struct op_gpu_call *call, const struct op *op)
{
	struct python_view *view = context;
	struct row *row;

	if (!call->py_stack && (!op || !op->py_stack)) {
		return;
	}
	row = find_row(view, call->py_stack ? call->py_stack : op->py_stack, op ? op->name : 0);
	row->nr_launches++;
	row->gpu_ns += call->ns;
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of self CPU time", TABLE_PERCENT,
		TABLE_SHARE_OF_STATE(row, self_ns, python_view, self_ns)),
	TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME, .help = "without operators inside them",
		TABLE_MEMBER(row, self_ns)),
	TABLE_COLUMN("ops", "Operators", TABLE_COUNT, .help = "operators with a sampled stack",
		TABLE_MEMBER(row, nr_ops)),
	TABLE_COLUMN("gpu_share_pct", "% of GPU time", TABLE_PERCENT,
		TABLE_WIDE_UNLESS(python_view, has_gpu),
		TABLE_SHARE_OF_STATE(row, gpu_ns, python_view, gpu_ns)),
	TABLE_COLUMN("gpu_ns", "GPU", TABLE_TIME, .help = "GPU activities that they launched",
		TABLE_WIDE_UNLESS(python_view, has_gpu),
		TABLE_IF_STATE(row, gpu_ns, python_view, has_gpu)),
	TABLE_COLUMN("launches", "Launches", TABLE_COUNT, .help = "launches with a sampled stack",
		TABLE_MEMBER(row, nr_launches)),
	TABLE_COLUMN("op", "Operator", TABLE_NAME, .help = "operator with this stack",
		TABLE_WIDE_UNLESS(python_view, input.is_detailed), TABLE_NONZERO(row, key.op)),
	TABLE_COLUMN("stack", "Called from", TABLE_NAME, .is_name = true,
		.help = "Python stack, innermost function first", TABLE_MEMBER(row, key.stack)),
};

static void fill_table(void *state, struct table *table)
{
	struct python_view *view = state;
	const struct row *row;

	for (row = view->rows; row; row = row->hh.next) {
		view->self_ns += (double)row->self_ns;
		view->gpu_ns += (double)row->gpu_ns;
	}
	for (row = view->rows; row; row = row->hh.next) {
		table_add(table, row);
	}
	view_note_stacks(table, &view->input, view->nr_taken, view->nr_ops);
	table_sort(table, view->gpu_ns > view->self_ns ? "gpu" : "self");
}

static void fini(void *state)
{
	struct python_view *view = state;

	hash_free(view->rows);
}

VIEW(python, 350) = {
	.name = "python",
	.subject = VIEW_ABOUT_HOST,
	.help = "operators and launches by the Python stack that called them",
	.about = "Self time excludes the operators inside.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Python stacks",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct python_view),
	.ops = {.begin = begin, .op = on_op, .op_is = OP_IS_STACKED, .gpu_call = on_gpu_call},
	.fill = fill_table,
	.fini = fini,
};

/* ---- by operator and stack ---- */

struct stacks_key {
	uint32_t name, stack; /* of string_pool.h */
};

struct stacks_row {
	struct stacks_key key;
	uint64_t calls, self_ns, total_ns, gpu_self_ns, gpu_total_ns;
	UT_hash_handle hh;
};

struct stacks_view {
	struct view_input input;
	struct stacks_row *rows;
	uint64_t nr_ops, nr_taken;
	bool has_gpu;
};

static void begin_stacks(void *context, struct process *process)
{
	struct stacks_view *view = context;

	view->has_gpu |= process->py_stacks.nr && process_has_device_records(process, NULL);
}

static struct stacks_row *find_stacks_row(struct stacks_view *view, const struct op *op)
{
	struct stacks_key key = {
		op_row_name(op->name), py_stack_text(view->input.process, op->py_stack)};
	struct stacks_row *row;

	hash_put(view->rows, key, &key, row);
	return row;
}

static void on_stacked_op(void *context, const struct op *op)
{
	struct stacks_view *view = context;
	const struct clock_map *clock = &view->input.process->host_clock;
	uint64_t ticks = op->end - op->begin;
	struct stacks_row *row;

	if (op_is_module(op->framework, op->scope)) {
		return;
	}
	view->nr_ops += view->input.process->py_stacks.nr != 0;
	if (!op->py_stack) {
		return;
	}
	view->nr_taken++;
	row = find_stacks_row(view, op);
	row->calls++;
	row->total_ns += clock_map_duration(clock, ticks);
	row->self_ns +=
		clock_map_duration(clock, ticks > op->child_ticks ? ticks - op->child_ticks : 0);
	row->gpu_self_ns += op->gpu_self_ns;
	row->gpu_total_ns += op->gpu_total_ns;
}

/* Adds the work that a graph's launch ran for a stack; it counts no call. */
static void on_stacked_replay(void *context, const struct op *op)
{
	struct stacks_row *row;

	if (op->py_stack && !op_is_module(op->framework, op->scope)) {
		row = find_stacks_row(context, op);
		row->gpu_self_ns += op->gpu_self_ns;
		row->gpu_total_ns += op->gpu_total_ns;
	}
}

static const struct table_column stacks_columns[] = {
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, .help = "calls with a sampled stack",
		TABLE_MEMBER(stacks_row, calls)),
	TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME, .help = "without operators inside it",
		TABLE_MEMBER(stacks_row, self_ns)),
	TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME, .help = "with operators inside it",
		TABLE_MEMBER(stacks_row, total_ns)),
	TABLE_COLUMN("gpu_self_ns", "Self GPU", TABLE_TIME, .help = "launched by it directly",
		TABLE_WIDE_UNLESS(stacks_view, has_gpu),
		TABLE_IF_STATE(stacks_row, gpu_self_ns, stacks_view, has_gpu)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME,
		.help = "launched by it and by operators inside it",
		TABLE_WIDE_UNLESS(stacks_view, has_gpu),
		TABLE_IF_STATE(stacks_row, gpu_total_ns, stacks_view, has_gpu)),
	TABLE_COLUMN("name", "Operator", TABLE_NAME, TABLE_MEMBER(stacks_row, key.name)),
	TABLE_COLUMN("stack", "Called from", TABLE_NAME, .is_major = true,
		.help = "Python stack, innermost function first",
		TABLE_MEMBER(stacks_row, key.stack)),
};

static void fill_stacks(void *state, struct table *table)
{
	struct stacks_view *view = state;

	for (const struct stacks_row *row = view->rows; row; row = row->hh.next) {
		table_add(table, row);
	}
	view_note_stacks(table, &view->input, view->nr_taken, view->nr_ops);
	table_sort(table, "self");
	if (view->has_gpu) {
		table_sort(table, "gpu_self");
	}
}

static void fini_stacks(void *state)
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
	VIEW_COLUMNS(stacks_columns),
	VIEW_STATE(struct stacks_view),
	.ops = {.begin = begin_stacks,
		.op = on_stacked_op,
		.replay = on_stacked_replay,
		.op_is = OP_IS_STACKED},
	.fill = fill_stacks,
	.fini = fini_stacks,
};
