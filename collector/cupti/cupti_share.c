/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns. Each arrow passes through BUSY, which the switching thread holds. The drain thread
 * also holds BUSY while it flushes or calls the driver.
 *
 *          attach                  the client enables a kind: yield_cupti()
 *   NONE ----------> OURS -----------------------------------------------------> THEIRS
 *    ^                 ^                                                            |
 *    |                 +---- is_over(), at a look of the drain: reclaim_cupti() ----+
 *    |                                                                              |
 *    +---- no new session; or the client finalises CUPTI before 12.6 ---------------+
 *
 * A forked child goes to NONE from any turn. A client that is active at the attach has the first
 * turn.
 */
#include "collector/cupti/cupti_share.h"

#include <errno.h>
#include <stdatomic.h>

#include "collector/cupti/activity.h"
#include "collector/cupti/buffer.h"
#include "collector/cupti/callback.h"
#include "collector/cupti/client_kinds.h"
#include "collector/cupti/cupti.h"
#include "collector/cupti/cupti_gap.h"
#include "collector/cupti/cupti_pm.h"
#include "collector/cupti/share_clock.h"
#include "collector/ring/ring.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/loss.h"
#include "collector/util/target.h"

#define NR_OWN	8u
#define WAIT_MS 2000u
/* At the end, and when the client flushes, a thread inside CUPTI gets some 50 ms to leave it. */
#define LEAVE_TRIES    250u
#define LEAVE_PAUSE_NS 200000u
/* From this API version (CUDA 12.6) on CUPTI may be used again after cuptiFinalize. */
#define MAY_BEGIN_AGAIN 24u

enum turn { TURN_NONE, TURN_OURS, TURN_THEIRS, TURN_BUSY };

static struct share_state {
	atomic_int turn;
	atomic_bool is_stuck; /* a thread has waited for it in vain */
	bool is_child;	      /* forked from a process with CUPTI */
	/* The client's: */
	_Atomic uint32_t nr_own;
	cupti_subscriber _Atomic own[NR_OWN];
	_Atomic uint32_t nr_more_own; /* profilers that `own` has no room for */
	atomic_bool is_alone;	      /* it records, or has recorded, while we leave CUPTI alone */
	atomic_bool is_flushed;	      /* the client has flushed since it disabled its last kind */
	_Atomic uint64_t idle_ns;     /* since when the client has had no kind enabled */
	/* For the thread that has the turn or switches it: */
	bool is_lost; /* make subscription and buffers again */
	bool is_wanted;
	uint64_t pool_bytes;
	enum turn before_call;
} state;

/* ---- turns ---- */

static bool try_lock_turn(enum turn from)
{
	int turn = from;

	return atomic_compare_exchange_strong(&state.turn, &turn, TURN_BUSY);
}

static void unlock_turn(enum turn to)
{
	atomic_store(&state.turn, to);
}

/* Returns the previous turn, which is BUSY now; or NONE; or BUSY itself after too long a wait. */
static enum turn lock_turn(void)
{
	for (unsigned int i = 0; i < WAIT_MS * 5; i++) {
		int turn = atomic_load(&state.turn);

		if (turn == TURN_NONE || (turn != TURN_BUSY && try_lock_turn((enum turn)turn))) {
			atomic_store(&state.is_stuck, false);
			return (enum turn)turn;
		}
		/* A signal handler may have jumped out of the code that holds it. */
		if (atomic_load(&state.is_stuck)) {
			return TURN_BUSY;
		}
		target_pause(200000);
	}
	atomic_store(&state.is_stuck, true);
	return TURN_BUSY;
}

/* After lock_turn, where the turn stays as it was. */
static void put_back(enum turn turn)
{
	if (turn == TURN_OURS || turn == TURN_THEIRS) {
		unlock_turn(turn);
	}
}

/* ---- our side ---- */

/*
 * Makes everything again; returns false, with CUPTI refused or still in the client's turn, on
 * failure.
 */
static bool start(void)
{
	state.is_lost = false;
	if (!callback_start() || !cupti_probe_again()) {
		return false;
	}
	activity_start(state.pool_bytes);
	return cupti_is_live();
}

static bool is_client_active(void)
{
	return client_kinds_any() || atomic_load(&state.nr_own);
}

