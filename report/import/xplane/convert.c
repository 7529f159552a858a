/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xplane.c hands over one plane after the other, those of devices first. Lines of a GPU are
 * streams, lines of /host: planes are threads; every event that is kept becomes a row of
 * kineto/rows.h, which sorts them. XLA writes arguments as words of a text ("size:65536 async:1"),
 * so most numbers are searched in texts. The HLO operation of an activity is kept by its
 * correlation ID until the host's plane has the call, and becomes an operator around that
 * (keep_hlo, add_call).
 */
#include "report/import/xplane/convert.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/import/call.h"
#include "report/model/api.h"
#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/util/text.h"

#define NAME_BYTES 64u
/* How the names of planes of devices begin. */
#define DEVICE "/device:"
/* The most threads with an id of their own; all others share the last one. */
#define MAX_THREADS (1u << 20)

struct xplane_thread {
	int64_t line;
	uint32_t id;   /* counts from 1 */
	uint64_t seen; /* ns */
	char name[NAME_BYTES];
	UT_hash_handle hh;
};

void xplane_convert_init(struct xplane_convert *convert, struct import_out *out)
{
	*convert = (struct xplane_convert){.out = out, .first_ns = UINT64_MAX};
	idmap_init(&convert->hlo, sizeof(uint32_t));
}

void xplane_convert_fini(struct xplane_convert *convert)
{
	kineto_rows_fini(&convert->rows);
	kineto_python_fini(&convert->python);
	import_steps_fini(&convert->steps);
	import_steps_fini(&convert->device_steps);
	hash_free(convert->threads);
	idmap_fini(&convert->hlo);
}

static uint32_t string_of(struct xplane_convert *convert, const struct wire *text)
{
	return import_out_string(convert->out, (const char *)text->at, wire_length(text));
}

static void count_unread(struct xplane_convert *convert, const char *what, const struct wire *name)
{
	struct xplane_unread unread = {.nr_events = 0};
	size_t i = 0;

	snprintf(unread.name, sizeof(unread.name), "%s %.*s", what,
		(int)(wire_length(name) < sizeof(unread.name) ? wire_length(name)
							      : sizeof(unread.name)),
		wire_length(name) ? (const char *)name->at : "");
	for (char *c = unread.name; *c; c++) {
		*c = isalnum((unsigned char)*c) || strchr("_-.:/# ", *c) ? *c : '?';
	}
	while (i < convert->nr_unread && strcmp(convert->unread[i].name, unread.name) != 0) {
		i++;
	}
	if (i == XPLANE_UNREAD_MAX) {
		strcpy(convert->unread[--i].name, "other kinds");
	} else if (i == convert->nr_unread) {
		convert->unread[convert->nr_unread++] = unread;
	}
	convert->unread[i].nr_events++;
}

static struct kineto_row *add_row(
	struct xplane_convert *convert, const struct xplane_event *event, uint8_t table)
{
	struct kineto_row *row = kineto_rows_add(&convert->rows);

	row->table = table;
	row->begin = event->begin;
	row->end = event->end;
	convert->first_ns = row->begin < convert->first_ns ? row->begin : convert->first_ns;
	convert->last_ns = row->end > convert->last_ns ? row->end : convert->last_ns;
	return row;
}

