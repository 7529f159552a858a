/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the rows of a trace and writes them as our tables at its end. external_sort.c keeps
 * them, beyond KINETO_ROWS in a temporary file. Two passes follow: from the last row to the first,
 * which sets depths and Python stacks (find_row: by descending end, an outer event comes before
 * what it contains, so a stack per thread is enough), then from the first to the last, which writes
 * (write_row).
 */
#include "report/import/kineto/rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/import/call.h"
#include "report/import/kineto/rows_overrun.h"
#include "report/import/kineto/rows_table.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"
#include "report/ops/op.h"

/* ---- activities before their call ---- */

static void kineto_early_init(struct kineto_early *early)
{
	*early = (struct kineto_early){.ids = mem_zeroed(KINETO_EARLY_IDS, sizeof(*early->ids))};
}

static void kineto_early_fini(struct kineto_early *early)
{
	free(early->ids);
}

/* Ids count up, so each of the last ones has a slot of its own. */
static struct kineto_early_id *find(struct kineto_early *early, uint32_t id)
{
	struct kineto_early_id *found = &early->ids[id % KINETO_EARLY_IDS];

	if (found->id != id) {
		*found = (struct kineto_early_id){
			.id = id, .call = UINT64_MAX, .activity = UINT64_MAX};
	}
	return found;
}

static void count(struct kineto_early *early, struct kineto_early_id *found)
{
	if (!found->is_counted && found->call != UINT64_MAX && found->activity < found->call &&
		found->call - found->activity > KINETO_EARLY_NS) {
		found->is_counted = true;
		early->nr++;
	}
}

/* Calls and activities come in any order. The id 0 is ignored. */
static void kineto_early_call(struct kineto_early *early, uint32_t id, uint64_t begin)
{
	struct kineto_early_id *found = id ? find(early, id) : NULL;

	if (found) {
		found->call = begin < found->call ? begin : found->call;
		count(early, found);
	}
}

static void kineto_early_activity(struct kineto_early *early, uint32_t id, uint64_t begin)
{
	struct kineto_early_id *found = id ? find(early, id) : NULL;

	if (found) {
		found->activity = begin < found->activity ? begin : found->activity;
		count(early, found);
	}
}

/* When the call began, UINT64_MAX if unknown or forgotten. */
static uint64_t kineto_early_find(const struct kineto_early *early, uint32_t id)
{
	const struct kineto_early_id *found = &early->ids[id % KINETO_EARLY_IDS];

	return id && found->id == id ? found->call : UINT64_MAX;
}

/* ---- rows ---- */

/* Rows of a group; op_load.h explains its cost for the reader. */
#define GROUP_ROWS 65536u

struct frame {
	uint64_t begin;
	uint32_t stack; /* of Python, including this one */
};

struct outer {
	uint64_t begin;
	uint32_t py_stack, name;
	bool is_module;
};

/*
 * The rows of a thread that enclose the current one in the pass from the last row to the first,
 * outermost first.
 */
struct stack {
	struct outer *ops;
	size_t nr_ops, op_capacity;
	struct frame *frames;
	size_t nr_frames, frame_capacity;
	uint16_t nr_modules;
};

/* The state of both passes; `called` and `async` are complete before the first row is written. */
struct order {
	struct idmap stacks;	      /* struct stack by thread */
	struct idset *called, *async; /* correlation IDs of calls, and of asynchronous ones */
	struct kineto_python *python;
	struct import_out *out;
	struct kineto_early early;
	struct kineto_overrun overrun;
	uint64_t nr_written;
	struct kineto_rows *rows;
};

void kineto_rows_fini(struct kineto_rows *rows)
{
	external_sort_destroy(rows->sorter);
	*rows = (struct kineto_rows){0};
}

static struct external_sort *sorter_of(struct kineto_rows *rows)
{
	size_t most = rows->most ? rows->most : KINETO_ROWS;

	if (!rows->sorter) {
		rows->sorter = external_sort_create(
			sizeof(struct kineto_row), 0, most * sizeof(struct kineto_row));
		external_sort_fall(rows->sorter);
	}
	return rows->sorter;
}

struct kineto_row *kineto_rows_add(struct kineto_rows *rows)
{
	struct kineto_row *row = external_sort_add(sorter_of(rows));

