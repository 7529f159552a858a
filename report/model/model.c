/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads one process from its stream: the first step after a stream is opened, before any event is
 * read. read_tables() goes over the tables of definitions in a fixed order, texts first, since all
 * other rows refer to them by number. Everything that later passes look up is in memory then:
 * names, shapes, threads, clocks, steps, losses. Its numbers of texts are those of string_pool.h,
 * which all processes share, so that views compare names of different processes as numbers.
 */
#include "report/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/model_marks.h"
#include "report/util/buf.h"
#include "report/util/code_symbols.h"
#include "report/stream/rings.h"
#include "report/util/sort.h"

/* ---- names ---- */

static uint32_t unknown(const char *what, uint64_t id)
{
	char text[64];
	int length =
		snprintf(text, sizeof(text), "(unknown %s %llu)", what, (unsigned long long)id);

	return string_pool_intern(text, (size_t)length);
}

uint32_t process_string(const struct process *process, uint64_t id)
{
	const uint32_t *name = id > UINT32_MAX ? NULL : idmap_get(&process->strings, (uint32_t)id);

	if (!id) {
		return 0;
	}
	return name ? *name : unknown("text", id);
}

uint32_t process_call_name(const struct process *process, uint64_t call, uint8_t *api)
{
	const struct model_call *found =
		call > UINT32_MAX ? NULL : idmap_get(&process->calls, (uint32_t)call);

	if (api) {
		*api = found ? found->api : GPROF_API_RUNTIME;
	}
	return found && found->name ? found->name : unknown("call", call);
}

uint32_t process_unknown_shape(uint64_t shape)
{
	return unknown("kernel", shape);
}

/* The name that all devices of the stream have, 0 if they have none or differ. */
static uint32_t common_device_name(const struct process *process)
{
	for (size_t i = 1; i < process->nr_devices; i++) {
		if (process->devices[i].name != process->devices[0].name) {
			return 0;
		}
	}
	return process->nr_devices ? process->devices[0].name : 0;
}

uint32_t process_device_name(const struct process *process, uint32_t device)
{
	const size_t *place = idmap_get(&process->device_of, device);
	uint32_t name = place ? process->devices[*place - 1].name : common_device_name(process);
	char text[32];
	int length;

	if (name) {
		return name;
	}
	length = snprintf(text, sizeof(text), "GPU %u", device);
	return string_pool_intern(text, (size_t)length);
}

uint32_t process_context_device(const struct process *process, uint32_t context)
{
	const uint32_t *device = idmap_get(&process->context_devices, context);

	return device ? *device : 0;
}

/*
 * Rows of contexts come first; other contexts get the device of an activity's place (device,
 * context, stream) in them.
 */
static void find_context_devices(struct process *process)
{
	for (size_t i = process->nr_contexts; i-- > 0;) { /* the first one wins */
		uint32_t *device = idmap_put(&process->context_devices, process->contexts[i].id);

		*device = process->contexts[i].device;
	}
	for (size_t i = 0; i < process->places.nr; i++) {
		const struct model_place *place = idmap_at(&process->places, i);

		if (place->device != UINT32_MAX &&
			!idmap_get(&process->context_devices, place->context)) {
			uint32_t *device = idmap_put(&process->context_devices, place->context);

			*device = place->device;
		}
	}
}

static int compare_attributes(const void *a, const void *b)
{
	const struct model_attribute *x = a, *y = b;

	return ORDER(COMPARE(x->device, y->device), COMPARE(x->name, y->name));
}

bool process_attribute(
	const struct process *process, uint32_t device, const char *name, uint64_t *value)
{
	const struct model_attribute key = {
		.device = device, .name = string_pool_intern(name, strlen(name))};
	const struct model_attribute *found = NULL;

	if (process->nr_attributes) {
		found = bsearch(&key, process->attributes, process->nr_attributes, sizeof(key),
			compare_attributes);
	}
	if (found) {
		*value = found->value;
	}
	return found != NULL;
}

const char *process_fact(const struct process *process, const char *key, const char *otherwise)
{
	for (size_t i = 0; i < process->nr_facts; i++) {
		if (strcmp(string_pool_text(process->facts[i].key, NULL), key) == 0) {
			return string_pool_text(process->facts[i].value, NULL);
		}
	}
	return otherwise;
}

