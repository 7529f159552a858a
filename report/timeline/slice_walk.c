/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk that all timelines share: the rows of one process become slices, in the order of the
 * blocks. A sink gets what it has functions for. chrome.c writes the slices as they come; tracks.c
 * sorts them for Perfetto, the page and SVG.
 *
 *   block --timeline_load()--> batch --walk_batch()--> walk_calls(), walk_ops(), walk_gpu(), ...
 *     |                                                   |
 *     +--> sink->block(), before each block               +--> sink->slice(), for each row
 *     +--> sink->no_earlier(), behind a block             +--> sink->flow(), ->alloc(), ->sample()
 *          of activities
 *
 * Steps, windows, notices and collectives are in no blocks of slices; each has a walk of its own.
 */
#include "report/timeline/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/comm/host_collectives.h"
#include "report/comm/nccl_names.h"
#include "report/host/thread_states.h"
#include "report/model/api.h"
#include "report/model/activity.h"
#include "report/model/kernel_class.h"
#include "report/model/py_stack.h"
#include "report/model/ranges.h"
#include "report/model/select.h"
#include "report/ops/op_walk.h"
#include "report/ops/phase.h"
#include "report/timeline/slice_flows.h"
#include "report/util/hash.h"
#include "report/util/progress.h"
#include "report/util/sort.h"

/* ---- the host ---- */

static struct slice host_slice(const struct slice_walk *walk, enum slice_kind kind, uint64_t thread,
	uint64_t begin, uint64_t duration)
{
	return (struct slice){.kind = (uint8_t)kind,
		.thread = thread,
		.begin_ns = timeline_host_ns(walk->timeline, begin),
		.end_ns = timeline_host_ns(walk->timeline, begin + duration)};
}

static void emit(const struct slice_walk *walk, struct slice *slice)
{
	walk->sink->slice(walk->sink->context, slice);
}

static inline bool is_left_out(const struct slice_walk *walk, uint64_t duration, uint64_t longest)
{
	return walk->length && (duration > longest) != (walk->length == SLICES_LONG);
}

static inline bool is_host_left_out(const struct slice_walk *walk, uint64_t ticks)
{
	return is_left_out(walk, ticks, walk->lengths.ticks);
}

static inline bool is_gpu_left_out(const struct slice_walk *walk, uint64_t ns)
{
	return is_left_out(walk, ns, walk->lengths.device_ns);
}

static uint8_t call_category(uint8_t api)
{
	return api == GPROF_API_RUNTIME	 ? CATEGORY_RUNTIME
	       : api == GPROF_API_DRIVER ? CATEGORY_DRIVER
	       : api == GPROF_API_NCCL	 ? CATEGORY_NCCL
					 : CATEGORY_LIBRARY;
}

/* stacks: NULL for calls that have none. Flows begin at outermost calls alone. */
static void walk_calls(const struct slice_walk *walk, const struct batch *b, const uint64_t *stacks)
{
	bool is_nested = b->table == GPROF_TABLE_api_nested;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct slice slice;
		uint8_t api;

		if (is_host_left_out(walk, b->col[COL_api_dur][i])) {
			continue;
		}
		slice = host_slice(walk, SLICE_CALL, b->col[COL_api_thread][i],
			b->col[COL_api_begin][i], b->col[COL_api_dur][i]);
		slice.correlation = is_nested ? 0 : b->col[COL_api_correlation][i];
		if (!walk->is_times_only) {
			slice.name = process_call_name(
				walk->timeline->process, b->col[COL_api_call][i], &api);
			slice.category = call_category(api);
			slice.result = (int32_t)b->col[COL_api_result][i];
			slice.stack = stacks ? (uint32_t)stacks[i] : 0;
		}
		emit(walk, &slice);
	}
}

