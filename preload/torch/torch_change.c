/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch holds a mutex while its list of observers changes. A child forked then would wait for it
 * for ever, so forks and changes wait for each other.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/torch/torch.h"

/* They wait no longer than this. */
#define WAIT_NS 100000000u

static struct torch_change_state {
	atomic_bool is_changing;
	atomic_int nr_forks; /* going on */
} state;

static void sleep_a_moment(void)
{
	const struct timespec moment = {.tv_nsec = 50000};

	syscall(SYS_nanosleep, &moment, NULL); /* no point of cancellation, as nanosleep is */
}

void torch_change_begin(void)
{
	uint64_t begun = clock_monotonic_ns();

	for (;;) {
		bool is_late = clock_monotonic_ns() - begun > WAIT_NS;

		if (!atomic_exchange(&state.is_changing, true) || is_late) {
			if (!atomic_load(&state.nr_forks) || is_late) {
				return;
			}
			atomic_store(&state.is_changing, false);
		}
		sleep_a_moment();
	}
}

void torch_change_end(void)
{
	atomic_store(&state.is_changing, false);
}

void torch_change_before_fork(void)
{
	uint64_t begun = clock_monotonic_ns();
	int error = errno;

	atomic_fetch_add(&state.nr_forks, 1);
	while (atomic_load(&state.is_changing) && clock_monotonic_ns() - begun < WAIT_NS) {
		sleep_a_moment();
	}
	errno = error;
}

void torch_change_after_fork(bool is_child)
{
	if (!is_child) {
		atomic_fetch_sub(&state.nr_forks, 1);
		return;
	}
	atomic_store(&state.nr_forks, 0);
	atomic_store(&state.is_changing, false);
}
