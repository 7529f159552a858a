/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds for each block the earliest begin of a short row in it and in all later blocks. The header
 * of a block says enough if the block is short itself; else its begins and lengths are read, which
 * also shows whether it has long rows.
 */
#include "report/timeline/slice_order.h"

#include <stdlib.h>

#include "report/util/buf.h"

/* A slice is long if so many events happen during it, on average. */
#define LONG_EVENTS 100000u

/* Rounding may put a time before another one by that much. */
#define ROUNDING_NS 1000u

static void find_lengths(struct slice_lengths *lengths, const struct process *process)
{
	uint64_t span = process->last_ns - process->first_ns;
	uint64_t slope = process->host_clock.mean_slope;
	uint64_t ns = UINT64_MAX;

	if (process->nr_events > LONG_EVENTS && process->first_ns < process->last_ns) {
		ns = (uint64_t)((double)span / (double)process->nr_events * LONG_EVENTS);
	}
	*lengths = (struct slice_lengths){.ticks = ns, .device_ns = ns};
	if (slope && ns < UINT64_MAX) {
		lengths->ticks = (uint64_t)((double)ns / (double)slope * 4294967296.0);
	}
}

/* The tables of SLICES_HOST and SLICES_GPU begin with columns of begins and lengths. */
static uint64_t first_short(
	struct slice_order *order, struct timeline *timeline, size_t block, uint64_t longest)
{
	const struct stream_block *of = &timeline->process->stream->blocks[block];
	uint64_t first = UINT64_MAX;
	struct batch batch;

	if (of->time_max - of->time_min <= longest) {
		return of->time_min;
	}
	if (!timeline_load(timeline, block, COL_BIT(0) | COL_BIT(1), &batch)) {
		return first;
	}
	for (uint32_t i = 0; i < batch.nr_rows; i++) {
		uint64_t begin = batch.col[0][i];

		if (batch.col[1][i] > longest) {
			order->has_long[block] = true;
		} else if (begin < first) {
			first = begin;
		}
	}
	return first;
}

/* Returns a time on the axis; UINT64_MAX: the block has no short ones. */
static uint64_t first_short_ns(struct slice_order *order, struct timeline *timeline, size_t block)
{
	unsigned int table = stream_block_table(timeline->process->stream, block);
	bool is_host = timeline_source_of(table) == SLICES_HOST && table != GPROF_TABLE_alloc;
	uint64_t first, ns;

	if (!is_host && timeline_source_of(table) != SLICES_GPU) {
		return UINT64_MAX;
	}
	first = first_short(
		order, timeline, block, is_host ? order->lengths.ticks : order->lengths.device_ns);
	if (first == UINT64_MAX) {
		return first;
	}
	ns = is_host ? timeline_host_ns(timeline, first) : timeline_device_ns(timeline, first);
	return ns > ROUNDING_NS ? ns - ROUNDING_NS : 0;
}

void slice_order_find(struct slice_order *order, struct timeline *timeline)
{
	size_t nr_blocks = timeline->process->stream->nr_blocks;
	uint64_t min = UINT64_MAX;

	find_lengths(&order->lengths, timeline->process);
	order->has_long = mem_zeroed(nr_blocks + 1, sizeof(*order->has_long));
	order->begins_ns = mem_zeroed(nr_blocks + 1, sizeof(*order->begins_ns));
	for (size_t i = 0; i < nr_blocks; i++) {
		order->begins_ns[i] = first_short_ns(order, timeline, i);
	}
	for (size_t i = nr_blocks; i-- > 0;) {
		min = order->begins_ns[i] < min ? order->begins_ns[i] : min;
		order->begins_ns[i] = min;
	}
}

void slice_order_fini(struct slice_order *order)
{
	free(order->has_long);
	free(order->begins_ns);
}