const char *process_source(const struct process *process)
{
	return process_fact(process, "trace.source", process_fact(process, "trace.format", ""));
}

const char *process_host(const struct process *process)
{
	return process_fact(process, "host.name", "?");
}

/* The stream separates the arguments by NUL. */
static void find_command(struct process *process)
{
	struct buf command = {0};
	uint32_t key = string_pool_intern("process.command", strlen("process.command"));

	for (size_t i = 0; i < process->nr_facts; i++) {
		size_t nr_bytes;
		const char *bytes = string_pool_text(process->facts[i].value, &nr_bytes);

		if (process->facts[i].key != key) {
			continue;
		}
		buf_add(&command, bytes, nr_bytes);
		for (size_t k = 0; k < command.nr_bytes; k++) {
			command.bytes[k] = command.bytes[k] ? command.bytes[k] : ' ';
		}
		process->facts[i].value = string_pool_intern(command.bytes, command.nr_bytes);
	}
	buf_fini(&command);
}

const char *process_command(const struct process *process)
{
	return process_fact(process, "process.command", "?");
}

int64_t process_number(const struct process *process, const char *key)
{
	const char *text = process_fact(process, key, "");
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	return end != text && !*end && !errno && value >= 0 ? value : -1;
}

/* 0: unknown. */
static uint32_t fact_name(const struct process *process, const char *key)
{
	const char *text = process_fact(process, key, "");

	return string_pool_intern(text, strlen(text));
}

bool process_is_same(const struct process *a, const struct process *b)
{
	return a->start_ticks >= 0 && a->start_ticks == b->start_ticks && a->pid == b->pid &&
	       a->boot && a->boot == b->boot &&
	       (!a->pid_namespace || !b->pid_namespace || a->pid_namespace == b->pid_namespace);
}

/* ---- names of shapes ---- */

static int compare_functions(const void *a, const void *b)
{
	const struct model_function *x = a, *y = b;

	return COMPARE(x->address, y->address);
}

static uint32_t name_shape(const struct process *process, const struct model_shape *shape)
{
	const struct model_function key = {.address = shape->function};
	const struct model_function *function = NULL;
	char text[48];
	int length;

	if (shape->string) {
		return process_string(process, shape->string);
	}
	if (process->nr_functions) {
		function = bsearch(&key, process->functions, process->nr_functions, sizeof(key),
			compare_functions);
	}
	if (function && function->name) {
		return function->name;
	}
	length = snprintf(
		text, sizeof(text), "(kernel at 0x%llx)", (unsigned long long)shape->function);
	return string_pool_intern(text, (size_t)length);
}

static void name_shapes(struct process *process)
{
	if (process->nr_functions) {
		qsort(process->functions, process->nr_functions, sizeof(*process->functions),
			compare_functions);
	}
	for (size_t i = 0; i < process->shapes.nr; i++) {
		struct model_shape *shape = idmap_at(&process->shapes, i);

		shape->name = name_shape(process, shape);
	}
}

/* ---- loading ---- */

