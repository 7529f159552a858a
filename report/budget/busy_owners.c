/* SPDX-License-Identifier: Apache-2.0 */
#include "report/budget/busy_owners.h"

#include <stdlib.h>

#include "report/util/buf.h"

void busy_owners_fini(struct busy_owners *owners)
{
	free(owners->items);
	*owners = (struct busy_owners){0};
}

void busy_owners_push(struct busy_owners *owners, const struct busy_owner *owner)
{
	size_t at = owners->nr;

	if (owner->begin >= owner->end) {
		return;
	}
	owners->items =
		array_grow(owners->items, owners->nr, &owners->capacity, sizeof(*owners->items));
	owners->nr++;
	for (; at && owners->items[(at - 1) / 2].end < owner->end; at = (at - 1) / 2) {
		owners->items[at] = owners->items[(at - 1) / 2];
	}
	owners->items[at] = *owner;
}

static void drop_top(struct busy_owners *owners)
{
	const struct busy_owner last = owners->items[--owners->nr];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < owners->nr) {
		child += child + 1 < owners->nr &&
			 owners->items[child + 1].end > owners->items[child].end;
		if (owners->items[child].end <= last.end) {
			break;
		}
		owners->items[at] = owners->items[child];
		at = child;
	}
	owners->items[at] = last;
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
