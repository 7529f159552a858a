/* SPDX-License-Identifier: Apache-2.0 */
#include "report/op_load.h"

#include <stdlib.h>
#include <string.h>

#include "report/buf.h"
#include "report/op.h"
#include "report/op_groups.h"
#include "report/op_launch.h"
#include "report/op_sort.h"
#include "report/progress.h"
#include "report/ranges.h"

/* Work may be written one group before the call that started it, hardly more. */
#define GROUPS_AHEAD 2u

struct load {
	struct process *process;
	const struct op_load_want *want;
	struct op_groups groups;
	struct op_event *events; /* as they were read */
	size_t nr_events, capacity;
	struct op_sort sort;
	struct op_launch launch;
	uint64_t order;	       /* of the last row */
	struct ranges *ranges; /* what they are called; NULL where none are wanted */
};

static bool is_host_table(const struct load *load, unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_nvtx:
		return load->ranges != NULL;
	case GPROF_TABLE_alloc:
		return load->want->has_allocs;
	case GPROF_TABLE_op:
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		return true;
	case GPROF_TABLE_api_alloc:
	case GPROF_TABLE_api_sync:
		return load->want->has_calls || load->want->records;
	default:
		return false;
	}
}

static uint64_t host_tables(const struct load *load)
{
	uint64_t tables = 0;

	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		tables |= (uint64_t)is_host_table(load, table) << table;
	}
	return tables;
}

/* ---- rows ---- */

static struct op_event *add_event(struct load *load)
{
	load->events =
		array_grow(load->events, load->nr_events, &load->capacity, sizeof(*load->events));
	return &load->events[load->nr_events++];
}

/* The end of a span that may be anything in a damaged stream. */
static uint64_t end_of(uint64_t begin, uint64_t dur)
{
	return begin + dur < begin ? UINT64_MAX : begin + dur;
}

static void take_ops(struct load *load, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t shape_id = b->col[COL_op_op_shape][i];
		const uint32_t *shape = NULL;

		if (shape_id && shape_id <= UINT32_MAX) {
			shape = idmap_get(&load->process->op_shapes, (uint32_t)shape_id);
		}
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = OP_EVENT_OP,
			.begin = b->col[COL_op_begin][i],
			.end = end_of(b->col[COL_op_begin][i], b->col[COL_op_dur][i]),
			.value = b->col[COL_op_sequence][i],
			.thread = (uint32_t)b->col[COL_op_thread][i],
			.name = op_name(
				load->process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]),
			.shape = shape ? *shape : 0,
			.py_stack = (uint32_t)b->col[COL_op_py_stack][i],
			.depth = (uint16_t)b->col[COL_op_depth][i],
			.framework = (uint8_t)b->col[COL_op_framework][i],
			.scope = (uint8_t)b->col[COL_op_scope][i],
			.is_async = b->col[COL_op_end_thread][i] &&
				    b->col[COL_op_end_thread][i] != b->col[COL_op_thread][i]};
	}
}

static void take_allocs(struct load *load, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = OP_EVENT_ALLOC,
			.begin = b->col[COL_alloc_time][i],
			.end = b->col[COL_alloc_time][i],
			.value = b->col[COL_alloc_bytes][i],
			.address = b->col[COL_alloc_address][i],
			.thread = (uint32_t)b->col[COL_alloc_thread][i],
			.scope = (uint8_t)b->col[COL_alloc_device_type][i],
			.device = (uint8_t)b->col[COL_alloc_device][i]};
	}
}

static void take_calls(struct load *load, const struct batch *b)
{
	const uint64_t *stacks =
		b->table == GPROF_TABLE_api_launch ? b->col[COL_api_launch_py_stack] : NULL;
	bool is_whole = b->col[COL_api_result] != NULL;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t correlation = (uint32_t)b->col[COL_api_correlation][i];
		uint32_t py_stack = stacks ? (uint32_t)stacks[i] : 0;
		struct worked_entry work = {0};

		if (!op_launch_take(&load->launch, correlation, &work) && !py_stack &&
			!load->want->has_calls) {
			continue;
		}
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = OP_EVENT_WORK,
			.begin = b->col[COL_api_begin][i],
			.end = end_of(b->col[COL_api_begin][i], b->col[COL_api_dur][i]),
			.value = work.ns,
			.nr_works = work.nr_works,
			.correlation = correlation,
			.records = work.records,
			.py_stack = py_stack,
			.call = is_whole ? (uint32_t)b->col[COL_api_call][i] : 0,
			.result = is_whole ? (int32_t)b->col[COL_api_result][i] : 0,
			.table = (uint8_t)b->table,
			.thread = (uint32_t)b->col[COL_api_thread][i]};
	}
}

