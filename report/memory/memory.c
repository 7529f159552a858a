/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums behind all memory views: places, rows of operators, and the curve of each place. Two
 * sources fill it. A framework's allocator reports totals with each event, so its peak and curve
 * need no matching; its events come backwards, and memory_freed() matches them. Calls of cudaMalloc
 * have no totals: memory_replay() adds them up forwards, with the blocks in use in a hash.
 */
#include "report/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"

/* ---- one allocator over time ---- */

#define CURVE_LINES 8u

void memory_timeline_init(struct memory_timeline *pool, uint64_t first, uint64_t end)
{
	*pool = (struct memory_timeline){.first = first, .end = end > first ? end : first + 1};
}

unsigned int memory_timeline_part(
	const struct memory_timeline *pool, uint64_t tick, unsigned int nr_parts)
{
	uint64_t after = tick > pool->first ? tick - pool->first : 0;
	unsigned __int128 place = (unsigned __int128)after * nr_parts / (pool->end - pool->first);

	return place < nr_parts ? (unsigned int)place : nr_parts - 1;
}

/*
 * Takes an event, after which so much is in use and so much taken from the driver. Events may come
 * in any order, so the last one is found by its tick. A total below the event's own bytes is no
 * total (memory_timeline_is_known): some allocators say 0.
 */
static void memory_timeline_take(struct memory_timeline *pool, uint64_t tick, int64_t bytes,
	uint64_t in_use, uint64_t reserved)
{
	unsigned int point = memory_timeline_part(pool, tick, MEMORY_TIMELINE_POINTS);

	pool->nr_allocs += bytes > 0;
	pool->nr_frees += bytes < 0;
	if (!memory_timeline_is_known(bytes, in_use)) {
		pool->nr_without_total++;
		return;
	}
	if (in_use > pool->peak_bytes) {
		pool->peak_bytes = in_use;
		pool->peak_tick = tick;
		pool->reserved_at_peak_bytes = reserved;
	}
	if (reserved > pool->peak_reserved_bytes) {
		pool->peak_reserved_bytes = reserved;
	}
	if (tick >= pool->last_tick) {
		pool->last_tick = tick;
		pool->last_bytes = in_use;
	}
	pool->curve[point] = in_use > pool->curve[point] ? in_use : pool->curve[point];
	pool->is_set[point] = true;
}

bool memory_timeline_has_totals(const struct memory_timeline *pool)
{
	return !pool->nr_allocs || pool->nr_without_total < pool->nr_allocs;
}

static const struct unit {
	uint64_t bytes;
	const char *name;
} units[] = {{1000000000, "GB"}, {1000000, "MB"}, {1000, "KB"}, {1, "B"}};

static const struct unit *unit_of(uint64_t bytes)
{
	const struct unit *unit = units;

	while (unit->bytes > 1 && bytes < unit->bytes) {
		unit++;
	}
	return unit;
}

void memory_timeline_add_bytes(struct buf *out, uint64_t bytes)
{
	const struct unit *unit = unit_of(bytes);

	buf_printf(out, unit->bytes > 1 ? "%.1f %s" : "%.0f %s",
		(double)bytes / (double)unit->bytes, unit->name);
}

/*
 * Parts without an event are as high as the one before them. A height of 0 shows only if nothing is
 * in use: a little memory draws one line.
 */
void memory_timeline_draw(const struct memory_timeline *pool, const char *title, struct buf *out)
{
	const struct unit *unit = unit_of(pool->peak_bytes);
	uint64_t heights[MEMORY_TIMELINE_POINTS], last = 0;

	for (unsigned int i = 0; i < MEMORY_TIMELINE_POINTS; i++) {
		last = pool->is_set[i] ? pool->curve[i] : last; /* nothing happened: as before */
		heights[i] = pool->peak_bytes ? (uint64_t)((unsigned __int128)last * CURVE_LINES /
							   pool->peak_bytes)
					      : 0;
		heights[i] += last && heights[i] < CURVE_LINES;
	}
	buf_printf(out, "\n  %s, over the time of the process\n", title);
	for (unsigned int line = CURVE_LINES; line > 0; line--) {
		unsigned int width = MEMORY_TIMELINE_POINTS;

		while (width && heights[width - 1] < line) {
			width--;
		}
		buf_printf(out, "  %8.1f %-2s |",
			(double)pool->peak_bytes * line / CURVE_LINES / (double)unit->bytes,
			unit->name);
		for (unsigned int i = 0; i < width; i++) {
			buf_char(out, heights[i] >= line ? '#' : ' ');
		}
		buf_char(out, '\n');
	}
	buf_pad(out, ' ', 14);
	buf_char(out, '+');
	buf_pad(out, '-', MEMORY_TIMELINE_POINTS);
	buf_char(out, '\n');
}

