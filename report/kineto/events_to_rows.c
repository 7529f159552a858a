/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/events_to_rows.h"

#include <stdlib.h>

#include "report/kineto/gpu.h"
#include "report/ops/op.h"

#define STEP_PREFIX "ProfilerStep#"
#define IS_ASYNC    0x80u /* beside the table of a call */

void kineto_convert_init(struct kineto_convert *take, struct kineto_out *out)
{
	*take = (struct kineto_convert){.out = out, .first_ns = UINT64_MAX};
	kineto_shapes_init(&take->shapes);
	kineto_pairs_init(&take->pairs);
}

void kineto_convert_fini(struct kineto_convert *take)
{
	kineto_json_fini(&take->json);
	kineto_threads_fini(&take->threads);
	kineto_rows_fini(&take->rows);
	kineto_shapes_fini(&take->shapes);
	kineto_python_fini(&take->python);
	kineto_pairs_fini(&take->pairs);
	kineto_nccl_fini(&take->nccl);
	free(take->steps);
	free(take->call_tables);
}

/* ---- what all have ---- */

uint32_t kineto_convert_string(struct kineto_convert *take, int token)
{
	size_t nr_bytes;
	const char *text = token ? kineto_json_text(&take->json, token, &nr_bytes) : "";

	return kineto_out_string(take->out, text, token ? nr_bytes : 0);
}

/* A row from the event's begin to its end, which it has. */
struct kineto_row *kineto_convert_row(
	struct kineto_convert *take, const struct kineto_event *event, uint8_t table)
{
	struct kineto_row *row = kineto_rows_add(&take->rows);

	row->table = table;
	row->order = take->pair_order ? take->pair_order : row->order;
	row->begin = event->begin;
	row->end = event->begin + event->dur;
	take->first_ns = row->begin < take->first_ns ? row->begin : take->first_ns;
	take->last_ns = row->end > take->last_ns ? row->end : take->last_ns;
	return row;
}

/* ---- the host's ---- */

static void take_step(
	struct kineto_convert *take, const struct kineto_event *event, uint32_t thread)
{
	const size_t nr_prefix = sizeof(STEP_PREFIX) - 1;
	const jsmntok_t *name = &take->json.tokens[event->name];
	const char *digit = take->json.bytes + name->start + nr_prefix;
	uint64_t number = 0;

	if (kineto_json_length(&take->json, event->name) <= nr_prefix ||
		memcmp(take->json.bytes + name->start, STEP_PREFIX, nr_prefix)) {
		return;
	}
	for (; digit < take->json.bytes + name->end; digit++) {
		if (*digit < '0' || *digit > '9' || number > UINT64_MAX / 10 - 1) {
			return;
		}
		number = number * 10 + (uint64_t)(*digit - '0');
	}
	take->steps =
		array_grow(take->steps, take->nr_steps, &take->step_capacity, sizeof(*take->steps));
	take->steps[take->nr_steps] = (struct kineto_step){.begin = event->begin,
		.end = event->begin + event->dur,
		.number = number,
		.thread = thread,
		.order = take->nr_steps};
	take->nr_steps++;
}

/*
 * Names like "Optimizer.step#" tell their class whatever the scope is. The engine's own ranges are
 * there since PyTorch 1.10; autograd's nodes alone have a forward thread.
 */
static uint8_t scope_of(struct kineto_convert *take, const struct kineto_event *event)
{
	const char *text;
	size_t nr_bytes;
	uint32_t name;

	if (event->category != KINETO_RANGE) {
		return event->numbers[KINETO_forward_thread] ? OP_TORCH_BACKWARD : 0;
	}
	text = kineto_json_text(&take->json, event->name, &nr_bytes);
	name = string_pool_intern(text, nr_bytes);
	return op_class(name, GPROF_FRAMEWORK_TORCH, 0) == OP_OTHER ? OP_TORCH_USER
								    : OP_TORCH_ANNOTATION;
}

