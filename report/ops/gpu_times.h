/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU time by correlation ID. Records of activities add to it, and the call removes its sum. So it
 * holds only times that no call has removed yet.
 *
 * Ids count up, so they are stored in pages of neighbours. A hash finds the page; empty pages are
 * reused.
 */
#ifndef REPORT_OPS_GPU_TIMES_H
#define REPORT_OPS_GPU_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_TIMES_PAGE_IDS 16u

struct gpu_times_entry {
	uint32_t is_used;
	uint32_t nr_activities;
	uint64_t ns;
	uint32_t records;	    /* a list of op_launch.h, if records are kept */
	uint32_t nr_communications; /* of nr_activities */
};

struct gpu_times_page {
	struct gpu_times_entry entries[GPU_TIMES_PAGE_IDS]; /* by the id's last bits */
	uint32_t nr_entries;
	uint32_t next_free; /* of an empty page: 1 + index of the next, 0 for the last */
};

/* The location of a page. */
struct gpu_times_slot {
	uint64_t number; /* id / GPU_TIMES_PAGE_IDS */
	uint32_t place;	 /* 1 + index in `pages`, 0: free */
};

struct gpu_times {
	struct gpu_times_page *pages;
	size_t nr_pages, page_capacity;
	uint32_t first_free;
	struct gpu_times_slot *slots; /* open addressing; a power of two, at most half full */
	unsigned int slot_bits;	      /* log2 of their number, once there are any */
	size_t nr_used;
	struct gpu_times_slot last; /* of the last look-up */
	size_t nr_entries;
};

/* Zero-initialized. */
void gpu_times_fini(struct gpu_times *times);

/*
 * The entry of a call, created if it is new; valid until the next put. NULL for id 0, which names
 * no call.
 */
struct gpu_times_entry *gpu_times_put(struct gpu_times *times, uint64_t correlation);

/* Adds one activity to an entry. */
static inline void gpu_times_count(struct gpu_times_entry *entry, uint64_t ns)
{
	entry->nr_activities += entry->nr_activities < UINT32_MAX;
	entry->ns += ns;
}

/* Removes the entry of a call; false if there is none. */
bool gpu_times_remove(struct gpu_times *times, uint64_t correlation, struct gpu_times_entry *entry);

#endif
