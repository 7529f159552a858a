/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two walks of a process feed the sort. The first brings what may begin long before its block; the
 * second brings the rest, and says with each block how early a slice can still begin.
 *
 *   read_ahead(): long rows, NVTX, steps, flows --+
 *                                                 +--> sort --> write_slice() --> row, lane -->
 * sink slice_walk_blocks(): short rows --------------+ on_block(): no earlier than
 * -----------------------> hands out
 */
#include "report/timeline/tracks.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/comm/job_clock.h"
#include "report/comm/nccl_names.h"
#include "report/model/process_tree.h"
#include "report/model/py_stack.h"
#include "report/timeline/slice_order.h"
#include "report/timeline/track_counters.h"
#include "report/util/external_sort.h"
#include "report/util/progress.h"
#include "report/util/text.h"
#include "report/util/rate.h"

/* The axis begins that long before time 0, since Perfetto drops events at its begin. */
#define BEFORE_NS (3600ull * 1000000000)

/* Flows of collectives have this bit and a hash of what identifies the collective. */
#define COLLECTIVE_FLOW (1ull << 62)

/* Stands for no slice: the next slice of the row that begins at that time has the flow `value`. */
#define KIND_FLOW 255u

/* A slice on its way through the sort. The meaning of the last members depends on its kind. */
struct sorted_slice {
	struct external_sort_head
		head;	/* by begin; order: UINT64_MAX - duration, so that the longest is first */
	uint64_t tie;	/* see tie_of */
	uint64_t value; /* bytes; node of a graph; payload; sequence number; index; flow */
	uint32_t row;
	uint32_t name;
	uint64_t correlation;
	uint32_t shape; /* or inputs; result of a call; type of a payload */
	uint32_t place; /* id of the place; or Python stack; or communicator */
	uint8_t kind, category;
	uint32_t graph; /* or sequence number of an NCCL call */
};

struct tracks {
	struct timeline timeline;
	const struct track_sink *sink;
	struct nccl_ops collectives; /* of all processes */
	struct track_rows rows;
	/* of the current process */
	struct track_counters counters;
	struct external_sort *slices;
	struct slice_order order;
	struct idmap shapes;	    /* struct shared_args */
	struct sorted_slice *flows; /* ends of flows at flows_ns */
	size_t nr_flows, flow_capacity;
	uint64_t flows_ns;
};

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
};

const char *const key_words[NR_KEYS] = {
	[KEY_CORRELATION] = "correlation",
	[KEY_RESULT] = "result",
	[KEY_STACK] = "Python stack",
	[KEY_SEQUENCE] = "sequence number",
	[KEY_INPUTS] = "inputs",
	[KEY_PAYLOAD] = "payload",
	[KEY_DEVICE] = "device",
	[KEY_CONTEXT] = "context",
	[KEY_STREAM] = "stream",
	[KEY_GRAPH] = "graph id",
	[KEY_GRAPH_NODE] = "graph node id",
	[KEY_BYTES] = "bytes",
	[KEY_RATE] = "GB/s",
	[KEY_GRID] = "grid",
	[KEY_BLOCK] = "block",
	[KEY_CLUSTER] = "cluster",
	[KEY_REGISTERS] = "registers per thread",
	[KEY_STATIC_SHARED] = "static shared memory (bytes)",
	[KEY_DYNAMIC_SHARED] = "dynamic shared memory (bytes)",
	[KEY_BLOCKS_PER_SM] = "blocks per SM",
	[KEY_WARPS_PER_SM] = "warps per SM",
	[KEY_OCCUPANCY] = "est. achieved occupancy (%)",
	[KEY_LIMITER] = "occupancy limited by",
	[KEY_COUNT] = "events",
	[KEY_CODE] = "code",
	[KEY_ALGBW] = "algorithm bandwidth incl. wait (GB/s)",
	[KEY_COMM] = "communicator",
	[KEY_OPERATORS] = "ATen operators",
	[KEY_NODES] = "source nodes",
};

/* ---- arguments ---- */

static struct arg *new_arg(struct track_slice *event, enum arg_key key, enum arg_type type)
{
	static struct arg none;
	struct arg *arg = &none;