static void take_ranges(struct load *load, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		bool is_push = b->col[COL_nvtx_op][i] == GPROF_NVTX_PUSH;

		if (!is_push && b->col[COL_nvtx_op][i] != GPROF_NVTX_POP) {
			continue;
		}
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = is_push ? OP_EVENT_PUSH : OP_EVENT_POP,
			.begin = b->col[COL_nvtx_time][i],
			.end = b->col[COL_nvtx_time][i],
			.value = b->col[COL_nvtx_domain][i],
			.thread = (uint32_t)b->col[COL_nvtx_thread][i],
			.name = is_push ? ranges_name(load->ranges, load->process, b, i) : 0};
	}
}

static uint32_t mask_of(const struct load *load, unsigned int table)
{
	static const uint32_t alloc_mask = COL_BIT(COL_alloc_time) | COL_BIT(COL_alloc_address) |
					   COL_BIT(COL_alloc_bytes) | COL_BIT(COL_alloc_thread) |
					   COL_BIT(COL_alloc_device_type) |
					   COL_BIT(COL_alloc_device);
	uint32_t call_mask = COL_BIT(COL_api_begin) | COL_BIT(COL_api_dur) |
			     COL_BIT(COL_api_thread) | COL_BIT(COL_api_correlation);

	if (load->want->has_calls || load->want->records) {
		call_mask |= COL_BIT(COL_api_result) | COL_BIT(COL_api_call);
	}

	switch (table) {
	case GPROF_TABLE_op:
		return COL_ALL(NR_COL_op);
	case GPROF_TABLE_alloc:
		return alloc_mask;
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_api_launch:
		return call_mask | COL_BIT(COL_api_launch_py_stack);
	default:
		return call_mask;
	}
}

/* Its mask is 0 for a block that is none of the host's. */
static struct stream_request row_request(const struct load *load, size_t block)
{
	const struct stream_in *stream = load->process->stream;
	unsigned int table = stream_in_block_table(stream, block);

	return (struct stream_request){.stream = stream,
		.block = block,
		.mask = is_host_table(load, table) ? mask_of(load, table) : 0};
}

static void load_rows(struct load *load, const struct op_group *group)
{
	struct stream_in *stream = load->process->stream;

	for (size_t i = group->first; i < group->end; i++) {
		unsigned int table = stream_in_block_table(stream, i);
		uint32_t mask = row_request(load, i).mask;
		struct batch batch;

		if (!mask || stream_in_load(stream, i, mask, 0, &batch)) {
			continue;
		}
		if (table == GPROF_TABLE_op) {
			take_ops(load, &batch);
		} else if (table == GPROF_TABLE_alloc) {
			take_allocs(load, &batch);
		} else if (table == GPROF_TABLE_nvtx) {
			take_ranges(load, &batch);
		} else {
			take_calls(load, &batch);
		}
		progress_add(batch.nr_rows);
	}
}

static void load_work(struct load *load, const struct op_group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		op_launch_load(&load->launch, i);
	}
}

/* ---- in order ---- */

/* Events that are not handed out yet, the first nr in order, go to the front. */
static void keep_rest(struct load *load, size_t nr)
{
	struct op_event *rest = mem_zeroed(nr, sizeof(*rest));

	for (size_t i = 0; i < nr; i++) {
		rest[i] = load->events[load->sort.keys[i].place];
	}
	if (nr) {
		memcpy(load->events, rest, nr * sizeof(*rest));
	}
	free(rest);
	load->nr_events = nr;
}

/* Those that end after a tick, the last one first. */
static void hand_out(struct load *load, uint64_t after,
	void (*take)(void *context, const struct op_event *event), void *context)
{
	size_t nr = load->nr_events;

	op_sort_run(&load->sort, load->events, nr);
	while (nr && load->sort.keys[nr - 1].end > after) {
		take(context, &load->events[load->sort.keys[--nr].place]);
	}
	keep_rest(load, nr);
}

