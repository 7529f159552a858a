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

/*
 * Starts the thread, named "gprof", while the caller has all signals blocked, which it inherits;
 * host_mask is what was blocked before. It runs startup_run and then, itself,
 * on_ready with 0 or -errno; in the latter case it ends. Returns 0 or -errno: there is no thread.
 */
int drain_start(void (*on_ready)(int rc), const sigset_t *host_mask);

/* The CPU time of the thread so far; 0 where it has none yet. Any thread may ask. */
uint64_t drain_cpu_ns(void);

/* CUPTI is attached, and runs if it is wanted: the thread may call it from now on. */
void drain_attach(bool is_wanted);

/*
 * Writes everything, closes the stream, ends the thread. `how` must stay until this returns. False
 * if nothing moved for a second, or after ten: a file system that hangs must not keep the host.
 */
bool drain_stop(const char *how, struct drain_result *result);

/* In a forked child, which has no such thread. */
void drain_forget(void);

#endif
