/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/loaded_objects.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "collector/util/clock.h"
#include "collector/util/host_guard.h"

/* A fork and a look wait no longer than this for each other. */
#define WAIT_NS	  100000000u
#define MOMENT_NS 50000u

static struct objects_state {
	atomic_int nr_looks; /* going on */
	atomic_int nr_forks; /* likewise */
} state;

/* The calling thread is between the handlers before and after its fork. */
static __thread bool is_forking __attribute__((tls_model("initial-exec")));

static void hold_signals(sigset_t *before)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		sigdelset(&all, own[i]);
	}
	sigprocmask(SIG_BLOCK, &all, before);
}

static void begin_look(void)
{
	uint64_t until = 0;

	for (;;) {
		atomic_fetch_add(&state.nr_looks, 1);
		if (!atomic_load(&state.nr_forks) || is_forking) {
			return;
		}
		until = until ? until : clock_monotonic_ns() + WAIT_NS;
		if (clock_monotonic_ns() >= until) {
			return; /* the fork may itself wait for what this thread holds */
		}
		atomic_fetch_sub(&state.nr_looks, 1);
		host_pause(MOMENT_NS);
	}
}

int objects_visit(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	int error = errno, rc;
	sigset_t before;

	hold_signals(&before);
	begin_look();
	rc = dl_iterate_phdr(visit, data);
	atomic_fetch_sub(&state.nr_looks, 1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return rc;
}

void objects_before_fork(void)
{
	uint64_t until = 0;

	is_forking = true;
	atomic_fetch_add(&state.nr_forks, 1);
	while (atomic_load(&state.nr_looks)) {
		until = until ? until : clock_monotonic_ns() + WAIT_NS;
		if (clock_monotonic_ns() >= until) {
			return;
		}
		host_pause(MOMENT_NS);
	}
}

void objects_after_fork(bool is_child)
{
	is_forking = false;
	if (is_child) {
		atomic_store(&state.nr_looks, 0);
		atomic_store(&state.nr_forks, 0);
	} else {
		atomic_fetch_sub(&state.nr_forks, 1);
	}
}
