/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch of add_all() has a function for each kind of slice, which adds its arguments in the
 * order of the outputs. new_arg() drops those that an output has no name for. The order differs at
 * two places, the grid of a launch and the graph of an activity: is_json decides there.
 *
 * Chrome's own code still writes allocations, counters and overhead, which no track has as slices,
 * and splits the inputs of an operator into Kineto's members.
 */
#include "report/timeline/slice_args.h"

#include <stdio.h>
#include <string.h>

#include "report/comm/nccl_names.h"
#include "report/model/api.h"
#include "report/model/py_stack.h"
#include "report/util/rate.h"

/* ---- words ---- */

const char *const category_words[NR_CATEGORIES] = {
	[CATEGORY_RUNTIME] = "cuda_runtime",
	[CATEGORY_DRIVER] = "cuda_driver",
	[CATEGORY_LIBRARY] = "library",
	[CATEGORY_OPERATOR] = "cpu_op",
	[CATEGORY_ANNOTATION] = "user_annotation",
	[CATEGORY_PYTHON] = "python_function",
	[CATEGORY_KERNEL] = "kernel",
	[CATEGORY_NCCL] = "kernel,nccl",
	[CATEGORY_COPY] = "gpu_memcpy",
	[CATEGORY_SET] = "gpu_memset",
	[CATEGORY_SYNC] = "cuda_sync",
	[CATEGORY_OVERHEAD] = "overhead",
	[CATEGORY_STEP] = "step",
	[CATEGORY_MARK] = "mark",
	[CATEGORY_COMM] = "collective",
	[CATEGORY_NCCL_API] = "nccl",
	[CATEGORY_STATE] = "thread_state",
};

