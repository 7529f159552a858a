/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three steps: one scan takes the calls of cudaMalloc and its kin, one walk over operators takes
 * the allocator's events and who made the calls, and one sweep in the order of time finds the
 * segment of each block.
 */
#include "report/memory/memory_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "report/memory/memory.h"
#include "report/model/copy_kind.h"
#include "report/model/process_tree.h"
#include "report/model/scan.h"
#include "report/model/select.h"
#include "report/util/sort.h"
#include "report/util/string_pool.h"

/* Segments that nobody saw are as large as the driver's smallest mapping. */
#define SEGMENT_UNIT ((uint64_t)2 << 20)

/* A call of cudaMalloc or its kin: the event that it is, by thread and begin. */
struct call_event {
	struct {
		uint64_t begin, thread;
	} key;
	size_t event;
	UT_hash_handle hh;
};

struct category_of {
	uint64_t tick, address;
	uint8_t category;
};

struct reader {
	struct memory_snapshot *snapshot;
	struct call_event *calls;
	struct alloc_categories categories;
	struct memory frees; /* when each block is freed */
	struct category_of *found;
	size_t nr_found, found_capacity;
};

/* ---- who did it ---- */

static uint32_t frames_of(const struct op *op, uint32_t py_stack, uint32_t call)
{
	struct memory_frames frames = {.py_stack = py_stack, .call = call};

	for (; op && frames.nr_ops < MEMORY_FRAMES_MAX; op = op->parent) {
		frames.ops[frames.nr_ops].name = op->name;
		frames.ops[frames.nr_ops++].is = op->is;
		frames.py_stack = frames.py_stack ? frames.py_stack : op->py_stack;
	}
	if (!frames.nr_ops && !frames.py_stack && !frames.call) {
		return 0;
	}
	return string_pool_intern((const char *)&frames,
		offsetof(struct memory_frames, ops) + frames.nr_ops * sizeof(frames.ops[0]));
}

void memory_snapshot_frames(uint32_t name, struct memory_frames *frames)
{
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	memset(frames, 0, sizeof(*frames));
	memcpy(frames, bytes, nr_bytes < sizeof(*frames) ? nr_bytes : sizeof(*frames));
}

/* ---- calls of cudaMalloc and its kin ---- */

static struct memory_event *add_event(struct memory_snapshot *snapshot)
{
	struct memory_event *event;

	snapshot->events = array_grow(snapshot->events, snapshot->nr_events,
		&snapshot->event_capacity, sizeof(*snapshot->events));
	event = &snapshot->events[snapshot->nr_events++];
	*event = (struct memory_event){
		.segment = MEMORY_NO_SEGMENT, .category = MEMORY_EVENT_NO_CATEGORY};
	return event;
}

static void take_call(struct reader *reader, const struct batch *b, uint32_t i)
{
	struct memory_snapshot *snapshot = reader->snapshot;
	struct process *process = snapshot->process;
	int32_t result = (int32_t)b->col[COL_api_alloc_result][i];
	bool is_free = b->col[COL_api_alloc_op][i] != 0, is_bad = result == MEMORY_OUT_OF_MEMORY;
	struct call_event *call, key;
	struct memory_event *event;
	uint8_t api;

	if (!memory_snapshot_is_of_gpu(b->col[COL_api_alloc_space][i]) || (is_bad && is_free) ||
		(!is_bad && (result || !b->col[COL_api_alloc_address][i]))) {
		return;
	}
	event = add_event(snapshot);
	event->tick = address_kinds_tick(b, i);
	event->address = is_bad ? 0 : b->col[COL_api_alloc_address][i];
	event->bytes = b->col[COL_api_alloc_bytes][i];
	event->kind = is_bad	? MEMORY_EVENT_REFUSED
		      : is_free ? MEMORY_EVENT_SEGMENT_FREE
				: MEMORY_EVENT_SEGMENT_ALLOC;
	event->frames =
		frames_of(NULL, 0, process_call_name(process, b->col[COL_api_alloc_call][i], &api));
	memset(&key, 0, sizeof(key));
	key.key.begin = b->col[COL_api_alloc_begin][i];
	key.key.thread = b->col[COL_api_alloc_thread][i];
	hash_put(reader->calls, key, &key.key, call);
	call->event = snapshot->nr_events - 1;
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	(void)process;
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		take_call(context, batch, i);
	}
}

