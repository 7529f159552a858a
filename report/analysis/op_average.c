/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers the rows of PyTorch's tables in op_walk's backward pass. An operator's calls, activities
 * and allocations come before the operator itself is left, so they are added to a record of the
 * open operator (struct open, by its address in the walk's stack). When the operator is left, the
 * record becomes part of its row, and its totals go to the open record of its parent.
 */
#include "report/analysis/op_average.h"

#include <stdlib.h>
#include <string.h>

#include "report/ops/flops.h"
#include "report/util/hash.h"
#include "report/model/kernel_class.h"
#include "report/model/py_stack.h"
#include "report/gpu/gpu_activities.h"

/* The sums so far of an operator that the pass has not left. */
struct open {
	const struct op *op; /* memory is used again: */
	uint64_t begin, end;
	uint64_t call_ticks; /* of calls in it and in no operator in it */
	uint64_t device_self_ns, device_total_ns, tensor_self_ns, tensor_total_ns;
	struct op_average_memory memory[OP_AVERAGE_NR_PLACES];
	/* The last operator directly in it, if that has its name. */
	struct op_average *inner_row; /* NULL: none */
	uint64_t inner_ticks;
	struct op_average inner; /* what that added to its row */
	UT_hash_handle hh;
};

/* The last call of a thread that lies in no other. */
struct outer_call {
	uint64_t begin, end;
	struct op_average *row;
};

struct average_view {
	struct view_input input;
	struct op_average *rows;
	struct open *open;
	struct idmap outer_calls; /* struct outer_call by thread */
	const struct op_average **list;
	bool has_shapes, has_stacks;
};

static void init(void *state)
{
	struct average_view *view = state;

	view->has_stacks = view->input.detail == VIEW_DETAIL_ALL;
	view->has_shapes = view->input.is_detailed || view->has_stacks;
	idmap_init(&view->outer_calls, sizeof(struct outer_call));
}

static void begin(void *context, struct process *process)
{
	struct average_view *view = context;

	(void)process;
	idmap_fini(&view->outer_calls);
	idmap_init(&view->outer_calls, sizeof(struct outer_call));
	hash_free(view->open);
}

static struct op_average *find_row(struct average_view *view, const struct op_average_key *key)
{
	struct op_average *row;

	HASH_FIND(hh, view->rows, key, sizeof(*key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = *key;
		HASH_ADD(hh, view->rows, key, sizeof(*key), row);
	}
	return row;
}

static const struct op *operator_of(const struct op *op)
{
	while (op && op_is_module(op->framework, op->scope)) {
		op = op->parent;
	}
	return op;
}

static struct open *find_open(struct average_view *view, const struct op *op)
{
	struct open *open;

	HASH_FIND_PTR(view->open, &op, open);
	if (!open) {
		open = mem_zeroed(1, sizeof(*open));
		open->op = op;
		HASH_ADD_PTR(view->open, op, open);
	}
	if (open->begin != op->begin || open->end != op->end) {
		/*
		 * The walk uses the memory of operators again. One that is not selected was left
		 * without a call of take_op(), so its sums are still here.
		 */
		open->call_ticks = open->device_self_ns = open->device_total_ns = 0;
		open->tensor_self_ns = open->tensor_total_ns = 0;
		open->inner_row = NULL;
		memset(open->memory, 0, sizeof(open->memory));
		open->begin = op->begin;
		open->end = op->end;
	}
	return open;
}

/* ---- what comes ---- */

/*
 * A runtime call contains a driver call, which comes after it in this direction. Only the outer one
 * counts as time that the operator does not have itself.
 */
static void take_call(void *context, const struct op_call *call, const struct op *op)
{
	struct average_view *view = context;
	struct outer_call *outer = idmap_put(&view->outer_calls, call->thread);
	uint64_t ticks = call->end > call->begin ? call->end - call->begin : 0;
	uint64_t ns = clock_map_duration(&view->input.process->host_clock, ticks);
	struct op_average_key key = {.kind = OP_AVERAGE_CALL};
	struct op_average *row;
	uint8_t api;

	key.name = process_call_name(view->input.process, call->call, &api);
	row = find_row(view, &key);
	row->calls++;
	row->self_ns += ns;
	row->total_ns += ns;
	if (outer->row && call->begin >= outer->begin && call->end <= outer->end) {
		/* A driver's call within one of the runtime: directly, or in one that is. */
		outer->row->self_ns -= ns < outer->row->self_ns ? ns : outer->row->self_ns;
		return;
	}
	*outer = (struct outer_call){call->begin, call->end, row};
	op = operator_of(op);
	if (op) {
		find_open(view, op)->call_ticks += ticks;
	}
}

static bool uses_tensor_cores(const struct average_view *view, const struct op_record *record)
{
	return record->table == GPROF_TABLE_kernel &&
	       tensor_use_of(process_shape_name(view->input.process, record->shape)) == TENSOR_YES;
}

static void take_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct average_view *view = context;
	uint64_t ns = record->end_ns > record->begin_ns ? record->end_ns - record->begin_ns : 0;
	uint64_t tensor_ns = uses_tensor_cores(view, record) ? ns : 0;
	struct op_average_key key = {.kind = OP_AVERAGE_DEVICE};
	struct op_average *row;

	(void)call;
	key.name = op_record_name(view->input.process, record);
	row = find_row(view, &key);
	row->calls++;
	row->device_self_ns += ns;
	row->device_total_ns += ns;
	row->tensor_self_ns += tensor_ns;
	row->tensor_total_ns += tensor_ns;
	op = operator_of(op);
	if (op) {
		struct open *open = find_open(view, op);

		open->device_self_ns += ns;
		open->device_total_ns += ns;
		open->tensor_self_ns += tensor_ns;
		open->tensor_total_ns += tensor_ns;
	}
}

/* Wraps, as sums of hostile numbers may. */
static void add_memory(
	struct op_average_memory *sum, int64_t self, int64_t total, uint64_t nr_events)
{
	sum->self = (int64_t)((uint64_t)sum->self + (uint64_t)self);
	sum->total = (int64_t)((uint64_t)sum->total + (uint64_t)total);
	sum->nr_events += nr_events;
}

static void take_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	static const char outside[] = "[memory]";
	struct average_view *view = context;
	struct op_average_key key = {.kind = OP_AVERAGE_MEMORY};
	struct op_average *row;

	if (alloc->device_type >= OP_AVERAGE_NR_PLACES) {
		return; /* the tables have the columns of CPUs and GPUs alone */
	}
	op = operator_of(op);
	if (op) {
		add_memory(&find_open(view, op)->memory[alloc->device_type], alloc->bytes,
			alloc->bytes, 1);
		return;
	}
	key.name = string_pool_intern(outside, sizeof(outside) - 1);
	row = find_row(view, &key);
	row->calls++;
	add_memory(&row->memory[alloc->device_type], alloc->bytes, alloc->bytes, 1);
}