	if (event->nr_args < TRACK_SLICE_ARGS) {
		arg = &event->args[event->nr_args++];
	}
	arg->key = (uint8_t)key;
	arg->type = (uint8_t)type;
	return arg;
}

static void add_uint(struct track_slice *event, enum arg_key key, uint64_t number)
{
	new_arg(event, key, ARG_UINT)->number = number;
}

static void add_int(struct track_slice *event, enum arg_key key, int64_t integer)
{
	new_arg(event, key, ARG_INT)->integer = integer;
}

static void add_double(struct track_slice *event, enum arg_key key, double real)
{
	new_arg(event, key, ARG_DOUBLE)->real = real;
}

static void add_text(struct track_slice *event, enum arg_key key, uint32_t text)
{
	new_arg(event, key, ARG_TEXT)->text = text;
}

static void add_flow(struct track_slice *event, uint64_t flow)
{
	if (flow && event->nr_flows < TRACK_SLICE_FLOWS) {
		event->flows[event->nr_flows++] = flow;
	}
}

static uint32_t three(const uint32_t numbers[3])
{
	char text[48];

	return string_pool_intern(text, (size_t)snprintf(text, sizeof(text), "%u x %u x %u",
						numbers[0], numbers[1], numbers[2]));
}

static void add_occupancy(struct track_slice *args, const struct occupancy *occupancy)
{
	add_double(args, KEY_BLOCKS_PER_SM, occupancy->blocks_per_multiprocessor);
	add_double(args, KEY_WARPS_PER_SM, occupancy->warps_per_multiprocessor);
	if (occupancy->has_estimate) {
		add_uint(args, KEY_OCCUPANCY, occupancy->percent);
		add_text(args, KEY_LIMITER, occupancy_limit_name(occupancy->limits));
	}
}

static void add_compiled_work(struct track_slice *args, const struct compiled_work *work)
{
	if (work && work->operators) {
		add_text(args, KEY_OPERATORS, work->operators);
	}
	if (work && work->nodes) {
		add_text(args, KEY_NODES, work->nodes);
	}
}

static void make_shape_args(struct tracks *tracks, const struct model_shape *shape, uint32_t device,
	struct shared_args *shared)
{
	struct track_slice args = {0};
	struct occupancy occupancy;

	add_text(&args, KEY_GRID, three(shape->grid));
	add_text(&args, KEY_BLOCK, three(shape->block));
	if (shape->cluster[0]) {
		add_text(&args, KEY_CLUSTER, three(shape->cluster));
	}
	add_uint(&args, KEY_REGISTERS, shape->registers);
	add_uint(&args, KEY_STATIC_SHARED, shape->static_shared_bytes);
	add_uint(&args, KEY_DYNAMIC_SHARED, shape->dynamic_shared_bytes);
	if (timeline_occupancy(&tracks->timeline, shape, device, &occupancy)) {
		add_occupancy(&args, &occupancy);
	}
	add_compiled_work(&args, timeline_compiled_work(&tracks->timeline, shape));
	shared->nr = args.nr_args;
	memcpy(shared->args, args.args, sizeof(shared->args));
}

/* Arguments that depend on the shape of the launch alone, made once. */
static const struct shared_args *shape_args(struct tracks *tracks, uint32_t id, uint32_t device)
{
	const struct model_shape *shape = idmap_get(&tracks->timeline.process->shapes, id);
	struct shared_args *shared;

	if (!shape) {
		return NULL;
	}
	shared = idmap_put(&tracks->shapes, id);
	if (shared->nr) {
		return shared;
	}
	make_shape_args(tracks, shape, device, shared);
	if (tracks->sink->share) {
		tracks->sink->share(tracks->sink->context, shared);
	}
	return shared;
}

static void add_payload(struct track_slice *event, const struct sorted_slice *slice)
{
	double number;

	switch (slice->shape) {
	case PAYLOAD_UINT:
		add_uint(event, KEY_PAYLOAD, slice->value);
		break;
	case PAYLOAD_INT:
		add_int(event, KEY_PAYLOAD, (int64_t)slice->value);
		break;
	case PAYLOAD_DOUBLE:
		memcpy(&number, &slice->value, sizeof(number));
		add_double(event, KEY_PAYLOAD, number);
		break;
	default:
		break;
	}
}

