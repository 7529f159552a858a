/* SPDX-License-Identifier: Apache-2.0 */
/* The one background thread: rings and CUPTI's buffers into blocks, blocks into the stream. */
#ifndef COLLECTOR_DRAIN_H
#define COLLECTOR_DRAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/format/block.h"

struct drain_result {
	uint64_t nr_events;
	uint64_t nr_lost;
	uint64_t cpu_ns;
};

/* Calls of the thread into the recorder that starts it. */
struct drain_owner {
	/* Its start-up is over: 0, or -errno, and then it ends. */
	void (*on_ready)(int rc);
	/*
	 * Some time after that: a signal handler may have jumped out of the call that starts the
	 * recorder, so that nobody has let the first event in.
	 */
	void (*take_over)(void);
	/* Before windows open, and after they close. Returns true if there was something off. */
	bool (*set_enabled)(bool is_wanted);
};

/*
 * Starts the thread, named "gprof", while the caller has all signals blocked, which it inherits;
 * signal_mask is what was blocked before. It runs startup_run, and then on_ready. Returns 0 or
 * -errno: there is no thread.
 */
int drain_start(const struct drain_owner *owner, const sigset_t *signal_mask);

/* CPU time of the thread so far; 0 if it has not run yet. Any thread. */
uint64_t drain_cpu_ns(void);

/* CUPTI is attached, and runs if it is wanted: the thread may call it from now on. */
void drain_attach(bool is_wanted);

/*
 * Writes everything, closes the stream, ends the thread. `how` must stay until this returns.
 * Returns false after a second without progress, or after ten: a file system that hangs must not
 * delay the target.
 */
bool drain_stop(const char *how, struct drain_result *result);

/*
 * Writes what there is so far, and returns as drain_stop does; recording goes on. is_leaving: the
 * driver is torn down next, so CUPTI gives all that it has, and is not called any more.
 */
bool drain_catch_up(bool is_leaving);

/*
 * Opens a record window as the control file does, or closes it; then as drain_catch_up. It wins
 * over GPROF_SCHEDULE and GPROF_CAPTURE from then on.
 */
bool drain_switch(bool is_on);

/*
 * Writes what was only counted so far as rows of the calling thread's ring, which outlives the
 * program: another one replaces it. If the drain is writing counts, waits for it as drain_catch_up
 * does. Any thread.
 */
void drain_leave_counts(void);

/* In a forked child, which has no drain thread. is_late: its parent had attached CUPTI. */
void drain_forget(bool is_late);

#endif
