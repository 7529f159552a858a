/* SPDX-License-Identifier: Apache-2.0 */
/* The one background thread: rings and CUPTI's buffers into blocks, blocks into the stream. */
#ifndef COLLECTOR_DRAIN_H
#define COLLECTOR_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/block.h"

struct drain_result {
	uint64_t nr_events;
	uint64_t nr_lost;
	uint64_t cpu_ns;
};

/* Starts the thread, named "gprof", with all signals blocked. Returns 0 or -errno. */
int drain_start(const struct block_ticks *ticks, uint32_t flush_ms);

/* CUPTI is attached: the thread may call it from now on. */
void drain_attach(void);

/*
 * Writes everything, closes the stream, ends the thread. `how` must stay until this returns. Waits
 * deadline_ms at most; false if that was not enough.
 */
bool drain_stop(const char *how, uint32_t deadline_ms, struct drain_result *result);

/* In a forked child, which has no such thread. */
void drain_forget(void);

#endif
