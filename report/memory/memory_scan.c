/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan that fills memory.c, for the memory views. Allocator events go straight in. Calls of
 * cudaMalloc must be replayed in the order of time, while blocks hold each thread's calls by turns:
 * they wait, sorted, until the earliest begin of all later blocks (later_min) has passed.
 */
#include "report/memory/memory_scan.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/copy_kind.h"
#include "report/util/sort.h"

const struct scan_want memory_scan_wants[MEMORY_SCAN_NR_WANTS] = {
	{GPROF_TABLE_alloc,
		COLS(alloc, time, bytes, allocated_bytes, reserved_bytes, device_type, device), 0},
	{GPROF_TABLE_api_alloc, COL_ALL(NR_COL_api_alloc), 0},
};

/* An allocator of CPU memory alone replaces no calls of cudaMalloc. */
static bool has_gpu_allocator(struct process *process)
{
	struct stream *stream = process->stream;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) != GPROF_TABLE_alloc ||
			stream_load(stream, i, COLS(alloc, device_type), 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			if (batch.col[COL_alloc_device_type][row]) {
				return true;
			}
		}
	}
	return false;
}

bool memory_scan_needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	return table == GPROF_TABLE_alloc ||
	       (stream_has_rows(process->stream, table_bit(table)) && !has_gpu_allocator(process));
}

/* ---- a framework's allocator ---- */

static void take_allocs(struct memory_scan *scan, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t place = memory_place(&scan->memory, process,
			(uint8_t)b->col[COL_alloc_device_type][i] % MEMORY_DRIVER,
			(uint8_t)b->col[COL_alloc_device][i]);

		const struct memory_total after = {.tick = b->col[COL_alloc_time][i],
			.in_use = b->col[COL_alloc_allocated_bytes][i],
			.reserved = b->col[COL_alloc_reserved_bytes][i]};

		memory_take(&scan->memory, place, (int64_t)b->col[COL_alloc_bytes][i], &after);
	}
}

/* ---- cudaMalloc and its kin ---- */

/* later_min[i]: no call in a block behind i begins before that. */
static void find_later(struct memory_scan *scan, const struct stream *stream)
{
	uint64_t min = UINT64_MAX;

	scan->later_min =
		mem_resize(scan->later_min, stream->nr_blocks + 1, sizeof(*scan->later_min));
	for (size_t i = stream->nr_blocks; i-- > 0;) {
		scan->later_min[i] = min;
		if (stream_block_table(stream, i) == GPROF_TABLE_api_alloc &&
			stream->blocks[i].time_min < min) {
			min = stream->blocks[i].time_min;
		}
	}
}

static void add_calls(struct memory_scan *scan, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->col[COL_api_alloc_result][i] || !b->col[COL_api_alloc_address][i]) {
			continue;
		}
		scan->calls = array_grow(
			scan->calls, scan->nr_calls, &scan->call_capacity, sizeof(*scan->calls));
		scan->calls[scan->nr_calls++] =
			(struct memory_call){.tick = address_kinds_tick(b, i),
				.address = b->col[COL_api_alloc_address][i],
				.bytes = b->col[COL_api_alloc_bytes][i],
				.call = (uint32_t)b->col[COL_api_alloc_call][i],
				.space = (uint8_t)b->col[COL_api_alloc_space][i] % MEMORY_DRIVER,
				.is_free = b->col[COL_api_alloc_op][i] != 0};
		if (address_kinds_tick(b, i) < scan->first_tick) {
			scan->first_tick = address_kinds_tick(b, i);
		}
	}
}

static int by_tick(const void *a, const void *b)
{
	const struct memory_call *x = a, *y = b;

	return ORDER(COMPARE(x->tick, y->tick), x->is_free - y->is_free);
}

/* Replays what was before a tick; UINT64_MAX: everything. */
static void replay_before(struct memory_scan *scan, struct process *process, uint64_t before)
{
	size_t nr = 0;

	if (!scan->nr_calls || (before != UINT64_MAX && scan->first_tick >= before)) {
		return;
	}
	qsort(scan->calls, scan->nr_calls, sizeof(*scan->calls), by_tick);
	while (nr < scan->nr_calls && (before == UINT64_MAX || scan->calls[nr].tick < before)) {
		memory_replay(&scan->memory, process, &scan->calls[nr++]);
	}
	scan->nr_calls -= nr;
	memmove(scan->calls, scan->calls + nr, scan->nr_calls * sizeof(*scan->calls));
	scan->first_tick = scan->nr_calls ? scan->calls[0].tick : UINT64_MAX;
}

/* ---- the scan ---- */

void memory_scan_begin(void *context, struct process *process)
{
	struct memory_scan *scan = context;

	scan->nr_calls = 0;
	scan->first_tick = UINT64_MAX;
	find_later(scan, process->stream);
}

void memory_scan_take(void *context, struct process *process, const struct batch *batch)
{
	struct memory_scan *scan = context;

	if (batch->table == GPROF_TABLE_alloc) {
		take_allocs(scan, process, batch);
	} else {
		add_calls(scan, batch);
		replay_before(scan, process, scan->later_min[batch->block]);
	}
}

void memory_scan_end(void *context, struct process *process)
{
	struct memory_scan *scan = context;

	replay_before(scan, process, UINT64_MAX);
	memory_replay_end(&scan->memory);
	memory_forget(&scan->memory);
}

void memory_scan_fini(struct memory_scan *scan)
{
	memory_fini(&scan->memory);
	free(scan->calls);
	free(scan->later_min);
	*scan = (struct memory_scan){0};
}
