/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the largest single blocks, for the memory view and TensorBoard's memory page. In the walk's
 * backward pass a free comes first and waits in a hash by address and device; the allocation that
 * made the block then finds it. What waits at the end was allocated before the recording. The heap
 * has the smallest block on top, so one comparison turns most blocks away.
 */
#include "report/memory/allocations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory/memory.h"
#include "report/util/hash.h"
#include "report/util/heap.h"
#include "report/model/time_axis.h"
#include "report/util/sort.h"

struct allocations_freed {
	struct {
		uint64_t address, device;
	} key;
	uint64_t tick, bytes;
	UT_hash_handle hh;
};

/* ---- the largest ---- */

static bool is_smaller(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;

	return x->bytes < y->bytes;
}

void allocations_add(struct allocations *blocks, const struct allocation *block)
{
	if (!blocks->heap) {
		blocks->heap = mem_zeroed(ALLOCATIONS_MAX, sizeof(*blocks->heap));
	}
	blocks->nr_all++;
	if (blocks->nr == ALLOCATIONS_MAX) {
		if (block->bytes > blocks->heap[0].bytes) {
			blocks->heap[0] = *block;
			heap_sink(blocks->heap, blocks->nr, sizeof(*block), is_smaller);
		}
		return;
	}
	blocks->heap[blocks->nr] = *block;
	heap_rise(blocks->heap, blocks->nr++, sizeof(*block), is_smaller);
}

static int by_bytes(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;

	return ORDER(COMPARE(y->bytes, x->bytes), COMPARE(x->alloc_ns, y->alloc_ns));
}

const struct allocation *allocations_sorted(struct allocations *blocks, size_t *nr)
{
	if (blocks->nr) {
		qsort(blocks->heap, blocks->nr, sizeof(*blocks->heap), by_bytes);
	}
	*nr = blocks->nr;
	return blocks->heap;
}

/* ---- events ---- */

uint64_t allocations_time_ns(struct process *process, uint64_t tick)
{
	return time_axis_time(process, clock_map_time(&process->host_clock, tick));
}

/* A free without an allocation: the block was allocated before the recording. */
static void add_unasked(struct allocations *blocks, const struct allocations_freed *freed)
{
	const struct allocation block = {.bytes = freed->bytes,
		.alloc_ns = BLOCK_UNSEEN,
		.free_ns = allocations_time_ns(blocks->process, freed->tick),
		.process = blocks->process,
		.device = (uint32_t)freed->key.device};

	allocations_add(blocks, &block);
}

/*
 * Two frees of an address in a row mean that the allocation between them is missing: the later free
 * then has no allocation, and the earlier one takes over the address.
 */
void allocations_take(
	struct allocations *blocks, const struct op_alloc *alloc, uint32_t device, uint32_t name)
{
	struct allocation block = {.bytes = (uint64_t)alloc->bytes,
		.alloc_ns = allocations_time_ns(blocks->process, alloc->tick),
		.free_ns = BLOCK_UNSEEN,
		.process = blocks->process,
		.name = name,
		.device = device};
	struct allocations_freed *freed, key = {.key = {alloc->address, device}};

	if (memory_is_nameless_free(alloc)) {
		blocks->nr_nameless++;
		return;
	}
	HASH_FIND(hh, blocks->freed, &key.key, sizeof(key.key), freed);
	if (alloc->bytes > 0) {
		if (freed) {
			block.free_ns = allocations_time_ns(blocks->process, freed->tick);
			HASH_DEL(blocks->freed, freed);
			free(freed);
		}
		allocations_add(blocks, &block);
		return;
	}
	if (freed) {
		add_unasked(blocks, freed); /* the address was allocated again, unseen */
	} else {
		freed = mem_zeroed(1, sizeof(*freed));
		freed->key = key.key;
		HASH_ADD(hh, blocks->freed, key, sizeof(freed->key), freed);
	}
	freed->tick = alloc->tick;
	freed->bytes = 0 - (uint64_t)alloc->bytes;
}

void allocations_begin(struct allocations *blocks, struct process *process)
{
	hash_free(blocks->freed);
	blocks->process = process;
}

void allocations_end(struct allocations *blocks)
{
	for (const struct allocations_freed *freed = blocks->freed; freed; freed = freed->hh.next) {
		add_unasked(blocks, freed);
	}
	hash_free(blocks->freed);
}

void allocations_note(const struct allocations *blocks, struct table *table)
{
	if (blocks->nr_nameless == 1) {
		table_note(table, "1 free has no address, so it is unknown what it frees.");
	} else if (blocks->nr_nameless) {
		table_note(table, "%" PRIu64 " " MEMORY_NAMELESS ".", blocks->nr_nameless);
	}
}

void allocations_fini(struct allocations *blocks)
{
	hash_free(blocks->freed);
	free(blocks->heap);
	*blocks = (struct allocations){0};
}
