/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/idset.h"

#include <stdlib.h>

#include "report/util/buf.h"

#define PAGE_WORDS (IDSET_PAGE_BITS / 64u)

uint64_t *idset_none[256];

struct idset *idset_create(void)
{
	struct idset *set = mem_zeroed(1, sizeof(struct idset));

	for (unsigned int i = 0; i < 256; i++) {
		set->pages[i] = idset_none;
	}
	return set;
}

void idset_destroy(struct idset *set)
{
	for (unsigned int i = 0; set && i < 256; i++) {
		if (set->pages[i] == idset_none) {
			continue;
		}
		for (unsigned int k = 0; k < 256; k++) {
			free(set->pages[i][k]);
		}
		free(set->pages[i]);
	}
	free(set);
}

void idset_add_slow(struct idset *set, uint32_t id)
{
	uint64_t ***pages = &set->pages[id >> 24];

	if (*pages == idset_none) {
		*pages = mem_zeroed(256, sizeof(**pages));
	}
	(*pages)[id >> 16 & 0xffu] = mem_zeroed(PAGE_WORDS, sizeof(uint64_t));
	idset_add(set, id);
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

	for (unsigned int i = 0; i < 256; i++) {
		for (unsigned int k = 0; set->pages[i] != idset_none && k < 256; k++) {
			count += count_without(set->pages[i][k], other->pages[i][k]);
		}
	}
	return count;
}
