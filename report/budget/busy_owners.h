/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sites of work that keeps a process's GPUs busy without computing, of one kind: what runs at
 * each time of a sweep from a late time to an early one. Filled in any order.
 *
 * Memory: 32 bytes for each of them in a step that is not closed.
 */
#ifndef REPORT_BUDGET_BUSY_OWNERS_H
#define REPORT_BUDGET_BUSY_OWNERS_H

#include "report/budget/gap_owners.h"

struct busy_owner {
	uint64_t begin, end; /* ns */
	struct budget_site site;
};

/* Zero-initialized. */
struct busy_owners {
	struct busy_owner *items; /* a heap: what ends last on top */
	size_t nr, capacity;
};

void busy_owners_fini(struct busy_owners *owners);

/* Ignores what does not take time. */
void busy_owners_push(struct busy_owners *owners, const struct busy_owner *owner);

/*
 * Returns what ran just before a time, and sets *until to where that begins, or else to the end of
 * what ran before, each at least *until. NULL: nothing that is known. Drops what begins later:
 * times must fall from call to call. It is valid until the next call.
 */
const struct budget_site *busy_owners_at(
	struct busy_owners *owners, uint64_t time, uint64_t *until);

#endif
