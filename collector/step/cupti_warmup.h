/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to start CUPTI ahead of a record window. It takes milliseconds: the shorter the steps, the
 * more steps ahead it starts. Any thread.
 */
#ifndef COLLECTOR_STEP_CUPTI_WARMUP_H
#define COLLECTOR_STEP_CUPTI_WARMUP_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/step/schedule.h"

/* The schedule begins in that step; the length of steps is unknown yet. */
void cupti_warmup_begin(const struct schedule *schedule, uint64_t step);

/* That step begins. Wakes the drain if it has something to do. */
void cupti_warmup_next_step(const struct schedule *schedule, uint64_t step);

/* CUPTI must start now, unless that step of the schedule is closed. */
void cupti_warmup_prepare(const struct schedule *schedule, uint64_t step);

/* Is a window that is closed about to open? */
bool cupti_warmup_is_on(void);

#endif
