/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's activity records: enables their kinds, and decodes their buffers (buffer.h) into batches.
 * Runs on the drain thread unless a comment says otherwise.
 */
#ifndef COLLECTOR_CUPTI_ACTIVITY_H
#define COLLECTOR_CUPTI_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes the pool, at the first time, and registers it with CUPTI. On the attaching thread, and on
 * the drain thread after another client has finalised CUPTI.
 */
void activity_start(uint64_t pool_bytes);

/* GPU memory that CUPTI may take in each context under our limit, 0 if unknown. */
uint64_t activity_gpu_bytes(void);

/* Switches the record kinds on or off when `is_wanted` changes. */
void activity_set_enabled(bool is_wanted);

/* Is that one of our kinds? */
bool activity_has(uint32_t kind);

/* Requests complete records from CUPTI, or (is_last) all records. */
void activity_flush(bool is_last);

/* Decodes the buffers that came back. Returns how many. */
unsigned int activity_drain(void);

/* Decodes one buffer, as activity_drain does; for tests with hand-made buffers. */
void activity_decode(uint8_t *buffer, size_t valid_bytes);

/*
 * ---- with another client of CUPTI; the target's threads, one at a time but for the first two ----
 */

/* The client's settings for the whole process, in force while it records. */
void activity_client_set_thread_id_type(uint32_t type);
void activity_client_set_all_syncs(uint32_t is_on);

/* Puts our settings in force again. */
void activity_set_ours(void);

/* Our kinds off, our buffers back, from now on the client's buffers. Waits up to 5 ms for kernels.
 */
void activity_yield(void);

/*
 * From now on our buffers again; first gives the client its remaining records. Returns how many
 * records went to it that we would have taken.
 */
uint64_t activity_reclaim(void);

/* CUPTI was finalised: no kind is on, no function registered. */
void activity_lost(void);

/* In a forked child: neither touches nor returns anything of the parent. */
void activity_forget(void);

#endif
