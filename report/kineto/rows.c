/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"
#include "report/kineto/early.h"
#include "report/kineto/runs.h"
#include "report/kineto/write.h"
#include "report/ops/op.h"

/* Rows of a group; see op_load.h for what a group costs the reader. */
#define GROUP_ROWS 65536u

struct key {
	uint64_t end;
	uint32_t row;
};

struct frame {
	uint64_t begin;
	uint32_t stack; /* of Python, with this one */
};

struct outer {
	uint64_t begin;
	uint32_t py_stack;
	bool is_module;
};

/* What encloses the row at hand on a thread, from the last row to the first, outermost first. */
struct stack {
	struct outer *ops;
	size_t nr_ops, op_capacity;
	struct frame *frames;
	size_t nr_frames, frame_capacity;
	uint16_t nr_modules;
};

/* What is found before the first row is written. */
struct order {
	struct idmap stacks; /* struct stack by thread */
	struct idset *async; /* correlation ids of calls that say so */
	struct kineto_python *python;
	struct kineto_out *out;
	struct kineto_early early;
	uint64_t nr_written;
};

/* ---- by their ends ---- */

/* One pass over eight bits of the ends; keeps the order of equal ones. */
static void sort_by_byte(
	const struct key *from, struct key *to, size_t nr, unsigned int shift, const size_t *counts)
{
	size_t at[256], sum = 0;

	for (unsigned int i = 0; i < 256; i++) {
		at[i] = sum;
		sum += counts[i];
	}
	for (size_t i = 0; i < nr; i++) {
		to[at[from[i].end >> shift & 0xff]++] = from[i];
	}
}

/* Returns the array that has them in the end; the other one is free. */
static struct key *sort_by_end(struct key *keys, struct key *spare, size_t nr)
{
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		size_t counts[256] = {0};
		struct key *swap = keys;

		for (size_t i = 0; i < nr; i++) {
			counts[keys[i].end >> shift & 0xff]++;
		}
		if (nr && counts[keys[0].end >> shift & 0xff] == nr) {
			continue; /* all the same */
		}
		sort_by_byte(keys, spare, nr, shift, counts);
		keys = spare;
		spare = swap;
	}
	return keys;
}

static const struct kineto_row *sorted_rows; /* for qsort */

static int by_nesting(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return kineto_row_is_before(&sorted_rows[x->row], &sorted_rows[y->row]) ? -1 : 1;
}

static void sort_equal(const struct kineto_rows *rows, struct key *keys, size_t nr)
{
	sorted_rows = rows->rows;
	for (size_t i = 0; i < nr;) {
		size_t end = i + 1;

		while (end < nr && keys[end].end == keys[i].end) {
			end++;
		}
		if (end - i > 1) {
			qsort(keys + i, end - i, sizeof(*keys), by_nesting);
		}
		i = end;
	}
}

/* The rows in memory in their order, to be freed. */
static struct key *sort(const struct kineto_rows *rows)
{
	struct key *keys = mem_zeroed(rows->nr_rows + 1, sizeof(*keys));
	struct key *spare = mem_zeroed(rows->nr_rows + 1, sizeof(*spare));
	struct key *sorted;

	for (size_t i = 0; i < rows->nr_rows; i++) {
		keys[i] = (struct key){.end = rows->rows[i].end, .row = (uint32_t)i};
	}
	sorted = sort_by_end(keys, spare, rows->nr_rows);
	sort_equal(rows, sorted, rows->nr_rows);
	free(sorted == keys ? spare : keys);
	return sorted;
}

/* ---- rows that are too many ---- */

struct run {
	const struct kineto_rows *rows;
	const struct key *keys;
};

static const struct kineto_row *row_at(const void *context, size_t n)
{
	const struct run *run = context;

	return &run->rows->rows[run->keys[run->rows->nr_rows - 1 - n].row];
}

static void spill(struct kineto_rows *rows)
{
	struct key *keys;
	struct run run;

	if (!rows->runs) {
		rows->runs = kineto_runs_create();
	}
	if (!rows->runs) {
		rows->has_no_files = true;
		return;
	}
	keys = sort(rows);
	run = (struct run){rows, keys};
	if (kineto_runs_add(rows->runs, rows->nr_rows, row_at, &run)) {
		rows->nr_rows = 0;
	} else {
		rows->has_no_files = true;
		if (rows->nr_all == rows->nr_rows) { /* nothing lies there yet */
			kineto_runs_destroy(rows->runs);
			rows->runs = NULL;
		}
	}
	free(keys);
}

void kineto_rows_fini(struct kineto_rows *rows)
{
	kineto_runs_destroy(rows->runs);
	free(rows->rows);
	*rows = (struct kineto_rows){0};
}