static void walk_nccl_calls(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct slice slice;

		/* Imported traces have operators for those without a thread. */
		if (!b->col[COL_nccl_thread][i] ||
			is_host_left_out(walk, b->col[COL_nccl_dur][i])) {
			continue;
		}
		slice = host_slice(walk, SLICE_NCCL_CALL, b->col[COL_nccl_thread][i],
			b->col[COL_nccl_begin][i], b->col[COL_nccl_dur][i]);
		if (!walk->is_times_only) {
			slice.name = nccl_names_call((uint8_t)b->col[COL_nccl_kind][i]);
			slice.category = CATEGORY_NCCL_API;
			slice.value = b->col[COL_nccl_bytes][i];
			slice.sequence = b->col[COL_nccl_sequence][i];
			slice.comm = (uint32_t)b->col[COL_nccl_comm][i];
			slice.result = (int32_t)b->col[COL_nccl_result][i];
		}
		emit(walk, &slice);
	}
}

static uint8_t op_category(uint32_t name, uint8_t framework, uint8_t scope)
{
	if (framework == GPROF_FRAMEWORK_PYTHON) {
		return CATEGORY_PYTHON;
	}
	return op_is_user(name, framework, scope) ||
			       (framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_USER)
		       ? CATEGORY_ANNOTATION
		       : CATEGORY_OPERATOR;
}

/* flows: NULL if none are wanted. */
static void walk_op(
	const struct slice_walk *walk, struct slice_flows *flows, const struct batch *b, uint32_t i)
{
	const struct process *process = walk->timeline->process;
	struct slice slice;
	uint8_t framework, scope;
	const uint32_t *inputs;
	uint64_t shape;

	if (is_host_left_out(walk, b->col[COL_op_dur][i])) {
		return;
	}
	slice = host_slice(walk, SLICE_OP, b->col[COL_op_thread][i], b->col[COL_op_begin][i],
		b->col[COL_op_dur][i]);
	framework = (uint8_t)b->col[COL_op_framework][i];
	scope = (uint8_t)b->col[COL_op_scope][i];
	slice.name = op_name(process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);
	slice.category = op_category(slice.name, framework, scope);
	if (walk->is_times_only) {
		emit(walk, &slice);
		return;
	}
	shape = b->col[COL_op_op_shape][i];
	inputs = shape && shape <= UINT32_MAX ? idmap_get(&process->op_shapes, (uint32_t)shape)
					      : NULL;
	slice.value = b->col[COL_op_sequence][i];
	slice.forward_thread = b->col[COL_op_forward_thread][i];
	slice.has_inputs = inputs != NULL;
	slice.shape = inputs ? *inputs : 0;
	slice.stack = (uint32_t)b->col[COL_op_py_stack][i];
	emit(walk, &slice);
	if (flows) {
		slice_flows_add(flows, b, i, op_class(slice.name, framework, scope),
			&(struct slice_flow_end){slice.begin_ns, slice.row});
	}
}

/* No clock of ticks counts as many in a ns. */
#define TICKS_A_NS 16u

/* Do two operators have the same time in ns? Ticks may be finer, clocks of traces coarser. */
static bool is_tie(const struct slice_walk *walk, const struct batch *b, uint32_t i, uint32_t k)
{
	const uint64_t *begin = b->col[COL_op_begin], *dur = b->col[COL_op_dur];

	if (begin[i] - begin[k] + TICKS_A_NS > 2 * TICKS_A_NS ||
		b->col[COL_op_thread][i] != b->col[COL_op_thread][k]) {
		return false;
	}
	return timeline_host_ns(walk->timeline, begin[i]) ==
		       timeline_host_ns(walk->timeline, begin[k]) &&
	       timeline_host_ns(walk->timeline, begin[i] + dur[i]) ==
		       timeline_host_ns(walk->timeline, begin[k] + dur[k]);
}