#define APPEND(process, array)                                                  \
	((process)->array = array_grow((process)->array, (process)->nr_##array, \
		 &(process)->array##_capacity, sizeof(*(process)->array)),      \
		&(process)->array[(process)->nr_##array++])

static uint32_t intern(const struct decode_text *text)
{
	return string_pool_intern(text->bytes, text->nr_bytes);
}

static void add_string(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *name = idmap_put(&p->strings, (uint32_t)b->col[COL_string_id][i]);

	*name = intern(&b->text[COL_string_text][i]);
}

/* Streams of version 1.x name the facts of hangs "stall.", which become "hang.". */
static uint32_t intern_key(const struct decode_text *key)
{
	static const char old[] = "stall.";
	char name[64];

	if (key->nr_bytes < sizeof(name) && key->nr_bytes >= strlen(old) &&
		memcmp(key->bytes, old, strlen(old)) == 0) {
		int length = snprintf(name, sizeof(name), "hang.%.*s",
			(int)(key->nr_bytes - strlen(old)), key->bytes + strlen(old));

		return string_pool_intern(name, (size_t)length);
	}
	return intern(key);
}

static void add_info(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t key = intern_key(&b->text[COL_info_key][i]);
	size_t *place = idmap_put(&p->fact_of, key);

	if (!*place) {
		*APPEND(p, facts) = (struct model_fact){.key = key};
		*place = p->nr_facts;
	}
	p->facts[*place - 1].value = intern(&b->text[COL_info_value][i]);
}

static void add_anchor(struct process *p, const struct batch *b, uint32_t i)
{
	uint64_t monotonic_ns = b->col[COL_anchor_monotonic_ns][i];
	uint64_t cupti_ns = b->col[COL_anchor_cupti_ns][i];

	clock_map_add(&p->host_clock, b->col[COL_anchor_tick][i], monotonic_ns);
	if (cupti_ns) {
		clock_map_add(&p->device_clock, cupti_ns, monotonic_ns);
	}
	if (!p->has_anchors) {
		p->has_anchors = true;
		p->realtime_offset_ns = (int64_t)(b->col[COL_anchor_realtime_ns][i] - monotonic_ns);
	}
}

static void add_loss(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t cause = process_string(p, b->col[COL_loss_cause][i]);
	size_t *place = idmap_put(&p->loss_of, cause);

	if (!*place) {
		*APPEND(p, losses) = (struct model_loss){.cause = cause,
			.is_harmless =
				strstr(string_pool_text(cause, NULL), GPROF_LOSS_KEPT) != NULL};
		*place = p->nr_losses;
	}
	p->losses[*place - 1].count += b->col[COL_loss_count][i];
}

/* 0.1.0 wrote times that wrap around into notices from before its stream's clock began. */
#define WRAPPED_NS 1000000000000000000u

static void add_notice(struct process *p, const struct batch *b, uint32_t i)
{
	uint64_t tick = b->col[COL_notice_tick][i];

	*APPEND(p, notices) = (struct model_notice){.tick = tick < WRAPPED_NS ? tick : 0,
		.code = (int64_t)b->col[COL_notice_code][i],
		.cause = process_string(p, b->col[COL_notice_cause][i]),
		.text = process_string(p, b->col[COL_notice_text][i])};
}

/* A thread has several rows: one when it was seen, created, named and ended, in any order. */
static void add_thread(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t id = (uint32_t)b->col[COL_thread_thread][i];
	struct model_thread *thread = idmap_put(&p->threads, id);
	uint64_t tick = b->col[COL_thread_tick][i];
	uint32_t name = process_string(p, b->col[COL_thread_name][i]);

	thread->id = id;
	if (b->col[COL_thread_tid][i]) {
		thread->tid = (uint32_t)b->col[COL_thread_tid][i];
		*(uint32_t *)idmap_put(&p->thread_of, thread->tid) = id;
	}
	if (b->col[COL_thread_parent][i]) {
		thread->parent = (uint32_t)b->col[COL_thread_parent][i];
	}
	/* A name from NVTX wins over the kernel's, which does not know it. */
	if (name && (!thread->is_named || b->col[COL_thread_what][i] == GPROF_THREAD_NAMED)) {
		thread->name = name;
	}
	switch (b->col[COL_thread_what][i]) {
	case GPROF_THREAD_SEEN:
		thread->seen_tick = tick;
		break;
	case GPROF_THREAD_CREATED:
		thread->created_tick = tick;
		thread->is_created = true;
		break;
	case GPROF_THREAD_ENDED:
		thread->ended_tick = tick;
		thread->is_ended = true;
		break;
	case GPROF_THREAD_NAMED:
		thread->is_named = true;
		break;
	default:
		break;
	}
}

static void add_call(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_call *call = idmap_put(&p->calls, (uint32_t)b->col[COL_call_id][i]);

	call->name = process_string(p, b->col[COL_call_name][i]);
	call->api = (uint8_t)b->col[COL_call_api][i];
}

static void add_function(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, functions) = (struct model_function){.address = b->col[COL_function_address][i],
		.name = process_string(p, b->col[COL_function_name][i])};
}

static void add_shape(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_shape *shape = idmap_put(&p->shapes, (uint32_t)b->col[COL_shape_id][i]);

	shape->string = (uint32_t)b->col[COL_shape_name][i];
	shape->function = b->col[COL_shape_function][i];
	for (unsigned int k = 0; k < 3; k++) {
		shape->grid[k] = (uint32_t)b->col[COL_shape_grid_x + k][i];
		shape->block[k] = (uint32_t)b->col[COL_shape_block_x + k][i];
		shape->cluster[k] = (uint32_t)b->col[COL_shape_cluster_x + k][i];
	}
	shape->registers = (uint32_t)b->col[COL_shape_registers][i];
	shape->static_shared_bytes = (uint32_t)b->col[COL_shape_static_shared_bytes][i];
	shape->dynamic_shared_bytes = (uint32_t)b->col[COL_shape_dynamic_shared_bytes][i];
	shape->local_bytes = (uint32_t)b->col[COL_shape_local_bytes][i];
}

static void add_place(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_place *place = idmap_put(&p->places, (uint32_t)b->col[COL_place_id][i]);

	place->device = (uint32_t)b->col[COL_place_device][i];
	place->context = (uint32_t)b->col[COL_place_context][i];
	place->stream = (uint32_t)b->col[COL_place_stream][i];
}

/* In the format of nvidia-smi -L. */
static void format_uuid(char *out, size_t out_bytes, const unsigned char *u)
{
	snprintf(out, out_bytes,
		"GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		u[14], u[15]);
}

static void add_device(struct process *p, const struct batch *b, uint32_t i)
{
	const struct decode_text *uuid = &b->text[COL_device_uuid][i];
	struct model_device *device;
	uint32_t id = (uint32_t)b->col[COL_device_id][i];
	size_t *place = idmap_put(&p->device_of, id);

	if (!*place) {
		(void)APPEND(p, devices);
		*place = p->nr_devices;
	}
	device = &p->devices[*place - 1];
	*device = (struct model_device){
		.id = id, .name = process_string(p, b->col[COL_device_name][i])};
	if (uuid->nr_bytes == 16) {
		format_uuid(device->uuid, sizeof(device->uuid), (const unsigned char *)uuid->bytes);
	}
}

static void add_estimate(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_shape *shape = idmap_get(&p->shapes, (uint32_t)b->col[COL_estimate_shape][i]);

	if (!shape) {
		return;
	}
	shape->blocks_per_sm_milli = (uint32_t)b->col[COL_estimate_blocks_per_sm_milli][i];
	shape->occupancy_pct = (uint32_t)b->col[COL_estimate_occupancy_pct][i];
	shape->has_estimate = true;
}

static void add_attribute(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, attributes) =
		(struct model_attribute){.device = (uint32_t)b->col[COL_attribute_device][i],
			.name = process_string(p, b->col[COL_attribute_name][i]),
			.value = b->col[COL_attribute_value][i]};
}

static void add_stream(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, streams) =
		(struct model_stream){.context = (uint32_t)b->col[COL_stream_context][i],
			.stream = (uint32_t)b->col[COL_stream_stream][i],
			.priority = (uint32_t)b->col[COL_stream_priority][i],
			.flags = (uint32_t)b->col[COL_stream_flags][i]};
}

static void add_context(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, contexts) = (struct model_context){.id = (uint32_t)b->col[COL_context_id][i],
		.device = (uint32_t)b->col[COL_context_device][i]};
}

