/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of recent calls by correlation id, to join rows that are near each other in a stream with
 * bounded memory. The oldest entries make room; a join that does not find its call treats it as
 * unknown.
 */
#ifndef REPORT_OPS_RECENT_CALLS_H
#define REPORT_OPS_RECENT_CALLS_H

#include "report/ops/gpu_times.h"

/* At most 75 MB with the index. */
#define RECENT_CALLS_ITEMS 1000000u

struct recent_calls_item {
	uint64_t begin, end;
	uint32_t correlation; /* 0: free */
	uint32_t number;      /* defined by the owner */
};

struct recent_calls {
	struct recent_calls_item *items;
	size_t nr_items, capacity;
	size_t next;		 /* the oldest, once there are RECENT_CALLS_ITEMS */
	struct gpu_times places; /* `records` is 1 + the index in items */
};

/* Starts with all zeros. */
void recent_calls_fini(struct recent_calls *recent);

/*
 * Adds a call; a second one with its id replaces it. Ignores id 0. True if another one made room,
 * which is then `gone`.
 */
bool recent_calls_put(struct recent_calls *recent, const struct recent_calls_item *item,
	struct recent_calls_item *gone);

/* NULL if there is none; valid until the next put. */
const struct recent_calls_item *recent_calls_get(
	const struct recent_calls *recent, uint32_t correlation);

/* Removes it; false if there is none. */
bool recent_calls_remove(
	struct recent_calls *recent, uint32_t correlation, struct recent_calls_item *item);

#endif
