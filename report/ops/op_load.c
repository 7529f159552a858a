/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings the rows of a process into the order that op_walk.c needs: one sequence over all threads,
 * from the last end to the first. Rows of one thread and table are in order, but the recorder
 * writes threads by turns. A checkpoint closes a group of blocks that holds a prefix of what every
 * thread did since the group before. So groups are sorted one by one, and memory holds a group and
 * the rest of the one after it.
 *
 *   file        | group 0          c| group 1          c| group 2   |       c: checkpoint
 *   loading                <------------------------------- from the last group to the first
 *   chunk of 2                           rest |<== handed out ======|
 *   chunk of 1            rest |<== handed out (with the rest of 2) |
 *                              ^ group 0's last_tick: what ended before it may still be
 *                                overtaken by rows of group 0, so it waits
 *
 * Before the host rows of a group come the activities that its calls may have launched. With
 * several CPUs a second thread makes the next chunk while the walk gets this one.
 */
#include "report/ops/op_load.h"

#include <pthread.h>
#include <stdlib.h>

#include "report/util/buf.h"
#include "report/model/os_files.h"
#include "report/model/ranges.h"
#include "report/ops/op.h"
#include "report/util/progress.h"
#include "report/stream/prefetch.h"

/* ---- rows of a group ---- */

/* Rows of host tables as events. Starts with all zeros. */
struct op_events {
	struct op_event *items;
	size_t nr, capacity;
};

struct op_rows {
	struct process *process;
	const struct op_load_want *want;
	struct op_launch *launch; /* the caller's */
	struct ranges *ranges;	  /* names of ranges; NULL if none are wanted */
	uint32_t order;		  /* of the last row; set by the caller */
};

static bool is_wanted(const struct op_rows *rows, unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_nvtx:
		return rows->ranges != NULL;
	case GPROF_TABLE_alloc:
		return rows->want->has_allocs;
	case GPROF_TABLE_graph_node:
		return rows->want->has_nodes;
	case GPROF_TABLE_py_gc:
		return rows->want->has_collections;
	case GPROF_TABLE_op:
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		return true;
	case GPROF_TABLE_api_alloc:
	case GPROF_TABLE_api_sync:
	case GPROF_TABLE_os_call:
		return rows->want->has_calls || rows->want->records;
	default:
		return false;
	}
}

/* The tables whose rows become events, a bit each. */
static table_set op_rows_tables(const struct op_rows *rows)
{
	table_set tables = 0;

	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		tables |= is_wanted(rows, table) ? table_bit(table) : 0;
	}
	return tables;
}

/* Reads the names of domains and registered strings, which precede their first use. */
static struct ranges *name_ranges(struct process *process)
{
	struct stream *stream = process->stream;
	struct ranges *ranges = ranges_create();

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_nvtx &&
			!stream_load(stream, i, RANGES_MASK, 0, &batch)) {
			ranges_add_names(ranges, process, &batch);
		}
	}
	return ranges;
}

static void op_rows_init(struct op_rows *rows, struct process *process,
	const struct op_load_want *want, struct op_launch *launch)
{
	*rows = (struct op_rows){.process = process,
		.want = want,
		.launch = launch,
		.ranges = want->has_ranges ? name_ranges(process) : NULL};
}

static void op_rows_fini(struct op_rows *rows)
{
	ranges_destroy(rows->ranges);
}

/* ---- rows ---- */

/*
 * Makes room for so many more; the caller then raises `nr`. Grows by a quarter, as the array is
 * large.
 */
static struct op_event *make_room(struct op_events *events, size_t nr_more)
{
	if (events->capacity < events->nr + nr_more) {
		events->capacity = events->nr + events->nr / 4 + nr_more;
		events->items = mem_resize(events->items, events->capacity, sizeof(*events->items));
	}
	return nr_more ? events->items + events->nr : events->items;
}

/* Appends existing events. */
static void op_rows_append(struct op_events *events, const struct op_event *more, size_t nr_more)
{
	struct op_event *event = make_room(events, nr_more);

	for (size_t i = 0; i < nr_more; i++) {
		event[i] = more[i];
	}
	events->nr += nr_more;
}

/* In a damaged stream a span may be anything, so the sum must not wrap. */
static uint64_t end_of(uint64_t begin, uint64_t dur)
{
	return begin + dur < begin ? UINT64_MAX : begin + dur;
}

