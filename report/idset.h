/* SPDX-License-Identifier: Apache-2.0 */
/* A set of 32-bit ids as bits in pages; made for correlation ids, which are dense. */
#ifndef REPORT_IDSET_H
#define REPORT_IDSET_H

#include <stddef.h>
#include <stdint.h>

#define IDSET_PAGE_BITS 65536u

struct idset {
	uint64_t *pages[65536]; /* NULL: empty */
	uint16_t *used;		/* numbers of those that are not, since most sets have few */
	size_t nr_used, used_capacity;
};

struct idset *idset_create(void);
void idset_destroy(struct idset *set);
void idset_add_slow(struct idset *set, uint32_t id);

static inline void idset_add(struct idset *set, uint32_t id)
{
	uint64_t *page = set->pages[id >> 16];

	if (__builtin_expect(!page, 0)) {
		idset_add_slow(set, id);
		return;
	}
	page[(id & 0xffffu) >> 6] |= 1ull << (id & 63u);
}

static inline int idset_has(const struct idset *set, uint32_t id)
{
	const uint64_t *page = set->pages[id >> 16];

	return page && (page[(id & 0xffffu) >> 6] >> (id & 63u) & 1u);
}

/* Ids in `set` that are not in `other`. */
uint64_t idset_count_without(const struct idset *set, const struct idset *other);

#endif