static void add_step(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, steps) = (struct model_step){.tick = b->col[COL_step_time][i],
		.step = b->col[COL_step_step][i],
		.thread = (uint32_t)b->col[COL_step_thread][i],
		.how = (uint8_t)b->col[COL_step_how][i]};
}

static void add_window(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, windows) = (struct model_window){.tick = b->col[COL_window_time][i],
		.step = b->col[COL_window_step][i],
		.window = (uint32_t)b->col[COL_window_window][i],
		.state = (uint8_t)b->col[COL_window_state][i]};
}

static void add_op_name(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *name = idmap_put(&p->op_names, (uint32_t)b->col[COL_op_name_id][i]);

	*name = process_string(p, b->col[COL_op_name_name][i]);
}

static void add_op_shape(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *shape = idmap_put(&p->op_shapes, (uint32_t)b->col[COL_op_shape_id][i]);

	*shape = process_string(p, b->col[COL_op_shape_name][i]);
}

static void add_py_file(struct process *p, const struct batch *b, uint32_t i)
{
	uint32_t *name = idmap_put(&p->py_files, (uint32_t)b->col[COL_py_file_id][i]);

	*name = process_string(p, b->col[COL_py_file_name][i]);
}

static void add_py_code(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_py_code *code = idmap_put(&p->py_codes, (uint32_t)b->col[COL_py_code_id][i]);
	const uint32_t *file = idmap_get(&p->py_files, (uint32_t)b->col[COL_py_code_py_file][i]);

	*code = (struct model_py_code){.file = file ? *file : 0,
		.name = process_string(p, b->col[COL_py_code_name][i]),
		.line = (uint32_t)b->col[COL_py_code_line][i]};
}