/* The name of an op row, by its id or its own text. Only op_rows_name creates new names. */
static inline void set_name(
	struct op_event *event, const struct process *process, uint64_t op_name_id, uint64_t string)
{
	const struct idmap *map = op_name_id ? &process->op_names : &process->strings;
	uint64_t id = op_name_id ? op_name_id : string;
	const uint32_t *name = id <= UINT32_MAX ? idmap_get(map, (uint32_t)id) : NULL;

	event->name = name && id ? *name : 0;
	event->is_unnamed = !name && id;
	event->address = op_name_id ? UINT32_MAX : string;
}

/* Names an operator that is_unnamed. */
static void op_rows_name(const struct op_rows *rows, struct op_event *event)
{
	event->name = process_string(rows->process, event->address);
	event->is_unnamed = false;
}

static void add_ops(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	const struct process *process = rows->process;
	struct op_event *event = make_room(events, b->nr_rows);
	uint32_t order = rows->order;

	for (uint32_t i = 0; i < b->nr_rows; i++, event++) {
		uint64_t shape_id = b->col[COL_op_op_shape][i];
		const uint32_t *shape = NULL;

		/* The array is larger than the caches, so prefetch what is written soon. */
		__builtin_prefetch(event + 16, 1);
		if (shape_id && shape_id <= UINT32_MAX) {
			shape = idmap_get(&process->op_shapes, (uint32_t)shape_id);
		}
		event->order = ++order;
		event->kind = OP_EVENT_OP;
		event->begin = b->col[COL_op_begin][i];
		event->end = end_of(b->col[COL_op_begin][i], b->col[COL_op_dur][i]);
		event->thread = (uint32_t)b->col[COL_op_thread][i];
		event->value = 0;
		set_name(event, process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);
		event->shape = shape ? *shape : 0;
		event->py_stack = (uint32_t)b->col[COL_op_py_stack][i];
		event->nr_activities = 0;
		event->depth = (uint16_t)b->col[COL_op_depth][i];
		event->framework = (uint8_t)b->col[COL_op_framework][i];
		event->scope = (uint8_t)b->col[COL_op_scope][i];
		event->device = 0;
		event->is_async = b->col[COL_op_end_thread][i] &&
				  b->col[COL_op_end_thread][i] != b->col[COL_op_thread][i];
	}
	rows->order = order;
	events->nr += b->nr_rows;
}

static void add_allocs(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	struct op_event *event = make_room(events, b->nr_rows);

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = OP_EVENT_ALLOC,
			.begin = b->col[COL_alloc_time][i],
			.end = b->col[COL_alloc_time][i],
			.value = b->col[COL_alloc_bytes][i],
			.address = b->col[COL_alloc_address][i],
			.thread = (uint32_t)b->col[COL_alloc_thread][i],
			.scope = (uint8_t)b->col[COL_alloc_device_type][i],
			.device = (uint8_t)b->col[COL_alloc_device][i]};
	}
	events->nr += b->nr_rows;
}

/* 0 for a table that has none. */
static unsigned int handle_column_of(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_api_launch:
		return COL_api_launch_stream;
	case GPROF_TABLE_api_copy:
		return COL_api_copy_stream;
	case GPROF_TABLE_api_set:
		return COL_api_set_stream;
	case GPROF_TABLE_api_sync:
		return COL_api_sync_object;
	case GPROF_TABLE_os_call:
		return COL_os_call_file;
	default:
		return 0;
	}
}

/* The column of the call's stack of machine code; 0: the table has none. */
static unsigned int native_column_of(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_api:
		return COL_api_native_stack;
	case GPROF_TABLE_api_launch:
		return COL_api_launch_native_stack;
	case GPROF_TABLE_api_copy:
		return COL_api_copy_native_stack;
	case GPROF_TABLE_api_set:
		return COL_api_set_native_stack;
	case GPROF_TABLE_api_alloc:
		return COL_api_alloc_native_stack;
	case GPROF_TABLE_api_sync:
		return COL_api_sync_native_stack;
	case GPROF_TABLE_os_call:
		return COL_os_call_native_stack;
	default:
		return 0;
	}
}

