/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of 32-bit ids as paged bitmaps, made for correlation ids, which are dense. A set of few ids
 * takes 12 KB, because there may be one for each of thousands of processes.
 */
#ifndef REPORT_UTIL_IDSET_H
#define REPORT_UTIL_IDSET_H

#include <stddef.h>
#include <stdint.h>

#define IDSET_PAGE_BITS 65536u

struct idset {
	uint64_t **pages[256]; /* by the upper bytes of the id; idset_none if there are none */
};

/* A shared row of 256 absent pages. */
extern uint64_t *idset_none[256];

struct idset *idset_create(void);
void idset_destroy(struct idset *set);
void idset_add_slow(struct idset *set, uint32_t id);

static inline uint64_t *idset_page(const struct idset *set, uint32_t id)
{
	return set->pages[id >> 24][id >> 16 & 0xffu];
}

static inline void idset_add(struct idset *set, uint32_t id)
{
	uint64_t *page = idset_page(set, id);

	if (__builtin_expect(!page, 0)) {
		idset_add_slow(set, id);
		return;
	}
	page[(id & 0xffffu) >> 6] |= 1ull << (id & 63u);
}

static inline int idset_has(const struct idset *set, uint32_t id)
{
	const uint64_t *page = idset_page(set, id);

	return page && (page[(id & 0xffffu) >> 6] >> (id & 63u) & 1u);
}

/* How many ids of `set` are not in `other`. */
uint64_t idset_count_missing(const struct idset *set, const struct idset *other);

#endif
