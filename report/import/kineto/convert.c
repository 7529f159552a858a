/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kineto.c parses each event of a trace and calls kineto_convert_event(). A complete event becomes
 * a struct kineto_row at once; a begin waits as text, and its end reads the text again and makes
 * the row. Every event that gives no row is counted in one of the nr_ fields or as a kind, so that
 * the notices of an import can name all that was left out.
 */
#include "report/import/kineto/convert.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/import/call.h"
#include "report/import/kineto/convert_dialect.h"
#include "report/util/buf.h"
#include "report/model/api.h"
#include "report/ops/op.h"
#include "report/ops/op_walk.h"
#include "report/util/text.h"

/* ---- rows of all kinds ---- */

#define IS_ASYNC 0x80u /* a flag beside the table of a call */

void kineto_convert_init(struct kineto_convert *convert, struct import_out *out)
{
	*convert = (struct kineto_convert){.out = out, .first_ns = UINT64_MAX};
	kineto_shapes_init(&convert->shapes);
	kineto_pairs_init(&convert->pairs);
}

void kineto_convert_fini(struct kineto_convert *convert)
{
	kineto_json_fini(&convert->json);
	kineto_threads_fini(&convert->threads);
	kineto_rows_fini(&convert->rows);
	kineto_shapes_fini(&convert->shapes);
	kineto_python_fini(&convert->python);
	kineto_pairs_fini(&convert->pairs);
	kineto_nccl_fini(&convert->nccl);
	kineto_linked_fini(&convert->linked);
	import_step_names_fini(&convert->steps);
	free(convert->call_tables);
}

uint32_t kineto_convert_string(struct kineto_convert *convert, int token)
{
	size_t nr_bytes;
	const char *text = token ? kineto_json_text(&convert->json, token, &nr_bytes) : "";

	return import_out_string(convert->out, text, token ? nr_bytes : 0);
}

static struct kineto_row *new_row(struct kineto_convert *convert, uint8_t table)
{
	struct kineto_row *row = kineto_rows_add(&convert->rows);

	row->table = table;
	row->order = convert->pair_order ? convert->pair_order : row->order;
	return row;
}

struct kineto_row *kineto_convert_row(
	struct kineto_convert *convert, uint8_t table, uint64_t begin, uint64_t end)
{
	struct kineto_row *row = new_row(convert, table);

	row->begin = begin;
	row->end = end;
	convert->first_ns = row->begin < convert->first_ns ? row->begin : convert->first_ns;
	convert->last_ns = row->end > convert->last_ns ? row->end : convert->last_ns;
	return row;
}

/* A row from the event's begin to its end, which it must have. */
static struct kineto_row *add_row(
	struct kineto_convert *convert, const struct kineto_event *event, uint8_t table)
{
	return kineto_convert_row(convert, table, event->begin, event->begin + event->dur);
}