static void read_calls(struct reader *reader, struct process *process)
{
	static const struct scan_want wants[] = {
		{GPROF_TABLE_api_alloc, COL_ALL(NR_COL_api_alloc), 0}};
	static const struct scan_view view = {
		.wants = wants, .nr_wants = 1, .on_batch = on_batch, .ignores_selection = true};
	const struct scan scan = {&view, reader};

	scan_run(&process, 1, &scan, 1);
}

/* ---- the allocator's events ---- */

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct reader *reader = context;
	struct call_event *at, key;

	if (call->table != GPROF_TABLE_api_alloc) {
		return;
	}
	memset(&key, 0, sizeof(key));
	key.key.begin = call->begin;
	key.key.thread = call->thread;
	HASH_FIND(hh, reader->calls, &key.key, sizeof(key.key), at);
	if (at) {
		struct process *process = reader->snapshot->process;
		uint8_t api;

		reader->snapshot->events[at->event].frames =
			frames_of(op, call->py_stack, process_call_name(process, call->call, &api));
	}
}

static void on_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct reader *reader = context;
	struct memory_snapshot *snapshot = reader->snapshot;
	struct memory_event *event;
	uint32_t place;

	if (!alloc->device_type) {
		return;
	}
	place = memory_place(&reader->frees, snapshot->process, alloc->device_type % MEMORY_DRIVER,
		alloc->device);
	snapshot->nr_nameless += !alloc->address && alloc->bytes;
	if (alloc->bytes > 0) {
		alloc_categories_take(&reader->categories, alloc, op, place,
			memory_freed(&reader->frees, place, alloc));
	} else {
		memory_freed(&reader->frees, place, alloc);
	}
	if (!alloc->address || !alloc->bytes) {
		return;
	}
	event = add_event(snapshot);
	event->tick = alloc->tick;
	event->address = alloc->address;
	event->bytes = alloc->bytes > 0 ? (uint64_t)alloc->bytes : -(uint64_t)alloc->bytes;
	event->kind = alloc->bytes > 0 ? MEMORY_EVENT_ALLOC : MEMORY_EVENT_FREE;
	event->device = alloc->device;
	event->frames = frames_of(op, 0, 0);
}

static void on_block(void *context, const struct alloc_block *block)
{
	struct reader *reader = context;

	reader->found = array_grow(
		reader->found, reader->nr_found, &reader->found_capacity, sizeof(*reader->found));
	reader->found[reader->nr_found++] =
		(struct category_of){block->tick, block->address, block->category};
}

static void end_walk(void *context, struct process *process, const struct phases *phases)
{
	struct reader *reader = context;

	(void)process;
	(void)phases;
	alloc_categories_end(&reader->categories);
	memory_forget(&reader->frees);
}

static void read_allocs(struct reader *reader, struct process *process)
{
	static const struct op_view view = {
		.ignores_selection = true, .call = on_call, .alloc = on_alloc, .end = end_walk};
	const struct op_walk walk = {&view, reader};
	int64_t nr_workers;

	reader->categories.on_block = on_block;
	reader->categories.context = reader;
	alloc_categories_begin(&reader->categories, process_tree_worker(process, &nr_workers) >= 0);
	op_walk_run(&process, 1, &walk, 1);
}

/* ---- in the order of time ---- */

/* The C library's does not take NULL, which stands for no rows. */
static void sort(void *rows, size_t nr, size_t bytes, int (*by)(const void *, const void *))
{
	if (nr) {
		qsort(rows, nr, bytes, by);
	}
}

/* At one tick, memory is given back before it is taken, and a segment is there before its blocks.
 */
