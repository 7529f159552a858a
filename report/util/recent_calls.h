/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last things that were put in, by correlation id: for joins of rows that stand near each other
 * in a stream, in memory that does not grow with it. The oldest make room; what is gone is not
 * found, and so counts as unknown.
 */
#ifndef REPORT_UTIL_RECENT_CALLS_H
#define REPORT_UTIL_RECENT_CALLS_H

#include "report/util/gpu_time_by_correlation.h"

/* With their index 75 MB at most. */
#define RECENT_ITEMS 1000000u

struct recent_item {
	uint64_t begin, end;
	uint32_t correlation; /* 0: free */
	uint32_t number;      /* what the owner makes of it */
};

struct recent {
	struct recent_item *items;
	size_t nr_items, capacity;
	size_t next;	      /* the oldest, once there are RECENT_ITEMS */
	struct worked places; /* `records` is 1 + the place in items */
};

/* Starts with all zeros. */
void recent_fini(struct recent *recent);

/*
 * One thing an id: a second replaces the first. Id 0 is not kept. True if another one had to make
 * room, which is `gone`.
 */
bool recent_put(struct recent *recent, const struct recent_item *item, struct recent_item *gone);

/* NULL if there is none; good until the next put. */
const struct recent_item *recent_get(const struct recent *recent, uint32_t correlation);

/* Takes it out; false if there is none. */
bool recent_take(struct recent *recent, uint32_t correlation, struct recent_item *item);

#endif