/* Returns a number of the event if it fits into 32 bits, else 0. */
static uint32_t narrow(const struct kineto_event *event, enum kineto_number number)
{
	uint64_t value = event->numbers[number];

	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static uint32_t correlation_of(struct kineto_convert *convert, const struct kineto_event *event)
{
	return import_out_correlation(convert->out, event->numbers[KINETO_correlation]);
}

/* ---- events of GPUs ---- */

#define UNKNOWN UINT32_MAX

/* Older traces without a stream in args call the thread "stream 7". */
uint32_t kineto_convert_stream(
	const struct kineto_convert *convert, const struct kineto_event *event)
{
	const struct kineto_json *json = &convert->json;
	uint32_t stream = 0;

	if (kineto_has(event, KINETO_stream)) {
		return narrow(event, KINETO_stream);
	}
	if (kineto_has(event, KINETO_tid)) {
		return narrow(event, KINETO_tid);
	}
	for (int i = event->tid ? json->tokens[event->tid].start : 0;
		event->tid && i < json->tokens[event->tid].end; i++) {
		char c = json->bytes[i];

		stream = c >= '0' && c <= '9' ? stream * 10 + (uint32_t)(c - '0') : 0;
	}
	return stream;
}

static uint32_t place_of(struct kineto_convert *convert, const struct kineto_event *event)
{
	uint32_t device = UNKNOWN;

	if (kineto_has(event, KINETO_device)) {
		device = narrow(event, KINETO_device);
	} else if (kineto_has(event, KINETO_pid)) {
		device = narrow(event, KINETO_pid);
	}
	return import_out_place(convert->out, device, narrow(event, KINETO_context),
		kineto_convert_stream(convert, event));
}

/* CUPTI had no room for its times: the activity ran, and nobody knows when. */
static bool is_untimed(const struct kineto_event *event)
{
	return !event->begin && !event->dur;
}

static struct kineto_row *add_activity(
	struct kineto_convert *convert, const struct kineto_event *event, uint8_t table)
{
	uint32_t place = place_of(convert, event);
	struct kineto_row *row;

	if (is_untimed(event)) {
		row = new_row(convert, table);
		row->begin = row->end = KINETO_UNTIMED;
	} else {
		row = add_row(convert, event, table);
	}
	row->activity.place = place;
	row->activity.correlation = correlation_of(convert, event);
	row->activity.graph = narrow(event, KINETO_graph);
	row->activity.graph_node = event->numbers[KINETO_graph_node];
	row->activity.bytes = event->numbers[KINETO_bytes];
	row->thread = narrow(event, KINETO_channel);
	return row;
}

static void add_nccl(struct kineto_convert *convert, const struct kineto_event *event)
{
	uint8_t kind = kineto_nccl_kind(&convert->json, event);
	struct kineto_row *row;

	if (kind && !is_untimed(event)) {
		row = add_row(convert, event, GPROF_TABLE_nccl);
		row->kind = kind;
		row->nccl.correlation = correlation_of(convert, event);
		kineto_nccl_fill(&convert->nccl, &convert->json, event, row);
	}
}

/*
 * gprof's own timelines have a graph that was recorded as a whole as a kernel without a node. Its
 * name is "CUDA graph 5".
 */
static bool is_whole_graph(const struct kineto_convert *convert, const struct kineto_event *event)
{
	static const char prefix[] = "CUDA graph ";
	size_t nr_bytes = kineto_json_length(&convert->json, event->name);

	return event->numbers[KINETO_graph] && !event->numbers[KINETO_graph_node] &&
	       nr_bytes >= sizeof(prefix) &&
	       !memcmp(convert->json.bytes + convert->json.tokens[event->name].start, prefix,
		       sizeof(prefix) - 1);
}

/* The trace has the sum of static and dynamic shared memory. */
static void add_kernel(struct kineto_convert *convert, const struct kineto_event *event)
{
	struct gprof_row_shape shape;
	uint32_t id;

	if (is_whole_graph(convert, event)) {
		add_activity(convert, event, GPROF_TABLE_graph);
		return;
	}
	memset(&shape, 0, sizeof(shape)); /* its padding is part of the key */
	shape.name = kineto_convert_string(convert, event->name);
	shape.grid_x = event->grid[0];
	shape.grid_y = event->grid[1];
	shape.grid_z = event->grid[2];
	shape.block_x = event->block[0];
	shape.block_y = event->block[1];
	shape.block_z = event->block[2];
	shape.registers = narrow(event, KINETO_registers);
	shape.dynamic_shared_bytes = narrow(event, KINETO_shared);
	id = import_out_shape(convert->out, &shape);
	if (event->has >> KINETO_blocks_milli & event->has >> KINETO_occupancy & 1) {
		import_out_estimate(convert->out, id, narrow(event, KINETO_blocks_milli),
			narrow(event, KINETO_occupancy));
	}
	add_activity(convert, event, GPROF_TABLE_kernel)->activity.shape = id;
	if (event->collective) {
		add_nccl(convert, event);
	}
}

/* Returns the number of a name in one of the lists of api.h, by trying all. */
static uint8_t kind_named(const char *text, size_t nr_bytes, const char *(*name_of)(uint32_t),
	uint8_t first, uint8_t most)
{
	for (uint8_t i = first; i <= most; i++) {
		const char *name = name_of(i);

		if (text_is(text, nr_bytes, name)) {
			return i;
		}
	}
	return 0;
}

#define MAX_COPY_KIND	10
#define MAX_MEMORY_KIND 7
#define MAX_SYNC	4

/* A memory kind by name; adds those that CUPTI does not have (traces of other devices). */
static uint8_t memory_of(const char *text, size_t nr_bytes)
{
	uint8_t found = kind_named(text, nr_bytes, api_memory_name, 1, MAX_MEMORY_KIND);
	bool is_unknown = nr_bytes == 7 && !memcmp(text, "Unknown", 7);

	return found || is_unknown ? found : (uint8_t)api_add_name(text, nr_bytes, false);
}

/* "Memcpy HtoD (Pageable -> Device)" */
static bool read_copy(struct kineto_row *row, const char *name, size_t nr_bytes)
{
	const char *end = name + nr_bytes;
	const char *open = memchr(name, '(', nr_bytes);
	const char *arrow = open ? memmem(open, (size_t)(end - open), " -> ", 4) : NULL;

	if (!arrow || open - name < 9 || open[-1] != ' ' || end[-1] != ')' ||
		memcmp(name, "Memcpy ", 7)) {
		return false;
	}
	row->kind = kind_named(
		name + 7, (size_t)(open - 1 - (name + 7)), api_copy_name, 1, MAX_COPY_KIND);
	if (arrow - open > API_MAX_MEMORY_NAME || end - arrow > API_MAX_MEMORY_NAME) {
		return false;
	}
	row->source = memory_of(open + 1, (size_t)(arrow - (open + 1)));
	row->target = memory_of(arrow + 4, (size_t)(end - 1 - (arrow + 4)));
	return row->kind != 0;
}

static void add_memcpy(struct kineto_convert *convert, const struct kineto_event *event)
{
	struct kineto_row *row = add_activity(convert, event, GPROF_TABLE_memcpy);
	size_t nr_bytes;
	const char *name = kineto_json_text(&convert->json, event->name, &nr_bytes);

	if (!read_copy(row, name, nr_bytes)) {
		row->kind = (uint8_t)api_add_name(name, nr_bytes, true);
		row->source = row->target = 0;
	}
}

/* "Memset (Device)" */
static void add_memset(struct kineto_convert *convert, const struct kineto_event *event)
{
	struct kineto_row *row = add_activity(convert, event, GPROF_TABLE_memset);
	size_t nr_bytes;
	const char *name = kineto_json_text(&convert->json, event->name, &nr_bytes);

	if (nr_bytes > 9 && nr_bytes < API_MAX_MEMORY_NAME && !memcmp(name, "Memset (", 8) &&
		name[nr_bytes - 1] == ')') {
		row->target = memory_of(name + 8, nr_bytes - 9);
	} else {
		row->target = (uint8_t)api_add_name(name, nr_bytes, true);
	}
}

static void add_sync(struct kineto_convert *convert, const struct kineto_event *event)
{
	struct kineto_row *row = add_activity(convert, event, GPROF_TABLE_sync);

	row->kind = kind_named(convert->json.bytes + convert->json.tokens[event->name].start,
		kineto_json_length(&convert->json, event->name), api_sync_name, 1, MAX_SYNC);
}

/* CUPTI's own kinds are in the upper half; see api_overhead_name. */
static const char *overhead_name(uint32_t kind)
{
	return api_overhead_name(kind << 16);
}

static void add_overhead(struct kineto_convert *convert, const struct kineto_event *event)
{
	struct kineto_row *row = add_row(convert, event, GPROF_TABLE_overhead);
	const char *name = convert->json.bytes + convert->json.tokens[event->name].start;
	size_t nr_bytes = kineto_json_length(&convert->json, event->name);

	row->activity.shape = (uint32_t)kind_named(name, nr_bytes, overhead_name, 1, 8) << 16;
	if (kineto_json_is(&convert->json, event->name, "Driver Compiler", 15)) {
		row->activity.shape = 1;
	}
}

/* ---- events of the host ---- */

/* Kineto has had steps as operators, too; operators of other names are none. */
static bool is_step(const struct kineto_convert *convert, const struct kineto_event *event)
{
	static const char prefix[] = "ProfilerStep";
	const struct kineto_json *json = &convert->json;

	return kineto_json_length(json, event->name) >= sizeof(prefix) - 1 &&
	       !memcmp(json->bytes + json->tokens[event->name].start, prefix, sizeof(prefix) - 1);
}

/* Returns whether it is a range: before Kineto, the name alone tells ranges from operators. */
static bool add_step(
	struct kineto_convert *convert, const struct kineto_event *event, uint32_t thread)
{
	size_t nr_bytes;
	const char *name = kineto_json_text(&convert->json, event->name, &nr_bytes);

	return (event->category == KINETO_RANGE || convert->dialect == KINETO_OLD_TORCH ||
		       is_step(convert, event)) &&
	       import_step_names_add(&convert->steps, thread, name, nr_bytes, event->begin,
		       event->begin + event->dur);
}

/*
 * A name such as "Optimizer.step#" has its class in any scope. The engine's ranges exist since
 * PyTorch 1.10; only autograd nodes have a forward thread.
 */
static uint8_t scope_of(struct kineto_convert *convert, const struct kineto_event *event)
{
	const char *text;
	size_t nr_bytes;
	uint32_t name;

	if (event->category != KINETO_RANGE) {
		return event->numbers[KINETO_forward_thread] ? OP_TORCH_BACKWARD : 0;
	}
	text = kineto_json_text(&convert->json, event->name, &nr_bytes);
	name = string_pool_intern(text, nr_bytes);
	return op_class(name, GPROF_FRAMEWORK_TORCH, 0) == OP_OTHER ? OP_TORCH_USER
								    : OP_TORCH_ANNOTATION;
}

static bool is_convolution(const struct kineto_convert *convert, const struct kineto_event *event)
{
	static const char prefix[] = "aten::conv";
	const struct kineto_json *json = &convert->json;

	return kineto_json_length(json, event->name) >= sizeof(prefix) - 1 &&
	       !memcmp(json->bytes + json->tokens[event->name].start, prefix, sizeof(prefix) - 1);
}

/* Returns 0 if the event has none. */
static uint32_t stack_of(struct kineto_convert *convert, const struct kineto_event *event)
{
	size_t nr_bytes;
	const char *text;

	if (!event->stack) {
		return 0;
	}
	text = kineto_json_text(&convert->json, event->stack, &nr_bytes);
	return kineto_python_text(&convert->python, convert->out, text, nr_bytes);
}

void kineto_convert_op(struct kineto_convert *convert, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&convert->threads, &convert->json, event);
	uint32_t name = kineto_convert_string(convert, event->name), shape = 0;
	uint32_t py_stack = stack_of(convert, event);
	struct kineto_row *row;

	if (event->dims) {
		const struct kineto_inputs inputs = {.dims = event->dims,
			.types = event->types,
			.lists = is_convolution(convert, event) ? event->concrete : 0};

		shape = kineto_shapes_id(&convert->shapes, &convert->json, &inputs, convert->out);
	}
	row = add_row(convert, event, GPROF_TABLE_op);
	row->thread = thread;
	row->op.name = name;
	row->op.shape = shape;
	if (kineto_has(event, KINETO_sequence)) {
		row->op.sequence = event->numbers[KINETO_sequence] + 1;
	}
	row->op.py_stack = py_stack;
	row->op.forward_thread = narrow(event, KINETO_forward_thread);
	row->source = GPROF_FRAMEWORK_TORCH;
	row->kind = scope_of(convert, event);
	row->op.is_step = is_step(convert, event);
	row->op.is_mark = row->op.is_step && !kineto_has(event, KINETO_external);
	if (add_step(convert, event, thread) && convert->dialect == KINETO_OLD_TORCH) {
		row->kind = OP_TORCH_USER;
	}
}

