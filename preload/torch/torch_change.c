/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch holds a mutex while its list of observers changes. A child forked then would wait for it
 * for ever, so forks and changes wait for each other.
 */
#include "collector/util/claim.h"
#include "collector/util/target.h"
#include "preload/torch/torch.h"

/* A fork, and the registration of the observer, wait no longer than this. */
#define FORK_WAIT_NS   100000000u
#define CHANGE_WAIT_NS 1000000000u
/* After that long, a jump has left a change, or a fork. */
#define CHANGE_MAX_NS 1000000000u
#define FORK_MAX_NS   60000000000u
#define MOMENT_NS     50000u

static struct torch_change_state {
	struct claim change;
	atomic_int nr_forks; /* going on */
	_Atomic uint64_t forked_ns;
} state;

static bool is_forking(void)
{
	return atomic_load(&state.nr_forks) &&
	       clock_monotonic_ns() - atomic_load(&state.forked_ns) < FORK_MAX_NS;
}

bool torch_change_try(void)
{
	if (!claim_try(&state.change, CHANGE_MAX_NS)) {
		return false;
	}
	if (is_forking()) {
		claim_drop(&state.change);
		return false;
	}
	return true;
}

bool torch_change_begin(void)
{
	uint64_t until = clock_monotonic_ns() + CHANGE_WAIT_NS;

	while (!torch_change_try()) {
		if (clock_monotonic_ns() >= until) {
			return false;
		}
		target_pause(MOMENT_NS);
	}
	return true;
}

void torch_change_end(void)
{
	claim_drop(&state.change);
}

void torch_change_before_fork(void)
{
	uint64_t until = clock_monotonic_ns() + FORK_WAIT_NS;

	atomic_store(&state.forked_ns, clock_monotonic_ns());
	atomic_fetch_add(&state.nr_forks, 1);
	while (claim_is_held(&state.change, CHANGE_MAX_NS) && clock_monotonic_ns() < until) {
		target_pause(MOMENT_NS);
	}
}

void torch_change_after_fork(bool is_child)
{
	if (is_child) {
		atomic_store(&state.nr_forks, 0);
		claim_drop(&state.change);
	} else {
		atomic_fetch_sub(&state.nr_forks, 1);
	}
}