/* Returns a stat that fits into 32 bits, else 0. */
static uint32_t narrow(const struct xplane_event *event, enum xplane_stat stat)
{
	uint64_t value = xplane_number(&event->stats, stat);

	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Returns 65536 of "num_bytes:65536" in the details of an event; 0 if there is none. */
static uint64_t detail(const struct wire *details, const char *key)
{
	uint64_t value = 0;

	xplane_find_number(details, key, &value);
	return value;
}

/* ---- devices ---- */

/* A device and one of its lines. */
struct device_line {
	uint32_t device;
	uint32_t stream;
};

/* Returns 1 of "$$1". */
static uint32_t context_of(const struct xplane_event *event)
{
	struct wire text = xplane_text(&event->stats, XPLANE_context_id);

	return (uint32_t)detail(&text, "$$");
}

static struct kineto_row *add_activity(struct xplane_convert *convert,
	const struct xplane_event *event, const struct device_line *line, uint8_t table)
{
	uint32_t place =
		import_out_place(convert->out, line->device, context_of(event), line->stream);
	struct kineto_row *row = add_row(convert, event, table);

	row->activity.place = place;
	row->activity.correlation = narrow(event, XPLANE_correlation_id);
	row->activity.graph = narrow(event, XPLANE_cuda_graph_id);
	row->activity.graph_node = xplane_number(&event->stats, XPLANE_cuda_graph_node_id);
	return row;
}

/* Reads the three numbers after a key such as "grid:". */
static void read_three(const struct wire *details, const char *key, uint32_t three[3])
{
	struct wire rest = *details;
	const unsigned char *at = wire_find(&rest, key);

	rest.at = at ? at + strlen(key) : rest.end;
	for (int i = 0; i < 3; i++) {
		three[i] = (uint32_t)detail(&rest, "");
		at = wire_find(&rest, ",");
		rest.at = at ? at + 1 : rest.end;
	}
}

/* "regs:32 static_shared:0 dynamic_shared:0 grid:128,1,1 block:128,1,1 occ_pct:100" */
static uint32_t shape_of(struct xplane_convert *convert, const struct xplane_event *event)
{
	struct wire details = xplane_text(&event->stats, XPLANE_kernel_details);
	struct gprof_row_shape shape;
	uint32_t grid[3], block[3];

	memset(&shape, 0, sizeof(shape)); /* its padding is part of the key */
	read_three(&details, "grid:", grid);
	read_three(&details, "block:", block);
	shape.name = string_of(convert, &event->name);
	shape.grid_x = grid[0];
	shape.grid_y = grid[1];
	shape.grid_z = grid[2];
	shape.block_x = block[0];
	shape.block_y = block[1];
	shape.block_z = block[2];
	shape.registers = (uint32_t)detail(&details, "regs:");
	shape.static_shared_bytes = (uint32_t)detail(&details, "static_shared:");
	shape.dynamic_shared_bytes = (uint32_t)detail(&details, "dynamic_shared:");
	return import_out_shape(convert->out, &shape);
}

/* Returns the kind of memory after a key of the details, as XLA names it: "kind_src:pinned". */
static uint8_t memory_after(const struct wire *details, const char *key)
{
	static const char *const names[] = {"pageable", "pinned", "device", "array", "managed",
		"device_static", "managed_static"};
	const unsigned char *at = wire_find(details, key), *end;

	if (!at) {
		return API_MEMORY_UNKNOWN;
	}
	at += strlen(key);
	end = memchr(at, ' ', (size_t)(details->end - at));
	end = end ? end : details->end;
	for (uint8_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (text_is((const char *)at, (size_t)(end - at), names[i])) {
			return i + 1; /* CUPTI's numbers */
		}
	}
	return API_MEMORY_UNKNOWN;
}

static uint8_t copy_kind_of(const struct wire *name)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} kinds[] = {{"MemcpyH2D", API_COPY_HTOD}, {"MemcpyD2H", API_COPY_DTOH},
		{"MemcpyD2D", API_COPY_DTOD}, {"MemcpyP2P", API_COPY_PTOP}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (xplane_is(name, kinds[i].name)) {
			return kinds[i].kind;
		}
	}
	return 0;
}

