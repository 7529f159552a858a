/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps calls and operators that may own a gap from the time that budget.c sees them to that of the
 * gap, which budget_sweep.c divides later.
 *
 * The items from `head` on have falling ends. A search moves those that it keeps up to the ones
 * that it has not looked at, and `head` behind those that it drops: no hole is left.
 */
#include "report/budget/gap_owners.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

void gap_owners_fini(struct gap_owners *owners)
{
	free(owners->items);
	*owners = (struct gap_owners){0};
}

static void move(struct gap_owners *owners, size_t to, size_t from, size_t nr)
{
	if (nr) {
		memmove(&owners->items[to], &owners->items[from], nr * sizeof(*owners->items));
	}
}

void gap_owners_push(struct gap_owners *owners, const struct gap_owner *owner)
{
	if (owners->nr == owners->capacity && owners->head > owners->nr / 2) {
		owners->nr -= owners->head;
		move(owners, 0, owners->head, owners->nr);
		owners->head = 0;
	}
	owners->items =
		array_grow(owners->items, owners->nr, &owners->capacity, sizeof(*owners->items));
	owners->items[owners->nr++] = *owner;
}

/* On the way it drops what begins at or after `end`: no earlier gap can lie in it. */
void gap_owners_find(struct gap_owners *owners, uint64_t begin, uint64_t end,
	struct budget_site sites[GAP_OWNER_STATES])
{
	uint64_t most_ns[GAP_OWNER_STATES] = {0};
	size_t at = owners->head, nr = 0;

	for (; at < owners->nr && owners->items[at].end > begin; at++) {
		const struct gap_owner owner = owners->items[at];
		uint64_t from = owner.begin > begin ? owner.begin : begin;
		uint64_t to = owner.end < end ? owner.end : end;

		if (from < to && to - from > most_ns[owner.state]) {
			most_ns[owner.state] = to - from;
			sites[owner.state] = (struct budget_site){owner.end, owner.site};
		}
		if (owner.begin < end) {
			owners->items[owners->head + nr++] = owner;
		}
	}
	move(owners, at - nr, owners->head, nr);
	owners->head = at - nr;
}

/* The time in which an owner has the gap; 0 in another state. */
static uint64_t covered_ns(const struct gap_owner *owner, const struct gap_owner *gap)
{
	uint64_t from = owner->begin > gap->begin ? owner->begin : gap->begin;
	uint64_t to = owner->end < gap->end ? owner->end : gap->end;

	return owner->state == gap->state && from < to ? to - from : 0;
}

bool gap_owners_divide(const struct gap_owners *owners, const struct gap_owner *gap, uint64_t ns,
	void (*give)(void *context, const struct budget_site *site, uint64_t ns), void *context)
{
	uint64_t all_ns = 0, done_ns = 0, given_ns = 0;

	for (size_t at = owners->head; at < owners->nr && owners->items[at].end > gap->begin;
		at++) {
		all_ns += covered_ns(&owners->items[at], gap);
	}
	for (size_t at = owners->head; done_ns < all_ns; at++) {
		const struct gap_owner *owner = &owners->items[at];
		uint64_t covered = covered_ns(owner, gap), until_ns;

		if (covered) {
			done_ns += covered;
			until_ns = (uint64_t)((unsigned __int128)ns * done_ns / all_ns);
			give(context, &(struct budget_site){owner->end, owner->site},
				until_ns - given_ns);
			given_ns = until_ns;
		}
	}
	return all_ns != 0;
}

void gap_owners_pass(struct gap_owners *owners, uint64_t time)
{
	struct budget_site none[GAP_OWNER_STATES];

	gap_owners_find(owners, time, time, none);
}