/* A stream has the inner operator first, which ends first. */
static void walk_ops(
	const struct slice_walk *walk, struct slice_flows *flows, const struct batch *b)
{
	for (uint32_t i = 0, next; i < b->nr_rows; i = next) {
		next = i + 1;
		while (walk->is_outer_first && next < b->nr_rows && is_tie(walk, b, i, next)) {
			next++;
		}
		for (uint32_t k = next; k > i; k--) {
			walk_op(walk, flows, b, k - 1);
		}
	}
}

static void walk_python(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct slice slice;

		if (is_host_left_out(walk, b->col[COL_py_call_dur][i])) {
			continue;
		}
		slice = host_slice(walk, SLICE_PYTHON, b->col[COL_py_call_thread][i],
			b->col[COL_py_call_begin][i], b->col[COL_py_call_dur][i]);
		if (!walk->is_times_only) {
			slice.name = py_code_text(
				walk->timeline->process, (uint32_t)b->col[COL_py_call_py_code][i]);
			slice.category = CATEGORY_PYTHON;
		}
		emit(walk, &slice);
	}
}

/* Among the functions of Python, which they interrupt. */
static void walk_collections(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct slice slice;

		if (is_host_left_out(walk, b->col[COL_py_gc_dur][i])) {
			continue;
		}
		slice = host_slice(walk, SLICE_PYTHON, b->col[COL_py_gc_thread][i],
			b->col[COL_py_gc_begin][i], b->col[COL_py_gc_dur][i]);
		if (!walk->is_times_only) {
			slice.name = op_collection_name((uint8_t)b->col[COL_py_gc_generation][i]);
			slice.category = CATEGORY_PYTHON;
			slice.is_collection = true;
			slice.value = b->col[COL_py_gc_collected][i];
			slice.uncollectable = b->col[COL_py_gc_uncollectable][i];
		}
		emit(walk, &slice);
	}
}

/* NVTX's types: unsigned, signed and floating numbers of 64 bits, then of 32. */
static void set_payload(struct slice *slice, const struct range *range)
{
	static const uint8_t payloads[] = {PAYLOAD_NONE, PAYLOAD_UINT, PAYLOAD_INT, PAYLOAD_DOUBLE,
		PAYLOAD_UINT, PAYLOAD_INT, PAYLOAD_DOUBLE};
	uint8_t type = range->payload_type;
	double number;
	float small;

	slice->payload = type < sizeof(payloads) ? payloads[type] : PAYLOAD_OTHER;
	slice->value = type == 5 ? (uint64_t)(int32_t)range->payload : range->payload;
	if (type == 6) {
		memcpy(&small, &range->payload, sizeof(small));
		number = (double)small;
		memcpy(&slice->value, &number, sizeof(number));
	}
}

static void walk_range(void *context, const struct range *range)
{
	const struct slice_walk *walk = context;
	struct slice slice = host_slice(walk,
		range->op == GPROF_NVTX_MARK	? SLICE_MARK
		: range->op == GPROF_NVTX_START ? SLICE_FREE_RANGE
						: SLICE_RANGE,
		range->thread, range->begin, range->end - range->begin);

	if (timeline_has(walk->timeline, slice.begin_ns, slice.end_ns)) {
		slice.name = range->name;
		slice.category = CATEGORY_ANNOTATION;
		slice.domain = range->domain;
		set_payload(&slice, range);
		emit(walk, &slice);
	}
}

static void walk_allocs(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		walk->sink->alloc(walk->sink->context,
			&(struct slice_alloc){
				.ns = timeline_host_ns(walk->timeline, b->col[COL_alloc_time][i]),
				.thread = b->col[COL_alloc_thread][i],
				.allocated_bytes = b->col[COL_alloc_allocated_bytes][i],
				.reserved_bytes = b->col[COL_alloc_reserved_bytes][i],
				.address = b->col[COL_alloc_address][i],
				.bytes = (int64_t)b->col[COL_alloc_bytes][i],
				.device = (uint32_t)b->col[COL_alloc_device][i],
				.device_type = (uint32_t)b->col[COL_alloc_device_type][i]});
	}
}