/* Keeps the HLO operation of an activity, "jit_step/loop_add_fusion", for its launch. */
static void keep_hlo(struct xplane_convert *convert, const struct xplane_event *event)
{
	struct wire module = xplane_text(&event->stats, XPLANE_hlo_module);
	struct wire op = xplane_text(&event->stats, XPLANE_hlo_op);
	uint32_t correlation = narrow(event, XPLANE_correlation_id), *name;
	struct buf text = {0};

	if (!correlation || !wire_length(&op)) {
		return;
	}
	if (wire_length(&module)) {
		buf_add(&text, module.at, wire_length(&module));
		buf_char(&text, '/');
	}
	buf_add(&text, op.at, wire_length(&op));
	name = idmap_put(&convert->hlo, correlation);
	*name = import_out_string(convert->out, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

/* The stats of an event tell what it is; all that remain are kernels. */
static void add_device_event(struct xplane_convert *convert, const struct xplane_event *event,
	const struct device_line *line)
{
	struct wire details = {0};
	struct kineto_row *row;
	uint32_t shape;

	if (xplane_has(&event->stats, XPLANE_memcpy_details)) {
		details = xplane_text(&event->stats, XPLANE_memcpy_details);
		row = add_activity(convert, event, line, GPROF_TABLE_memcpy);
		row->kind = copy_kind_of(&event->name);
		row->source = memory_after(&details, "kind_src:");
		row->target = memory_after(&details, "kind_dst:");
		row->activity.bytes = detail(&details, "size:");
	} else if (xplane_has(&event->stats, XPLANE_Memset_details)) {
		details = xplane_text(&event->stats, XPLANE_Memset_details);
		row = add_activity(convert, event, line, GPROF_TABLE_memset);
		row->target = memory_after(&details, "kind:");
		row->activity.bytes = detail(&details, "num_bytes:");
	} else if (xplane_has(&event->stats, XPLANE_memalloc_details) ||
		   xplane_has(&event->stats, XPLANE_MemFree_details) ||
		   xplane_has(&event->stats, XPLANE_MemoryResidency_details) ||
		   xplane_begins(&event->name, "UM_")) { /* counters of unified memory */
		count_unread(convert, "kind", &event->name);
		return;
	} else if (xplane_has(&event->stats, XPLANE_cuda_graph_exec_id)) {
		add_activity(convert, event, line, GPROF_TABLE_graph)->activity.graph =
			narrow(event, XPLANE_cuda_graph_exec_id);
	} else {
		shape = shape_of(convert, event);
		add_activity(convert, event, line, GPROF_TABLE_kernel)->activity.shape = shape;
	}
	keep_hlo(convert, event);
}

static bool is_complete(struct xplane_convert *convert, const struct xplane_event *event)
{
	bool is_good = event->has_time && !event->is_aggregate && wire_length(&event->name);

	convert->nr_incomplete += !is_good;
	return is_good;
}

static void add_overhead(struct xplane_convert *convert, const struct xplane_event *event)
{
	/* CUPTI's own kinds are in the upper half; see api_overhead_name. */
	static const struct {
		const char *name;
		uint32_t kind;
	} kinds[] = {{"COMPILER", 1}, {"BUFFER_FLUSH", 1u << 16}, {"INSTRUMENTATION", 2u << 16},
		{"RESOURCE", 3u << 16}};
	struct kineto_row *row = add_row(convert, event, GPROF_TABLE_overhead);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (xplane_is(&event->name, kinds[i].name)) {
			row->activity.shape = kinds[i].kind;
		}
	}
}

/* Reads the activities of a stream of a GPU. */
static void read_stream(struct xplane_convert *convert, struct xplane_plane *plane,
	struct xplane_line *line, uint32_t device)
{
	struct device_line at = {
		.device = device, .stream = line->id <= UINT32_MAX ? (uint32_t)line->id : 0};
	bool is_overhead = xplane_is(&line->name, "CUPTI overhead");
	struct xplane_event event;

	while (xplane_event_next(plane, line, &event)) {
		if (!is_complete(convert, &event)) {
			continue;
		}
		if (is_overhead) {
			add_overhead(convert, &event);
		} else {
			add_device_event(convert, &event, &at);
		}
	}
}

/*
 * Reads the operations of a device other than a GPU, which come in order of their begins. One that
 * contains others, such as a loop, is left out, so that no time counts twice.
 */
static void read_ops(struct xplane_convert *convert, struct xplane_plane *plane,
	struct xplane_line *line, uint32_t device)
{
	struct device_line at = {
		.device = device, .stream = line->id <= UINT32_MAX ? (uint32_t)line->id : 0};
	struct xplane_event events[2];
	unsigned int last = 0;
	bool has_last = false;

	while (xplane_event_next(plane, line, &events[!last])) {
		struct xplane_event *event = &events[!last];

		if (!is_complete(convert, event)) {
			continue;
		}
		if (wire_length(&event->display_name)) { /* the name is the whole HLO instruction */
			event->name = event->display_name;
		}
		if (has_last && event->begin < events[last].end && event->end <= events[last].end) {
			convert->nr_derived++;
		} else if (has_last) {
			add_device_event(convert, &events[last], &at);
		}
		has_last = true;
		last = !last;
	}
	if (has_last) {
		add_device_event(convert, &events[last], &at);
	}
}

/* Reads steps that XLA's tools have put on a device; they count where the host has none. */
static void read_device_steps(
	struct xplane_convert *convert, struct xplane_plane *plane, struct xplane_line *line)
{
	struct xplane_event event;
	uint64_t number;

	while (xplane_event_next(plane, line, &event)) {
		if (is_complete(convert, &event) && xplane_find_number(&event.name, "", &number)) {
			import_steps_add(&convert->device_steps, event.begin, event.end, number, 1);
		}
	}
}

/* Returns the number of a device if the text is the prefix and digits, else -1. */
static int64_t device_number(const struct wire *text, const char *prefix)
{
	uint64_t number;
	char again[64];

	if (!xplane_begins(text, prefix) || !xplane_find_number(text, prefix, &number) ||
		number >= UINT32_MAX) {
		return -1;
	}
	snprintf(again, sizeof(again), "%s%llu", prefix, (unsigned long long)number);
	return xplane_is(text, again) ? (int64_t)number : -1;
}

static void skip_line(struct xplane_convert *convert, struct xplane_plane *plane,
	struct xplane_line *line, const char *what, const struct wire *name)
{
	struct xplane_event event;

	while (xplane_event_next(plane, line, &event)) {
		count_unread(convert, what, name);
	}
}

static void write_device(
	struct xplane_convert *convert, const struct xplane_plane *plane, uint32_t device)
{
	static const struct {
		enum xplane_stat stat;
		const char *name;
		uint32_t divisor;
	} attributes[] = {
		{XPLANE_memory_size, "memory_bytes", 1},
		{XPLANE_compute_cap_major, "capability_major", 1},
		{XPLANE_compute_cap_minor, "capability_minor", 1},
		{XPLANE_core_count, "multiprocessors", 1},
		{XPLANE_clock_rate, "core_clock_khz", 1},
		{XPLANE_memory_bandwidth, "memory_bandwidth_kb_per_s", 1000},
	};
	struct wire name = xplane_text(&plane->stats, XPLANE_gpu_device_name);
	struct gprof_row_device *row;
	uint32_t text;

	if (!wire_length(&name)) {
		name = xplane_text(&plane->stats, XPLANE_device_type_string);
	}
	if (!wire_length(&name)) { /* "GPU:0" of "/device:GPU:0" */
		name = wire_of(plane->name.at + strlen(DEVICE),
			wire_length(&plane->name) - strlen(DEVICE));
	}
	text = string_of(convert, &name);
	row = import_out_row(convert->out, GPROF_TABLE_device);
	row->id = device;
	row->name = text;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		uint64_t value = plane->stats.values[attributes[i].stat].number;

		if (xplane_has(&plane->stats, attributes[i].stat)) {
			import_out_attribute(convert->out, device, attributes[i].name,
				value / attributes[i].divisor);
		}
	}
}