static void take_op(struct kineto_convert *take, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&take->threads, &take->json, event);
	uint32_t name = kineto_convert_string(take, event->name), shape = 0, py_stack = 0;
	struct kineto_row *row;

	if (event->dims) {
		shape = kineto_shapes_id(
			&take->shapes, &take->json, event->dims, event->types, take->out);
	}
	if (event->stack) {
		size_t nr_bytes;
		const char *text = kineto_json_text(&take->json, event->stack, &nr_bytes);

		py_stack = kineto_python_text(&take->python, take->out, text, nr_bytes);
	}
	row = kineto_convert_row(take, event, GPROF_TABLE_op);
	row->thread = thread;
	row->op.name = name;
	row->op.shape = shape;
	if (kineto_has(event, KINETO_sequence)) {
		row->op.sequence = event->numbers[KINETO_sequence] + 1;
	}
	row->op.py_stack = py_stack;
	row->op.forward_thread = kineto_narrow(event, KINETO_forward_thread);
	row->source = GPROF_FRAMEWORK_TORCH;
	row->kind = scope_of(take, event);
	take_step(take, event, thread);
}

/* Modules are operators that nest apart, other functions calls of Python. */
static void take_python(struct kineto_convert *take, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&take->threads, &take->json, event);
	size_t nr_bytes;
	const char *name = kineto_json_text(&take->json, event->name, &nr_bytes);
	struct kineto_row *row;
	uint32_t id;

	if (nr_bytes > 11 && !memcmp(name, "nn.Module: ", 11)) {
		id = kineto_out_string(take->out, name, nr_bytes);
		row = kineto_convert_row(take, event, GPROF_TABLE_op);
		row->op.name = id;
		row->source = GPROF_FRAMEWORK_PYTHON;
		row->kind = GPROF_PYTHON_MODULE;
	} else {
		bool is_builtin = nr_bytes && *name == '<';

		id = kineto_python_code(&take->python, take->out, name, nr_bytes);
		row = kineto_convert_row(take, event, GPROF_TABLE_py_call);
		row->py_call.code = id;
		row->py_call.is_builtin = is_builtin;
	}
	row->thread = thread;
}

static bool contains(const char *text, size_t nr_bytes, const char *part)
{
	return memmem(text, nr_bytes, part, strlen(part)) != NULL;
}

/*
 * The table of a call by its name. What allocates is in the plain one: a trace does not tell how
 * much, nor where.
 */
static uint8_t table_of_call(const char *name, size_t nr_bytes)
{
	if (contains(name, nr_bytes, "Launch")) {
		return GPROF_TABLE_api_launch;
	}
	if (contains(name, nr_bytes, "Memcpy")) {
		return GPROF_TABLE_api_copy;
	}
	if (contains(name, nr_bytes, "Memset")) {
		return GPROF_TABLE_api_set;
	}
	if (contains(name, nr_bytes, "Synchronize") || contains(name, nr_bytes, "WaitEvent") ||
		contains(name, nr_bytes, "EventQuery") || contains(name, nr_bytes, "StreamQuery")) {
		return GPROF_TABLE_api_sync;
	}
	return GPROF_TABLE_api;
}

static uint8_t call_table(struct kineto_convert *take, uint32_t name, int token)
{
	if (name >= take->nr_call_tables) {
		size_t nr = 2 * (size_t)name + 64;

		take->call_tables = mem_resize(take->call_tables, nr, 1);
		memset(take->call_tables + take->nr_call_tables, 0, nr - take->nr_call_tables);
		take->nr_call_tables = nr;
	}
	if (!take->call_tables[name]) {
		const char *text = take->json.bytes + take->json.tokens[token].start;
		size_t nr_bytes = kineto_json_length(&take->json, token);

		take->call_tables[name] = table_of_call(text, nr_bytes);
		if (contains(text, nr_bytes, "Async")) {
			take->call_tables[name] |= IS_ASYNC;
		}
	}
	return take->call_tables[name];
}

static void take_call(struct kineto_convert *take, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&take->threads, &take->json, event);
	uint32_t name = kineto_convert_string(take, event->name);
	uint32_t call = kineto_out_call(take->out, name,
		event->category == KINETO_DRIVER ? GPROF_API_DRIVER : GPROF_API_RUNTIME);
	uint8_t table = call_table(take, name, event->name);
	struct kineto_row *row = kineto_convert_row(take, event, table & (uint8_t)~IS_ASYNC);

	row->thread = thread;
	row->call.is_async = (table & IS_ASYNC) != 0;
	row->call.call = (uint16_t)call;
	row->call.correlation = kineto_narrow(event, KINETO_correlation);
}

