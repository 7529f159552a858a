/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares CUPTI with another client in the process: torch.profiler, or any other that calls libcupti
 * through our exports (preload/hooks_cupti.c). The client's results are complete; ours have a gap,
 * which the stream states.
 *
 *   callbacks    one subscription serves both (subscriber.h)
 *   activity     in turns. The first cuptiActivityEnable of a client ends our turn: our kinds go
 *                off, our buffers return, and CUPTI gets the client's. Our turn resumes once the
 *                client has disabled all its kinds and its cuptiActivityFlushAll has returned with
 *                its buffers, or two of our flush periods later without one
 *   subscribers  a client of 13.3 with its own activity API gets CUPTI exclusively, callbacks too,
 *                until it unsubscribes: CUPTI does not mix the two
 *   finalising   ends all sessions; ours restarts two flush periods later, but not in CUPTI before
 *                12.6, which may crash if it is used again after CUDA graphs
 *   clock        share_clock.h
 *
 * One atomic word holds the turn: NONE (CUPTI not attached, or in a forked child: calls go straight
 * through), OURS, THEIRS, and BUSY while one thread switches, or the drain thread flushes. A thread
 * that finds BUSY waits at most 2 s, and then continues without us: a client may call from inside a
 * callback of CUPTI that holds what the switching thread waits for. No lock is held over a call of
 * CUPTI. The drain thread never waits; it tries again later.
 */
#ifndef COLLECTOR_CUPTI_CUPTI_SHARE_H
#define COLLECTOR_CUPTI_CUPTI_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/cupti/cupti_abi.h"
#include "collector/cupti/subscriber.h"

/* ---- our side: the attaching thread, then the drain thread ---- */

/* Subscribes, makes the buffers and switches on what is wanted, unless it is the client's turn. */
void cupti_share_attach(uint64_t pool_bytes, bool is_wanted);

/* Switches what is recorded as `is_wanted` says; takes the turn back when it may. */
void cupti_share_set_enabled(bool is_wanted);

/*
 * Requests records from CUPTI, as activity_flush does. In the client's turn only the last call
 * acts: it states the gap that is still open.
 */
void cupti_share_flush(bool is_last);

/*
 * May we call CUDA now? In the client's turn our calls would appear among its own. If so,
 * cupti_share_end_call must follow; a client that arrives in between waits.
 */
bool cupti_share_begin_call(void);
void cupti_share_end_call(void);

/* In a forked child: a client's calls go straight to CUPTI. */
void cupti_share_forget(void);

/* ---- the client's side: any thread, around the real call; `caller` is an address in its code ----
 */

/* May CUPTI be shared here? If not, calls go straight through. */
bool cupti_share_is_open(void);

/* Then before the client can see CUDA calls: from now on gprof makes none. */
void cupti_share_leave_alone(void);

/* Before and after a call that switches a kind on: for everything, or for one context. */
void cupti_share_begin_enable(uint32_t kind, bool is_context, const void *caller);
void cupti_share_end_enable(uint32_t kind, bool is_context, uint32_t result);

/* In gprof's turn only gprof's kinds are on: a client has nothing to switch off. */
bool cupti_share_may_disable(uint32_t kind);
void cupti_share_end_disable(uint32_t kind, bool is_context);

/*
 * The flags to flush with: the client must not cut our unfinished records off. A forced flush waits
 * for at most 50 ms while our own thread is in CUPTI.
 */
uint32_t cupti_share_begin_flush(uint32_t flags);
void cupti_share_end_flush(void);

/* Keeps the client's buffer functions; true if CUPTI must not get them, since it has gprof's. */
bool cupti_share_register(cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed);

/*
 * Gives a client the turn for one call that needs all kinds off: a call that sets another clock
 * (share_clock.h), or ends everything. One of the three functions below must follow.
 */
void cupti_share_hold(const void *caller);
void cupti_share_end_hold(void);
void cupti_share_end_clock(uint64_t (*read)(void), uint32_t result);
void cupti_share_end_finalize(void);

/* A client with an activity API of its own; at its end it may be any handle. */
void cupti_share_begin_own(const char *name, const void *caller);
void cupti_share_end_own(cupti_subscriber subscriber, uint32_t result);
void cupti_share_drop_own(cupti_subscriber subscriber);

/* Before the client profiles counters, which gprof leaves to it for good (cupti_pm.h). */
void cupti_share_leave_counters(void);

/* Settings of the whole process, after the client's call: while gprof records, its own stay in
 * force. */
void cupti_share_end_thread_id_type(uint32_t type);
void cupti_share_end_all_syncs(uint32_t is_on);

#endif