/* The event is in the row of its thread's functions. */
static void add_collection(
	struct kineto_convert *convert, struct kineto_event *event, uint8_t generation)
{
	struct kineto_row *row;
	uint32_t thread;

	if (kineto_has(event, KINETO_thread)) {
		event->numbers[KINETO_tid] = event->numbers[KINETO_thread];
	}
	thread = kineto_threads_id(&convert->threads, &convert->json, event);
	row = add_row(convert, event, GPROF_TABLE_py_gc);
	row->thread = thread;
	row->kind = generation;
	row->collection.collected = event->numbers[KINETO_collected];
	row->collection.uncollectable = event->numbers[KINETO_uncollectable];
}

/*
 * Modules are operators with a nesting of their own. gprof's own timelines have collections of
 * garbage among the functions that these interrupt. All others are Python calls.
 */
static void add_python(struct kineto_convert *convert, struct kineto_event *event)
{
	size_t nr_bytes;
	const char *name = kineto_json_text(&convert->json, event->name, &nr_bytes);
	struct kineto_row *row;
	uint32_t thread, id;
	uint8_t generation;

	if (op_collection_read(name, nr_bytes, &generation)) {
		add_collection(convert, event, generation);
		return;
	}
	thread = kineto_threads_id(&convert->threads, &convert->json, event);
	if (nr_bytes > 11 && !memcmp(name, "nn.Module: ", 11)) {
		id = import_out_string(convert->out, name, nr_bytes);
		row = add_row(convert, event, GPROF_TABLE_op);
		row->op.name = id;
		row->source = GPROF_FRAMEWORK_PYTHON;
		row->kind = GPROF_PYTHON_MODULE;
	} else {
		bool is_builtin = nr_bytes && *name == '<';

		id = kineto_python_code(&convert->python, convert->out, name, nr_bytes);
		row = add_row(convert, event, GPROF_TABLE_py_call);
		row->py_call.code = id;
		row->py_call.is_builtin = is_builtin;
	}
	row->thread = thread;
}