/* Finds the first and the last tick of the process's events, from the heads of its blocks. */
static void find_ticks(struct memory *memory, const struct process *process)
{
	const struct stream *stream = process->stream;
	uint64_t first = UINT64_MAX, last = 0;

	if (memory->ticks_of == process) {
		return;
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		const struct stream_block *block = &stream->blocks[i];
		unsigned int table = stream_block_table(stream, i);

		if (gprof_table_is(table, GPROF_IS_EVENT) && block->time_max &&
			schema_table(table)->columns[0].kind == GPROF_KIND_TICK) {
			first = block->time_min < first ? block->time_min : first;
			last = block->time_max > last ? block->time_max : last;
		}
	}
	memory->ticks_of = process;
	memory->first_tick = first > last ? last : first;
	memory->last_tick = last;
}

static uint32_t add_place(
	struct memory *memory, struct process *process, uint8_t device_type, uint8_t device)
{
	struct memory_place *place;

	memory->places = array_grow(memory->places, memory->nr_places, &memory->place_capacity,
		sizeof(*memory->places));
	place = &memory->places[memory->nr_places++];
	*place = (struct memory_place){
		.process = process, .device_type = device_type, .device = device};
	find_ticks(memory, process);
	memory_timeline_init(&place->pool, memory->first_tick, memory->last_tick);
	return (uint32_t)(memory->nr_places - 1);
}

uint32_t memory_place(
	struct memory *memory, struct process *process, uint8_t device_type, uint8_t device)
{
	struct memory_number *number, key;

	memset(&key, 0, sizeof(key));
	key.key.process = process;
	key.key.device = (uint64_t)device_type << 8 | device;
	HASH_FIND(hh, memory->numbers, &key.key, sizeof(key.key), number);
	if (!number) {
		number = mem_zeroed(1, sizeof(*number));
		number->key = key.key;
		number->place = add_place(memory, process, device_type, device);
		HASH_ADD(hh, memory->numbers, key, sizeof(number->key), number);
	}
	return number->place;
}

struct memory_row *memory_row(struct memory *memory, uint32_t place, uint32_t name)
{
	struct memory_row *row, key;

	memset(&key, 0, sizeof(key));
	key.key.place = place;
	key.key.name = name;
	hash_put(memory->rows, key, &key.key, row);
	return row;
}

/*
 * Frees wait in the hash until their allocation, which comes later in this direction, removes
 * them.
 */
uint64_t memory_freed(struct memory *memory, uint32_t place, const struct op_alloc *alloc)
{
	struct memory_block *freed, key;
	bool is_free = alloc->bytes <= 0;

	if (!alloc->address) {
		memory->places[place].has_nameless_free |= memory_is_nameless_free(alloc);
		return is_free ? 0 : MEMORY_LEFT;
	}
	memset(&key, 0, sizeof(key));
	key.key.address = alloc->address;
	key.key.place = place;
	HASH_FIND(hh, memory->blocks, &key.key, sizeof(key.key), freed);
	if (!is_free) {
		uint64_t end = freed ? freed->freed : MEMORY_LEFT;

		if (freed) {
			HASH_DEL(memory->blocks, freed);
			free(freed);
		}
		return end;
	}
	if (!freed) {
		freed = mem_zeroed(1, sizeof(*freed));
		freed->key = key.key;
		HASH_ADD(hh, memory->blocks, key, sizeof(freed->key), freed);
	}
	freed->freed = alloc->tick;
	return 0;
}

void memory_add_live(struct memory *memory)
{
	for (const struct memory_row *row = memory->rows; row; row = row->hh.next) {
		memory->places[row->key.place].live_bytes += row->live_bytes;
	}
}

const char *memory_live_unknown(const struct memory_place *place)
{
	uint64_t device_bytes;
	bool is_gpu = place->device_type && place->device_type < MEMORY_DRIVER;

	if (place->has_nameless_free) {
		return MEMORY_NAMELESS;
	}
	if (is_gpu &&
		process_attribute(place->process, place->device, "memory_bytes", &device_bytes) &&
		place->live_bytes > device_bytes) {
		return "more than the GPU has was not freed, so frees are missing";
	}
	return NULL;
}

