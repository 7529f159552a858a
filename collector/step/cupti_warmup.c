/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One flag, which step_wants_activity() reads: do as many steps separate this one from the next
 * window as fit into WARM_NS, or fewer?
 */
#include "collector/step/cupti_warmup.h"

#include <stdatomic.h>

#include "collector/ring/ring.h"
#include "collector/util/clock.h"

/*
 * CUPTI starts this long before a window. Until the length of a step is known, it counts as
 * SHORT_STEP_NS.
 */
#define WARM_NS	      20000000u
#define SHORT_STEP_NS 20000u

static struct warmup_state {
	atomic_bool is_on;
	_Atomic uint64_t ended_ns; /* CLOCK_MONOTONIC of the last step's end */
	_Atomic uint64_t short_ns; /* recent length of steps without delays */
} state;

/*
 * The shortest of the last steps, each of which may make it an eighth longer: a mean would be
 * dominated by the first step, which compiles, or by one in which the machine was busy.
 */
static uint64_t update_length(void)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t last_ns = now - atomic_exchange(&state.ended_ns, now);
	uint64_t short_ns = atomic_load(&state.short_ns);

	short_ns = short_ns + short_ns / 8 < last_ns ? short_ns + short_ns / 8 : last_ns;
	atomic_store(&state.short_ns, short_ns);
	return short_ns;
}

/* Checks as many steps ahead as fit into the warm-up time. */
static void set(const struct schedule *schedule, uint64_t step, uint64_t step_ns)
{
	bool is_on = schedule_until_open(schedule, step) <= WARM_NS / (step_ns + 1) + 1;

	if (atomic_exchange(&state.is_on, is_on) != is_on) {
		ring_wake();
	}
}

void cupti_warmup_begin(const struct schedule *schedule, uint64_t step)
{
	atomic_store(&state.ended_ns, clock_monotonic_ns());
	atomic_store(&state.short_ns, UINT64_MAX / 2);
	set(schedule, step, SHORT_STEP_NS);
}

void cupti_warmup_next_step(const struct schedule *schedule, uint64_t step)
{
	set(schedule, step, update_length());
}

void cupti_warmup_prepare(const struct schedule *schedule, uint64_t step)
{
	if (!schedule_until_open(schedule, step)) {
		atomic_store(&state.is_on, true);
	}
}

bool cupti_warmup_is_on(void)
{
	return atomic_load(&state.is_on);
}