static void add_py_stack(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_py_stack *stack =
		idmap_put(&p->py_stacks, (uint32_t)b->col[COL_py_stack_id][i]);

	*stack = (struct model_py_stack){.parent = (uint32_t)b->col[COL_py_stack_parent][i],
		.code = (uint32_t)b->col[COL_py_stack_py_code][i],
		.line = (uint32_t)b->col[COL_py_stack_line][i]};
}

static uint32_t string_or_none(const struct process *p, uint64_t id)
{
	return id ? process_string(p, id) : 0;
}

static void add_code_file(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_code_file *file =
		idmap_put(&p->code_files, (uint32_t)b->col[COL_code_file_id][i]);

	code_symbols_destroy(file->symbols); /* a damaged stream may define an id twice */
	*file = (struct model_code_file){.path = process_string(p, b->col[COL_code_file_path][i]),
		.build_id = string_or_none(p, b->col[COL_code_file_build_id][i])};
}

static void add_native_stack(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_native_stack *stack =
		idmap_put(&p->native_stacks, (uint32_t)b->col[COL_native_stack_id][i]);

	*stack = (struct model_native_stack){.parent = (uint32_t)b->col[COL_native_stack_parent][i],
		.code_file = (uint32_t)b->col[COL_native_stack_code_file][i],
		.address = b->col[COL_native_stack_address][i],
		.name = string_or_none(p, b->col[COL_native_stack_name][i])};
}

static void add_nccl_comm(struct process *p, const struct batch *b, uint32_t i)
{
	struct model_nccl_comm *comm =
		idmap_put(&p->nccl_comms, (uint32_t)b->col[COL_nccl_comm_id][i]);

	*comm = (struct model_nccl_comm){.key = b->col[COL_nccl_comm_key][i],
		.rank = (int32_t)b->col[COL_nccl_comm_rank][i],
		.nr_ranks = (uint32_t)b->col[COL_nccl_comm_nr_ranks][i],
		.text = (uint32_t)b->col[COL_nccl_comm_name][i]};
}

static void add_compiled_call(struct process *p, const struct batch *b, uint32_t i)
{
	*APPEND(p, compiled_calls) = (struct model_compiled_call){
		.file = process_string(p, b->col[COL_compiled_call_file][i]),
		.name = process_string(p, b->col[COL_compiled_call_name][i]),
		.operators = string_or_none(p, b->col[COL_compiled_call_operators][i]),
		.nodes = string_or_none(p, b->col[COL_compiled_call_nodes][i]),
		.line = (uint32_t)b->col[COL_compiled_call_line][i]};
}

/* Texts come first, since all others refer to them. */
static const struct {
	uint8_t table;
	uint8_t nr_columns;
	void (*add)(struct process *process, const struct batch *batch, uint32_t row);
} loads[] = {
#define LOAD(name)                                            \
	{                                                     \
		GPROF_TABLE_##name, NR_COL_##name, add_##name \
	}
	LOAD(string),
	LOAD(info),
	LOAD(anchor),
	LOAD(loss),
	LOAD(notice),
	LOAD(thread),
	LOAD(call),
	LOAD(function),
	LOAD(shape),
	LOAD(estimate),
	LOAD(place),
	LOAD(device),
	LOAD(attribute),
	LOAD(stream),
	LOAD(context),
	LOAD(step),
	LOAD(window),
	LOAD(op_name),
	LOAD(op_shape),
	LOAD(py_file),
	LOAD(py_code),
	LOAD(py_stack),
	LOAD(code_file),
	LOAD(native_stack),
	LOAD(nccl_comm),
	LOAD(compiled_call),
#undef LOAD
};

/* Reads the tables of definitions, and all small ones. */
static void read_tables(struct process *process)
{
	struct stream *stream = process->stream;

	for (size_t k = 0; k < sizeof(loads) / sizeof(loads[0]); k++) {
		uint32_t mask = COL_ALL(loads[k].nr_columns);

		for (size_t i = 0; i < stream->nr_blocks; i++) {
			struct batch batch;

			if (stream_block_table(stream, i) != loads[k].table ||
				stream_load(stream, i, mask, 0, &batch)) {
				continue;
			}
			for (uint32_t row = 0; row < batch.nr_rows; row++) {
				loads[k].add(process, &batch, row);
			}
		}
	}
	model_marks_order(process);
}

