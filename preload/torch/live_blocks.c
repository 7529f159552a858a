/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table by address in which a block may have any of NR_PROBES slots. A freed block empties
 * its slot, so a search looks at all of them. Where they are taken, the block is counted as lost,
 * and its free has no size.
 */
#include "preload/torch/live_blocks.h"

#include <stdatomic.h>

#include "collector/util/loss.h"

#define SLOT_BITS 16u
#define NR_SLOTS  (1u << SLOT_BITS)
/* Slots from the first one on that a block may have. */
#define NR_PROBES 32u

static struct {
	_Atomic uintptr_t address; /* 0: free */
	_Atomic uint64_t nr_bytes;
} slots[NR_SLOTS];

static _Atomic uint64_t in_use;

/* The allocator aligns blocks to 64 bytes. */
static uint32_t first_slot(uintptr_t address)
{
	return (uint32_t)((address >> 6) * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS));
}

uint64_t live_blocks_add(uintptr_t address, uint64_t nr_bytes)
{
	uint32_t first = first_slot(address);

	for (uint32_t i = 0; i < NR_PROBES; i++) {
		uint32_t at = (first + i) % NR_SLOTS;
		uintptr_t found = 0;

		/* The address itself is there if the block was freed without a report. */
		if (atomic_compare_exchange_strong_explicit(&slots[at].address, &found, address,
			    memory_order_relaxed, memory_order_relaxed) ||
			found == address) {
			uint64_t before =
				atomic_load_explicit(&slots[at].nr_bytes, memory_order_relaxed);

			/* Only the thread whose block it is writes to the slot. */
			atomic_store_explicit(&slots[at].nr_bytes, nr_bytes, memory_order_relaxed);
			nr_bytes -= found ? before : 0;
			return atomic_fetch_add_explicit(&in_use, nr_bytes, memory_order_relaxed) +
			       nr_bytes;
		}
	}
	loss_add(LOSS_BLOCK, 1);
	return 0;
}

uint64_t live_blocks_remove(uintptr_t address, uint64_t *in_use_bytes)
{
	uint32_t first = first_slot(address);

	for (uint32_t i = 0; i < NR_PROBES; i++) {
		uint32_t at = (first + i) % NR_SLOTS;

		if (atomic_load_explicit(&slots[at].address, memory_order_relaxed) == address) {
			uint64_t nr_bytes =
				atomic_load_explicit(&slots[at].nr_bytes, memory_order_relaxed);

			atomic_store_explicit(&slots[at].address, 0, memory_order_relaxed);
			*in_use_bytes =
				atomic_fetch_sub_explicit(&in_use, nr_bytes, memory_order_relaxed) -
				nr_bytes;
			return nr_bytes;
		}
	}
	return 0;
}