struct kineto_row *kineto_rows_add(struct kineto_rows *rows)
{
	if (rows->nr_rows >= (rows->most ? rows->most : KINETO_ROWS) && !rows->has_no_files) {
		spill(rows);
	}
	rows->rows = array_grow(rows->rows, rows->nr_rows, &rows->capacity, sizeof(*rows->rows));
	rows->rows[rows->nr_rows] = (struct kineto_row){.order = kineto_rows_order(rows)};
	rows->nr_all++;
	return &rows->rows[rows->nr_rows++];
}

/* ---- what encloses what ---- */

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

/* Depths are of operators among each other, and of modules; see op rows in FORMAT.md. */
static void find_depth(struct stack *stack, struct kineto_row *row)
{
	leave_ops(stack, row);
	row->op.depth =
		is_module(row) ? stack->nr_modules : capped(stack->nr_ops - stack->nr_modules);
	stack->ops =
		array_grow(stack->ops, stack->nr_ops, &stack->op_capacity, sizeof(*stack->ops));
	stack->ops[stack->nr_ops++] = (struct outer){
		.begin = row->begin, .py_stack = row->op.py_stack, .is_module = is_module(row)};
	stack->nr_modules += is_module(row);
}

/* The stack that a row of the thread was called from, 0 for none. */
static uint32_t find_py_stack(struct stack *stack, const struct kineto_row *row)
{
	while (stack->nr_frames && stack->frames[stack->nr_frames - 1].begin > row->begin) {
		stack->nr_frames--;
	}
	return stack->nr_frames ? stack->frames[stack->nr_frames - 1].stack : 0;
}

/* Where the trace has stacks of operators, a launch has that of the operator that it lies in. */
static uint32_t find_launch_stack(struct stack *stack, const struct kineto_row *row)
{
	uint32_t found = find_py_stack(stack, row);

	leave_ops(stack, row);
	for (size_t i = stack->nr_ops; !found && i-- > 0;) {
		found = stack->ops[i].py_stack;
	}
	return found;
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

static void find_row(void *context, struct kineto_row *row)
{
	struct order *order = context;
	struct idmap *stacks = &order->stacks;
	struct stack *stack;

	switch (row->table) {
	case GPROF_TABLE_op:
		stack = idmap_put(stacks, row->thread);
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
	idset_destroy(order->async);
	kineto_early_fini(&order->early);
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
		kineto_early_work(early, row->work.correlation, row->begin);
		break;
	default:
		break;
	}
}

/* A collective was called where its kernel was launched, which stands before it. */
static void write_nccl(struct order *order, const struct kineto_row *row)
{
	struct kineto_row called = *row;
	uint64_t begin = kineto_early_find(&order->early, row->nccl.correlation);

	if (begin != UINT64_MAX) {
		called.begin = called.end = begin;
	}
	kineto_write_row(order->out, &called, false);
}

static void write_row(void *context, const struct kineto_row *row)
{
	struct order *order = context;
	bool is_copy = row->table == GPROF_TABLE_memcpy || row->table == GPROF_TABLE_memset;

	if (row->table == GPROF_TABLE_nccl) {
		write_nccl(order, row);
		return;
	}
	find_early(&order->early, row);
	kineto_write_row(
		order->out, row, is_copy && idset_has(order->async, row->work.correlation));
	if (++order->nr_written % GROUP_ROWS == 0) {
		kineto_out_close_group(order->out, row->end);
	}
}

/* From the last row to the first what encloses comes before what lies in it. */
static void write_memory(struct kineto_rows *rows, struct order *order)
{
	struct key *keys = sort(rows);

	for (size_t i = rows->nr_rows; i-- > 0;) {
		find_row(order, &rows->rows[keys[i].row]);
	}
	for (size_t i = 0; i < rows->nr_rows; i++) {
		write_row(order, &rows->rows[keys[i].row]);
	}
	free(keys);
}

bool kineto_rows_write(
	struct kineto_rows *rows, struct kineto_python *python, struct kineto_out *out)
{
	struct order order = {.python = python, .out = out};
	bool is_good = true;

	idmap_init(&order.stacks, sizeof(struct stack));
	order.async = idset_create();
	kineto_early_init(&order.early);
	if (rows->runs) {
		spill(rows);
		is_good = !rows->nr_rows &&
			  kineto_runs_merge(rows->runs, find_row, write_row, &order);
	} else {
		write_memory(rows, &order);
	}
	kineto_out_close_group(out, 0);
	rows->nr_early = order.early.nr;
	order_fini(&order);
	return is_good;
}