/* The table of a call depends on its name alone, so each name is looked at once. */
static uint8_t call_table(struct kineto_convert *convert, uint32_t name, int token)
{
	if (name >= convert->nr_call_tables) {
		size_t nr = 2 * (size_t)name + 64;

		convert->call_tables = mem_resize(convert->call_tables, nr, 1);
		memset(convert->call_tables + convert->nr_call_tables, 0,
			nr - convert->nr_call_tables);
		convert->nr_call_tables = nr;
	}
	if (!convert->call_tables[name]) {
		const char *text = convert->json.bytes + convert->json.tokens[token].start;
		size_t nr_bytes = kineto_json_length(&convert->json, token);

		convert->call_tables[name] = import_call_table(text, nr_bytes);
		if (memmem(text, nr_bytes, "Async", 5)) {
			convert->call_tables[name] |= IS_ASYNC;
		}
	}
	return convert->call_tables[name];
}

static uint8_t api_of(const struct kineto_convert *convert, const struct kineto_event *event)
{
	const struct kineto_json *json = &convert->json;

	if (event->category != KINETO_LIBRARY) {
		return event->category == KINETO_DRIVER ? GPROF_API_DRIVER : GPROF_API_RUNTIME;
	}
	return kineto_json_length(json, event->name) > 4 &&
			       !memcmp(json->bytes + json->tokens[event->name].start, "nccl", 4)
		       ? GPROF_API_NCCL
		       : GPROF_API_THREAD;
}