static bool is_one_of(const struct wire *text, const char *const *names)
{
	while (*names && !xplane_is(text, *names)) {
		names++;
	}
	return *names != NULL;
}

static void read_device(struct xplane_convert *convert, struct xplane_plane *plane, int64_t gpu,
	int64_t other_device)
{
	/* XLA's tools add these: the same time again, by other names. */
	static const char *const derived[] = {"XLA Modules", "Framework Name Scope",
		"Framework Ops", "Launch Stats", "Source code", "Source", "XLA Ops",
		"Async XLA Ops", "XLA TraceMe", "Tensorflow Name Scope", "TensorFlow Name Scope",
		"TensorFlow Ops", NULL};
	static const char *const ops[] = {"XLA Ops", "Async XLA Ops", NULL};
	uint32_t device = (uint32_t)(gpu >= 0 ? gpu : other_device);

	write_device(convert, plane, device);
	for (size_t i = 0; i < plane->nr_lines; i++) {
		struct xplane_line line;
		struct xplane_event event;

		xplane_line_init(plane, &line, &plane->lines[i]);
		if (xplane_is(&line.name, "Steps")) {
			read_device_steps(convert, plane, &line);
		} else if (gpu < 0 && is_one_of(&line.name, ops)) {
			read_ops(convert, plane, &line, device);
		} else if (is_one_of(&line.name, derived)) {
			while (xplane_event_next(plane, &line, &event)) {
				convert->nr_derived++;
			}
		} else if (gpu >= 0 && !xplane_is(&line.name, "_counters_")) {
			read_stream(convert, plane, &line, device);
		} else {
			skip_line(convert, plane, &line, "line", &line.name);
		}
	}
}