static bool is_outer(const struct op *op)
{
	for (const struct op *outer = op->parent; outer; outer = outer->parent) {
		if (outer->name == op->name) {
			return false;
		}
	}
	return true;
}

/* ---- operators ---- */

void op_average_add(struct op_average *row, const struct op_average *one, int times)
{
	uint64_t factor = (uint64_t)times;

	row->calls += factor * one->calls;
	row->flops += times * one->flops;
	row->self_ns += factor * one->self_ns;
	row->total_ns += factor * one->total_ns;
	row->device_self_ns += factor * one->device_self_ns;
	row->device_total_ns += factor * one->device_total_ns;
	row->outer_calls += factor * one->outer_calls;
	row->outer_ns += factor * one->outer_ns;
	row->outer_device_ns += factor * one->outer_device_ns;
	row->outer_tensor_ns += factor * one->outer_tensor_ns;
	row->tensor_self_ns += factor * one->tensor_self_ns;
	row->tensor_total_ns += factor * one->tensor_total_ns;
	for (unsigned int i = 0; i < OP_AVERAGE_NR_PLACES; i++) {
		const struct op_average_memory *memory = &one->memory[i];

		add_memory(&row->memory[i], (int64_t)(factor * (uint64_t)memory->self),
			(int64_t)(factor * (uint64_t)memory->total), factor * memory->nr_events);
	}
}

/* An operator that has nothing in it but one of the same name is that one, as in key_averages. */
static void join_inner(struct op_average *one, const struct open *open)
{
	const struct op_average *inner = &open->inner;

	op_average_add(open->inner_row, inner, -1);
	one->self_ns += inner->self_ns;
	one->device_self_ns += inner->device_self_ns;
	one->tensor_self_ns += inner->tensor_self_ns;
	for (unsigned int i = 0; i < OP_AVERAGE_NR_PLACES; i++) {
		add_memory(&one->memory[i], inner->memory[i].self, 0, inner->memory[i].nr_events);
	}
}

/*
 * Takes the sums of an operator when the walk leaves it: its own ones go to its row, and its totals
 * to the operator around it as well.
 */