/* The column of its Python stack; 0: the table has none. */
static unsigned int python_column_of(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_api_launch:
		return COL_api_launch_py_stack;
	case GPROF_TABLE_os_call:
		return COL_os_call_py_stack;
	default:
		return 0;
	}
}

static uint16_t call_of(uint64_t id)
{
	return id <= UINT16_MAX ? (uint16_t)id : 0;
}

/* This is where activities and calls meet: the call removes what it launched from op_launch. */
static void add_calls(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	const unsigned int python_column = python_column_of(b->table);
	const uint64_t *stacks = python_column ? b->col[python_column] : NULL;
	const unsigned int handle_column = handle_column_of(b->table);
	const unsigned int native_column = native_column_of(b->table);
	const uint64_t *natives = native_column ? b->col[native_column] : NULL;
	const uint64_t *handles = handle_column ? b->col[handle_column] : NULL;
	const uint64_t *holders =
		b->table == GPROF_TABLE_os_call ? b->col[COL_os_call_holder] : NULL;
	bool is_whole = b->col[COL_api_result] != NULL;
	struct op_event *event = make_room(events, b->nr_rows), *first = event;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t correlation = b->col[COL_api_correlation][i];
		uint32_t py_stack = stacks ? (uint32_t)stacks[i] : 0;
		struct gpu_times_entry work = {0};

		if (!op_launch_remove(rows->launch, correlation, &work) && !py_stack &&
			!rows->want->has_calls) {
			continue;
		}
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = OP_EVENT_CALL,
			.begin = b->col[COL_api_begin][i],
			.end = end_of(b->col[COL_api_begin][i], b->col[COL_api_dur][i]),
			.value = work.ns,
			.nr_activities = work.nr_activities,
			.is_communication =
				work.nr_activities && work.nr_activities == work.nr_communications,
			.handle = holders && holders[i] ? OS_FILES_HOLDER | holders[i]
				  : handles		? handles[i]
							: 0,
			.correlation = correlation,
			.records = work.records,
			.py_stack = py_stack,
			.native_stack = natives ? (uint32_t)natives[i] : 0,
			.call = is_whole ? call_of(b->col[COL_api_call][i]) : 0,
			.result = is_whole ? (int32_t)b->col[COL_api_result][i] : 0,
			.table = (uint8_t)b->table,
			.thread = (uint32_t)b->col[COL_api_thread][i]};
	}
	events->nr += (size_t)(event - first);
}

static void add_ranges(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	struct op_event *event = make_room(events, b->nr_rows), *first = event;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		bool is_push = b->col[COL_nvtx_op][i] == GPROF_NVTX_PUSH;

		if (!is_push && b->col[COL_nvtx_op][i] != GPROF_NVTX_POP) {
			continue;
		}
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = is_push ? OP_EVENT_PUSH : OP_EVENT_POP,
			.begin = b->col[COL_nvtx_time][i],
			.end = b->col[COL_nvtx_time][i],
			.value = b->col[COL_nvtx_domain][i],
			.thread = (uint32_t)b->col[COL_nvtx_thread][i],
			.name = is_push ? ranges_name(rows->ranges, rows->process, b, i) : 0};
	}
	events->nr += (size_t)(event - first);
}

static void add_nodes(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	struct op_event *event = make_room(events, b->nr_rows), *first = event;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->col[COL_graph_node_original][i]) {
			continue;
		}
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = OP_EVENT_NODE,
			.begin = b->col[COL_graph_node_time][i],
			.end = b->col[COL_graph_node_time][i],
			.value = b->col[COL_graph_node_node][i],
			.thread = (uint32_t)b->col[COL_graph_node_thread][i]};
	}
	events->nr += (size_t)(event - first);
}

static void add_collections(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	struct op_event *event = make_room(events, b->nr_rows);

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = OP_EVENT_COLLECTION,
			.begin = b->col[COL_py_gc_begin][i],
			.end = end_of(b->col[COL_py_gc_begin][i], b->col[COL_py_gc_dur][i]),
			.value = b->col[COL_py_gc_collected][i],
			.handle = b->col[COL_py_gc_uncollectable][i],
			.thread = (uint32_t)b->col[COL_py_gc_thread][i],
			.scope = (uint8_t)b->col[COL_py_gc_generation][i]};
	}
	events->nr += b->nr_rows;
}

