/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain calls pace_look() between pieces of its work: a chunk, a column, some records. After
 * PORTION_NS it sleeps for REST_NS. Fuller rings lengthen the portion, then abolish the rest; so
 * does the end of the process (pace_hurry).
 */
#include "collector/util/pace.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "collector/util/clock.h"
#include "collector/util/target.h"

#define PORTION_NS 300000u
#define REST_NS	   50000u
/*
 * In 1/256: above the first, a portion is as long as a call may be late; above the second there is
 * no time to rest.
 */
#define LARGE_FILL	 96u
#define LARGE_PORTION_NS 350000u
#define HURRY_FILL	 192u

enum pace { PACE_STARTING, PACE_RESTING, PACE_HURRYING };

static struct pace_state {
	_Atomic enum pace pace;
	uint64_t begun_ns; /* the portion; CLOCK_MONOTONIC */
	unsigned int (*fill)(void);
} state;

void pace_begin(unsigned int (*fill)(void))
{
	enum pace pace = PACE_STARTING;

	state.fill = fill;
	prctl(PR_SET_TIMERSLACK, 1UL); /* a rest is as long as it is to be */
	atomic_compare_exchange_strong(&state.pace, &pace, PACE_RESTING);
}

void pace_next(void)
{
	state.begun_ns = clock_monotonic_ns();
}

void pace_hurry(void)
{
	atomic_store(&state.pace, PACE_HURRYING);
}

void pace_look(void)
{
	uint64_t worked_ns;

	if (atomic_load_explicit(&state.pace, memory_order_relaxed) != PACE_RESTING) {
		return;
	}
	worked_ns = clock_monotonic_ns() - state.begun_ns;
	if (worked_ns < PORTION_NS ||
		(state.fill() >= LARGE_FILL && worked_ns < LARGE_PORTION_NS)) {
		return;
	}
	if (state.fill() < HURRY_FILL) {
		target_pause(REST_NS);
	}
	pace_next();
}

void pace_forget(void)
{
	atomic_store(&state.pace, PACE_STARTING);
}
