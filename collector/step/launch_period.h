/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds launches and copies on their way to the stream into the search for a loop's period
 * (period.h). Uses the thread that makes most of them, and only while neither the program nor its
 * framework marks steps. For the drain thread.
 */
#ifndef COLLECTOR_STEP_LAUNCH_PERIOD_H
#define COLLECTOR_STEP_LAUNCH_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

/* Are steps to be found here, as of the last launch_period_look? */
extern bool launch_period_is_wanted __attribute__((visibility("hidden")));

void launch_period_init(void);

/* In the thread's order; `time` by clock_raw. */
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