/* ---- blocks ---- */

/* A view that wants neither calls nor records does not pay for their columns. */
static uint32_t mask_of(const struct op_rows *rows, unsigned int table)
{
	static const uint32_t alloc_mask =
		COLS(alloc, time, address, bytes, thread, device_type, device);
	uint32_t call_mask = COLS(api, begin, dur, thread, correlation);

	if (rows->want->has_calls || rows->want->records) {
		call_mask |= COLS(api, result, call);
		call_mask |= native_column_of(table) && rows->process->native_stacks.nr
				     ? COL_BIT(native_column_of(table))
				     : 0;
	}
	if (rows->want->records && handle_column_of(table)) {
		call_mask |= COL_BIT(handle_column_of(table));
		call_mask |= table == GPROF_TABLE_os_call ? COLS(os_call, holder) : 0;
	}
	switch (table) {
	case GPROF_TABLE_op:
		return COL_ALL(NR_COL_op) & ~COLS(op, sequence);
	case GPROF_TABLE_alloc:
		return alloc_mask;
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_graph_node:
		return COLS(graph_node, time, node, original, thread);
	case GPROF_TABLE_py_gc:
		return COL_ALL(NR_COL_py_gc);
	default:
		return call_mask | (python_column_of(table) ? COL_BIT(python_column_of(table)) : 0);
	}
}

/* The load that op_rows_load will do for a block; its mask is 0 if there is none. */
static struct stream_request op_rows_request(const struct op_rows *rows, size_t block)
{
	const struct stream *stream = rows->process->stream;
	unsigned int table = stream_block_table(stream, block);

	return (struct stream_request){.stream = stream,
		.block = block,
		.mask = is_wanted(rows, table) ? mask_of(rows, table) : 0};
}

/*
 * Appends the rows of a block of a host table. It creates no names unless ranges are wanted, so it
 * may run on another thread.
 */
static void op_rows_load(struct op_rows *rows, size_t block, struct op_events *events)
{
	uint32_t mask = op_rows_request(rows, block).mask;
	struct batch batch;

	if (!mask || stream_load(rows->process->stream, block, mask, 0, &batch)) {
		return;
	}
	switch (batch.table) {
	case GPROF_TABLE_op:
		add_ops(rows, &batch, events);
		break;
	case GPROF_TABLE_alloc:
		add_allocs(rows, &batch, events);
		break;
	case GPROF_TABLE_nvtx:
		add_ranges(rows, &batch, events);
		break;
	case GPROF_TABLE_graph_node:
		add_nodes(rows, &batch, events);
		break;
	case GPROF_TABLE_py_gc:
		add_collections(rows, &batch, events);
		break;
	default:
		add_calls(rows, &batch, events);
		break;
	}
	progress_add(batch.nr_rows);
}

/* ---- the load ---- */

/* One is handed out while the next is loaded. */
#define NR_CHUNKS 2u

/* Bit of `order`: of a later group. */
#define LATER 0x80000000u

/* The events of a group in order, and the rest of the groups after it. */
struct chunk {
	struct op_events events; /* as they were read */
	struct op_sort sort;
	size_t nr_rest; /* how many, first in order, stay for the next chunk */
};

/* A part to load: the activities of a group, or its host events. */
struct part {
	size_t group;
	bool is_host;
};

struct load {
	struct process *process;
	struct op_groups groups;
	struct op_launch launch;
	struct op_rows rows;
	struct part *parts; /* in the order of loading */
	size_t nr_parts;
	struct chunk chunks[NR_CHUNKS]; /* chunk k is at k % NR_CHUNKS */
	size_t nr_chunks;		/* started so far */
	void (*on_event)(void *context, const struct op_event *event);
	void *context;
	/* If another thread loads the chunks: */
	pthread_mutex_t lock; /* protects both below */
	pthread_cond_t changed;
	size_t nr_made, nr_handed_out;
};

/* ---- order ---- */

/*
 * Each group has two parts: its activities, which come before the calls of any group that may have
 * launched them, and its host rows.
 */