/* ---- a process ---- */

/* Is it on the axis of time? */
static bool is_on_axis(unsigned int table)
{
	return gprof_table_is(table, GPROF_IS_EVENT) || table == GPROF_TABLE_step ||
	       table == GPROF_TABLE_window || table == GPROF_TABLE_sample ||
	       table == GPROF_TABLE_notice || table == GPROF_TABLE_loss;
}

/*
 * Uses only the times in the index of blocks, so it reads no column. The process's first and last
 * time cover events alone; time 0 of the axis also covers steps, windows, samples and notices.
 */
static void count_events(struct process *process)
{
	const struct stream *stream = process->stream;

	process->first_ns = UINT64_MAX;
	process->origin_ns = MODEL_NO_ORIGIN;
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		const struct stream_block *block = &stream->blocks[i];
		unsigned int table = stream_block_table(stream, i);
		struct clock_map *map = &process->host_clock;
		const struct schema_table *schema = schema_table(table);
		uint64_t first_ns, last_ns;

		if (!is_on_axis(table)) {
			continue;
		}
		process->nr_events += gprof_table_is(table, GPROF_IS_EVENT) ? block->nr_rows : 0;
		if (!block->time_max) {
			continue; /* a table without times */
		}
		if (schema->columns[0].kind == GPROF_KIND_DEVTIME) {
			map = &process->device_clock;
		}
		first_ns = clock_map_time(map, block->time_min);
		last_ns = clock_map_time(map, block->time_max);
		process->origin_ns = first_ns < process->origin_ns ? first_ns : process->origin_ns;
		process->alive_ns = last_ns > process->alive_ns ? last_ns : process->alive_ns;
		if (!gprof_table_is(table, GPROF_IS_EVENT)) {
			continue;
		}
		process->first_ns = first_ns < process->first_ns ? first_ns : process->first_ns;
		process->last_ns = last_ns > process->last_ns ? last_ns : process->last_ns;
	}
}

static void free_symbols(struct process *process)
{
	for (size_t i = 0; i < process->code_files.nr; i++) {
		const struct model_code_file *file = idmap_at(&process->code_files, i);

		code_symbols_destroy(file->symbols);
	}
	code_symbols_destroy(process->jit_symbols);
}

static void free_dictionaries(struct process *process)
{
	idmap_fini(&process->strings);
	idmap_fini(&process->calls);
	idmap_fini(&process->shapes);
	idmap_fini(&process->places);
	idmap_fini(&process->threads);
	idmap_fini(&process->thread_of);
	idmap_fini(&process->op_names);
	idmap_fini(&process->op_shapes);
	idmap_fini(&process->py_files);
	idmap_fini(&process->py_codes);
	idmap_fini(&process->py_stacks);
	free_symbols(process);
	idmap_fini(&process->code_files);
	idmap_fini(&process->native_stacks);
	idmap_fini(&process->nccl_comms);
	idmap_fini(&process->device_of);
	idmap_fini(&process->fact_of);
	idmap_fini(&process->loss_of);
	idmap_fini(&process->context_devices);
	clock_map_fini(&process->host_clock);
	clock_map_fini(&process->device_clock);
	free(process->functions);
	free(process->devices);
	free(process->attributes);
	free(process->streams);
	free(process->contexts);
	free(process->compiled_calls);
	free(process->facts);
	free(process->notices);
	free(process->losses);
	free(process->steps);
	free(process->windows);
	free(process->segment_phases);
}

