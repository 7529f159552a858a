/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record windows by the correlation ids of the calls in them, for records that arrive after a
 * window is closed.
 */
#ifndef COLLECTOR_STEP_WINDOW_H
#define COLLECTOR_STEP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* Forgets all windows. */
void window_init(void);

/* One at a time; they count from 1. */
void window_open(void);
void window_close(void);

/* The number of the newest, 0 before the first. */
uint32_t window_newest(void);

/* The newest correlation id seen by a callback. Any thread. */
void window_saw_correlation(uint32_t correlation);

/* Was this call made in one of the last windows? */
bool window_has(uint32_t correlation);

#endif