static int order_of(const struct memory_event *event)
{
	static const int orders[] = {[MEMORY_EVENT_FREE] = 0,
		[MEMORY_EVENT_SEGMENT_FREE] = 1,
		[MEMORY_EVENT_REFUSED] = 2,
		[MEMORY_EVENT_SEGMENT_ALLOC] = 3,
		[MEMORY_EVENT_ALLOC] = 4};

	return orders[event->kind];
}

static int by_time(const void *a, const void *b)
{
	const struct memory_event *x = a, *y = b;

	return ORDER(COMPARE(x->tick, y->tick), COMPARE(order_of(x), order_of(y)),
		COMPARE(x->address, y->address));
}

static int by_tick_and_address(const void *a, const void *b)
{
	const struct category_of *x = a, *y = b;

	return ORDER(COMPARE(x->tick, y->tick), COMPARE(x->address, y->address));
}

static void set_categories(struct reader *reader)
{
	struct memory_snapshot *snapshot = reader->snapshot;
	size_t at = 0;

	sort(reader->found, reader->nr_found, sizeof(*reader->found), by_tick_and_address);
	for (size_t i = 0; i < snapshot->nr_events; i++) {
		struct memory_event *event = &snapshot->events[i];
		const struct category_of key = {event->tick, event->address, 0};

		if (event->kind != MEMORY_EVENT_ALLOC) {
			continue;
		}
		while (at < reader->nr_found && by_tick_and_address(&reader->found[at], &key) < 0) {
			at++;
		}
		if (at < reader->nr_found && by_tick_and_address(&reader->found[at], &key) == 0) {
			event->category = reader->found[at].category;
		}
	}
}

/* A block in use, by its address. */
struct live_block {
	uint64_t key;
	const struct memory_event *event; /* that allocated it */
	UT_hash_handle hh;
};

/* The addresses of blocks that lie in no segment. */
struct stray {
	uint64_t begin, end; /* addresses, whole units */
	uint8_t device;
};

struct sweep {
	struct memory_snapshot *snapshot;
	uint64_t device_bytes; /* 0: unknown */
	uint32_t *segments;    /* that are there now, by address */
	size_t nr_segments, segment_capacity;
	uint64_t segment_bytes;
	struct live_block *blocks;
	struct stray *strays;
	size_t nr_strays, stray_capacity;
};

/* Returns the index of the first segment at or above the address. */
static size_t first_segment(const struct sweep *sweep, uint64_t address)
{
	size_t at;

	BISECT(at, 0, sweep->nr_segments,
		sweep->snapshot->segments[sweep->segments[at]].address < address);
	return at;
}

static void remove_segment(struct sweep *sweep, size_t at, uint64_t tick)
{
	struct memory_segment *segment = &sweep->snapshot->segments[sweep->segments[at]];

	segment->end = tick;
	sweep->segment_bytes -= segment->bytes;
	sweep->nr_segments--;
	memmove(sweep->segments + at, sweep->segments + at + 1,
		(sweep->nr_segments - at) * sizeof(*sweep->segments));
}

static void begin_segment(struct sweep *sweep, struct memory_event *event)
{
	struct memory_snapshot *snapshot = sweep->snapshot;
	size_t at = first_segment(sweep, event->address);

	/* Its end was not recorded. */
	if (at < sweep->nr_segments &&
		snapshot->segments[sweep->segments[at]].address == event->address) {
		remove_segment(sweep, at, event->tick);
	}
	snapshot->segments = array_grow(snapshot->segments, snapshot->nr_segments,
		&snapshot->segment_capacity, sizeof(*snapshot->segments));
	snapshot->segments[snapshot->nr_segments] =
		(struct memory_segment){.address = event->address,
			.bytes = event->bytes,
			.end = MEMORY_LEFT,
			.frames = event->frames};
	event->segment = (uint32_t)snapshot->nr_segments++;
	sweep->segments = array_grow(sweep->segments, sweep->nr_segments, &sweep->segment_capacity,
		sizeof(*sweep->segments));
	memmove(sweep->segments + at + 1, sweep->segments + at,
		(sweep->nr_segments - at) * sizeof(*sweep->segments));
	sweep->segments[at] = event->segment;
	sweep->nr_segments++;
	sweep->segment_bytes += event->bytes;
}