/* MTIA repeats a synchronization on a row of the device. */
static bool is_of_device(const struct kineto_event *event)
{
	return kineto_has(event, KINETO_device) && kineto_has(event, KINETO_pid) &&
	       event->numbers[KINETO_device] == event->numbers[KINETO_pid];
}

void kineto_convert_call(struct kineto_convert *convert, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&convert->threads, &convert->json, event);
	uint32_t name = kineto_convert_string(convert, event->name);
	uint32_t call = import_out_call(convert->out, name, api_of(convert, event));
	uint8_t table = call_table(convert, name, event->name);
	uint32_t py_stack = stack_of(convert, event);
	struct kineto_row *row = add_row(convert, event, table & (uint8_t)~IS_ASYNC);

	if (convert->dialect != KINETO_ASCEND) {
		kineto_foreign_see_call(
			&convert->foreign, kineto_threads_key(&convert->json, event).pid);
	}
	row->thread = thread;
	row->call.is_async = (table & IS_ASYNC) != 0;
	row->call.call = (uint16_t)call;
	row->call.correlation = correlation_of(convert, event);
	row->call.py_stack = py_stack;
}

static void add_alloc(struct kineto_convert *convert, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&convert->threads, &convert->json, event);
	struct kineto_row *row = add_row(convert, event, GPROF_TABLE_alloc);

	row->thread = thread;
	row->alloc.address = event->numbers[KINETO_address];
	row->alloc.bytes = event->size;
	row->alloc.framework = GPROF_FRAMEWORK_TORCH;
	row->alloc.allocated = event->numbers[KINETO_allocated];
	row->alloc.reserved = event->numbers[KINETO_reserved];
	row->kind = (uint8_t)event->numbers[KINETO_device_type];
	row->source = event->device_id < 0 ? 0 : (uint8_t)event->device_id;
}

