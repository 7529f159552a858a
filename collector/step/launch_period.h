/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches and copies on their way to the stream, as a sequence in which the period of a loop may
 * be found (period.h): of the thread that makes most of them, and only as long as steps are not
 * found by what the program or its framework says. The drain thread's own.
 */
#ifndef COLLECTOR_STEP_LAUNCH_PERIOD_H
#define COLLECTOR_STEP_LAUNCH_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

/* Are steps to be found here, as of the last launch_period_look? */
extern bool launch_period_is_wanted __attribute__((visibility("hidden")));

void launch_period_init(void);

/* In the order in which the thread made them; `time` by clock_raw. */
void launch_period_add(uint32_t thread, uint32_t symbol, uint64_t time);

static inline void launch_period_saw(uint32_t thread, uint32_t symbol, uint64_t time)
{
	if (launch_period_is_wanted) {
		launch_period_add(thread, symbol, time);
	}
}

/* Ends the steps that were found by now. Not while rings are being read: it writes rows. */
void launch_period_look(void);

#endif
