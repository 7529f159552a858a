/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One counter that is also the futex. A waiter passes the count that it has seen, so a signal
 * between its look and its wait is not missed.
 */
#include "collector/util/start_progress.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/util/clock.h"

static _Atomic uint32_t nr_signals; /* also the futex that threads wait on */

void start_progress_signal(void)
{
	atomic_fetch_add(&nr_signals, 1);
	syscall(SYS_futex, &nr_signals, FUTEX_WAKE_PRIVATE, INT_MAX);
}

uint32_t start_progress_count(void)
{
	return atomic_load(&nr_signals);
}

bool start_progress_wait(uint32_t count, uint64_t until_ns)
{
	uint64_t now = clock_monotonic_ns();
	struct timespec left;

	if (now >= until_ns) {
		return false;
	}
	left.tv_sec = (time_t)((until_ns - now) / 1000000000u);
	left.tv_nsec = (long)((until_ns - now) % 1000000000u);
	syscall(SYS_futex, &nr_signals, FUTEX_WAIT_PRIVATE, count, &left);
	return true;
}

void start_progress_forget(void)
{
	atomic_store(&nr_signals, 0);
}