/* ---- complete and instant events ---- */

/*
 * Counts an event whose kind is unknown: insights of MTIA, a range with performance
 * counters, or of another program.
 */
static void count_kind(struct kineto_convert *convert, const struct kineto_event *event)
{
	struct kineto_unread kind = {.name = "(none)"};
	size_t i = 0;

	if (event->kind) {
		size_t nr_bytes;
		const char *text = kineto_json_text(&convert->json, event->kind, &nr_bytes);

		nr_bytes = nr_bytes < sizeof(kind.name) ? nr_bytes : sizeof(kind.name) - 1;
		memcpy(kind.name, text, nr_bytes);
		kind.name[nr_bytes] = '\0';
		for (char *c = kind.name; *c; c++) {
			*c = isalnum((unsigned char)*c) || strchr("_-.:/ ", *c) ? *c : '?';
		}
	}
	while (i < convert->nr_kinds && strcmp(convert->kinds[i].name, kind.name) != 0) {
		i++;
	}
	if (i == KINETO_KINDS_MAX) {
		convert->kinds[--i].nr_events++;
		strcpy(convert->kinds[i].name, "others");
		return;
	}
	if (i == convert->nr_kinds) {
		convert->kinds[convert->nr_kinds++] = kind;
	}
	convert->kinds[i].nr_events++;
}

/* GPU ranges repeat ranges of the host, which are operators here, and are only counted. */
static void add_span(struct kineto_convert *convert, struct kineto_event *event)
{
	uint64_t end;

	if (event->category == KINETO_NONE && (convert->dialect == KINETO_USUAL || event->kind)) {
		count_kind(convert, event);
		return;
	}
	if (!event->has_begin || !event->has_dur || !event->name ||
		__builtin_add_overflow(event->begin, event->dur, &end)) {
		convert->nr_incomplete++;
		return;
	}
	switch (event->category) {
	case KINETO_NONE:
		kineto_dialect_add(convert, event);
		break;
	case KINETO_OP:
	case KINETO_RANGE:
		kineto_convert_op(convert, event);
		break;
	case KINETO_RUNTIME:
	case KINETO_DRIVER:
	case KINETO_LIBRARY:
		if (is_of_device(event)) {
			convert->nr_other++;
		} else {
			kineto_convert_call(convert, event);
		}
		break;
	case KINETO_KERNEL:
		if (kineto_json_is(&convert->json, event->name, "event_wait", 10)) {
			convert->nr_other++; /* MTIA: a stream waits, and computes nothing */
		} else {
			add_kernel(convert, event);
		}
		break;
	case KINETO_MEMCPY:
		add_memcpy(convert, event);
		break;
	case KINETO_MEMSET:
		add_memset(convert, event);
		break;
	case KINETO_SYNC:
		add_sync(convert, event);
		break;
	case KINETO_PYTHON:
		add_python(convert, event);
		break;
	case KINETO_OVERHEAD:
		add_overhead(convert, event);
		break;
	case KINETO_GPU_RANGE:
		convert->nr_gpu_ranges++;
		break;
	default:
		convert->nr_other++;
		break;
	}
}