static void walk_samples(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		walk->sink->sample(walk->sink->context,
			&(struct slice_sample){
				.ns = timeline_host_ns(walk->timeline, b->col[COL_sample_time][i]),
				.value = b->col[COL_sample_value][i],
				.device = (uint32_t)b->col[COL_sample_device][i],
				.metric = (uint8_t)b->col[COL_sample_metric][i]});
	}
}

/* ---- devices ---- */

static void set_kernel(
	struct slice *slice, const struct slice_walk *walk, const struct batch *b, uint32_t i)
{
	slice->kind = SLICE_KERNEL;
	slice->name = process_shape_name(walk->timeline->process, b->col[COL_kernel_shape][i]);
	slice->category = kernel_class_of(slice->name) == KERNEL_COMMUNICATION ? CATEGORY_NCCL
									       : CATEGORY_KERNEL;
	slice->shape = (uint32_t)b->col[COL_kernel_shape][i];
	slice->value = slice->graph_node;
	slice->channel = (uint32_t)b->col[COL_kernel_channel][i];
}

static void set_copy(struct slice *slice, const struct batch *b, uint32_t i)
{
	slice->kind = SLICE_COPY;
	slice->category = CATEGORY_COPY;
	slice->name = copy_name(activity_copy(b, i));
	slice->value = b->col[COL_memcpy_bytes][i];
	slice->channel = (uint32_t)b->col[COL_memcpy_channel][i];
	slice->copy_kind = (uint8_t)b->col[COL_memcpy_copy_kind][i];
	for (unsigned int k = 0; k < 4; k++) {
		slice->peer[k] = (uint32_t)b->col[COL_memcpy_src_device + k][i];
	}
}

static void set_memset(struct slice *slice, const struct batch *b, uint32_t i)
{
	slice->kind = SLICE_SET;
	slice->category = CATEGORY_SET;
	slice->name = copy_name(activity_copy(b, i));
	slice->value = b->col[COL_memset_bytes][i];
	slice->channel = (uint32_t)b->col[COL_memset_channel][i];
}

static void set_graph(struct slice *slice)
{
	char text[64];

	slice->kind = SLICE_GRAPH;
	slice->category = CATEGORY_KERNEL;
	slice->name = string_pool_intern(
		text, (size_t)snprintf(text, sizeof(text), "CUDA graph %" PRIu32, slice->graph));
}

static void set_wait(
	struct slice *slice, const struct slice_walk *walk, const struct batch *b, uint32_t i)
{
	const char *name = api_sync_name((uint32_t)b->col[COL_sync_type][i]);

	slice->kind = SLICE_WAIT;
	slice->category = CATEGORY_SYNC;
	slice->name = string_pool_intern(name, strlen(name));
	if (slice->place.device == UINT32_MAX) {
		slice->place.device =
			process_context_device(walk->timeline->process, slice->place.context);
	}
}

/* The tables of GPU activities begin with the same columns. */
static void walk_gpu(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_kernel_begin][i];
		uint64_t end = begin + b->col[COL_kernel_dur][i];
		uint32_t place = (uint32_t)b->col[COL_kernel_place][i];
		uint64_t begin_ns;
		struct slice slice;

		if (is_gpu_left_out(walk, end - begin)) {
			continue;
		}
		begin_ns = timeline_device_ns(walk->timeline, begin);
		slice = (struct slice){.begin_ns = begin_ns,
			.end_ns = begin_ns + end - begin,
			.clock_begin = begin,
			.clock_end = end,
			.correlation = b->col[COL_kernel_correlation][i],
			.place = process_place(walk->timeline->process, place),
			.place_id = place};
		if (b->table != GPROF_TABLE_sync) {
			slice.graph = (uint32_t)b->col[COL_kernel_graph][i];
			slice.graph_node = b->col[COL_kernel_graph_node][i];
		}
		switch (b->table) {
		case GPROF_TABLE_kernel:
			set_kernel(&slice, walk, b, i);
			break;
		case GPROF_TABLE_memcpy:
			set_copy(&slice, b, i);
			break;
		case GPROF_TABLE_memset:
			set_memset(&slice, b, i);
			break;
		case GPROF_TABLE_graph:
			set_graph(&slice);
			break;
		default:
			set_wait(&slice, walk, b, i);
			break;
		}
		emit(walk, &slice);
	}
}