static void add_stack(struct tracks *tracks, struct track_slice *event, uint32_t stack)
{
	if (stack) {
		add_text(event, KEY_STACK, py_stack_text(tracks->timeline.process, stack));
	}
}

static void add_call(
	struct tracks *tracks, struct track_slice *event, const struct sorted_slice *slice)
{
	if (slice->correlation) {
		add_uint(event, KEY_CORRELATION, slice->correlation);
	}
	if (slice->shape) {
		add_int(event, KEY_RESULT, (int32_t)slice->shape);
	}
	add_stack(tracks, event, slice->place);
	if (timeline_has_flow(&tracks->timeline, slice->correlation)) {
		add_flow(event, timeline_flow(&tracks->timeline, slice->correlation));
	}
}

static void add_op(
	struct tracks *tracks, struct track_slice *event, const struct sorted_slice *slice)
{
	if (slice->value) {
		add_uint(event, KEY_SEQUENCE, slice->value - 1);
	}
	if (slice->shape) {
		add_text(event, KEY_INPUTS, slice->shape);
	}
	add_stack(tracks, event, slice->place);
	/* If an operator and its first child begin in the same ns, the longer one is first. */
	for (size_t i = 0; i < tracks->nr_flows; i++) {
		if (tracks->flows[i].row == slice->row && tracks->flows[i].value) {
			add_flow(event, tracks->flows[i].value);
			if (event->nr_flows < TRACK_SLICE_FLOWS) {
				tracks->flows[i].value = 0;
			}
		}
	}
}

static void add_bytes(struct track_slice *event, const struct sorted_slice *slice)
{
	add_uint(event, KEY_BYTES, slice->value);
	if (event->dur_ns) {
		add_double(event, KEY_RATE, (double)slice->value / (double)event->dur_ns);
	}
}

static void add_activity(
	struct tracks *tracks, struct track_slice *event, const struct sorted_slice *slice)
{
	struct model_place place = process_place(tracks->timeline.process, slice->place);

	add_uint(event, KEY_DEVICE, place.device);
	add_uint(event, KEY_CONTEXT, place.context);
	add_uint(event, KEY_STREAM, place.stream);
	add_uint(event, KEY_CORRELATION, slice->correlation);
	if (slice->graph) {
		add_uint(event, KEY_GRAPH, slice->graph);
	}
	if (slice->kind == SLICE_KERNEL) {
		event->shared = shape_args(tracks, slice->shape, place.device);
		if (slice->graph) {
			add_uint(event, KEY_GRAPH_NODE, slice->value);
		}
	} else if (slice->kind != SLICE_GRAPH) {
		add_bytes(event, slice);
	}
	if (timeline_has_flow(&tracks->timeline, slice->correlation)) {
		add_flow(event, timeline_flow(&tracks->timeline, slice->correlation));
	}
}

/* Sends and receives are numbered by peer; a group of several kinds is no collective. */
static bool is_collective(const struct nccl_op *op)
{
	return op->key && op->sequence && op->kind != GPROF_NCCL_SEND &&
	       op->kind != GPROF_NCCL_RECV && op->kind < NCCL_OPS_SEND_RECV;
}

/* Does the file have the same collective of another rank? Those are neighbours in the list. */
static bool has_other(const struct nccl_ops *ops, size_t i)
{
	const struct nccl_op *op = &ops->ops[i];

	for (int step = -1; step < 2; step += 2) {
		size_t k = i + (size_t)step;

		if (k < ops->nr_ops && ops->ops[k].key == op->key &&
			ops->ops[k].sequence == op->sequence && ops->ops[k].kind == op->kind &&
			ops->ops[k].process != op->process && nccl_op_has_time(&ops->ops[k])) {
			return true;
		}
	}
	return false;
}

static void add_collective(
	struct tracks *tracks, struct track_slice *event, const struct sorted_slice *slice)
{
	const struct nccl_ops *ops = &tracks->collectives;
	const struct nccl_op *op = &ops->ops[slice->value];