static void load(struct process *process, struct stream *stream)
{
	*process = (struct process){.stream = stream, .rank = -1, .world = -1};
	idmap_init(&process->strings, sizeof(uint32_t));
	idmap_init(&process->calls, sizeof(struct model_call));
	idmap_init(&process->shapes, sizeof(struct model_shape));
	idmap_init(&process->places, sizeof(struct model_place));
	idmap_init(&process->threads, sizeof(struct model_thread));
	idmap_init(&process->thread_of, sizeof(uint32_t));
	idmap_init(&process->op_names, sizeof(uint32_t));
	idmap_init(&process->op_shapes, sizeof(uint32_t));
	idmap_init(&process->py_files, sizeof(uint32_t));
	idmap_init(&process->py_codes, sizeof(struct model_py_code));
	idmap_init(&process->py_stacks, sizeof(struct model_py_stack));
	idmap_init(&process->code_files, sizeof(struct model_code_file));
	idmap_init(&process->native_stacks, sizeof(struct model_native_stack));
	idmap_init(&process->nccl_comms, sizeof(struct model_nccl_comm));
	idmap_init(&process->device_of, sizeof(size_t));
	idmap_init(&process->fact_of, sizeof(size_t));
	idmap_init(&process->loss_of, sizeof(size_t));
	idmap_init(&process->context_devices, sizeof(uint32_t));
	read_tables(process);
}

/*
 * The order matters: clocks must be finished before any time is converted, and count_events()
 * converts; names of shapes need the sorted functions.
 */
struct process *process_create(struct stream *stream)
{
	struct process *process = mem_zeroed(1, sizeof(*process));

	if (stream->is_part) {
		/* Missing rings are no error: the process may have removed them. */
		if (rings_attach_shared(stream)) {
			rings_attach_beside(stream);
		}
	}
	load(process, stream);
	clock_map_finish(&process->host_clock);
	clock_map_finish(&process->device_clock);
	find_command(process);
	process->has_launch_stacks =
		process->stream->is_trace ||
		!strcmp(process_fact(process, "config.GPROF_LAUNCH_STACKS", ""), "all");
	find_context_devices(process);
	if (process->nr_attributes) {
		qsort(process->attributes, process->nr_attributes, sizeof(*process->attributes),
			compare_attributes);
	}
	name_shapes(process);
	count_events(process);
	process->pid = stream->header.pid;
	if (!process->pid && process_number(process, "process.pid") > 0) {
		process->pid = (uint32_t)process_number(process, "process.pid");
	}
	process->start_ticks = process_number(process, "process.start_ticks");
	process->pid_namespace = fact_name(process, "process.pid_namespace");
	process->ancestor_namespace = fact_name(process, "process.ancestor_namespace");
	if (!process->ancestor_namespace) {
		process->ancestor_namespace = process->pid_namespace;
	}
	process->boot = fact_name(process, "host.boot_id");
	process->rank = process_number(process, "rank.world");
	process->world = process_number(process, "rank.world_size");
	process->is_ended = *process_fact(process, "end.how", "") != '\0';
	return process;
}

void process_destroy(struct process *process)
{
	if (process) {
		free_dictionaries(process);
		stream_close(process->stream);
		free(process);
	}
}

uint32_t process_clock(const struct process *process)
{
	const char *host;

	if (process->has_job_clock) {
		return UINT32_MAX; /* no number of string_pool.h */
	}
	if (process->boot) {
		return process->boot;
	}
	host = process_fact(process, "host.name", "");
	return string_pool_intern(host, strlen(host));
}

size_t process_steps_begun(const struct process *process, uint64_t tick)
{
	size_t at;

	BISECT(at, 0, process->nr_steps, process->steps[at].tick <= tick);
	return at;
}

/* ---- losses ---- */

/* Counts in a damaged or hostile stream may be anything, so the sum must not wrap. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/*
 * Adds up rows lost in rings, rows in damaged or missing blocks, and the losses that the recorder
 * counted.
 */
uint64_t process_missing(const struct process *process)
{
	const struct stream *stream = process->stream;
	uint64_t recorded = 0, unwritten = 0, missing = stream->ring_rows_lost;

	for (size_t i = 0; i < process->nr_losses; i++) {
		recorded = sum(
			recorded, process->losses[i].is_harmless ? 0 : process->losses[i].count);
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		const struct stream_table *table = &stream->tables[i];

		if (gprof_table_is(table->known, GPROF_IS_EVENT)) {
			missing = sum(missing, sum(table->rows_missing, table->rows_damaged));
			unwritten = sum(unwritten, table->rows_unwritten);
		}
	}
	/* Most rows that were numbered but never written are also recorded as losses. */
	return sum(missing, recorded > unwritten ? recorded : unwritten);
}

bool process_lacks_end(const struct process *process)
{
	return !process->is_ended && !process->is_closed_selected;
}

bool process_is_complete(const struct process *process)
{
	return !process_lacks_end(process) && !process_missing(process) &&
	       !stream_is_damaged(process->stream);
}