/* To a client; the caller has the turn. */
static void give_turn(const char *name, const void *caller)
{
	cupti_gap_begin(name, caller);
	activity_yield();
}

void cupti_share_attach(uint64_t pool_bytes, bool is_wanted)
{
	state.pool_bytes = pool_bytes;
	state.is_wanted = is_wanted;
	cupti_gap_init();
	/*
	 * In this order: set this, then check the client, which first counts itself and then checks
	 * this.
	 */
	unlock_turn(TURN_BUSY);
	if (is_client_active()) {
		state.is_lost = true;
		give_turn(NULL, NULL);
		unlock_turn(TURN_THEIRS);
		return;
	}
	if (!start()) {
		unlock_turn(TURN_NONE);
		return;
	}
	callback_set_enabled(is_wanted);
	activity_set_enabled(is_wanted);
	unlock_turn(TURN_OURS);
}

/* Has the client done all that it will do? */
static bool is_over(void)
{
	uint64_t idle_ns = clock_monotonic_ns() - atomic_load(&state.idle_ns);

	if (is_client_active()) {
		return false;
	}
	return (atomic_load(&state.is_flushed) && !buffer_nr_theirs()) ||
	       idle_ns >= 2000000u * config_number(CONFIG_FLUSH_MS);
}

/*
 * Ends the gap. That no records went to the client proves something only if it had all kinds of
 * work on and has its buffers back.
 */
static void end_gap(uint64_t nr_records, bool is_last)
{
	bool has_all_kinds = client_kinds_take_complete();

	cupti_gap_end(nr_records, has_all_kinds && !buffer_nr_theirs(), is_last);
}

static void reclaim_cupti(void)
{
	uint64_t nr_records = activity_reclaim();

	if (state.is_lost && !start()) {
		end_gap(nr_records, true);
		unlock_turn(TURN_NONE);
		return;
	}
	callback_set_enabled(state.is_wanted);
	activity_set_enabled(state.is_wanted);
	end_gap(nr_records, false);
	unlock_turn(TURN_OURS);
}

/* A client that waited in vain for the turn records already, beside us. */
static bool was_passed(void)
{
	return atomic_load(&state.is_stuck) && is_client_active();
}

/*
 * The drain calls this at every look, so here the turn returns from a client that is done, or goes
 * to one that could not wait for it.
 */
void cupti_share_set_enabled(bool is_wanted)
{
	if (!cupti_is_live()) {
		return;
	}
	if (try_lock_turn(TURN_OURS)) {
		state.is_wanted = is_wanted;
		callback_set_enabled(is_wanted);
		if (was_passed()) {
			give_turn(NULL, NULL);
			unlock_turn(TURN_THEIRS);
			return;
		}
		activity_set_enabled(is_wanted);
		unlock_turn(TURN_OURS);
	} else if (try_lock_turn(TURN_THEIRS)) {
		state.is_wanted = is_wanted;
		cupti_gap_look();
		callback_set_enabled(is_wanted);
		if (is_over()) {
			reclaim_cupti();
		} else {
			unlock_turn(TURN_THEIRS);
		}
	}
}

/* False: another thread has had the turn just now. */
static bool try_flush(bool is_last)
{
	enum turn turn = (enum turn)atomic_load(&state.turn);

	if (turn == TURN_NONE || (turn == TURN_THEIRS && !is_last)) {
		return true;
	}
	if (turn == TURN_BUSY || !try_lock_turn(turn)) {
		return false;
	}
	if (turn == TURN_OURS) {
		activity_flush(is_last);
	} else {
		end_gap(buffer_take_nr_records(), true);
	}
	unlock_turn(turn);
	return true;
}

void cupti_share_flush(bool is_last)
{
	unsigned int nr_tries = is_last ? LEAVE_TRIES : 1;

	while (!try_flush(is_last)) {
		if (!--nr_tries) {
			/* Next time, if there is one. */
			loss_add(LOSS_SHARED, is_last);
			return;
		}
		target_pause(LEAVE_PAUSE_NS);
	}
}

