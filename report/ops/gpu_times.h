/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long devices times for a call: times by correlation id, put in as the work's records are
 * read and taken out once, by the call. Holds only what no call has taken yet.
 *
 * Ids count up, so they stand in pages of neighbours, which are found by a hash once for all of
 * them, and used again when they are empty.
 */
#ifndef REPORT_OPS_GPU_TIMES_H
#define REPORT_OPS_GPU_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_TIMES_PAGE_IDS 16u

struct gpu_times_entry {
	uint32_t correlation; /* 0: free */
	uint32_t nr_activities;
	uint64_t ns;
	uint32_t records;	    /* a list of op_records.h, where somebody keeps them */
	uint32_t nr_communications; /* of nr_activities */
};

struct gpu_times_page {
	struct gpu_times_entry entries[GPU_TIMES_PAGE_IDS]; /* by the id's last bits */
	uint32_t nr_entries;
	uint32_t next_free; /* of an empty one: 1 + the place of another, 0 if it is the last */
};

/* Where a page stands. */
struct gpu_times_slot {
	uint32_t number; /* of ids, by the size of a page */
	uint32_t place;	 /* 1 + its place in `pages`, 0: free */
};

struct gpu_times {
	struct gpu_times_page *pages;
	size_t nr_pages, page_capacity;
	uint32_t first_free;
	struct gpu_times_slot
		*slots;		/* open addressing; a power of two of them, at most half full */
	unsigned int slot_bits; /* of that power, once there are any */
	size_t nr_used;
	struct gpu_times_slot last; /* that was looked for */
	size_t nr_entries;
};

/* Starts with all zeros. */
void gpu_times_fini(struct gpu_times *times);

/* The entry of a call, made if it is new; valid until the next. NULL for id 0, which names none. */
struct gpu_times_entry *gpu_times_put(struct gpu_times *times, uint32_t correlation);

/* The entry of a call, NULL if there is none; valid until the next put or take. */
const struct gpu_times_entry *gpu_times_find(const struct gpu_times *times, uint32_t correlation);

/* One more record of work of that call. Returns as gpu_times_put. */
struct gpu_times_entry *gpu_times_add(struct gpu_times *times, uint32_t correlation, uint64_t ns);

/* Takes the sum out; false if there is none. */
bool gpu_times_remove(struct gpu_times *times, uint32_t correlation, struct gpu_times_entry *entry);

#endif