#define ARG_NAME(key, name, json) \
	[KEY_##key] = {name, ", \"" json "\": ", sizeof(json) > 1 ? sizeof(json) + 5 : 0},

const struct arg_name arg_names[NR_ALL_KEYS] = {TRACK_ARGS(ARG_NAME) CHROME_ARGS(ARG_NAME)};

/* ---- one argument ---- */

static struct arg *new_arg(struct arg_maker *maker, enum arg_key key, enum arg_type type)
{
	const struct arg_name *name = &arg_names[key];
	struct slice_args *args = maker->args;
	struct arg *arg = &maker->dropped;

	if ((maker->is_json ? name->nr_json > 0 : *name->name) && args->nr < SLICE_ARGS) {
		arg = &args->args[args->nr++];
	}
	arg->key = (uint8_t)key;
	arg->type = (uint8_t)type;
	return arg;
}

static void add_uint(struct arg_maker *maker, enum arg_key key, uint64_t number)
{
	new_arg(maker, key, ARG_UINT)->number = number;
}

static void add_int(struct arg_maker *maker, enum arg_key key, int64_t integer)
{
	new_arg(maker, key, ARG_INT)->integer = integer;
}

static void add_double(struct arg_maker *maker, enum arg_key key, double real)
{
	new_arg(maker, key, ARG_DOUBLE)->real = real;
}

static void add_text(struct arg_maker *maker, enum arg_key key, uint32_t text)
{
	new_arg(maker, key, ARG_TEXT)->text = text;
}

/* ---- the shape of a launch ---- */

static void add_three(struct arg_maker *maker, enum arg_key key, const uint32_t numbers[3])
{
	char text[48];
	int nr_bytes =
		snprintf(text, sizeof(text), maker->is_json ? "[%u, %u, %u]" : "%u x %u x %u",
			numbers[0], numbers[1], numbers[2]);

	new_arg(maker, key, maker->is_json ? ARG_JSON : ARG_TEXT)->text =
		string_pool_intern(text, (size_t)nr_bytes);
}

static void add_grid(struct arg_maker *maker, const struct model_shape *shape)
{
	add_three(maker, KEY_GRID, shape->grid);
	add_three(maker, KEY_BLOCK, shape->block);
	if (shape->cluster[0]) {
		add_three(maker, KEY_CLUSTER, shape->cluster);
	}
}

static void add_launch(struct arg_maker *maker, const struct model_shape *shape, uint32_t device)
{
	const struct compiled_work *work = timeline_compiled_work(maker->timeline, shape);
	struct occupancy occupancy;

	if (!maker->is_json) {
		add_grid(maker, shape);
	}
	add_uint(maker, KEY_REGISTERS, shape->registers);
	add_uint(maker, KEY_STATIC_SHARED, shape->static_shared_bytes);
	add_uint(maker, KEY_DYNAMIC_SHARED, shape->dynamic_shared_bytes);
	add_uint(maker, KEY_SHARED,
		(uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes);
	if (timeline_occupancy(maker->timeline, shape, device, &occupancy)) {
		add_double(maker, KEY_BLOCKS_PER_SM, occupancy.blocks_per_multiprocessor);
		add_double(maker, KEY_WARPS_PER_SM, occupancy.warps_per_multiprocessor);
	}
	if (maker->is_json) {
		add_grid(maker, shape);
	}
	if (occupancy.has_estimate) {
		add_uint(maker, KEY_OCCUPANCY, occupancy.percent);
		add_text(maker, KEY_LIMITER, occupancy_limit_name(occupancy.limits));
	}
	if (work && work->operators) {
		add_text(maker, KEY_OPERATORS, work->operators);
	}
	if (work && work->nodes) {
		add_text(maker, KEY_NODES, work->nodes);
	}
}

/* Makes them once for each shape. NULL: it is unknown. */
static const struct shared_args *launch_args(struct arg_maker *maker, uint32_t id, uint32_t device)
{
	const struct model_shape *shape = idmap_get(&maker->timeline->process->shapes, id);
	struct slice_args *args = maker->args;
	struct shared_args *shared;

	if (!shape) {
		return NULL;
	}
	shared = idmap_put(&maker->shared, id);
	if (!shared->made.nr) {
		maker->args = &shared->made;
		add_launch(maker, shape, device);
		maker->args = args;
		if (maker->share) {
			maker->share(maker->context, shared);
		}
	}
	return shared;
}

/* ---- slices of the host ---- */

static void add_stack(struct arg_maker *maker, uint32_t stack)
{
	struct process *process = maker->timeline->process;

	if (stack) {
		add_text(maker, KEY_STACK,
			maker->is_json ? py_stack_trace_text(process, stack)
				       : py_stack_text(process, stack));
	}
}

static void add_call(struct arg_maker *maker, const struct slice *slice)
{
	if (slice->category == CATEGORY_RUNTIME || slice->category == CATEGORY_DRIVER) {
		add_uint(maker, KEY_EXTERNAL_ID, slice->external_id);
	}
	if (slice->correlation || maker->is_json) {
		add_uint(maker, KEY_CORRELATION, slice->correlation);
	}
	if (slice->result) {
		add_int(maker, KEY_RESULT, slice->result);
	}
	add_stack(maker, slice->stack);
}

static void add_nccl_call(struct arg_maker *maker, const struct slice *slice)
{
	if (slice->value) {
		add_uint(maker, KEY_BYTES, slice->value);
	}
	if (slice->sequence) {
		add_uint(maker, KEY_SEQUENCE, slice->sequence);
	}
	if (slice->comm) {
		add_text(maker, KEY_COMM, nccl_names_comm(maker->timeline->process, slice->comm));
	}
	if (slice->result) {
		add_int(maker, KEY_RESULT, slice->result);
	}
}

/* Chrome JSON also has inputs without a text. */
static void add_op(struct arg_maker *maker, const struct slice *slice)
{
	if (slice->category != CATEGORY_PYTHON) { /* modules are no operators */
		add_uint(maker, KEY_EXTERNAL_ID, slice->external_id);
	}
	if (slice->value) {
		add_uint(maker, maker->is_json ? KEY_OP_SEQUENCE : KEY_SEQUENCE, slice->value - 1);
		add_uint(maker, KEY_FORWARD_THREAD, slice->forward_thread);
	}
	if (slice->shape || (slice->has_inputs && maker->is_json)) {
		new_arg(maker, KEY_INPUTS, maker->is_json ? ARG_INPUTS : ARG_TEXT)->text =
			slice->shape;
	}
	add_stack(maker, slice->stack);
}

/* Functions of Python have a row beside that of their thread, so the thread is named. */
static void add_collection(struct arg_maker *maker, const struct slice *slice)
{
	if (slice->is_collection) {
		add_uint(maker, KEY_THREAD, timeline_tid(maker->timeline, slice->thread));
		add_uint(maker, KEY_COLLECTED, slice->value);
		add_uint(maker, KEY_UNCOLLECTABLE, slice->uncollectable);
	}
}

static void add_payload(struct arg_maker *maker, const struct slice *slice)
{
	double number;

	switch (slice->payload) {
	case PAYLOAD_UINT:
		add_uint(maker, KEY_PAYLOAD, slice->value);
		break;
	case PAYLOAD_INT:
		add_int(maker, KEY_PAYLOAD, (int64_t)slice->value);
		break;
	case PAYLOAD_DOUBLE:
		memcpy(&number, &slice->value, sizeof(number));
		add_double(maker, KEY_PAYLOAD, number);
		break;
	default:
		break;
	}
}

/* ---- GPU activities and collectives ---- */

/* Tools take an event with a stream for work, and waiting is none: in JSON its stream is -1. */
static void add_wait(struct arg_maker *maker, const struct slice *slice)
{
	if (maker->is_json) {
		add_int(maker, KEY_STREAM, -1);
	}
	add_int(maker, KEY_WAITED_STREAM, (int32_t)slice->place.stream);
	add_uint(maker, KEY_CORRELATION, slice->correlation);
	if (maker->is_json) {
		add_uint(maker, KEY_DEVICE, slice->place.device);
		add_uint(maker, KEY_CONTEXT, slice->place.context);
	}
}

static void add_bytes(struct arg_maker *maker, const struct slice *slice)
{
	uint64_t ns =
		slice->clock_end > slice->clock_begin ? slice->clock_end - slice->clock_begin : 0;

	add_uint(maker, KEY_BYTES, slice->value);
	if (ns) {
		add_double(maker, KEY_RATE, (double)slice->value / (double)ns);
	}
	if (slice->kind == SLICE_COPY && slice->copy_kind == API_COPY_PTOP) {
		for (unsigned int i = 0; i < 4; i++) {
			add_uint(maker, KEY_FROM_DEVICE + i, slice->peer[i]);
		}
	}
}

static void add_graph(struct arg_maker *maker, const struct slice *slice)
{
	if (slice->graph) {
		add_uint(maker, KEY_GRAPH, slice->graph);
	}
	if (slice->graph && slice->kind == SLICE_KERNEL) {
		add_uint(maker, KEY_GRAPH_NODE, slice->value);
	} else if (slice->graph && maker->is_json) {
		add_uint(maker, KEY_GRAPH_NODE, slice->graph_node);
	}
}

static void add_activity(struct arg_maker *maker, const struct slice *slice)
{
	add_uint(maker, KEY_EXTERNAL_ID, slice->external_id);
	add_uint(maker, KEY_DEVICE, slice->place.device);
	add_uint(maker, KEY_CONTEXT, slice->place.context);
	add_uint(maker, KEY_STREAM, slice->place.stream);
	add_uint(maker, KEY_CORRELATION, slice->correlation);
	if (!maker->is_json) {
		add_graph(maker, slice);
	}
	if (slice->kind == SLICE_KERNEL) {
		add_uint(maker, KEY_QUEUED, 0);
		maker->args->shared = launch_args(maker, slice->shape, slice->place.device);
		maker->args->shared_at = maker->args->nr;
	} else if (slice->kind != SLICE_GRAPH) {
		add_bytes(maker, slice);
	}
	if (maker->is_json) {
		add_graph(maker, slice);
	}
	if (slice->channel) {
		add_uint(maker, KEY_CHANNEL, slice->channel);
	}
}

static void add_collective(struct arg_maker *maker, const struct slice *slice)
{
	const struct nccl_op *op = &maker->collectives->ops[slice->value];
	uint64_t ns = slice->end_ns - slice->begin_ns;

	if (!op->is_unsized) {
		add_uint(maker, KEY_BYTES, op->bytes);
	}
	if (ns && nccl_op_is_sized(op)) {
		add_double(maker, KEY_ALGBW, rate_gb_of((double)op->bytes, ns));
	}
	if (op->sequence) {
		add_uint(maker, KEY_SEQUENCE, op->sequence);
	}
}

/* ---- slices ---- */

static void add_all(struct arg_maker *maker, const struct slice *slice)
{
	switch (slice->kind) {
	case SLICE_CALL:
		add_call(maker, slice);
		break;
	case SLICE_NCCL_CALL:
		add_nccl_call(maker, slice);
		break;
	case SLICE_OP:
		add_op(maker, slice);
		break;
	case SLICE_PYTHON:
		add_collection(maker, slice);
		break;
	case SLICE_RANGE:
	case SLICE_FREE_RANGE:
	case SLICE_MARK:
		add_payload(maker, slice);
		break;
	case SLICE_KERNEL:
	case SLICE_COPY:
	case SLICE_SET:
	case SLICE_GRAPH:
		add_activity(maker, slice);
		break;
	case SLICE_WAIT:
		add_wait(maker, slice);
		break;
	case SLICE_COLLECTIVE:
		add_collective(maker, slice);
		break;
	case SLICE_LOSS:
		add_int(maker, KEY_COUNT, slice->number);
		break;
	case SLICE_NOTICE:
		add_int(maker, KEY_CODE, slice->number);
		if (slice->text) {
			add_text(maker, KEY_PAYLOAD, slice->text);
		}
		break;
	default:
		break;
	}
}

void arg_maker_make(struct arg_maker *maker, const struct slice *slice, struct slice_args *args)
{
	args->nr = 0;
	args->shared = NULL;
	maker->args = args;
	add_all(maker, slice);
}

void arg_maker_enter(struct arg_maker *maker)
{
	idmap_init(&maker->shared, sizeof(struct shared_args));
}

void arg_maker_leave(struct arg_maker *maker)
{
	for (size_t i = 0; i < maker->shared.nr; i++) {
		buf_fini(&((struct shared_args *)idmap_at(&maker->shared, i))->packed);
	}
	idmap_fini(&maker->shared);
}
