/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cupti/pace.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "collector/cupti/buffer.h"
#include "collector/util/clock.h"
#include "collector/util/host_guard.h"
#include "collector/ring/ring.h"

#define PORTION_NS 300000u
#define REST_NS	   50000u
/*
 * In 256ths of the rings, or of CUPTI's buffers: with so much waiting a portion is as large as a
 * call may be late, and with so much more there is no time to rest.
 */
#define LARGE_FILL	 96u
#define LARGE_PORTION_NS 500000u
#define HURRY_FILL	 192u

enum pace { PACE_STARTING, PACE_RESTING, PACE_HURRYING };

static struct pace_state {
	_Atomic enum pace pace;
	uint64_t begun_ns; /* the portion; CLOCK_MONOTONIC */
} state;

void pace_begin(void)
{
	enum pace pace = PACE_STARTING;

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

static unsigned int fill(void)
{
	unsigned int rings = ring_fill(), buffers = buffer_fill();

	return rings > buffers ? rings : buffers;
}

void pace_look(void)
{
	uint64_t worked_ns;

	if (atomic_load_explicit(&state.pace, memory_order_relaxed) != PACE_RESTING) {
		return;
	}
	worked_ns = clock_monotonic_ns() - state.begun_ns;
	if (worked_ns < PORTION_NS || (fill() >= LARGE_FILL && worked_ns < LARGE_PORTION_NS)) {
		return;
	}
	if (fill() < HURRY_FILL) {
		host_pause(REST_NS);
	}
	pace_next();
}

void pace_forget(void)
{
	atomic_store(&state.pace, PACE_STARTING);
}