static void walk_overheads(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const char *name =
			api_overhead_name((uint32_t)b->col[COL_overhead_overhead_kind][i]);
		uint64_t begin = b->col[COL_overhead_begin][i];
		uint64_t begin_ns;

		if (is_gpu_left_out(walk, b->col[COL_overhead_dur][i])) {
			continue;
		}
		begin_ns = timeline_device_ns(walk->timeline, begin);
		emit(walk, &(struct slice){.kind = SLICE_OVERHEAD,
				   .category = CATEGORY_OVERHEAD,
				   .name = string_pool_intern(name, strlen(name)),
				   .thread = b->col[COL_overhead_tid][i],
				   .begin_ns = begin_ns,
				   .end_ns = begin_ns + b->col[COL_overhead_dur][i]});
	}
}

static uint32_t state_name(uint64_t state, uint64_t cpu)
{
	char text[32];
	const char *name = thread_state_name((uint8_t)state);

	if (state == GPROF_THREAD_RUNNING) {
		snprintf(text, sizeof(text), "CPU %" PRIu64, cpu);
		name = text;
	}
	return string_pool_intern(name, strlen(name));
}

/* Threads without other events have states, too. */
static void walk_states(const struct slice_walk *walk, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct slice slice;

		if (is_host_left_out(walk, b->col[COL_thread_state_dur][i])) {
			continue;
		}
		slice = host_slice(walk, SLICE_STATE, b->col[COL_thread_state_task][i],
			b->col[COL_thread_state_begin][i], b->col[COL_thread_state_dur][i]);
		slice.category = CATEGORY_STATE;
		if (!walk->is_times_only) {
			slice.name = state_name(
				b->col[COL_thread_state_state][i], b->col[COL_thread_state_cpu][i]);
		}
		emit(walk, &slice);
	}
}

/* ---- steps, windows, losses, notices ---- */

void slice_walk_steps(const struct slice_walk *walk)
{
	struct timeline *timeline = walk->timeline;
	struct process *process = timeline->process;
	bool *is_whole = phases_whole_rows(process);
	/* Others than PyTorch's profiler have ranges of other names, without a number. */
	bool are_ranges = strcmp(process_fact(process, "trace.format", ""), "kineto") == 0;

	for (size_t i = 0; i < process->nr_steps; i++) {
		const struct model_step *step = &process->steps[i];
		uint64_t begin_ns = timeline_host_ns(timeline, step->tick);
		uint64_t end_ns = i + 1 < process->nr_steps
					  ? timeline_host_ns(timeline, step[1].tick)
					  : timeline_last_ns(timeline);
		char text[64];

		end_ns = end_ns > begin_ns ? end_ns : begin_ns;
		if (model_step_is_gap(step) || !select_has_step(process, i) ||
			(walk->is_whole_only && !is_whole[i]) ||
			!timeline_has(timeline, begin_ns, end_ns)) {
			continue;
		}
		emit(walk, &(struct slice){.kind = SLICE_STEP,
				   .category = CATEGORY_STEP,
				   .is_trace_range = are_ranges && step->how == MODEL_STEP_TRACE,
				   .name = string_pool_intern(
					   text, (size_t)snprintf(text, sizeof(text),
							 "step %" PRIu64, step->step)),
				   .thread = step->thread,
				   .begin_ns = begin_ns,
				   .end_ns = end_ns,
				   .value = step->step});
	}
	free(is_whole);
}

