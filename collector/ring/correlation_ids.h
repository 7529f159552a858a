/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest of CUPTI's correlation ids in 64 bits, by which the others are told; rows in rings
 * have the 32 bits of CUPTI.
 */
#ifndef COLLECTOR_RING_CORRELATION_IDS_H
#define COLLECTOR_RING_CORRELATION_IDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The newest id that a callback saw, which each launch changes. */
struct correlation_ids {
	_Atomic uint64_t newest;
	atomic_bool is_behind; /* by an unknown number of ids */
};
extern struct correlation_ids correlation_ids __attribute__((visibility("hidden")));

/* An id that looks newer than this is an older one, of another thread. */
#define CORRELATION_IDS_MOST_AHEAD (3u << 30)

/* Forgets them. */
void correlation_ids_init(void);

/* A callback sees that id. Any thread. */
static inline void correlation_ids_saw(uint32_t correlation)
{
	uint64_t newest = atomic_load_explicit(&correlation_ids.newest, memory_order_relaxed);
	uint32_t ahead = correlation - (uint32_t)newest;
	bool is_first = atomic_load_explicit(&correlation_ids.is_behind, memory_order_relaxed) &&
			atomic_exchange(&correlation_ids.is_behind, false);

	if (is_first || ahead - 1 < CORRELATION_IDS_MOST_AHEAD) {
		atomic_store_explicit(
			&correlation_ids.newest, newest + ahead, memory_order_relaxed);
	}
}

/*
 * Callbacks were off, and come again: the next id may be any number after the last one. Any thread.
 */
void correlation_ids_missed(void);

/* 0 before the first. Any thread. */
static inline uint64_t correlation_ids_newest(void)
{
	return atomic_load_explicit(&correlation_ids.newest, memory_order_relaxed);
}

#endif
