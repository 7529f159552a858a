/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks the newest of CUPTI's correlation IDs in 64 bits. Rows in rings have only CUPTI's 32 bits;
 * the newest ID supplies the upper ones.
 */
#ifndef COLLECTOR_RING_CORRELATION_IDS_H
#define COLLECTOR_RING_CORRELATION_IDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The newest ID that a callback has seen. Each launch of any thread changes it, so nothing else is
 * in its cache line: threads would lose that, too.
 */
struct correlation_ids {
	_Atomic uint64_t newest;
	atomic_bool is_behind; /* calls without a callback have used up IDs */
} __attribute__((aligned(64)));
extern struct correlation_ids correlation_ids __attribute__((visibility("hidden")));

/* An ID further ahead than this is an older one, of another thread. */
#define CORRELATION_IDS_MAX_AHEAD (3u << 30)

/* Forgets all IDs. */
void correlation_ids_init(void);

/* Notes an ID that a callback has seen. Any thread. */
static inline void correlation_ids_saw(uint32_t correlation)
{
	uint64_t newest = atomic_load_explicit(&correlation_ids.newest, memory_order_relaxed);
	uint32_t ahead = correlation - (uint32_t)newest;
	bool is_first = atomic_load_explicit(&correlation_ids.is_behind, memory_order_relaxed) &&
			atomic_exchange(&correlation_ids.is_behind, false);

	if (is_first || ahead - 1 < CORRELATION_IDS_MAX_AHEAD) {
		atomic_store_explicit(
			&correlation_ids.newest, newest + ahead, memory_order_relaxed);
	}
}

/* Callbacks are on again after a pause, so the next ID may be any later number. Any thread. */
void correlation_ids_missed(void);

/* Returns 0 before the first ID. Any thread. */
static inline uint64_t correlation_ids_newest(void)
{
	return atomic_load_explicit(&correlation_ids.newest, memory_order_relaxed);
}

#endif