void slice_walk_windows(const struct slice_walk *walk)
{
	struct timeline *timeline = walk->timeline;
	struct process *process = timeline->process;

	for (size_t i = 0; i < process->nr_windows; i++) {
		const struct model_window *window = &process->windows[i];
		uint64_t begin = window->tick, begin_ns, end_ns;
		uint64_t end = i + 1 < process->nr_windows ? window[1].tick : UINT64_MAX;
		char text[64];
		int nr_bytes = snprintf(text, sizeof(text),
			window->state == GPROF_WINDOW_RECORD  ? "window %u"
			: window->state == GPROF_WINDOW_READY ? "ready for window %u"
							      : "closed, after window %u",
			window->window);

		if (!select_cut_time(process, &begin, &end)) {
			continue;
		}
		begin_ns = timeline_host_ns(timeline, begin);
		end_ns = end < UINT64_MAX ? timeline_host_ns(timeline, end)
					  : timeline_last_ns(timeline);
		if (timeline_has(timeline, begin_ns, end_ns)) {
			emit(walk, &(struct slice){.kind = SLICE_WINDOW,
					   .category = CATEGORY_STEP,
					   .name = string_pool_intern(text, (size_t)nr_bytes),
					   .begin_ns = begin_ns,
					   .end_ns = end_ns});
		}
	}
}

static void emit_mark(const struct slice_walk *walk, uint64_t tick, struct slice *slice)
{
	slice->category = CATEGORY_MARK;
	slice->begin_ns = slice->end_ns = timeline_host_ns(walk->timeline, tick);
	if (timeline_has(walk->timeline, slice->begin_ns, slice->begin_ns)) {
		emit(walk, slice);
	}
}

static void walk_losses(const struct slice_walk *walk, size_t block)
{
	struct process *process = walk->timeline->process;
	struct batch b;

	if (stream_load(process->stream, block, COL_ALL(NR_COL_loss), 0, &b)) {
		return;
	}
	for (uint32_t i = 0; i < b.nr_rows; i++) {
		struct buf text = {0};

		buf_text(&text, "dropped: ");
		buf_text(&text,
			string_pool_text(process_string(process, b.col[COL_loss_cause][i]), NULL));
		emit_mark(walk, b.col[COL_loss_tick][i],
			&(struct slice){.kind = SLICE_LOSS,
				.name = string_pool_intern(text.bytes, text.nr_bytes),
				.number = (int64_t)b.col[COL_loss_count][i]});
		buf_fini(&text);
	}
}

void slice_walk_notices(const struct slice_walk *walk)
{
	const struct process *process = walk->timeline->process;

	for (size_t i = 0; i < process->nr_notices; i++) {
		const struct model_notice *notice = &process->notices[i];

		emit_mark(walk, notice->tick,
			&(struct slice){.kind = SLICE_NOTICE,
				.name = notice->cause,
				.number = notice->code,
				.text = notice->text});
	}
}

/* ---- blocks ---- */

/* Returns the columns that a walk over times alone reads, see struct slice. */
static uint32_t times_mask(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_op:
		return COLS(op, begin, dur, thread, op_name, name, framework, scope);
	case GPROF_TABLE_nccl:
		return COLS(nccl, begin, dur, thread);
	case GPROF_TABLE_py_call:
		return COLS(py_call, begin, dur, thread);
	case GPROF_TABLE_py_gc:
		return COLS(py_gc, begin, dur, thread);
	case GPROF_TABLE_thread_state:
		return COLS(thread_state, begin, dur, task);
	case GPROF_TABLE_alloc:
		return 0;
	default:
		return COLS(api, begin, dur, thread, correlation);
	}
}

