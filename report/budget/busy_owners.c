/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and communication with the call that launched each, as a heap of intervals: the sweep asks
 * which one ran at a time.
 */
#include "report/budget/busy_owners.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/heap.h"

void busy_owners_fini(struct busy_owners *owners)
{
	free(owners->items);
	*owners = (struct busy_owners){0};
}

void busy_owners_push(struct busy_owners *owners, const struct busy_owner *owner)
{
	if (owner->begin >= owner->end) {
		return;
	}
	owners->items =
		array_grow(owners->items, owners->nr, &owners->capacity, sizeof(*owners->items));
	heap_push(owners->items, owners->nr++, sizeof(*owner), offsetof(struct busy_owner, end),
		owner);
}

static void drop_top(struct busy_owners *owners)
{
	const struct busy_owner last = owners->items[--owners->nr];

	heap_drop(owners->items, owners->nr, sizeof(last), offsetof(struct busy_owner, end), &last);
}

const struct budget_site *busy_owners_at(struct busy_owners *owners, uint64_t time, uint64_t *until)
{
	const struct busy_owner *top;
	uint64_t edge;

	while (owners->nr && owners->items[0].begin >= time) {
		drop_top(owners);
	}
	if (!owners->nr) {
		return NULL;
	}
	top = &owners->items[0];
	edge = top->end >= time ? top->begin : top->end;
	*until = edge > *until ? edge : *until;
	return top->end >= time ? &top->site : NULL;
}