static void add_instant(struct kineto_convert *convert, struct kineto_event *event)
{
	if (!event->name || !kineto_json_is(&convert->json, event->name, "[memory]", 8)) {
		if (event->kind && event->category == KINETO_NONE) {
			count_kind(convert, event);
		} else {
			convert->nr_other++; /* marks of the profiler's own */
		}
		return;
	}
	if (!event->has_begin) {
		convert->nr_incomplete++;
		return;
	}
	event->dur = 0;
	add_alloc(convert, event);
}

/* ---- begin and end events ---- */

/* A begin of an unknown kind waits without a text, so that its end pairs with nothing else. */
static void add_begin(struct kineto_convert *convert, const struct kineto_event *event)
{
	uint32_t thread = kineto_threads_id(&convert->threads, &convert->json, event);
	bool is_kept = event->category != KINETO_NONE;
	const jsmntok_t *all = &convert->json.tokens[0];

	if (!is_kept) {
		count_kind(convert, event);
	}
	if (!kineto_pairs_begin(&convert->pairs, thread,
		    is_kept ? convert->json.bytes + all->start : NULL,
		    (size_t)(all->end - all->start), kineto_rows_order(&convert->rows))) {
		convert->nr_pairs += is_kept;
	}
}

static void add_end(struct kineto_convert *convert, const struct kineto_event *end)
{
	uint32_t thread = kineto_threads_id(&convert->threads, &convert->json, end);
	struct kineto_begin begin;
	struct kineto_event event;

	if (!kineto_pairs_end(&convert->pairs, thread, &begin)) {
		convert->nr_pairs += end->category != KINETO_NONE;
		convert->nr_other += end->category == KINETO_NONE;
		return;
	}
	if (begin.text && kineto_json_parse(&convert->json, begin.text, begin.nr_bytes) &&
		kineto_event_read(&convert->json, &event)) {
		event.has_dur = event.has_begin && end->has_begin && end->begin >= event.begin;
		event.dur = event.has_dur ? end->begin - event.begin : 0;
		convert->pair_order = begin.order;
		add_span(convert, &event);
		convert->pair_order = 0;
	}
	free(begin.text);
}

bool kineto_convert_event(struct kineto_convert *convert)
{
	struct kineto_event event;

	if (!kineto_event_read(&convert->json, &event)) {
		return false;
	}
	kineto_foreign_see_event(&convert->foreign, &convert->json, &event);
	if (convert->dialect == KINETO_USUAL) {
		kineto_dialect_find(convert, &event);
	}
	switch (event.phase) {
	case 'X':
		add_span(convert, &event);
		break;
	case 'i':
	case 'I':
		add_instant(convert, &event);
		break;
	case 'M':
		kineto_threads_name(&convert->threads, &convert->json, &event);
		break;
	case 'B':
		add_begin(convert, &event);
		break;
	case 'E':
		add_end(convert, &event);
		break;
	case 's':
	case 't':
	case 'f':
		if (event.category == KINETO_LINK) {
			kineto_dialect_link(convert, &event);
		}
		convert->nr_flows++;
		break;
	default:
		convert->nr_other++;
		break;
	}
	return true;
}
