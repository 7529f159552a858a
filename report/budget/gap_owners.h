/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls and operators that keep a GPU idle by themselves, with their sites, until the gaps are
 * known that they lie in. They come by falling ends, and are searched by falling times.
 *
 * Memory: 32 bytes for each of them that lies in a step that is not closed.
 */
#ifndef REPORT_BUDGET_GAP_OWNERS_H
#define REPORT_BUDGET_GAP_OWNERS_H

#include "report/budget/host_states.h"

/* The site of a call or operator: a number that whoever feeds the budget gives it. */
struct budget_site {
	uint64_t end; /* of the call or operator, which it is known by; 0: unknown */
	uint32_t site;
};

#define GAP_OWNER_STATES (HOST_OS + 1u)

struct gap_owner {
	uint64_t begin, end;
	uint32_t site;
	uint8_t state;
};

/* Zero-initialized. */
struct gap_owners {
	struct gap_owner *items;
	size_t head, nr, capacity; /* from head on, by falling ends */
};

void gap_owners_fini(struct gap_owners *owners);

/*
 * Do times of a state have owners? Those of compilation, start-up, allocation, waits, copies that
 * wait, collections, loaders and calls of the operating system do.
 */
static inline bool gap_owners_has(enum host_state state)
{
	return state <= HOST_STAGING || state == HOST_GC || state == HOST_LOADER ||
	       state == HOST_OS;
}

void gap_owners_push(struct gap_owners *owners, const struct gap_owner *owner);

/* Sets, by state, which one takes most of the time from `begin` to `end`. */
void gap_owners_find(struct gap_owners *owners, uint64_t begin, uint64_t end,
	struct budget_site sites[GAP_OWNER_STATES]);

/*
 * Divides `ns` of the time from gap->begin to gap->end among the owners in gap->state, by how much
 * of the gap each of them covers: many short calls may share one gap. To be called before
 * gap_owners_find, which drops some. Returns false if there is none.
 */
bool gap_owners_divide(const struct gap_owners *owners, const struct gap_owner *gap, uint64_t ns,
	void (*give)(void *context, const struct budget_site *site, uint64_t ns), void *context);

/* Drops those that begin at a time or later. */
void gap_owners_pass(struct gap_owners *owners, uint64_t time);

#endif