/* ---- the host ---- */

/* Copies "py_xla_execute/-2502482716076989672" without XLA's number. */
static void copy_name(char name[NAME_BYTES], const struct wire *text)
{
	const unsigned char *slash = memrchr(text->at, '/', wire_length(text));
	size_t nr_bytes =
		slash && slash > text->at ? (size_t)(slash - text->at) : wire_length(text);

	if (nr_bytes >= NAME_BYTES) {
		nr_bytes = NAME_BYTES - 1;
		while (nr_bytes && (text->at[nr_bytes] & 0xc0) == 0x80) {
			nr_bytes--; /* not within a character of UTF-8 */
		}
	}
	memcpy(name, text->at, nr_bytes);
	name[nr_bytes] = '\0';
}

/* Returns the thread of a line: lines of several planes with one id are one thread. */
static struct xplane_thread *thread_of(
	struct xplane_convert *convert, const struct xplane_line *line)
{
	struct xplane_thread *thread;

	HASH_FIND(hh, convert->threads, &line->id, sizeof(line->id), thread);
	if (!thread) {
		thread = mem_zeroed(1, sizeof(*thread));
		thread->line = line->id;
		thread->id =
			convert->nr_threads < MAX_THREADS ? ++convert->nr_threads : MAX_THREADS;
		thread->seen = UINT64_MAX;
		HASH_ADD(hh, convert->threads, line, sizeof(thread->line), thread);
	}
	if (!*thread->name && wire_length(&line->name)) {
		copy_name(thread->name, &line->name);
	}
	return thread;
}

void xplane_threads_write(struct xplane_convert *convert)
{
	struct xplane_thread *thread, *next;

	HASH_ITER(hh, convert->threads, thread, next)
	{
		uint32_t text = import_out_string(convert->out, thread->name, strlen(thread->name));
		struct gprof_row_thread *row = import_out_row(convert->out, GPROF_TABLE_thread);

		row->tick = thread->seen == UINT64_MAX ? 0 : thread->seen;
		row->thread = thread->id;
		row->tid =
			thread->line > 0 && thread->line <= UINT32_MAX ? (uint32_t)thread->line : 0;
		row->name = text;
		row->what = GPROF_THREAD_SEEN;
	}
}

static void add_op(struct xplane_convert *convert, const struct xplane_event *event,
	uint32_t thread, uint32_t name, uint8_t scope)
{
	struct kineto_row *row = add_row(convert, event, GPROF_TABLE_op);

	row->thread = thread;
	row->op.name = name;
	row->source = GPROF_FRAMEWORK_XLA;
	row->kind = scope;
	/* JAX 0.10 has each call of a compiled function twice, one within the other. */
	row->op.is_once = xplane_begins(&event->name, "PjitFunction(");
}

/* "cuLaunchKernel": a function of the driver, unlike the name of a kernel. */
static bool is_function(const struct wire *name)
{
	return wire_length(name) > 2 && xplane_begins(name, "cu") && isupper(name->at[2]);
}

