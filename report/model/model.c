/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/model/model_load.h"
#include "report/stream/rings.h"

bool model_is_event(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
	case GPROF_TABLE_api_alloc:
	case GPROF_TABLE_api_sync:
	case GPROF_TABLE_kernel:
	case GPROF_TABLE_memcpy:
	case GPROF_TABLE_memset:
	case GPROF_TABLE_sync:
	case GPROF_TABLE_memory:
	case GPROF_TABLE_overhead:
	case GPROF_TABLE_graph:
	case GPROF_TABLE_untimed:
	case GPROF_TABLE_nvtx:
	case GPROF_TABLE_event:
	case GPROF_TABLE_op:
	case GPROF_TABLE_alloc:
	case GPROF_TABLE_py_call:
	case GPROF_TABLE_nccl:
		return true;
	default:
		return false;
	}
}

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

uint32_t process_shape_name(const struct process *process, uint64_t shape)
{
	const struct model_shape *found =
		shape > UINT32_MAX ? NULL : idmap_get(&process->shapes, (uint32_t)shape);

	return found ? found->name : unknown("kernel", shape);
}

struct model_place process_place(const struct process *process, uint64_t id)
{
	const struct model_place *found =
		id > UINT32_MAX ? NULL : idmap_get(&process->places, (uint32_t)id);

	return found ? *found : (struct model_place){UINT32_MAX, UINT32_MAX, UINT32_MAX};
}

uint32_t process_device_name(const struct process *process, uint32_t device)
{
	const size_t *place = idmap_get(&process->device_of, device);
	char text[32];
	int length;

	if (place && process->devices[*place - 1].name) {
		return process->devices[*place - 1].name;
	}
	length = snprintf(text, sizeof(text), "GPU %u", device);
	return string_pool_intern(text, (size_t)length);
}

uint32_t process_context_device(const struct process *process, uint32_t context)
{
	const uint32_t *device = idmap_get(&process->context_devices, context);

	return device ? *device : 0;
}

/* What rows of contexts say; of other contexts, what a place in them says. */
static void find_context_devices(struct process *process)
{
	for (size_t i = process->nr_contexts; i-- > 0;) { /* the first one holds */
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

	if (x->device != y->device) {
		return x->device < y->device ? -1 : 1;
	}
	return (x->name > y->name) - (x->name < y->name);
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

const char *process_host(const struct process *process)
{
	return process_fact(process, "host.name", "?");
}

/* The stream has the arguments with a NUL between them. */
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

/* 0: it is not known. */
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

/* ---- shapes: the name comes from the record, or from the function that was launched ---- */

static int compare_functions(const void *a, const void *b)
{
	const struct model_function *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
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

/* ---- the whole ---- */

static void count_events(struct process *process)
{
	const struct stream *stream = process->stream;

	process->first_ns = UINT64_MAX;
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		const struct stream_block *block = &stream->blocks[i];
		unsigned int table = stream_block_table(stream, i);
		struct clock_map *map = &process->host_clock;
		const struct schema_table *schema = schema_table(table);
		uint64_t first_ns, last_ns;

		if (!model_is_event(table)) {
			continue;
		}
		process->nr_events += block->nr_rows;
		if (!block->time_max) {
			continue; /* a table without times */
		}
		if (schema->columns[0].kind == GPROF_KIND_DEVTIME) {
			map = &process->device_clock;
		}
		first_ns = clock_map_time(map, block->time_min);
		last_ns = clock_map_time(map, block->time_max);
		process->first_ns = first_ns < process->first_ns ? first_ns : process->first_ns;
		process->last_ns = last_ns > process->last_ns ? last_ns : process->last_ns;
	}
}

static void free_dictionaries(struct process *process)
{
	idmap_fini(&process->strings);
	idmap_fini(&process->calls);
	idmap_fini(&process->shapes);
	idmap_fini(&process->places);
	idmap_fini(&process->threads);
	idmap_fini(&process->op_names);
	idmap_fini(&process->op_shapes);
	idmap_fini(&process->py_files);
	idmap_fini(&process->py_codes);
	idmap_fini(&process->py_stacks);
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
	free(process->facts);
	free(process->notices);
	free(process->losses);
	free(process->steps);
	free(process->windows);
}

static void load(struct process *process, struct stream *stream)
{
	*process = (struct process){.stream = stream, .rank = -1, .world = -1};
	idmap_init(&process->strings, sizeof(uint32_t));
	idmap_init(&process->calls, sizeof(struct model_call));
	idmap_init(&process->shapes, sizeof(struct model_shape));
	idmap_init(&process->places, sizeof(struct model_place));
	idmap_init(&process->threads, sizeof(struct model_thread));
	idmap_init(&process->op_names, sizeof(uint32_t));
	idmap_init(&process->op_shapes, sizeof(uint32_t));
	idmap_init(&process->py_files, sizeof(uint32_t));
	idmap_init(&process->py_codes, sizeof(struct model_py_code));
	idmap_init(&process->py_stacks, sizeof(struct model_py_stack));
	idmap_init(&process->nccl_comms, sizeof(struct model_nccl_comm));
	idmap_init(&process->device_of, sizeof(size_t));
	idmap_init(&process->fact_of, sizeof(size_t));
	idmap_init(&process->loss_of, sizeof(size_t));
	idmap_init(&process->context_devices, sizeof(uint32_t));
	model_load(process);
}

struct process *process_create(struct stream *stream)
{
	struct process *process = mem_zeroed(1, sizeof(*process));

	if (stream->is_part) {
		/* None is no error: the process may have removed it. */
		if (rings_attach_shared(stream)) {
			rings_attach_beside(stream);
		}
	}
	load(process, stream);
	clock_map_finish(&process->host_clock);
	clock_map_finish(&process->device_clock);
	find_command(process);
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