bool cupti_share_begin_call(void)
{
	bool is_ours = try_lock_turn(TURN_OURS);

	if (!is_ours && !try_lock_turn(TURN_NONE)) {
		return false;
	}
	state.before_call = is_ours ? TURN_OURS : TURN_NONE;
	/* After the lock: a client first counts itself, and then waits for the turn. */
	if (!is_ours && (is_client_active() || atomic_load(&state.is_alone))) {
		unlock_turn(TURN_NONE);
		return false;
	}
	return true;
}

void cupti_share_end_call(void)
{
	unlock_turn(state.before_call);
}

void cupti_share_forget(void)
{
	state.is_child = state.is_child || atomic_load(&state.turn) != TURN_NONE;
	share_clock_forget();
	unlock_turn(TURN_NONE);
}

/* ---- the client's side ---- */

bool cupti_share_is_open(void)
{
	return !state.is_child && !ring_in_profiler(&ring_tls) && config_flag(CONFIG_ENABLE) &&
	       config_flag(CONFIG_CUPTI) && !config_flag(CONFIG_TIMER_ONLY);
}

/* for_all: of the subscription, too. */
static void yield_cupti(const char *name, const void *caller, bool for_all)
{
	TARGET_LEAVE_ALONE;
	struct ring_mark mark;
	enum turn turn;

	ring_enter_profiler(&ring_tls, &mark);
	turn = lock_turn();
	if (turn == TURN_OURS) {
		cupti_pm_yield();
		give_turn(name, caller);
	}
	if (turn == TURN_OURS || turn == TURN_THEIRS) {
		if (for_all) {
			subscriber_end();
			state.is_lost = true;
		}
		atomic_store(&state.is_flushed, false);
		atomic_store(&state.idle_ns, clock_monotonic_ns());
		unlock_turn(TURN_THEIRS);
	}
	ring_leave_profiler(&ring_tls, &mark);
}

/* Counts the kind before it checks the turn, so that the drain cannot take the turn in between. */
void cupti_share_begin_enable(uint32_t kind, bool is_context, const void *caller)
{
	client_kinds_add(kind, is_context);
	atomic_store(&state.is_flushed, false);
	yield_cupti(NULL, caller, false);
}

bool cupti_share_may_disable(uint32_t kind)
{
	enum turn turn = lock_turn();

	put_back(turn);
	return turn != TURN_OURS || !activity_has(kind);
}

/* A last kind that goes off leaves the turn to us, when the client has flushed. */
void cupti_share_end_disable(uint32_t kind, bool is_context)
{
	atomic_store(&state.idle_ns, clock_monotonic_ns());
	client_kinds_remove(kind, is_context);
}

void cupti_share_end_enable(uint32_t kind, bool is_context, uint32_t result)
{
	if (result) {
		cupti_share_end_disable(kind, is_context);
	}
}

/* While our thread flushes, the turn is busy; what runs then is ours as well. */
uint32_t cupti_share_begin_flush(uint32_t flags)
{
	int turn;

	if (!(flags & CUPTI_FLAG_FLUSH_FORCED)) {
		return flags;
	}
	turn = atomic_load(&state.turn);
	for (unsigned int i = 0;
		turn == TURN_BUSY && i < LEAVE_TRIES && !atomic_load(&state.is_stuck); i++) {
		target_pause(LEAVE_PAUSE_NS);
		turn = atomic_load(&state.turn);
	}
	if (turn == TURN_OURS && !buffer_nr_theirs()) {
		flags &= ~(uint32_t)CUPTI_FLAG_FLUSH_FORCED;
	}
	return flags;
}

void cupti_share_end_flush(void)
{
	int turn = atomic_load(&state.turn);

	if (turn != TURN_NONE && turn != TURN_OURS && !is_client_active()) {
		atomic_store(&state.is_flushed, true);
		ring_wake();
	}
}

bool cupti_share_register(cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed)
{
	enum turn turn = lock_turn();
	struct ring_mark mark;

	buffer_client_register(requested, completed);
	if (turn == TURN_THEIRS && state.is_lost && cupti_is_live()) {
		/* After cuptiFinalize: restores gprof's session before the client's. */
		ring_enter_profiler(&ring_tls, &mark);
		buffer_register();
		ring_leave_profiler(&ring_tls, &mark);
	}
	put_back(turn);
	return turn != TURN_NONE && cupti_is_live();
}