/* XLA names the call of a launch by its kernel, and a copy by its direction. */
static void add_call(
	struct xplane_convert *convert, const struct xplane_event *event, uint32_t thread)
{
	bool is_copy = xplane_has(&event->stats, XPLANE_memcpy_details);
	bool is_set = xplane_has(&event->stats, XPLANE_Memset_details);
	struct wire details =
		xplane_text(&event->stats, is_copy ? XPLANE_memcpy_details : XPLANE_Memset_details);
	struct wire name = event->name;
	uint32_t correlation = narrow(event, XPLANE_correlation_id), call, *hlo;
	uint8_t table = GPROF_TABLE_api_launch;
	struct kineto_row *row;

	if (is_function(&name)) {
		const unsigned char *end = wire_find(&name, " (CudaGraph:");

		name.end = end ? end : name.end;
		table = import_call_table((const char *)name.at, wire_length(&name));
	} else if (is_copy || is_set) {
		table = is_copy ? GPROF_TABLE_api_copy : GPROF_TABLE_api_set;
	} else if (xplane_has(&event->stats, XPLANE_memalloc_details) ||
		   xplane_has(&event->stats, XPLANE_MemFree_details) ||
		   xplane_has(&event->stats, XPLANE_MemoryResidency_details)) {
		table = GPROF_TABLE_api;
	} else {
		name = wire_of(IMPORT_CALL_LAUNCH, strlen(IMPORT_CALL_LAUNCH));
	}
	call = import_out_call(convert->out, string_of(convert, &name), GPROF_API_DRIVER);
	row = add_row(convert, event, table);
	row->thread = thread;
	row->call.call = (uint16_t)call;
	row->call.correlation = correlation;
	row->call.is_async = detail(&details, "async:") != 0;
	hlo = correlation ? idmap_get(&convert->hlo, correlation) : NULL;
	if (hlo) {
		add_op(convert, event, thread, *hlo, 0);
	}
}

/* Adds what an allocator of XLA or TensorFlow holds after an allocation or a release. */
static void add_alloc(
	struct xplane_convert *convert, const struct xplane_event *event, uint32_t thread)
{
	struct wire allocator = xplane_text(&event->stats, XPLANE_allocator_name);
	int64_t bytes = (int64_t)xplane_number(&event->stats, XPLANE_allocation_bytes);
	struct kineto_row *row = add_row(convert, event, GPROF_TABLE_alloc);
	uint64_t device;

	row->thread = thread;
	row->alloc.framework = GPROF_FRAMEWORK_XLA;
	row->alloc.address = xplane_number(&event->stats, XPLANE_addr);
	row->alloc.bytes = xplane_is(&event->name, "MemoryAllocation") ? bytes : -bytes;
	row->alloc.allocated = xplane_number(&event->stats, XPLANE_bytes_allocated);
	row->alloc.reserved = xplane_number(&event->stats, XPLANE_bytes_reserved);
	if (xplane_begins(&allocator, "GPU_") && xplane_find_number(&allocator, "GPU_", &device)) {
		row->kind = 1;
		row->source = (uint8_t)device;
	}
}

/* "$profiler.py:307 trace"; a built-in function has its module instead: "$<unknown> __exit__". */
static void add_python(
	struct xplane_convert *convert, const struct xplane_event *event, uint32_t thread)
{
	struct wire text = wire_of(event->name.at + 1, wire_length(&event->name) - 1);
	const unsigned char *blank = memchr(text.at, ' ', wire_length(&text));
	const unsigned char *colon =
		blank ? memrchr(text.at, ':', (size_t)(blank - text.at)) : NULL;
	struct buf name = {0};
	struct kineto_row *row;
	uint32_t code;

	if (colon) {
		buf_add(&name, text.at, (size_t)(colon - text.at));
		buf_char(&name, '(');
		buf_add(&name, colon + 1, (size_t)(blank - (colon + 1)));
		buf_text(&name, "): ");
		buf_add(&name, blank + 1, (size_t)(text.end - (blank + 1)));
	} else {
		buf_add(&name, text.at, wire_length(&text));
	}
	code = kineto_python_code(&convert->python, convert->out, name.bytes, name.nr_bytes);
	buf_fini(&name);
	row = add_row(convert, event, GPROF_TABLE_py_call);
	row->thread = thread;
	row->py_call.code = code;
	row->py_call.is_builtin = !colon;
}

