/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what is in use on each device at chosen times, by category (alloc_category.h), and the
 * largest blocks then: in each of up to MEMORY_PARTS parts of the process's time when most is in
 * use and after its last event, and at the ends of up to MEMORY_STEPS steps. One of the former is
 * the peak. The parts are of equal length, but for the time to the end of the first step, which has
 * MEMORY_FIRST_PARTS of its own. The time of view_input.at is one more.
 *
 * The totals are the allocator's; categories are of the blocks whose allocation is recorded.
 *
 * Memory: 2 KB for each of these times, and what alloc_category.h and memory_freed need.
 */
#ifndef REPORT_MEMORY_MEMORY_IN_USE_H
#define REPORT_MEMORY_MEMORY_IN_USE_H

#include "report/memory/memory_scan.h"
#include "report/analysis/view.h"
#include "report/ops/alloc_category.h"

#define MEMORY_PARTS	   256u
#define MEMORY_FIRST_PARTS 64u
#define MEMORY_STEPS	   256u
/* Largest blocks at each time, and at that of view_input.at. */
#define MEMORY_LARGEST	  20u
#define MEMORY_LARGEST_AT 1000u

struct memory_sample {
	struct memory_total total;
	uint64_t step; /* that ends then, by its number; MEMORY_NO_STEP: none */
	uint64_t bytes[NR_ALLOC_CATEGORIES], known;
	struct alloc_block *largest; /* a heap, the smallest first */
	unsigned int nr_largest;
	bool is_at; /* the time of view_input.at: the last event before it */
};
#define MEMORY_NO_STEP UINT64_MAX

/* A row of what is in use at the peak. */
struct memory_peak_row {
	struct {
		uint32_t place, category, name, module;
	} key;
	uint64_t bytes, nr_blocks;
	UT_hash_handle hh;
};

struct memory_part;

/* The memory in use at a place of memory.h. */
struct memory_in_use_place {
	struct memory_part *parts; /* by number, those in which something happened */
	size_t nr_parts, part_capacity;
	struct memory_total *step_ends; /* by number of the step divided by the stride */
	size_t nr_step_ends, stride;
	struct memory_total at;	       /* tick 0: none before view_input.at */
	struct memory_sample *samples; /* by time */
	size_t nr_samples, peak;
	uint64_t nr_blocks[NR_ALLOC_CATEGORIES];
	bool has_blocks; /* and it is known when each was freed */
};

struct memory_in_use {
	struct memory_scan scan; /* comes first: the scan's context */
	struct view_input input;
	struct memory_in_use_place *places; /* by the place's number */
	size_t nr_places, capacity;
	struct alloc_categories categories;
	struct process *process; /* the current one of the second pass */
	struct memory_peak_row *peak_rows;
};

/* For VIEW_STATE. */
void memory_in_use_init(void *state);
void memory_in_use_fini(void *state);

/* For op_view. */
void memory_in_use_begin(void *context, struct process *process);
void memory_in_use_alloc(void *context, const struct op_alloc *alloc, const struct op *op);
void memory_in_use_end(void *context, struct process *process, const struct phases *phases);

#endif
