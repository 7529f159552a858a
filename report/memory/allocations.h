/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single blocks of memory: who allocated each, when, and when it was freed. Of many, the
 * ALLOCATIONS_MAX largest. Memory: those, and the frees that wait for their allocation.
 */
#ifndef REPORT_MEMORY_ALLOCATIONS_H
#define REPORT_MEMORY_ALLOCATIONS_H

#include "report/analysis/view.h"
#include "report/util/hash.h"

#define ALLOCATIONS_MAX 1000u

#define BLOCK_UNSEEN UINT64_MAX

struct allocation {
	uint64_t bytes;
	uint64_t alloc_ns, free_ns; /* on the axis of time, or BLOCK_UNSEEN */
	struct process *process;
	uint32_t name;	 /* string_pool.h: the operator that allocated it; 0: none, or unknown */
	uint32_t device; /* type << 8 | number, as table alloc has them */
};

struct allocations_freed;

/* Starts with all zeros. */
struct allocations {
	struct allocation *heap; /* the smallest first */
	size_t nr;
	uint64_t nr_all;		 /* how many there were */
	uint64_t nr_nameless;		 /* frees that match none, see memory_is_nameless_free */
	struct allocations_freed *freed; /* of the process, later than the current event */
	struct process *process;
};

/* Events from now on, until allocations_end, are of that process. */
void allocations_begin(struct allocations *blocks, struct process *process);
void allocations_end(struct allocations *blocks);

/* The next event, from the last to the first: a free comes before its allocation. */
void allocations_take(
	struct allocations *blocks, const struct op_alloc *alloc, uint32_t device, uint32_t name);

/* A block whose times are known. */
void allocations_add(struct allocations *blocks, const struct allocation *block);

/* A tick on the axis of time, see time_axis.h. */
uint64_t allocations_time_ns(struct process *process, uint64_t tick);

/* Those that were kept, the largest first. The blocks keep them. */
const struct allocation *allocations_sorted(struct allocations *blocks, size_t *nr);

/* Adds the note that says how many frees match none. */
void allocations_note(const struct allocations *blocks, struct table *table);

void allocations_fini(struct allocations *blocks);

#endif