static void add_host_event(
	struct xplane_convert *convert, const struct xplane_event *event, uint32_t thread)
{
	bool is_step = xplane_has(&event->stats, XPLANE_step_num);

	if (xplane_has(&event->stats, XPLANE_correlation_id) &&
		xplane_has(&event->stats, XPLANE_device_id)) {
		add_call(convert, event, thread);
	} else if (xplane_has(&event->stats, XPLANE_allocator_name) &&
		   (xplane_is(&event->name, "MemoryAllocation") ||
			   xplane_is(&event->name, "MemoryDeallocation"))) {
		add_alloc(convert, event, thread);
	} else if (*event->name.at == '$' && wire_length(&event->name) > 1) {
		add_python(convert, event, thread);
	} else if (event->begin == event->end) {
		convert->nr_marks++;
	} else {
		add_op(convert, event, thread, string_of(convert, &event->name),
			is_step ? GPROF_XLA_STEP : 0);
	}
	if (is_step && event->begin != event->end) {
		import_steps_add(&convert->steps, event->begin, event->end,
			xplane_number(&event->stats, XPLANE_step_num), thread);
	}
}

static void read_host(struct xplane_convert *convert, struct xplane_plane *plane)
{
	for (size_t i = 0; i < plane->nr_lines; i++) {
		struct xplane_line line;
		struct xplane_event event;
		struct xplane_thread *thread;

		xplane_line_init(plane, &line, &plane->lines[i]);
		thread = thread_of(convert, &line);
		while (xplane_event_next(plane, &line, &event)) {
			if (is_complete(convert, &event)) {
				add_host_event(convert, &event, thread->id);
				thread->seen =
					event.begin < thread->seen ? event.begin : thread->seen;
			}
		}
	}
}

/* ---- planes ---- */

bool xplane_is_device(const struct wire *name)
{
	return xplane_begins(name, DEVICE);
}

/* Writes the versions that a plane states. */
static void write_facts(struct xplane_convert *convert, const struct xplane_plane *plane)
{
	static const struct {
		enum xplane_stat stat;
		const char *key;
	} facts[] = {
		{XPLANE_jax_version, "jax.version"},
		{XPLANE_jaxlib_version, "jaxlib.version"},
		{XPLANE_cuda_runtime_version, "cuda.runtime_version"},
		{XPLANE_cuda_driver_version, "cuda.driver_version"},
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		struct wire text = xplane_text(&plane->stats, facts[i].stat);

		if (wire_length(&text)) {
			import_out_fact(convert->out, facts[i].key, (const char *)text.at,
				wire_length(&text));
		}
	}
}

void xplane_convert_plane(struct xplane_convert *convert, struct xplane_plane *plane)
{
	int64_t gpu = device_number(&plane->name, "/device:GPU:");
	int64_t tpu = device_number(&plane->name, "/device:TPU:");

	if (xplane_has(&plane->stats, XPLANE_process_id)) {
		convert->pid = xplane_number(&plane->stats, XPLANE_process_id);
	}
	if (xplane_has(&plane->stats, XPLANE_profile_start_time)) {
		convert->profile_ns = xplane_number(&plane->stats, XPLANE_profile_start_time);
	}
	write_facts(convert, plane);
	if (gpu >= 0 || tpu >= 0) {
		read_device(convert, plane, gpu, tpu);
	} else if (xplane_begins(&plane->name, "/host:")) {
		read_host(convert, plane);
	} else {
		for (size_t i = 0; i < plane->nr_lines; i++) {
			struct xplane_line line;

			xplane_line_init(plane, &line, &plane->lines[i]);
			skip_line(convert, plane, &line, "plane", &plane->name);
		}
	}
	convert->nr_bad += plane->nr_bad;
}