void cupti_share_hold(const void *caller)
{
	atomic_fetch_add(&state.nr_own, 1);
	yield_cupti(NULL, caller, false);
	share_clock_change_begins();
}

void cupti_share_end_hold(void)
{
	share_clock_change_ends();
	atomic_store(&state.idle_ns, clock_monotonic_ns());
	atomic_fetch_sub(&state.nr_own, 1);
}

/* The finalising client has ended all sessions, its own and ours, whoever had the turn. */
void cupti_share_end_finalize(void)
{
	enum turn turn = lock_turn();

	client_kinds_clear();
	for (unsigned int i = 0; i < NR_OWN; i++) {
		atomic_store(&state.own[i], NULL);
	}
	atomic_store(&state.nr_more_own, 0);
	atomic_store(&state.nr_own, 0);
	subscriber_lost();
	share_clock_set(NULL);
	share_clock_change_ends();
	activity_lost();
	state.is_lost = true;
	atomic_store(&state.is_flushed, false);
	atomic_store(&state.idle_ns, clock_monotonic_ns());
	if (turn == TURN_NONE) {
		return; /* we were not there */
	}
	if (cupti.version < MAY_BEGIN_AGAIN) {
		end_gap(buffer_take_nr_records(), true);
		cupti_end("another client has finalised CUPTI; this CUPTI version may crash when "
			  "it is used again (CUDA 12.6 and later are not affected)");
		unlock_turn(TURN_NONE);
		return;
	}
	unlock_turn(TURN_THEIRS);
}

void cupti_share_end_clock(uint64_t (*read)(void), uint32_t result)
{
	if (!result) {
		share_clock_set(read);
	}
	cupti_share_end_hold();
}

void cupti_share_begin_own(const char *name, const void *caller)
{
	atomic_fetch_add(&state.nr_own, 1);
	yield_cupti(name, caller, true);
}

static void count_own_off(void)
{
	atomic_store(&state.idle_ns, clock_monotonic_ns());
	atomic_store(&state.is_flushed, true); /* none of its buffers hold gprof's records */
	atomic_fetch_sub(&state.nr_own, 1);
	ring_wake();
}

void cupti_share_end_own(cupti_subscriber subscriber, uint32_t result)
{
	if (result) {
		count_own_off();
		return;
	}
	for (unsigned int i = 0; i < NR_OWN; i++) {
		cupti_subscriber none = NULL;

		if (atomic_compare_exchange_strong(&state.own[i], &none, subscriber)) {
			return;
		}
	}
	atomic_fetch_add(&state.nr_more_own, 1);
}

static bool drop_more_own(void)
{
	uint32_t nr = atomic_load(&state.nr_more_own);

	while (nr && !atomic_compare_exchange_weak(&state.nr_more_own, &nr, nr - 1)) {
	}
	return nr > 0;
}

void cupti_share_drop_own(cupti_subscriber subscriber)
{
	for (unsigned int i = 0; i < NR_OWN; i++) {
		cupti_subscriber own = subscriber;

		if (subscriber && atomic_compare_exchange_strong(&state.own[i], &own, NULL)) {
			count_own_off();
			return;
		}
	}
	if (subscriber && drop_more_own()) {
		count_own_off();
	}
}

void cupti_share_leave_alone(void)
{
	if (!ring_in_profiler(&ring_tls)) {
		atomic_store(&state.is_alone, true);
		put_back(lock_turn());
	}
}

/* Waits: our own thread may have the turn just now, and would go on with the client's. */
static void put_settings_back(void)
{
	enum turn turn = lock_turn();

	if (turn == TURN_OURS) {
		activity_set_ours();
	}
	put_back(turn);
}

void cupti_share_end_thread_id_type(uint32_t type)
{
	activity_client_set_thread_id_type(type);
	put_settings_back();
}

void cupti_share_end_all_syncs(uint32_t is_on)
{
	activity_client_set_all_syncs(is_on);
	put_settings_back();
}

void cupti_share_leave_counters(void)
{
	TARGET_LEAVE_ALONE;
	struct ring_mark mark;

	ring_enter_profiler(&ring_tls, &mark);
	cupti_pm_leave();
	ring_leave_profiler(&ring_tls, &mark);
}