static void plan(struct load *load)
{
	size_t nr = 0,
	       loaded = load->groups.nr; /* activities of the groups from here on are loaded */
	struct part *parts = mem_zeroed(2 * load->groups.nr, sizeof(*parts));

	for (size_t i = load->groups.nr; i-- > 0;) {
		while (loaded > load->groups.items[i].activities_from) {
			parts[nr++] = (struct part){.group = --loaded};
		}
		parts[nr++] = (struct part){.group = i, .is_host = true};
	}
	load->parts = parts;
	load->nr_parts = nr;
}

static void expect_parts(const struct load *load)
{
	size_t nr = 0;
	/* One more, for a block that turns out to need no request. */
	struct stream_request *requests =
		mem_zeroed(load->process->stream->nr_blocks + 1, sizeof(*requests));

	for (size_t k = 0; k < load->nr_parts; k++) {
		const struct op_group *group = &load->groups.items[load->parts[k].group];

		for (size_t i = group->first; i < group->end; i++) {
			requests[nr] = load->parts[k].is_host ? op_rows_request(&load->rows, i)
							      : op_launch_request(&load->launch, i);
			nr += requests[nr].mask != 0;
		}
	}
	stream_expect(requests, nr);
	free(requests);
}

/* ---- loading chunks ---- */

static void load_activities(struct load *load, const struct op_group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		op_launch_load(&load->launch, i);
	}
}

/* Moves the rest of a chunk to the start of the next, which may be the same memory. */
static void move_rest(const struct chunk *from, struct chunk *to)
{
	struct op_event *rest = mem_zeroed(from->nr_rest, sizeof(*rest));

	for (size_t i = 0; i < from->nr_rest; i++) {
		rest[i] = from->events.items[from->sort.keys[i].place];
		rest[i].order = LATER | (uint32_t)i;
	}
	to->events.nr = 0;
	op_rows_append(&to->events, rest, from->nr_rest);
	free(rest);
}

/*
 * With one slot, the rest is moved within its own chunk, which is why it is copied first. Sorting
 * block by block finds the rows still in the cache.
 */
static void make_chunk(struct load *load, size_t group_idx, size_t nr_places)
{
	const struct op_group *group = &load->groups.items[group_idx];
	struct chunk *chunk = &load->chunks[load->nr_chunks % nr_places];

	move_rest(&load->chunks[(load->nr_chunks + nr_places - 1) % nr_places], chunk);
	op_sort_begin(&chunk->sort);
	op_sort_add(&chunk->sort, chunk->events.items, chunk->events.nr);
	load->nr_chunks++;
	load->rows.order = 0;
	for (size_t i = group->first; i < group->end; i++) {
		op_rows_load(&load->rows, i, &chunk->events);
		op_sort_add(&chunk->sort, chunk->events.items, chunk->events.nr);
	}
	op_sort_end(&chunk->sort, chunk->events.items);
	chunk->nr_rest = group_idx ? op_sort_up_to(&chunk->sort, group[-1].last_tick) : 0;
}

/* ---- handing out ---- */

/* Hands out the last event first. */
static void hand_out(struct load *load, struct chunk *chunk)
{
	for (size_t nr = chunk->events.nr; nr > chunk->nr_rest;) {
		struct op_event *event = &chunk->events.items[chunk->sort.keys[--nr].place];

		if (event->is_unnamed) {
			op_rows_name(&load->rows, event);
		}
		load->on_event(load->context, event);
	}
}

static void hand_out_no_call(struct load *load)
{
	if (load->launch.no_call) {
		const struct op_event no_call = {
			.kind = OP_EVENT_NO_CALL, .records = load->launch.no_call};

		load->launch.no_call = 0;
		load->on_event(load->context, &no_call);
	}
}

/*
 * Records without a call are handed out after each group of activities, so that they do not pile
 * up.
 */
static void run_alone(struct load *load)
{
	for (size_t i = 0; i < load->nr_parts; i++) {
		size_t group = load->parts[i].group;

		if (load->parts[i].is_host) {
			make_chunk(load, group, 1);
			hand_out(load, &load->chunks[0]);
		} else {
			load_activities(load, &load->groups.items[group]);
			hand_out_no_call(load);
		}
	}
	op_launch_end(&load->launch);
	hand_out_no_call(load);
}

/* ---- on a thread of its own ---- */

