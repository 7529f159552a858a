/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record windows by the correlation ids of the calls in them, for records that arrive after a
 * window is closed. CUPTI's ids have 32 bits and wrap; here they have 64.
 */
#ifndef COLLECTOR_STEP_WINDOW_H
#define COLLECTOR_STEP_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* So many windows are kept at least, for works that run much longer than a window. */
#define WINDOW_NR_KEPT 1024u

/* Forgets all windows. */
void window_init(void);

/* One at a time; they count from 1. */
void window_open(void);
void window_close(void);

/* The number of the newest, 0 before the first. */
uint64_t window_newest(void);

/* The newest id that a callback saw, which each launch changes. */
struct window_ids {
	_Atomic uint64_t newest;
	atomic_bool is_behind; /* by an unknown number of ids */
};
extern struct window_ids window_ids __attribute__((visibility("hidden")));

/* An id that looks newer than this is an older one, of another thread. */
#define WINDOW_MOST_AHEAD (3u << 30)

/* The newest correlation id seen by a callback. Any thread. */
static inline void window_saw_correlation(uint32_t correlation)
{
	uint64_t newest = atomic_load_explicit(&window_ids.newest, memory_order_relaxed);
	uint32_t ahead = correlation - (uint32_t)newest;
	bool is_first = atomic_load_explicit(&window_ids.is_behind, memory_order_relaxed) &&
			atomic_exchange(&window_ids.is_behind, false);

	if (is_first || ahead - 1 < WINDOW_MOST_AHEAD) {
		atomic_store_explicit(&window_ids.newest, newest + ahead, memory_order_relaxed);
	}
}

/*
 * Callbacks were off, and come again: the next id may be any number after the last one. Any thread.
 */
void window_missed_correlations(void);

/* How often the ids have wrapped, as far as they were seen. */
uint32_t window_nr_wraps(void);

/* For the drain. Was this call made in a window? Counts what is older than those that are kept. */
bool window_has(uint32_t correlation);

/*
 * For the drain: CUPTI's buffers will be flushed now, and were read after the flush before. Forgets
 * windows of which all records must have arrived.
 */
void window_flush_begins(void);

#endif