	if (!op->is_unsized) {
		add_uint(event, KEY_BYTES, op->bytes);
	}
	if (event->dur_ns && nccl_op_is_sized(op)) {
		add_double(event, KEY_ALGBW, rate_gb_of((double)op->bytes, event->dur_ns));
	}
	if (op->sequence) {
		add_uint(event, KEY_SEQUENCE, op->sequence);
	}
	if (is_collective(op) && has_other(ops, slice->value)) {
		add_flow(event, COLLECTIVE_FLOW | (((op->key ^ op->kind) * 0x9e3779b97f4a7c15u ^
							   op->sequence) &
							  (COLLECTIVE_FLOW - 1)));
	}
}

static void add_nccl_call(
	struct tracks *tracks, struct track_slice *event, const struct sorted_slice *slice)
{
	if (slice->value) {
		add_uint(event, KEY_BYTES, slice->value);
	}
	if (slice->graph) {
		add_uint(event, KEY_SEQUENCE, slice->graph);
	}
	if (slice->place) {
		add_text(event, KEY_COMM, nccl_names_comm(tracks->timeline.process, slice->place));
	}
	if (slice->shape) {
		add_int(event, KEY_RESULT, (int32_t)slice->shape);
	}
}

/* ---- sorted slices to the sink ---- */

static void keep_flow(struct tracks *tracks, const struct sorted_slice *flow)
{
	tracks->flows = array_grow(
		tracks->flows, tracks->nr_flows, &tracks->flow_capacity, sizeof(*tracks->flows));
	tracks->flows[tracks->nr_flows++] = *flow;
}

static void add_details(
	struct tracks *tracks, struct track_slice *event, const struct sorted_slice *slice)
{
	switch (slice->kind) {
	case SLICE_CALL:
		add_call(tracks, event, slice);
		break;
	case SLICE_OP:
		add_op(tracks, event, slice);
		break;
	case SLICE_RANGE:
	case SLICE_FREE_RANGE:
		add_payload(event, slice);
		break;
	case SLICE_WAIT:
		add_uint(event, KEY_CORRELATION, slice->correlation);
		break;
	case SLICE_COLLECTIVE:
		add_collective(tracks, event, slice);
		break;
	case SLICE_NCCL_CALL:
		add_nccl_call(tracks, event, slice);
		break;
	case SLICE_KERNEL:
	case SLICE_COPY:
	case SLICE_SET:
	case SLICE_GRAPH:
		add_activity(tracks, event, slice);
		break;
	default:
		break;
	}
}

/* Not an operator that flows wait for: it has to take them, or the next one would. */
static bool is_taken_bare(const struct tracks *tracks, const struct track_slice *event,
	const struct sorted_slice *slice)
{
	const struct track_sink *sink = tracks->sink;
	bool may_have_flow = slice->kind == SLICE_OP && tracks->nr_flows;

	return sink->take_bare && !may_have_flow && sink->take_bare(sink->context, event);
}

static void write_slice(void *context, const void *record)
{
	struct tracks *tracks = context;
	const struct sorted_slice *slice = record;
	struct track_slice event;

	if (tracks->flows_ns != slice->head.key) {
		tracks->flows_ns = slice->head.key;
		tracks->nr_flows = 0;
	}
	if (slice->kind == KIND_FLOW) {
		keep_flow(tracks, slice);
		return;
	}
	/* Field by field: to clear all arguments takes longer than all else here. */
	event.ns = slice->head.key;
	event.dur_ns = UINT64_MAX - slice->head.order;
	event.name = slice->name;
	event.category = slice->category;
	event.nr_args = 0;
	event.nr_flows = 0;
	event.shared = NULL;
	track_rows_place(&tracks->rows, slice->row, &event);
	if (!is_taken_bare(tracks, &event, slice)) {
		add_details(tracks, &event, slice);
		tracks->sink->slice(tracks->sink->context, &event, false);
	}
}

/* ---- slices of the walk into the sort ---- */

static size_t comm_row(struct tracks *tracks, const struct slice *slice)
{
	const struct nccl_op *op = &tracks->collectives.ops[slice->value];
	struct buf text = {0};
	size_t nr_bytes, row;
	const char *name = string_pool_text(op->name, &nr_bytes);

	buf_text(&text, op->library ? "process groups of " : "NCCL communicator ");
	text_add_shown(&text, name, nr_bytes, 0);
	buf_char(&text, '\0');
	row = track_rows_other(&tracks->rows, TRACK_ROW_COMM, slice->comm, text.bytes);
	buf_fini(&text);
	return row;
}

