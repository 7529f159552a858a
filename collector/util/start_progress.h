/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the start of the recorder has come. The drain thread signals after each part that may
 * take long; threads of the target that wait for the start see whether it still progresses.
 */
#ifndef COLLECTOR_UTIL_START_PROGRESS_H
#define COLLECTOR_UTIL_START_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* A part is done: wakes all threads that wait. Any thread. */
void start_progress_signal(void);

/* Signals so far. */
uint32_t start_progress_count(void);

/*
 * Sleeps until the count differs from `count`, until until_ns (CLOCK_MONOTONIC), or less.
 * Returns false if until_ns is over.
 */
bool start_progress_wait(uint32_t count, uint64_t until_ns);

/* In a forked child, whose recorder starts again. */
void start_progress_forget(void);

#endif