static uint32_t full_mask(const struct slice_walk *walk, unsigned int table)
{
	if (gprof_table_is(table, GPROF_ON_STREAM_TRACK)) {
		return COL_ALL(schema_table(table)->nr_columns);
	}
	switch (table) {
	case GPROF_TABLE_op:
		return COL_ALL(NR_COL_op);
	case GPROF_TABLE_nccl:
		return COL_ALL(NR_COL_nccl);
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_py_call:
		return COL_ALL(NR_COL_py_call);
	case GPROF_TABLE_py_gc:
		return COL_ALL(NR_COL_py_gc);
	case GPROF_TABLE_alloc:
		return walk->sink->alloc ? COL_ALL(NR_COL_alloc) : 0;
	case GPROF_TABLE_sample:
		return walk->sink->sample ? COL_ALL(NR_COL_sample) : 0;
	case GPROF_TABLE_overhead:
		return COL_ALL(NR_COL_overhead);
	case GPROF_TABLE_thread_state:
		return COL_ALL(NR_COL_thread_state);
	case GPROF_TABLE_api_launch:
		return COL_ALL(GPROF_NR_API_COLUMNS) | COLS(api_launch, py_stack);
	default:
		return COL_ALL(GPROF_NR_API_COLUMNS);
	}
}

static void walk_batch(const struct slice_walk *walk, struct slice_flows *flows,
	struct ranges *ranges, const struct batch *batch)
{
	if (gprof_table_is(batch->table, GPROF_ON_STREAM_TRACK)) {
		walk_gpu(walk, batch);
		return;
	}
	switch (batch->table) {
	case GPROF_TABLE_op:
		walk_ops(walk, flows, batch);
		break;
	case GPROF_TABLE_nccl:
		walk_nccl_calls(walk, batch);
		break;
	case GPROF_TABLE_nvtx:
		ranges_add_batch(ranges, walk->timeline->process, batch, walk_range,
			(void *)(uintptr_t)walk);
		break;
	case GPROF_TABLE_py_call:
		walk_python(walk, batch);
		break;
	case GPROF_TABLE_py_gc:
		walk_collections(walk, batch);
		break;
	case GPROF_TABLE_alloc:
		walk_allocs(walk, batch);
		break;
	case GPROF_TABLE_sample:
		walk_samples(walk, batch);
		break;
	case GPROF_TABLE_overhead:
		walk_overheads(walk, batch);
		break;
	case GPROF_TABLE_thread_state:
		walk_states(walk, batch);
		break;
	case GPROF_TABLE_api_launch:
		walk_calls(walk, batch, batch->col[COL_api_launch_py_stack]);
		break;
	default:
		walk_calls(walk, batch, NULL);
		break;
	}
}

/* Rows count as progress once: not in a walk over times alone, nor in that of long rows. */
void slice_walk_blocks(const struct slice_walk *walk, unsigned int sources)
{
	struct timeline *timeline = walk->timeline;
	struct stream *stream = timeline->process->stream;
	bool has_flows = (sources & SLICES_HOST) && !walk->is_times_only && walk->sink->flow;
	struct slice_flows *flows = has_flows ? slice_flows_create(timeline, walk->sink) : NULL;
	struct ranges *ranges = ranges_create();
	uint64_t *later = walk->sink->no_earlier ? stream_later_begins(stream,
							   table_set_with(GPROF_ON_STREAM_TRACK))
						 : NULL;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		unsigned int source = timeline_source_of(table);
		struct batch batch;
		uint32_t mask;

		if (walk->sink->block) {
			walk->sink->block(walk->sink->context, i);
		}
		if (!(source & sources) || (walk->blocks && !walk->blocks[i])) {
			continue;
		}
		if (source == SLICES_LOSSES) {
			walk_losses(walk, i);
			continue;
		}
		mask = walk->is_times_only ? times_mask(table) : full_mask(walk, table);
		if (!mask || !timeline_load(timeline, i, mask, &batch)) {
			continue;
		}
		walk_batch(walk, flows, ranges, &batch);
		if (later && gprof_table_is(table, GPROF_ON_STREAM_TRACK)) {
			walk->sink->no_earlier(walk->sink->context, later[i]);
		}
		if (!walk->is_times_only && walk->length != SLICES_LONG) {
			progress_add(batch.nr_rows);
		}
	}
	if (flows) {
		slice_flows_destroy(flows);
	}
	ranges_destroy(ranges);
	free(later);
}

