/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of correlation IDs, for selections and joins: millions of calls take a bit each. The common
 * case, a page that exists, is inline in the header; this adds pages and grows the table.
 */
#include "report/util/idset.h"

#include <stdlib.h>

#include "report/util/buf.h"

#define PAGE_WORDS (IDSET_PAGE_BITS / 64u)
#define FIRST_BITS 3u

static size_t nr_slots(const struct idset *set)
{
	return (size_t)1 << (64 - set->shift);
}

struct idset *idset_create(void)
{
	struct idset *set = mem_zeroed(1, sizeof(struct idset));

	set->shift = 64 - FIRST_BITS;
	set->slots = mem_zeroed(nr_slots(set), sizeof(*set->slots));
	return set;
}

void idset_destroy(struct idset *set)
{
	for (size_t i = 0; set && i < nr_slots(set); i++) {
		free(set->slots[i].page);
	}
	if (set) {
		free(set->slots);
	}
	free(set);
}

static void grow(struct idset *set)
{
	struct idset_slot *old = set->slots;
	size_t nr_old = nr_slots(set);

	set->shift--;
	set->slots = mem_zeroed(nr_slots(set), sizeof(*set->slots));
	for (size_t i = 0; i < nr_old; i++) {
		if (old[i].page) {
			*idset_find(set, old[i].number) = old[i];
		}
	}
	free(old);
}

void idset_add_slow(struct idset *set, uint64_t id)
{
	uint64_t number = id / IDSET_PAGE_BITS;

	if (2 * ++set->nr_used > nr_slots(set)) {
		grow(set);
	}
	*idset_find(set, number) =
		(struct idset_slot){number, mem_zeroed(PAGE_WORDS, sizeof(uint64_t))};
	idset_add(set, id);
}

void idset_add_all(struct idset *set, const uint64_t *ids, size_t nr)
{
	uint64_t number = 0, *page = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!page || ids[i] / IDSET_PAGE_BITS != number) {
			idset_add(set, ids[i]);
			number = ids[i] / IDSET_PAGE_BITS;
			page = idset_find(set, number)->page;
			continue;
		}
		page[ids[i] % IDSET_PAGE_BITS / 64] |= 1ull << (ids[i] % 64);
	}
}

static uint64_t count_without(const uint64_t *page, const uint64_t *other)
{
	uint64_t count = 0;

	for (size_t i = 0; page && i < PAGE_WORDS; i++) {
		count += (uint64_t)__builtin_popcountll(other ? page[i] & ~other[i] : page[i]);
	}
	return count;
}

uint64_t idset_count_missing(const struct idset *set, const struct idset *other)
{
	uint64_t count = 0;

	for (size_t i = 0; i < nr_slots(set); i++) {
		const struct idset_slot *slot = &set->slots[i];

		count += count_without(slot->page, idset_find(other, slot->number)->page);
	}
	return count;
}