/* Waits until the chunk before the last one has been handed out, and its memory is free. */
static void wait_for_place(struct load *load)
{
	pthread_mutex_lock(&load->lock);
	while (load->nr_made - load->nr_handed_out == NR_CHUNKS) {
		pthread_cond_wait(&load->changed, &load->lock);
	}
	pthread_mutex_unlock(&load->lock);
}

static void count(struct load *load, size_t *nr)
{
	pthread_mutex_lock(&load->lock);
	++*nr;
	pthread_cond_signal(&load->changed);
	pthread_mutex_unlock(&load->lock);
}

static void *make_all(void *context)
{
	struct load *load = context;

	for (size_t i = 0; i < load->nr_parts; i++) {
		size_t group = load->parts[i].group;

		if (load->parts[i].is_host) {
			wait_for_place(load);
			make_chunk(load, group, NR_CHUNKS);
			count(load, &load->nr_made);
		} else {
			load_activities(load, &load->groups.items[group]);
		}
	}
	return NULL;
}

/* The only reader of chunks; make_all() is the only writer, and never more than NR_CHUNKS ahead. */
static void hand_out_all(struct load *load)
{
	for (size_t k = 0; k < load->groups.nr; k++) {
		pthread_mutex_lock(&load->lock);
		while (load->nr_made == k) {
			pthread_cond_wait(&load->changed, &load->lock);
		}
		pthread_mutex_unlock(&load->lock);
		hand_out(load, &load->chunks[k % NR_CHUNKS]);
		count(load, &load->nr_handed_out);
	}
}

/* False if the thread cannot be started. */
static bool run_beside(struct load *load)
{
	pthread_t thread;
	bool is_running;

	pthread_mutex_init(&load->lock, NULL);
	pthread_cond_init(&load->changed, NULL);
	is_running = !pthread_create(&thread, NULL, make_all, load);
	if (is_running) {
		hand_out_all(load);
		pthread_join(thread, NULL);
	}
	pthread_cond_destroy(&load->changed);
	pthread_mutex_destroy(&load->lock);
	return is_running;
}

/* Records change owner while they are read, and ranges create names: both need one thread. */
static bool is_worth_a_thread(const struct load *load, const struct op_load_want *want)
{
	return load->groups.nr > 1 && !want->records && !want->has_ranges &&
	       prefetch_nr_threads() > 1;
}

/* ---- the whole load ---- */

static bool has_any(const struct process *process, const struct op_load_want *want)
{
	/* Phases have the times of what their steps launched. */
	return op_has_any(process) || process->nr_steps ||
	       stream_has_rows(process->stream, table_bit(GPROF_TABLE_alloc)) ||
	       process->py_stacks.nr || want->has_calls || want->records ||
	       (want->has_ranges &&
		       stream_has_rows(process->stream, table_bit(GPROF_TABLE_nvtx))) ||
	       (want->has_collections &&
		       stream_has_rows(process->stream, table_bit(GPROF_TABLE_py_gc)));
}

static void load_fini(struct load *load)
{
	for (size_t i = 0; i < NR_CHUNKS; i++) {
		free(load->chunks[i].events.items);
		op_sort_fini(&load->chunks[i].sort);
	}
	free(load->parts);
	op_rows_fini(&load->rows);
	op_groups_fini(&load->groups);
	op_launch_fini(&load->launch);
}

void op_load_run(struct process *process, const struct op_load_want *want,
	void (*on_event)(void *context, const struct op_event *event), void *context)
{
	struct load load = {.process = process, .on_event = on_event, .context = context};

	if (!has_any(process, want)) {
		return;
	}
	op_rows_init(&load.rows, process, want, &load.launch);
	op_launch_init(&load.launch, process, want->records);
	op_groups_find(&load.groups, process, op_rows_tables(&load.rows),
		want->group_rows ? want->group_rows : OP_GROUPS_ROWS);
	plan(&load);
	expect_parts(&load);
	if (!is_worth_a_thread(&load, want) || !run_beside(&load)) {
		run_alone(&load);
	}
	load_fini(&load);
}

uint64_t op_load_nr_rows(const struct process *process, const struct op_load_want *want)
{
	uint64_t nr_rows = 0;

	for (size_t i = 0; has_any(process, want) && i < process->stream->nr_blocks; i++) {
		nr_rows += process->stream->blocks[i].nr_rows;
	}
	return nr_rows;
}