	row->begin = 0;
	row->order = kineto_rows_order(rows);
	rows->nr_all++;
	return row;
}

/* ---- nesting ---- */

static bool is_module(const struct kineto_row *row)
{
	return op_is_module(row->source, row->kind);
}

static uint16_t capped(size_t depth)
{
	return depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
}

static void leave_ops(struct stack *stack, const struct kineto_row *row)
{
	while (stack->nr_ops && stack->ops[stack->nr_ops - 1].begin > row->begin) {
		stack->nr_modules -= stack->ops[--stack->nr_ops].is_module;
	}
}

/* The table of a row that is left out. */
#define NO_TABLE UINT8_MAX

/* Is it in the trace twice, once around itself? */
static bool is_twice(struct stack *stack, const struct kineto_row *row)
{
	leave_ops(stack, row);
	return row->op.is_once && stack->nr_ops &&
	       stack->ops[stack->nr_ops - 1].name == row->op.name;
}

/* A recording has steps, and no operators around them. */
static bool is_step_of_recording(const struct kineto_rows *rows, const struct kineto_row *row)
{
	return rows->are_recorded && row->op.is_mark;
}

/* Operators and modules count their depths separately; see op rows in FORMAT.md. */
static void find_depth(struct stack *stack, struct kineto_row *row)
{
	leave_ops(stack, row);
	row->op.depth =
		is_module(row) ? stack->nr_modules : capped(stack->nr_ops - stack->nr_modules);
	stack->ops =
		array_grow(stack->ops, stack->nr_ops, &stack->op_capacity, sizeof(*stack->ops));
	stack->ops[stack->nr_ops++] = (struct outer){.begin = row->begin,
		.py_stack = row->op.py_stack,
		.name = row->op.name,
		.is_module = is_module(row)};
	stack->nr_modules += is_module(row);
}

/* Returns the stack that a row of the thread was called from, 0 for none. */
static uint32_t find_py_stack(struct stack *stack, const struct kineto_row *row)
{
	while (stack->nr_frames && stack->frames[stack->nr_frames - 1].begin > row->begin) {
		stack->nr_frames--;
	}
	return stack->nr_frames ? stack->frames[stack->nr_frames - 1].stack : 0;
}

/*
 * A launch has a stack of its own, or that of the Python calls around it, or that of its operator.
 */
static uint32_t find_launch_stack(struct stack *stack, const struct kineto_row *row)
{
	uint32_t found = find_py_stack(stack, row);

	leave_ops(stack, row);
	for (size_t i = stack->nr_ops; !found && i-- > 0;) {
		found = stack->ops[i].py_stack;
	}
	return row->call.py_stack ? row->call.py_stack : found;
}

static void enter(const struct order *order, struct stack *stack, struct kineto_row *row)
{
	uint32_t caller = find_py_stack(stack, row);

	if (row->py_call.is_builtin) {
		return;
	}
	stack->frames = array_grow(
		stack->frames, stack->nr_frames, &stack->frame_capacity, sizeof(*stack->frames));
	stack->frames[stack->nr_frames++] = (struct frame){.begin = row->begin,
		.stack = kineto_python_stack(
			order->python, order->out, caller, row->py_call.code, 0)};
}

/*
 * Ops, Python calls and launches see the stack of their thread; of all calls the correlation ID is
 * kept, for the flags of copies.
 */
static void find_row(void *context, void *record)
{
	struct order *order = context;
	struct kineto_row *row = record;
	struct idmap *stacks = &order->stacks;
	struct stack *stack;

	if (row->table >= GPROF_TABLE_api && row->table <= GPROF_TABLE_api_sync &&
		row->call.correlation) {
		idset_add(order->called, row->call.correlation);
	}
	switch (row->table) {
	case GPROF_TABLE_op:
		stack = idmap_put(stacks, row->thread);
		if (is_step_of_recording(order->rows, row) || is_twice(stack, row)) {
			row->table = NO_TABLE;
			break;
		}
		row->op.py_stack = row->op.py_stack ? row->op.py_stack : find_py_stack(stack, row);
		find_depth(stack, row);
		break;
	case GPROF_TABLE_py_call:
		enter(order, idmap_put(stacks, row->thread), row);
		break;
	case GPROF_TABLE_api_launch:
		row->call.py_stack = find_launch_stack(idmap_put(stacks, row->thread), row);
		break;
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		if (row->call.is_async) {
			idset_add(order->async, row->call.correlation);
		}
		break;
	default:
		break;
	}
}

