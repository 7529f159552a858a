/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last things that were put in, by correlation id: for joins of rows that stand near each other
 * in a stream, in memory that does not grow with it. The oldest make room; what is gone is not
 * found, and so counts as unknown.
 */
#ifndef REPORT_OPS_RECENT_CALLS_H
#define REPORT_OPS_RECENT_CALLS_H

#include "report/ops/gpu_times.h"

/* With their index 75 MB at most. */
#define RECENT_CALLS_ITEMS 1000000u

struct recent_calls_item {
	uint64_t begin, end;
	uint32_t correlation; /* 0: free */
	uint32_t number;      /* what the owner makes of it */
};

struct recent_calls {
	struct recent_calls_item *items;
	size_t nr_items, capacity;
	size_t next;		 /* the oldest, once there are RECENT_CALLS_ITEMS */
	struct gpu_times places; /* `records` is 1 + the place in items */
};

/* Starts with all zeros. */
void recent_calls_fini(struct recent_calls *recent);

/*
 * One thing an id: a second replaces the first. Id 0 is not kept. True if another one had to make
 * room, which is `gone`.
 */
bool recent_calls_put(struct recent_calls *recent, const struct recent_calls_item *item,
	struct recent_calls_item *gone);

/* NULL if there is none; good until the next put. */
const struct recent_calls_item *recent_calls_get(
	const struct recent_calls *recent, uint32_t correlation);

/* Takes it out; false if there is none. */
bool recent_calls_remove(
	struct recent_calls *recent, uint32_t correlation, struct recent_calls_item *item);

#endif