static bool has_rows(const struct process *process, unsigned int table)
{
	const struct stream_table *found = stream_in_table(process->stream, table);

	return found && found->nr_rows;
}

static bool has_any(const struct process *process, const struct op_load_want *want)
{
	return op_has_any(process) || has_rows(process, GPROF_TABLE_alloc) ||
	       process->py_stacks.nr || want->has_calls || want->records ||
	       (want->has_ranges && has_rows(process, GPROF_TABLE_nvtx));
}

/* Reads what domains and registered strings are called, which stands before their first use. */
static void name_ranges(struct load *load)
{
	struct stream_in *stream = load->process->stream;

	load->ranges = ranges_create();
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_in_block_table(stream, i) == GPROF_TABLE_nvtx &&
			!stream_in_load(stream, i, RANGES_MASK, 0, &batch)) {
			ranges_take_names(load->ranges, load->process, &batch);
		}
	}
}

static void hand_out_lone(
	struct load *load, void (*take)(void *context, const struct op_event *event), void *context)
{
	if (load->launch.lone) {
		const struct op_event lone = {.kind = OP_EVENT_LONE, .records = load->launch.lone};

		load->launch.lone = 0;
		take(context, &lone);
	}
}

/* What is loaded of a group: device work, or what the host did. */
struct part {
	size_t group;
	bool is_host;
};

/* The order in which parts are loaded; there are two a group. */
static size_t plan(const struct load *load, struct part *parts)
{
	size_t nr = 0, worked = load->groups.nr; /* groups from here on have had their work */

	for (size_t i = load->groups.nr; i-- > 0;) {
		while (worked > 0 && worked + GROUPS_AHEAD > i) {
			parts[nr++] = (struct part){.group = --worked};
		}
		parts[nr++] = (struct part){.group = i, .is_host = true};
	}
	return nr;
}

static void expect_parts(const struct load *load, const struct part *parts, size_t nr_parts)
{
	size_t nr = 0;
	/* One more, for what turns out to be no request. */
	struct stream_request *requests =
		mem_zeroed(load->process->stream->nr_blocks + 1, sizeof(*requests));

	for (size_t k = 0; k < nr_parts; k++) {
		const struct op_group *group = &load->groups.items[parts[k].group];

		for (size_t i = group->first; i < group->end; i++) {
			requests[nr] = parts[k].is_host ? row_request(load, i)
							: op_launch_request(&load->launch, i);
			nr += requests[nr].mask != 0;
		}
	}
	stream_in_expect(requests, nr);
	free(requests);
}

void op_load_run(struct process *process, const struct op_load_want *want,
	void (*take)(void *context, const struct op_event *event), void *context)
{
	struct load load = {.process = process, .want = want};
	struct part *parts;
	size_t nr_parts;

	if (!has_any(process, want)) {
		return;
	}
	if (want->has_ranges) {
		name_ranges(&load);
	}
	op_launch_init(&load.launch, process, want->records);
	op_groups_find(&load.groups, process->stream, host_tables(&load));
	parts = mem_zeroed(2 * load.groups.nr, sizeof(*parts));
	nr_parts = plan(&load, parts);
	expect_parts(&load, parts, nr_parts);
	for (size_t i = 0; i < nr_parts; i++) {
		size_t group = parts[i].group;

		if (!parts[i].is_host) {
			load_work(&load, &load.groups.items[group]);
			hand_out_lone(&load, take, context);
			continue;
		}
		load.order = (uint64_t)group << 32;
		load_rows(&load, &load.groups.items[group]);
		hand_out(&load, group ? load.groups.items[group - 1].last_tick : 0, take, context);
	}
	hand_out(&load, 0, take, context);
	for (size_t i = load.nr_events; i-- > 0;) { /* at tick 0 */
		take(context, &load.events[i]);
	}
	op_launch_end(&load.launch);
	hand_out_lone(&load, take, context);
	ranges_destroy(load.ranges);
	free(parts);
	op_groups_fini(&load.groups);
	free(load.events);
	op_sort_fini(&load.sort);
	op_launch_fini(&load.launch);
}

uint64_t op_load_nr_rows(const struct process *process, const struct op_load_want *want)
{
	uint64_t nr_rows = 0;

	for (size_t i = 0; has_any(process, want) && i < process->stream->nr_blocks; i++) {
		nr_rows += process->stream->blocks[i].nr_rows;
	}
	return nr_rows;
}