static size_t row_of(struct tracks *tracks, const struct slice *slice)
{
	struct track_rows *rows = &tracks->rows;

	switch (slice->kind) {
	case SLICE_PYTHON:
		return track_rows_python(rows, slice->thread);
	case SLICE_RANGE:
	case SLICE_FREE_RANGE:
	case SLICE_MARK:
		return track_rows_nvtx(rows, slice->thread, slice->domain);
	case SLICE_KERNEL:
	case SLICE_COPY:
	case SLICE_SET:
	case SLICE_GRAPH:
		return track_rows_stream(rows, &slice->place, false);
	case SLICE_WAIT:
		return track_rows_stream(rows, &slice->place, true);
	case SLICE_OVERHEAD:
		return track_rows_other(rows, TRACK_ROW_OVERHEAD, 0, "CUPTI overhead");
	case SLICE_STEP:
		return track_rows_other(rows, TRACK_ROW_STEPS, 0, "steps");
	case SLICE_WINDOW:
		return track_rows_other(rows, TRACK_ROW_WINDOWS, 0, "record windows");
	case SLICE_LOSS:
	case SLICE_NOTICE:
		return track_rows_other(rows, TRACK_ROW_MARKS, 0, "dropped events and notices");
	case SLICE_COLLECTIVE:
		return comm_row(tracks, slice);
	default:
		return track_rows_thread(rows, slice->thread);
	}
}

/* Instants need no order. */
static void write_instant(struct tracks *tracks, const struct slice *slice)
{
	struct track_slice event = {.ns = slice->begin_ns,
		.name = slice->name,
		.category = slice->category,
		.track = track_rows_track(&tracks->rows, slice->row)};

	if (slice->kind != SLICE_MARK) {
		add_int(&event, slice->kind == SLICE_LOSS ? KEY_COUNT : KEY_CODE, slice->number);
	}
	if (slice->text) {
		add_text(&event, KEY_PAYLOAD, slice->text);
	}
	tracks->sink->slice(tracks->sink->context, &event, true);
}

/*
 * Among slices with the same time the outer one comes first. Operators contain calls, and calls of
 * NCCL contain those of CUDA. Of one kind, a stream has the inner slice first, which ends first.
 */
static uint64_t tie_of(const struct slice *slice, uint64_t nr)
{
	uint64_t depth = slice->kind == SLICE_CALL ? 3 : slice->kind == SLICE_NCCL_CALL ? 2 : 1;

	return slice->kind <= SLICE_FREE_RANGE ? (depth << 60) - nr : nr;
}

/* The last members depend on the kind of slice, see struct sorted_slice. */
static void on_slice(void *context, struct slice *slice)
{
	struct tracks *tracks = context;
	struct sorted_slice *sorted;

	slice->row = (uint32_t)row_of(tracks, slice);
	if (slice->kind == SLICE_MARK || slice->kind == SLICE_LOSS || slice->kind == SLICE_NOTICE) {
		write_instant(tracks, slice);
		return;
	}
	sorted = external_sort_add(tracks->slices);
	sorted->head.key = slice->begin_ns;
	sorted->head.order =
		UINT64_MAX -
		(slice->end_ns > slice->begin_ns ? slice->end_ns - slice->begin_ns : 0);
	sorted->tie = tie_of(slice, external_sort_nr_added(tracks->slices));
	sorted->kind = slice->kind;
	sorted->category = slice->category;
	sorted->row = slice->row;
	sorted->name = slice->name;
	sorted->value = slice->kind == SLICE_KERNEL || slice->kind == SLICE_GRAPH
				? slice->graph_node
				: slice->value;
	sorted->correlation = slice->correlation;
	sorted->graph = slice->graph;
	sorted->shape = slice->shape;
	sorted->place = slice->place_id;
	switch (slice->kind) {
	case SLICE_CALL:
		sorted->shape = (uint32_t)slice->result;
		sorted->place = slice->stack;
		break;
	case SLICE_OP:
		sorted->place = slice->stack;
		break;
	case SLICE_RANGE:
	case SLICE_FREE_RANGE:
		sorted->shape = slice->payload;
		break;
	case SLICE_NCCL_CALL:
		sorted->shape = (uint32_t)slice->result;
		sorted->place = slice->comm;
		sorted->graph = (uint32_t)slice->sequence;
		break;
	default:
		break;
	}
}

