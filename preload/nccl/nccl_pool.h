/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places for events of NCCL that last. A place is in use while its generation is odd, so a handle
 * with another generation finds nothing. The free places are a list; the count of its changes keeps
 * a thread from an old next. Memory stays mapped for the next communicator. Any thread; no lock.
 */
#ifndef PRELOAD_NCCL_NCCL_POOL_H
#define PRELOAD_NCCL_NCCL_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Each place begins with this. */
struct nccl_pooled {
	_Atomic uint32_t generation; /* odd: in use */
	_Atomic uint32_t next;	     /* of the free ones: 1 + its index, 0 for none */
};

struct nccl_pool {
	void *_Atomic places;	   /* NULL: there is no memory */
	_Atomic uint32_t nr_fresh; /* places that were in use at least once */
	_Atomic uint64_t free;	   /* 1 + the first free place; a count of changes above */
};

static inline void *nccl_pool_at(struct nccl_pool *pool, size_t bytes, uint32_t index)
{
	return (char *)atomic_load_explicit(&pool->places, memory_order_relaxed) + index * bytes;
}

/* Returns the index of a place, nr_places if all are in use. */
static inline uint32_t nccl_pool_take(struct nccl_pool *pool, size_t bytes, uint32_t nr_places)
{
	uint64_t first = atomic_load_explicit(&pool->free, memory_order_acquire);
	uint32_t fresh;

	while ((uint32_t)first) {
		uint32_t index = (uint32_t)first - 1;
		struct nccl_pooled *place = nccl_pool_at(pool, bytes, index);
		uint64_t next = ((first >> 32) + 1) << 32 |
				atomic_load_explicit(&place->next, memory_order_relaxed);

		if (atomic_compare_exchange_weak(&pool->free, &first, next)) {
			return index;
		}
	}
	fresh = atomic_load_explicit(&pool->nr_fresh, memory_order_relaxed);
	while (fresh < nr_places &&
		!atomic_compare_exchange_weak(&pool->nr_fresh, &fresh, fresh + 1)) {
	}
	return fresh;
}

static inline void nccl_pool_give(struct nccl_pool *pool, size_t bytes, uint32_t index)
{
	struct nccl_pooled *place = nccl_pool_at(pool, bytes, index);
	uint64_t first = atomic_load(&pool->free);
	uint64_t now;

	do {
		atomic_store_explicit(&place->next, (uint32_t)first, memory_order_relaxed);
		now = ((first >> 32) + 1) << 32 | (index + 1);
	} while (!atomic_compare_exchange_weak(&pool->free, &first, now));
}

/* Returns the place that is in use with that generation, NULL: none. */
static inline void *nccl_pool_find(
	struct nccl_pool *pool, size_t bytes, uint32_t index, uint64_t generation)
{
	struct nccl_pooled *place;

	if (!(generation & 1) || index >= atomic_load(&pool->nr_fresh)) {
		return NULL;
	}
	place = nccl_pool_at(pool, bytes, index);
	return atomic_load(&place->generation) == generation ? place : NULL;
}

/* For a forked child: no place is in use. */
static inline void nccl_pool_forget(struct nccl_pool *pool)
{
	atomic_store(&pool->nr_fresh, 0);
	atomic_store(&pool->free, 0);
}

#endif
