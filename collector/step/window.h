/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record windows by the correlation IDs of the calls in them, for records that arrive after a
 * window is closed.
 */
#ifndef COLLECTOR_STEP_WINDOW_H
#define COLLECTOR_STEP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* So many windows are kept at least, for GPU activities that run much longer than a window. */
#define WINDOW_NR_KEPT 1024u

/* Forgets all windows and all correlation IDs. */
void window_init(void);

/* One at a time; they count from 1. */
void window_open(void);
void window_close(void);

/* The number of the newest, 0 before the first. */
uint64_t window_newest(void);

/* For the drain. Was this call made in a window? Counts what is older than those that are kept. */
bool window_has(uint32_t correlation);

/*
 * For the drain: CUPTI's buffers will be flushed now, and were read after the flush before. Forgets
 * windows of which all records must have arrived.
 */
void window_flush_begins(void);

#endif
