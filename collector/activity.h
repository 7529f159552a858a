/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's activity records: buffers out of a bounded pool to CUPTI, full ones back, records into
 * batches. Everything but the two buffer callbacks runs on the drain thread.
 */
#ifndef COLLECTOR_ACTIVITY_H
#define COLLECTOR_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the pool and registers it with CUPTI. Once, on the attaching thread. */
void activity_start(uint64_t pool_bytes);

/* Switches the record kinds on or off when `is_wanted` changes. */
void activity_follow(bool is_wanted);

/* Asks CUPTI for what is complete, or (is_last) for everything it has. */
void activity_flush(bool is_last);

/* Decodes the buffers that came back. Returns how many. */
unsigned int activity_drain(void);

/* Decodes one buffer, as activity_drain does; for tests with hand-made buffers. */
void activity_decode(uint8_t *buffer, size_t valid_bytes);

/* In a forked child: nothing of the parent's is touched or given back. */
void activity_forget(void);

#endif
