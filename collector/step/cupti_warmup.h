/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When CUPTI comes up ahead of a record window: it takes milliseconds, so it starts as many steps
 * before as steps are short. Any thread.
 */
#ifndef COLLECTOR_STEP_CUPTI_WARMUP_H
#define COLLECTOR_STEP_CUPTI_WARMUP_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/step/schedule.h"

/* The schedule begins in that step; nothing is known yet of how long steps are. */
void cupti_warmup_begin(const struct schedule *schedule, uint64_t step);

/* That step begins. Wakes the drain if there is something to do. */
void cupti_warmup_next_step(const struct schedule *schedule, uint64_t step);

/* If that step of it is not closed, CUPTI is to come up now. */
void cupti_warmup_prepare(const struct schedule *schedule, uint64_t step);

/* Is a window that is closed about to open? */
bool cupti_warmup_is_on(void);

#endif
