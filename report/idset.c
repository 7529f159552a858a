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
	for (size_t i = 0; set && i < 65536u; i++) {
		free(set->pages[i]);
	}
	free(set);
}

void idset_add_slow(struct idset *set, uint32_t id)
{
	set->pages[id >> 16] = mem_zeroed(PAGE_WORDS, sizeof(uint64_t));
	idset_add(set, id);
}

uint64_t idset_count_without(const struct idset *set, const struct idset *other)
{
	uint64_t count = 0;

	for (size_t i = 0; i < 65536u; i++) {
		for (size_t k = 0; set->pages[i] && k < PAGE_WORDS; k++) {
			uint64_t bits = set->pages[i][k];

			bits &= other->pages[i] ? ~other->pages[i][k] : ~0ull;
			count += (uint64_t)__builtin_popcountll(bits);
		}
	}
	return count;
}
