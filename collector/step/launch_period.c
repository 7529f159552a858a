/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/launch_period.h"

#include "collector/step/period.h"
#include "collector/step/step.h"

static struct launch_period_state {
	struct period period;
	uint32_t thread; /* 0: none yet */
	uint64_t nr_others;
} state;

bool launch_period_is_wanted;

static void begin(uint32_t thread)
{
	period_init(&state.period);
	state.thread = thread;
	state.nr_others = 0;
}

void launch_period_init(void)
{
	begin(0);
	launch_period_is_wanted = step_needs_period();
}

void launch_period_add(uint32_t thread, uint32_t symbol, uint64_t time)
{
	if (thread != state.thread) {
		if (++state.nr_others <= 2 * state.period.nr) {
			return;
		}
		begin(thread);
	}
	period_add(&state.period, symbol, time);
}

void launch_period_look(void)
{
	uint64_t time;

	launch_period_is_wanted = step_needs_period();
	if (launch_period_is_wanted) {
		period_look(&state.period);
		while (period_take(&state.period, &time)) {
			step_found(time, state.period.confidence);
		}
	}
}