static void on_flow(void *context, uint64_t nr, const struct slice_flow_end *from,
	const struct slice_flow_end *to)
{
	const struct slice_flow_end *ends[] = {from, to};
	struct tracks *tracks = context;

	for (int i = 0; i < 2; i++) {
		struct sorted_slice *flow = external_sort_add(tracks->slices);

		flow->head.key = ends[i]->ns;
		flow->head.order = 0; /* before the slice */
		flow->kind = KIND_FLOW;
		flow->row = ends[i]->row;
		flow->value = AUTOGRAD_FLOW | (tracks->timeline.first_id + nr);
	}
}

/* Finds the row of an operator that a flow may end at: that of its thread. */
static void on_flow_op(void *context, struct slice *slice)
{
	slice->row = (uint32_t)row_of(context, slice);
}

static void on_block(void *context, size_t block)
{
	struct tracks *tracks = context;

	external_sort_no_earlier(tracks->slices, tracks->order.begins_ns[block]);
}

static void on_alloc(void *context, const struct slice_alloc *alloc)
{
	struct tracks *tracks = context;

	track_counters_alloc(&tracks->counters, alloc);
}

static void on_sample(void *context, const struct slice_sample *sample)
{
	struct tracks *tracks = context;

	track_counters_sample(&tracks->counters, sample);
}

/* Reads what may begin long before its block, or is in no block. */
static void read_ahead(struct tracks *tracks, uint32_t k)
{
	const struct slice_sink sink = {.slice = on_slice, .context = tracks};
	const struct slice_sink flow_sink = {
		.slice = on_flow_op, .flow = on_flow, .context = tracks};
	struct timeline *timeline = &tracks->timeline;
	struct slice_walk walk = {.timeline = timeline,
		.sink = &sink,
		.length = SLICES_LONG,
		.lengths = tracks->order.lengths,
		.blocks = tracks->order.has_long};

	slice_walk_blocks(&walk, SLICES_HOST | SLICES_GPU);
	walk.length = SLICES_ALL;
	walk.blocks = NULL;
	slice_walk_blocks(&walk, SLICES_NVTX | (timeline_shows(timeline, TIMELINE_MARKS)
							       ? (unsigned int)SLICES_LOSSES
							       : 0));
	if (timeline_shows(timeline, TIMELINE_STEPS)) {
		slice_walk_steps(&walk);
		slice_walk_windows(&walk);
	}
	if (timeline_shows(timeline, TIMELINE_MARKS)) {
		slice_walk_notices(&walk);
	}
	slice_walk_collectives(&walk, &tracks->collectives, k);
	walk.sink = &flow_sink;
	slice_walk_flows(&walk);
}

static void read_process(struct tracks *tracks, uint32_t k)
{
	const struct slice_sink sink = {.slice = on_slice,
		.alloc = on_alloc,
		.sample = on_sample,
		.block = on_block,
		.context = tracks};
	struct slice_walk walk = {
		.timeline = &tracks->timeline, .sink = &sink, .length = SLICES_SHORT};

	slice_order_find(&tracks->order, &tracks->timeline);
	walk.lengths = tracks->order.lengths;
	read_ahead(tracks, k);
	slice_walk_blocks(&walk, SLICES_HOST | SLICES_GPU | SLICES_SAMPLES);
	external_sort_finish(tracks->slices);
	track_counters_walk(&tracks->counters);
	track_rows_close(&tracks->rows);
	slice_order_fini(&tracks->order);
}

/* ---- processes ---- */

static void add_process_track(
	struct tracks *tracks, struct process *const *processes, size_t nr_processes, size_t k)
{
	const struct process *process = processes[k];
	struct process_tree_member member = process_tree_find_one(processes, nr_processes, k);
	const char *host = process_fact(process, "host.name", "");
	struct buf called = {0}, name = {0}, label = {0}, begin = {0};