static void end_segment(struct sweep *sweep, struct memory_event *event)
{
	size_t at = first_segment(sweep, event->address);

	if (at < sweep->nr_segments &&
		sweep->snapshot->segments[sweep->segments[at]].address == event->address) {
		event->segment = sweep->segments[at];
		event->bytes = sweep->snapshot->segments[event->segment].bytes;
		remove_segment(sweep, at, event->tick);
	}
}

/* Tells the segment of the block which device it is of. */
static void find_segment(struct sweep *sweep, const struct memory_event *event)
{
	size_t at = first_segment(sweep, event->address + 1);

	if (at) {
		struct memory_segment *segment =
			&sweep->snapshot->segments[sweep->segments[at - 1]];

		if (event->address - segment->address < segment->bytes) {
			segment->has_blocks = true;
			segment->device = event->device;
			return;
		}
	}
	sweep->strays = array_grow(
		sweep->strays, sweep->nr_strays, &sweep->stray_capacity, sizeof(*sweep->strays));
	sweep->strays[sweep->nr_strays++] = (struct stray){
		event->address / SEGMENT_UNIT * SEGMENT_UNIT,
		(event->address + event->bytes - 1) / SEGMENT_UNIT * SEGMENT_UNIT + SEGMENT_UNIT,
		event->device};
}

static void take_block(struct sweep *sweep, struct memory_event *event)
{
	struct live_block *block;

	find_segment(sweep, event);
	if (event->kind == MEMORY_EVENT_ALLOC) {
		hash_put(sweep->blocks, key, &event->address, block);
		event->replaced_bytes = block->event ? block->event->bytes : 0;
		block->event = event;
		return;
	}
	HASH_FIND(hh, sweep->blocks, &event->address, sizeof(event->address), block);
	if (block) {
		HASH_DEL(sweep->blocks, block);
		free(block);
	}
}

static void take_event(struct sweep *sweep, struct memory_event *event)
{
	switch (event->kind) {
	case MEMORY_EVENT_SEGMENT_ALLOC:
		begin_segment(sweep, event);
		break;
	case MEMORY_EVENT_SEGMENT_FREE:
		end_segment(sweep, event);
		break;
	case MEMORY_EVENT_REFUSED:
		event->free_bytes = sweep->device_bytes > sweep->segment_bytes
					    ? sweep->device_bytes - sweep->segment_bytes
					    : 0;
		break;
	default:
		take_block(sweep, event);
	}
}

/* ---- segments that nobody saw begin ---- */

static int by_begin(const void *a, const void *b)
{
	const struct stray *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

/* One segment for all blocks that are less than a unit apart, from the begin to the end. */
static void add_strays(struct sweep *sweep)
{
	struct memory_snapshot *snapshot = sweep->snapshot;

	sort(sweep->strays, sweep->nr_strays, sizeof(*sweep->strays), by_begin);
	for (size_t i = 0, next; i < sweep->nr_strays; i = next) {
		const struct stray *first = &sweep->strays[i];
		uint64_t end = first->end;

		for (next = i + 1; next < sweep->nr_strays && sweep->strays[next].begin <= end &&
				   sweep->strays[next].device == first->device;
			next++) {
			end = sweep->strays[next].end > end ? sweep->strays[next].end : end;
		}
		snapshot->segments = array_grow(snapshot->segments, snapshot->nr_segments,
			&snapshot->segment_capacity, sizeof(*snapshot->segments));
		snapshot->segments[snapshot->nr_segments++] =
			(struct memory_segment){.address = first->begin,
				.bytes = end - first->begin,
				.end = MEMORY_LEFT,
				.device = first->device,
				.has_blocks = true,
				.is_assumed = true};
	}
}

/* ---- all of it ---- */

static int by_address(const void *a, const void *b)
{
	const struct memory_event *const *x = a, *const *y = b;

	return COMPARE((*x)->address, (*y)->address);
}

static void keep_blocks(struct sweep *sweep)
{
	struct memory_snapshot *snapshot = sweep->snapshot;

	snapshot->blocks = mem_zeroed(HASH_COUNT(sweep->blocks) + 1, sizeof(*snapshot->blocks));
	for (const struct live_block *block = sweep->blocks; block; block = block->hh.next) {
		snapshot->blocks[snapshot->nr_blocks++] = block->event;
	}
	sort(snapshot->blocks, snapshot->nr_blocks, sizeof(*snapshot->blocks), by_address);
}

/* The first block in use at or above the address. */
static size_t first_block(const struct memory_snapshot *snapshot, uint64_t address)
{
	size_t at;

	BISECT(at, 0, snapshot->nr_blocks, snapshot->blocks[at]->address < address);
	return at;
}

/* Blocks of a damaged stream may overlap, and reach beyond their segment. */
static void count_blocks(struct memory_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->nr_segments; i++) {
		struct memory_segment *segment = &snapshot->segments[i];
		size_t at = segment->first_block = first_block(snapshot, segment->address);
		uint64_t bytes = 0;

		while (at < snapshot->nr_blocks &&
			snapshot->blocks[at]->address - segment->address < segment->bytes) {
			bytes += snapshot->blocks[at++]->bytes;
		}
		segment->nr_blocks = at - segment->first_block;
		segment->used_bytes =
			!segment->has_blocks || bytes > segment->bytes ? segment->bytes : bytes;
	}
}