static void walk_flow_op(
	const struct slice_walk *walk, struct slice_flows *flows, const struct batch *b, uint32_t i)
{
	uint8_t framework = (uint8_t)b->col[COL_op_framework][i];
	uint8_t scope = (uint8_t)b->col[COL_op_scope][i];
	uint32_t name =
		op_name(walk->timeline->process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);
	struct slice slice = host_slice(walk, SLICE_OP, b->col[COL_op_thread][i],
		b->col[COL_op_begin][i], b->col[COL_op_dur][i]);

	emit(walk, &slice);
	slice_flows_add(flows, b, i, op_class(name, framework, scope),
		&(struct slice_flow_end){slice.begin_ns, slice.row});
}

/* For sinks that sort: the ends of flows go into the sort before their slices do. */
void slice_walk_flows(const struct slice_walk *walk)
{
	static const uint32_t mask = COLS(op, begin, dur, thread, op_name, name, framework, scope,
		sequence, forward_thread, framework_thread);
	struct timeline *timeline = walk->timeline;
	struct stream *stream = timeline->process->stream;
	struct slice_flows *flows = slice_flows_create(timeline, walk->sink);

	for (size_t i = 0; i < stream->nr_blocks && slice_flows_has_nodes(flows); i++) {
		struct batch batch;

		if (stream_block_table(stream, i) != GPROF_TABLE_op ||
			!timeline_load(timeline, i, mask, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			if (batch.col[COL_op_sequence][row]) {
				walk_flow_op(walk, flows, &batch, row);
			}
		}
	}
	slice_flows_destroy(flows);
}

/* ---- collectives ---- */

static int by_collective(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;

	return ORDER(COMPARE(x->library, y->library), COMPARE(x->key, y->key),
		COMPARE(x->sequence, y->sequence), COMPARE(x->kind, y->kind),
		COMPARE(x->process, y->process));
}

void slice_collectives_read(struct nccl_ops *ops, const struct timeline *timeline,
	struct process *const *processes, size_t nr_processes)
{
	if (!timeline_shows(timeline, TIMELINE_GPU)) {
		return;
	}
	for (size_t i = 0; i < nr_processes; i++) {
		host_collective_read(ops, processes[i]);
		nccl_ops_read(ops, processes[i]);
	}
	if (ops->nr_ops) {
		qsort(ops->ops, ops->nr_ops, sizeof(*ops->ops), by_collective);
	}
}

/* A communicator that is not known counts as one. */
void slice_walk_collectives(
	const struct slice_walk *walk, const struct nccl_ops *ops, uint32_t process)
{
	const struct timeline *timeline = walk->timeline;
	uint64_t before_ns = timeline->base_ns - (uint64_t)timeline->offset_ns;
	const struct nccl_op *last = NULL;
	uint32_t nr_comms = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];
		const char *kind = nccl_names_op(op->kind);
		struct slice slice = {.kind = SLICE_COLLECTIVE,
			.category = CATEGORY_COMM,
			.begin_ns = op->begin_ns - before_ns,
			.end_ns = op->end_ns - before_ns,
			.value = i};

		if (op->process != process || !nccl_op_has_time(op)) {
			continue;
		}
		/* Any part of the time numbers communicators alike. */
		nr_comms += !last || op->key != last->key || op->library != last->library;
		last = op;
		if (!timeline_has(timeline, slice.begin_ns, slice.end_ns)) {
			continue;
		}
		slice.comm = nr_comms;
		slice.name = string_pool_intern(kind, strlen(kind));
		emit(walk, &slice);
	}
}