	process_tree_add_name(&called, process);
	text_add_shown(&name, called.bytes, called.nr_bytes, 0);
	if (process->rank >= 0) {
		buf_printf(&label, "rank %d", (int)process->rank);
	}
	if (*host) {
		buf_printf(&label, "%s%s", label.nr_bytes ? ", " : "", host);
	}
	if (process_tree_add_begin(&begin, processes, k, &member)) {
		buf_text(&label, label.nr_bytes ? ", " : "");
		buf_add(&label, begin.bytes, begin.nr_bytes);
	}
	job_clock_print_one(process, label.nr_bytes ? ", " : "", &label);
	buf_char(&name, '\0');
	buf_char(&label, '\0');
	tracks->rows.process_track = tracks->rows.next_track++;
	tracks->sink->track(tracks->sink->context, &(struct track){.id = tracks->rows.process_track,
							   .name = name.bytes,
							   .label = label.bytes,
							   .rank = (int32_t)k,
							   .kind = TRACK_PROCESS,
							   .pid = tracks->timeline.pid});
	buf_fini(&called);
	buf_fini(&name);
	buf_fini(&label);
	buf_fini(&begin);
}

static void walk_process(
	struct tracks *tracks, struct process *const *processes, size_t nr_processes, size_t k)
{
	timeline_enter(&tracks->timeline, processes, nr_processes, k);
	if (tracks->sink->has_launch_flows) {
		timeline_read_launches(&tracks->timeline);
	}
	tracks->slices = external_sort_create(sizeof(struct sorted_slice), 0, 0);
	external_sort_break_ties(tracks->slices);
	external_sort_hand_out(tracks->slices, write_slice, tracks);
	track_counters_init(&tracks->counters, &tracks->rows);
	tracks->nr_flows = 0;
	idmap_init(&tracks->shapes, sizeof(struct shared_args));
	add_process_track(tracks, processes, nr_processes, k);
	read_process(tracks, (uint32_t)k);
	for (size_t i = 0; i < tracks->shapes.nr; i++) {
		buf_fini(&((struct shared_args *)idmap_at(&tracks->shapes, i))->packed);
	}
	idmap_fini(&tracks->shapes);
	track_counters_fini(&tracks->counters);
	external_sort_destroy(tracks->slices);
	track_rows_clear(&tracks->rows);
	timeline_leave(&tracks->timeline);
}

void tracks_collectives_read(
	struct nccl_ops *ops, struct process *const *processes, size_t nr_processes)
{
	const struct timeline timeline = {0};

	slice_collectives_read(ops, &timeline, processes, nr_processes);
}

void tracks_walk_process(struct process *const *processes, size_t nr_processes, size_t k,
	const struct nccl_ops *collectives, const struct timeline_filter *filter,
	const struct track_sink *sink)
{
	struct tracks tracks = {.timeline = {.filter = filter},
		.sink = sink,
		.collectives = *collectives,
		.rows = {.sink = sink, .timeline = &tracks.timeline, .next_track = 1}};
	struct timeline *timeline = &tracks.timeline;

	timeline_find_base(timeline, processes, nr_processes, BEFORE_NS);
	sink->begin(
		sink->context, timeline->base_ns, timeline->all_first_ns, timeline->all_last_ns);
	walk_process(&tracks, processes, nr_processes, k);
	free(tracks.flows);
}

void tracks_walk(struct process *const *processes, size_t nr_processes,
	const struct timeline_filter *filter, const struct track_sink *sink)
{
	struct tracks tracks = {.timeline = {.filter = filter},
		.sink = sink,
		.rows = {.sink = sink, .timeline = &tracks.timeline, .next_track = 1}};
	struct timeline *timeline = &tracks.timeline;

	timeline_find_base(timeline, processes, nr_processes, BEFORE_NS);
	sink->begin(
		sink->context, timeline->base_ns, timeline->all_first_ns, timeline->all_last_ns);
	progress_start("writing the timeline", timeline->nr_all);
	slice_collectives_read(&tracks.collectives, timeline, processes, nr_processes);
	for (size_t i = 0; i < nr_processes; i++) {
		walk_process(&tracks, processes, nr_processes, i);
	}
	progress_stop();
	free(tracks.flows);
	nccl_ops_fini(&tracks.collectives);
}