/* Marks the selected events and drops those after the last one: they change nothing of it. */
static void choose(struct memory_snapshot *snapshot, bool is_failed)
{
	size_t nr = 0;

	for (size_t i = 0; i < snapshot->nr_events; i++) {
		struct memory_event *event = &snapshot->events[i];

		event->is_selected = select_has_tick(snapshot->process, event->tick);
		if (event->is_selected && (!is_failed || event->kind == MEMORY_EVENT_REFUSED)) {
			nr = i + 1;
		}
	}
	snapshot->nr_events = nr;
}

bool memory_snapshot_device_bytes(const struct process *process, uint64_t *bytes)
{
	uint32_t device = process->nr_contexts ? process->contexts[0].device : 0;

	for (size_t i = 1; i < process->nr_contexts; i++) {
		if (process->contexts[i].device != device) {
			return false;
		}
	}
	return process_attribute(process, device, "memory_bytes", bytes);
}

static void sweep_all(struct reader *reader, bool is_failed)
{
	struct memory_snapshot *snapshot = reader->snapshot;
	struct sweep sweep = {.snapshot = snapshot};

	if (!memory_snapshot_device_bytes(snapshot->process, &sweep.device_bytes)) {
		sweep.device_bytes = 0;
	}
	sort(snapshot->events, snapshot->nr_events, sizeof(*snapshot->events), by_time);
	set_categories(reader);
	choose(snapshot, is_failed);
	for (size_t i = 0; i < snapshot->nr_events; i++) {
		take_event(&sweep, &snapshot->events[i]);
	}
	add_strays(&sweep);
	keep_blocks(&sweep);
	count_blocks(snapshot);
	hash_free(sweep.blocks);
	free(sweep.segments);
	free(sweep.strays);
}

static void read_all(struct memory_snapshot *snapshot, struct process *process, bool is_failed)
{
	struct reader reader = {.snapshot = snapshot};

	*snapshot = (struct memory_snapshot){.process = process};
	read_calls(&reader, process);
	read_allocs(&reader, process);
	sweep_all(&reader, is_failed);
	hash_free(reader.calls);
	free(reader.found);
	memory_fini(&reader.frees);
}

void memory_snapshot_read(struct memory_snapshot *snapshot, struct process *process)
{
	read_all(snapshot, process, false);
}

void memory_snapshot_read_failed(struct memory_snapshot *snapshot, struct process *process)
{
	read_all(snapshot, process, true);
}

void memory_snapshot_fini(struct memory_snapshot *snapshot)
{
	free(snapshot->events);
	free(snapshot->segments);
	free(snapshot->blocks);
	*snapshot = (struct memory_snapshot){0};
}
