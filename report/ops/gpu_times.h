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

/* The entry of a call, NULL if there is none; valid until the next put or remove. */
const struct gpu_times_entry *gpu_times_find(const struct gpu_times *times, uint64_t correlation);

/* Adds one activity to an entry. */
static inline void gpu_times_count(struct gpu_times_entry *entry, uint64_t ns)
{
	entry->nr_activities += entry->nr_activities < UINT32_MAX;
	entry->ns += ns;
}

/* Adds one activity of that call. Returns as gpu_times_put. */
struct gpu_times_entry *gpu_times_add(struct gpu_times *times, uint64_t correlation, uint64_t ns);

/* Removes the entry of a call; false if there is none. */
bool gpu_times_remove(struct gpu_times *times, uint64_t correlation, struct gpu_times_entry *entry);

/* ---- recent calls ---- */

/*
 * A cache of recent calls by correlation ID, to join rows that are near each other in a stream with
 * bounded memory. The oldest entries make room; a join that does not find its call treats it as
 * unknown. Memory: at most 75 MB with the index.
 */
#define RECENT_CALLS_ITEMS 1000000u

struct recent_calls_item {
	uint64_t begin, end;
	uint64_t correlation;
	uint32_t number; /* defined by the owner */
};

struct recent_calls_slot {
	uint64_t begin, end;
	uint64_t correlation; /* 0: free */
};

struct recent_calls {
	struct recent_calls_slot *slots;
	size_t nr_slots, capacity;
	size_t next; /* index of the oldest, once there are RECENT_CALLS_ITEMS */
	/* `records` is 1 + the index in slots, `nr_activities` the number of the item. */
	struct gpu_times places;
};

/* Starts with all zeros. */
void recent_calls_fini(struct recent_calls *recent);

/*
 * Adds a call; a second one with its id replaces it. Ignores id 0. True if another one made room,
 * which is then `gone`.
 */
bool recent_calls_put(struct recent_calls *recent, const struct recent_calls_item *item,
	struct recent_calls_item *gone);

/* Returns false if the call is not in the cache. */
bool recent_calls_get(
	const struct recent_calls *recent, uint64_t correlation, struct recent_calls_item *item);

/* Removes it; false if there is none. */
bool recent_calls_remove(
	struct recent_calls *recent, uint64_t correlation, struct recent_calls_item *item);

#endif