static void order_fini(struct order *order)
{
	for (size_t i = 0; i < order->stacks.nr; i++) {
		struct stack *stack = idmap_at(&order->stacks, i);

		free(stack->ops);
		free(stack->frames);
	}
	idmap_fini(&order->stacks);
	idset_destroy(order->called);
	idset_destroy(order->async);
	kineto_early_fini(&order->early);
	kineto_overrun_fini(&order->overrun);
}

/* ---- writing ---- */

static void find_early(struct kineto_early *early, const struct kineto_row *row)
{
	switch (row->table) {
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		kineto_early_call(early, row->call.correlation, row->begin);
		break;
	case GPROF_TABLE_kernel:
	case GPROF_TABLE_memcpy:
	case GPROF_TABLE_memset:
	case GPROF_TABLE_graph:
		kineto_early_activity(early, row->activity.correlation, row->begin);
		break;
	default:
		break;
	}
}

/* Makes the row one of XLA: its profiler's events are no operators of PyTorch, whose dialect the
 * timeline has. */
static void make_xla(struct kineto_row *row)
{
	if (row->table == GPROF_TABLE_op && row->source == GPROF_FRAMEWORK_TORCH) {
		row->source = GPROF_FRAMEWORK_XLA;
		row->kind = row->kind == OP_TORCH_USER || row->kind == OP_TORCH_ANNOTATION
				    ? GPROF_XLA_STEP
				    : 0;
	}
}

/* In a recording the ranges of optimizers and loaders are operators; it has none of steps. */
static void make_recorded(struct kineto_row *row)
{
	if (row->table == GPROF_TABLE_op && row->source == GPROF_FRAMEWORK_TORCH &&
		row->kind == OP_TORCH_ANNOTATION && !row->op.is_step) {
		row->kind = OP_TORCH_USER;
	}
}

/* A collective begins at the launch of its kernel, which precedes it. */
static void write_collective(struct order *order, const struct kineto_row *row)
{
	struct kineto_row called = *row;
	uint64_t begin = kineto_early_find(&order->early, row->nccl.correlation);

	if (begin != UINT64_MAX) {
		called.begin = called.end = begin;
	}
	kineto_row_write(order->out, &called, 0);
}

static void write_row(void *context, const void *record)
{
	struct order *order = context;
	const struct kineto_row *row = record;
	bool is_copy = gprof_table_is(row->table, GPROF_IS_COPYING);
	struct kineto_row bounded = *row;

	if (row->table == GPROF_TABLE_nccl) {
		write_collective(order, row);
		return;
	}
	if (row->table == NO_TABLE) {
		order->rows->nr_twice++;
		return;
	}
	if (order->rows->are_of_xla) {
		make_xla(&bounded);
	} else if (order->rows->are_recorded) {
		make_recorded(&bounded);
	}
	if (row->begin != KINETO_UNTIMED) {
		find_early(&order->early, row);
	}
	if (row->table == GPROF_TABLE_kernel && row->begin != KINETO_UNTIMED &&
		!order->rows->are_ends_right) {
		bounded.end = kineto_overrun_end(&order->overrun, row);
	}
	kineto_row_write(order->out, &bounded,
		is_copy ? import_copy_flags(order->called, order->async, row->activity.correlation)
			: 0);
	if (++order->nr_written % GROUP_ROWS == 0 && row->end != KINETO_UNTIMED) {
		import_out_close_group(order->out, row->end);
	}
}

bool kineto_rows_write(
	struct kineto_rows *rows, struct kineto_python *python, struct import_out *out)
{
	struct order order = {.python = python, .out = out, .rows = rows};
	bool is_good;

	idmap_init(&order.stacks, sizeof(struct stack));
	order.called = idset_create();
	order.async = idset_create();
	kineto_early_init(&order.early);
	kineto_overrun_init(&order.overrun);
	external_sort_finish(sorter_of(rows));
	is_good = external_sort_rewrite(rows->sorter, find_row, write_row, &order);
	import_out_close_group(out, 0);
	rows->nr_early = order.early.nr;
	rows->nr_overrun = order.overrun.nr;
	order_fini(&order);
	return is_good;
}
