/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks of a process's memory on GPUs, as the view `memory` tells them. */
#include <stdlib.h>

#include "report/analysis/memory_scan.h"
#include "report/reduce/reduce.h"

static void *create(const struct view_input *input)
{
	(void)input;
	return mem_zeroed(1, sizeof(struct memory_scan));
}

static void take_peak(uint64_t *fact, uint64_t bytes)
{
	if (*fact == UINT64_MAX || bytes > *fact) {
		*fact = bytes;
	}
}

void reduce_memory_facts(void *context, uint64_t *facts)
{
	const struct memory *memory = &((struct memory_scan *)context)->memory;

	for (size_t i = 0; i < memory->nr_places; i++) {
		const struct memory_timeline *pool = &memory->places[i].pool;
		uint8_t type = memory->places[i].device_type;

		if (!type || !memory_timeline_has_totals(pool)) {
			continue; /* the CPU, or nobody tells */
		}
		if (type < MEMORY_DRIVER) {
			take_peak(&facts[REDUCED_ALLOCATED_BYTES], pool->peak_bytes);
		} else if (type == MEMORY_DRIVER + GPROF_SPACE_DEVICE) {
			take_peak(&facts[REDUCED_CUDA_MALLOC_BYTES], pool->peak_bytes);
		}
		if (pool->peak_reserved_bytes) {
			take_peak(&facts[REDUCED_RESERVED_BYTES], pool->peak_reserved_bytes);
		}
	}
}

static void destroy(void *context)
{
	memory_scan_fini(context);
	free(context);
}

const struct view_class reduce_memory = {
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end},
	.create = create,
	.destroy = destroy,
};