static void add_open(struct average_view *view, struct op_average *one, struct open *open)
{
	const struct op *parent = operator_of(open->op->parent);
	struct open *outer = parent ? find_open(view, parent) : NULL;

	one->device_self_ns = open->device_self_ns;
	one->device_total_ns = open->device_total_ns;
	one->tensor_self_ns = open->tensor_self_ns;
	one->tensor_total_ns = open->tensor_total_ns;
	if (one->outer_calls) {
		one->outer_device_ns = open->device_total_ns;
		one->outer_tensor_ns = open->tensor_total_ns;
	}
	for (unsigned int i = 0; i < OP_AVERAGE_NR_PLACES; i++) {
		one->memory[i] = open->memory[i];
		if (outer) {
			add_memory(&outer->memory[i], 0, open->memory[i].total, 0);
		}
	}
	if (outer) {
		outer->device_total_ns += open->device_total_ns;
		outer->tensor_total_ns += open->tensor_total_ns;
	}
	if (open->inner_row && open->inner_ticks == open->op->child_ticks) {
		join_inner(one, open);
	}
	HASH_DEL(view->open, open);
	free(open);
}

/* Keeps what it added to its row until the one around it, of the same name, ends. */
static void keep_inner(struct average_view *view, const struct op *op, struct op_average *row,
	const struct op_average *one)
{
	const struct op *parent = operator_of(op->parent);

	if (parent && parent->name == op->name) {
		struct open *outer = find_open(view, parent);

		outer->inner_row = row;
		outer->inner_ticks = op->end - op->begin;
		outer->inner = *one;
	}
}

static bool is_operator(const struct op *op)
{
	enum op_class class = op_class(op->name, op->framework, op->scope);

	return class == OP_OTHER || class == OP_FORWARD || class == OP_BACKWARD;
}

static struct open *leave_open(struct average_view *view, const struct op *op)
{
	struct open *open;

	HASH_FIND_PTR(view->open, &op, open);
	return open && open->begin == op->begin && open->end == op->end ? open : NULL;
}

static struct op_average_key key_of(const struct average_view *view, const struct op *op)
{
	return (struct op_average_key){.kind = OP_AVERAGE_OP,
		.name = op_row_name(op->name),
		.shape = view->has_shapes ? op->shape : 0,
		.stack = view->has_stacks && op->py_stack
				 ? py_stack_text(view->input.process, op->py_stack)
				 : 0};
}

/* An operator without an open record launched, called and allocated nothing. */
static void take_op(void *context, const struct op *op)
{
	struct average_view *view = context;
	const struct clock_map *clock = &view->input.process->host_clock;
	struct op_average_key key;
	uint64_t ticks = op->end - op->begin, inner = op->child_ticks;
	struct op_average one = {.calls = 1, .total_ns = clock_map_duration(clock, ticks)}, *row;
	struct open *open;

	if (operator_of(op) != op) {
		return;
	}
	key = key_of(view, op);
	row = find_row(view, &key);
	row->is_operator = is_operator(op);
	open = leave_open(view, op);
	inner += open ? open->call_ticks : 0;
	one.self_ns = clock_map_duration(clock, ticks > inner ? ticks - inner : 0);
	if (!flops_of_op(op, &one.flops)) {
		one.flops = 0;
	}
	if (is_outer(op)) {
		one.outer_calls = 1;
		one.outer_ns = one.total_ns;
	}
	if (open) {
		add_open(view, &one, open);
	}
	op_average_add(row, &one, 1);
	keep_inner(view, op, row, &one);
}

/* Adds the work that a graph's launch ran for an operator: no call, and no time on the host. */
static void take_replay(void *context, const struct op *op)
{
	struct average_view *view = context;
	struct op_average_key key;
	struct op_average one = {0};
	struct open *open;

	if (operator_of(op) != op) {
		return;
	}
	key = key_of(view, op);
	if (!flops_of_op(op, &one.flops)) {
		one.flops = 0;
	}
	open = leave_open(view, op);
	if (open) {
		bool is_outermost = is_outer(op);

		add_open(view, &one, open);
		one.outer_device_ns = is_outermost ? one.device_total_ns : 0;
		one.outer_tensor_ns = is_outermost ? one.tensor_total_ns : 0;
	}
	op_average_add(find_row(view, &key), &one, 1);
}

/* ---- for styles ---- */

const struct op_average **op_average_rows(void *context, size_t *nr)
{
	struct average_view *view = context;
	size_t at = 0;

	*nr = HASH_COUNT(view->rows);
	view->list = mem_resize(view->list, *nr + 1, sizeof(struct op_average *));
	for (const struct op_average *row = view->rows; row; row = row->hh.next) {
		view->list[at++] = row;
	}
	return view->list;
}

static void fini(void *state)
{
	struct average_view *view = state;

	hash_free(view->rows);
	hash_free(view->open);
	idmap_fini(&view->outer_calls);
	free(view->list);
}

const struct view_class view_op_average = {
	.name = "op-average",
	.help = "for styles",
	VIEW_STATE(struct average_view),
	.ops = {.begin = begin,
		.op = take_op,
		.replay = take_replay,
		.alloc = take_alloc,
		.call = take_call,
		.record = take_record},
	.init = init,
	.fini = fini,
};