void memory_forget(struct memory *memory)
{
	hash_free(memory->blocks);
}

void memory_take(
	struct memory *memory, uint32_t place, int64_t bytes, const struct memory_total *after)
{
	memory_timeline_take(
		&memory->places[place].pool, after->tick, bytes, after->in_use, after->reserved);
	if (memory->on_change && memory_timeline_is_known(bytes, after->in_use)) {
		memory->on_change(memory->context, place, after);
	}
}

void memory_place_name(const struct memory_place *place, char *text)
{
	static const char *const spaces[] = {[GPROF_SPACE_DEVICE] = "device memory",
		[GPROF_SPACE_HOST] = "pinned host memory",
		[GPROF_SPACE_MANAGED] = "managed memory",
		[GPROF_SPACE_ARRAY] = "arrays",
		[GPROF_SPACE_POOL] = "pools",
		[GPROF_SPACE_VIRTUAL] = "virtual memory"};
	unsigned int space = place->device_type - MEMORY_DRIVER;

	if (!place->device_type) {
		snprintf(text, MEMORY_NAME_BYTES, "CPU");
	} else if (place->device_type < MEMORY_DRIVER) {
		snprintf(text, MEMORY_NAME_BYTES, "GPU %u", place->device);
	} else {
		snprintf(text, MEMORY_NAME_BYTES, "%s",
			space < sizeof(spaces) / sizeof(spaces[0]) ? spaces[space]
								   : "other memory");
	}
}

/* Adds to the sum of a place, or takes away from it: calls have no totals of their own. */
static void replay(
	struct memory *memory, uint32_t place, uint64_t tick, uint64_t bytes, bool is_free)
{
	uint64_t before = memory->places[place].pool.last_bytes;
	const struct memory_total after = {
		.tick = tick, .in_use = is_free ? before - bytes : before + bytes};

	memory_take(memory, place, is_free ? -1 : 1, &after);
}

/*
 * Called before a row changes. If its place has had a new peak since the row changed last, the row
 * has the same memory in use now as it had at that peak. So no peak needs a copy of all rows.
 */
static void see_peak(const struct memory *memory, struct memory_row *row)
{
	uint64_t peak = memory->places[row->key.place].pool.peak_bytes;

	if (row->seen_peak != peak) {
		row->at_peak_bytes = row->live_bytes;
		row->seen_peak = peak;
	}
}

void memory_replay_end(struct memory *memory)
{
	for (struct memory_row *row = memory->rows; row; row = row->hh.next) {
		if (memory->places[row->key.place].device_type >= MEMORY_DRIVER) {
			see_peak(memory, row);
		}
	}
	for (struct memory_block *left = memory->blocks; memory->block && left;
		left = left->hh.next) {
		memory->block(memory->context, left, MEMORY_LEFT);
	}
}

/*
 * The next call in the order of time. Addresses are of one space, whatever was allocated, so a free
 * is found without its kind.
 */
void memory_replay(struct memory *memory, struct process *process, const struct memory_call *call)
{
	struct memory_block *used, key;

	memset(&key, 0, sizeof(key));
	key.key.address = call->address;
	HASH_FIND(hh, memory->blocks, &key.key, sizeof(key.key), used);
	if (used) { /* freed, or used again: the free was not seen */
		see_peak(memory, used->row);
		used->row->nr_live--;
		used->row->live_bytes -= used->bytes;
		replay(memory, used->row->key.place, call->tick, used->bytes, true);
		if (memory->block) {
			memory->block(memory->context, used, call->tick);
		}
		HASH_DEL(memory->blocks, used);
		free(used);
	}
	if (call->is_free) {
		return;
	}
	used = mem_zeroed(1, sizeof(*used));
	used->key = key.key;
	used->bytes = call->bytes;
	used->tick = call->tick;
	used->row = memory_row(memory,
		memory_place(memory, process, (uint8_t)(MEMORY_DRIVER + call->space), 0),
		process_call_name(process, call->call, NULL));
	see_peak(memory, used->row);
	used->row->nr_live++;
	used->row->live_bytes += call->bytes;
	min_max_sum_add(&used->row->allocs, call->bytes);
	replay(memory, used->row->key.place, call->tick, call->bytes, false);
	HASH_ADD(hh, memory->blocks, key, sizeof(used->key), used);
}

void memory_fini(struct memory *memory)
{
	hash_free(memory->rows);
	hash_free(memory->numbers);
	memory_forget(memory);
	free(memory->places);
	*memory = (struct memory){0};
}