static void take_memory(struct kineto_convert *take, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&take->threads, &take->json, event);
	struct kineto_row *row = kineto_convert_row(take, event, GPROF_TABLE_alloc);

	row->thread = thread;
	row->alloc.address = event->numbers[KINETO_address];
	row->alloc.bytes = event->size;
	row->alloc.allocated = event->numbers[KINETO_allocated];
	row->alloc.reserved = event->numbers[KINETO_reserved];
	row->kind = (uint8_t)event->numbers[KINETO_device_type];
	row->source = event->device_id < 0 ? 0 : (uint8_t)event->device_id;
}

/* ---- all ---- */

static void take_span(struct kineto_convert *take, struct kineto_event *event)
{
	uint64_t end;

	if (!event->has_begin || !event->has_dur || !event->name ||
		__builtin_add_overflow(event->begin, event->dur, &end)) {
		take->nr_incomplete++;
		return;
	}
	switch (event->category) {
	case KINETO_OP:
	case KINETO_RANGE:
		take_op(take, event);
		break;
	case KINETO_RUNTIME:
	case KINETO_DRIVER:
		take_call(take, event);
		break;
	case KINETO_KERNEL:
		kineto_gpu_kernel(take, event);
		break;
	case KINETO_MEMCPY:
		kineto_gpu_copy(take, event);
		break;
	case KINETO_MEMSET:
		kineto_gpu_set(take, event);
		break;
	case KINETO_SYNC:
		kineto_gpu_sync(take, event);
		break;
	case KINETO_PYTHON:
		take_python(take, event);
		break;
	case KINETO_OVERHEAD:
		kineto_gpu_overhead(take, event);
		break;
	case KINETO_GPU_RANGE:
		take->nr_gpu_ranges++;
		break;
	default:
		take->nr_other++;
		break;
	}
}

static void take_instant(struct kineto_convert *take, struct kineto_event *event)
{
	if (!event->name || !kineto_json_is(&take->json, event->name, "[memory]", 8)) {
		take->nr_other++;
		return;
	}
	if (!event->has_begin) {
		take->nr_incomplete++;
		return;
	}
	event->dur = 0;
	take_memory(take, event);
}

/* ---- in two parts ---- */

static void take_begin(struct kineto_convert *take, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&take->threads, &take->json, event);
	bool is_kept = event->category != KINETO_NONE;
	const jsmntok_t *all = &take->json.tokens[0];

	take->nr_other += !is_kept;
	if (!kineto_pairs_begin(&take->pairs, thread,
		    is_kept ? take->json.bytes + all->start : NULL, (size_t)(all->end - all->start),
		    kineto_rows_order(&take->rows))) {
		take->nr_pairs += is_kept;
	}
}

static void take_end(struct kineto_convert *take, const struct kineto_event *end)
{
	uint32_t thread = kineto_threads_id(&take->threads, &take->json, end);
	struct kineto_begin begin;
	struct kineto_event event;

	if (!kineto_pairs_end(&take->pairs, thread, &begin)) {
		take->nr_pairs += end->category != KINETO_NONE;
		take->nr_other += end->category == KINETO_NONE;
		return;
	}
	if (begin.text && kineto_json_parse(&take->json, begin.text, begin.nr_bytes) &&
		kineto_event_read(&take->json, &event)) {
		event.has_dur = event.has_begin && end->has_begin && end->begin >= event.begin;
		event.dur = event.has_dur ? end->begin - event.begin : 0;
		take->pair_order = begin.order;
		take_span(take, &event);
		take->pair_order = 0;
	}
	free(begin.text);
}

bool kineto_convert_event(struct kineto_convert *take)
{
	struct kineto_event event;

	if (!kineto_event_read(&take->json, &event)) {
		return false;
	}
	switch (event.phase) {
	case 'X':
		take_span(take, &event);
		break;
	case 'i':
	case 'I':
		take_instant(take, &event);
		break;
	case 'M':
		kineto_threads_name(&take->threads, &take->json, &event);
		break;
	case 'B':
		take_begin(take, &event);
		break;
	case 'E':
		take_end(take, &event);
		break;
	case 's':
	case 't':
	case 'f':
		take->nr_flows++;
		break;
	default:
		take->nr_other++;
		break;
	}
	return true;
}
