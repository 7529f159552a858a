/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of IDs as bitmaps in pages, made for correlation IDs, which are dense. A hash finds a page.
 * Pages are small, so sparse IDs take only 100 bytes each, however large they are.
 */
#ifndef REPORT_UTIL_IDSET_H
#define REPORT_UTIL_IDSET_H

#include <stddef.h>
#include <stdint.h>

#define IDSET_PAGE_BITS 512u

/* The location of a page. */
struct idset_slot {
	uint64_t number; /* id / IDSET_PAGE_BITS */
	uint64_t *page;	 /* NULL: free */
};

struct idset {
	struct idset_slot *slots; /* open addressing; a power of two, at most half full */
	size_t nr_used;
	unsigned int shift; /* 64 - log2 of the number of slots */
};

struct idset *idset_create(void);
void idset_destroy(struct idset *set);
void idset_add_slow(struct idset *set, uint64_t id);

/* Finds the page's slot, or a free one for it. The product's upper bits separate dense ranges. */
static inline struct idset_slot *idset_find(const struct idset *set, uint64_t number)
{
	size_t mask = ((size_t)1 << (64 - set->shift)) - 1;
	size_t at = (number * 0x9e3779b97f4a7c15u) >> set->shift;

	while (set->slots[at].page && set->slots[at].number != number) {
		at = (at + 1) & mask;
	}
	return &set->slots[at];
}

static inline void idset_add(struct idset *set, uint64_t id)
{
	uint64_t *page = idset_find(set, id / IDSET_PAGE_BITS)->page;

	if (__builtin_expect(!page, 0)) {
		idset_add_slow(set, id);
		return;
	}
	page[id % IDSET_PAGE_BITS / 64] |= 1ull << (id % 64);
}

/* Adds many at once: neighbours are mostly in the same page. */
void idset_add_all(struct idset *set, const uint64_t *ids, size_t nr);

static inline int idset_has(const struct idset *set, uint64_t id)
{
	const uint64_t *page = idset_find(set, id / IDSET_PAGE_BITS)->page;

	return page && (page[id % IDSET_PAGE_BITS / 64] >> (id % 64) & 1u);
}

/* Returns how many IDs of `set` are not in `other`. */
uint64_t idset_count_missing(const struct idset *set, const struct idset *other);

#endif
