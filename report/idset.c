/* SPDX-License-Identifier: Apache-2.0 */
#include "report/idset.h"

#include <stdlib.h>

#include "report/buf.h"

#define PAGE_WORDS (IDSET_PAGE_BITS / 64u)

struct idset *idset_create(void)
{
	return mem_zeroed(1, sizeof(struct idset));
}

void idset_destroy(struct idset *set)
{
	for (size_t i = 0; set && i < set->nr_used; i++) {
		free(set->pages[set->used[i]]);
	}
	if (set) {
		free(set->used);
	}
	free(set);
}

void idset_add_slow(struct idset *set, uint32_t id)
{
	set->pages[id >> 16] = mem_zeroed(PAGE_WORDS, sizeof(uint64_t));
	set->used = array_grow(set->used, set->nr_used, &set->used_capacity, sizeof(*set->used));
	set->used[set->nr_used++] = (uint16_t)(id >> 16);
	idset_add(set, id);
}

uint64_t idset_count_without(const struct idset *set, const struct idset *other)
{
	uint64_t count = 0;

	for (size_t n = 0; n < set->nr_used; n++) {
		size_t i = set->used[n];

		for (size_t k = 0; k < PAGE_WORDS; k++) {
			uint64_t bits = set->pages[i][k];

			bits &= other->pages[i] ? ~other->pages[i][k] : ~0ull;
			count += (uint64_t)__builtin_popcountll(bits);
		}
	}
	return count;
}
