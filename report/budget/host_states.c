/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the intervals of what threads do, by thread, and sweeps them back in time. budget.c fills
 * it as events come, budget_sweep.c sweeps each gap.
 *
 * Each state of each thread has a queue of its own, in which ends mostly fall. At each time the
 * first state of enum host_state that a thread is in counts: a call hides the operator around it.
 */
#include "report/budget/host_states.h"

void host_states_fini(struct host_states *states)
{
	for (unsigned int slot = 0; slot < HOST_THREADS; slot++) {
		for (unsigned int state = 0; state < NR_HOST_STATES; state++) {
			interval_queue_fini(&states->slots[slot].queues[state]);
		}
	}
}

static unsigned int find_slot(const struct host_states *states, uint32_t thread)
{
	for (unsigned int slot = 0; slot < states->nr; slot++) {
		if (states->slots[slot].thread == thread) {
			return slot;
		}
	}
	return HOST_OTHERS;
}

unsigned int host_states_find_slot(struct host_states *states, uint32_t thread)
{
	unsigned int slot = find_slot(states, thread);

	if (slot == HOST_OTHERS && states->nr < HOST_OTHERS) {
		slot = states->nr++;
		states->slots[slot].thread = thread;
	}
	states->last = slot;
	return slot;
}

unsigned int host_states_launching(struct host_states *states, uint32_t thread)
{
	unsigned int slot = host_states_slot(states, thread);

	for (unsigned int i = 0; i < states->nr && slot == HOST_OTHERS; i++) {
		if (!states->slots[i].is_launching) {
			slot = i;
			states->slots[i].thread = thread;
			states->slots[i].hidden_from = 0;
		}
	}
	states->slots[slot].is_launching = true;
	return slot;
}

bool host_states_are_many(const struct host_states *states, size_t most)
{
	bool is_much = false;

	for (unsigned int slot = 0; slot < HOST_THREADS; slot++) {
		for (unsigned int state = 0; state < NR_HOST_STATES; state++) {
			is_much |= states->slots[slot].queues[state].strays.nr > most;
		}
	}
	return is_much;
}

/* ---- a sweep ---- */

void host_sweep_begin(struct host_sweep *sweep, struct host_states *states)
{
	sweep->states = states;
	sweep->launching = 0;
	for (unsigned int slot = 0; slot < HOST_THREADS; slot++) {
		sweep->has[slot] = states->slots[slot].used;
		if (slot != HOST_OTHERS && states->slots[slot].is_launching) {
			sweep->launching |= (uint16_t)(1u << slot);
		}
		for (unsigned int state = 0; state < NR_HOST_STATES; state++) {
			sweep->at[slot][state] = (struct interval){UINT64_MAX, UINT64_MAX};
		}
	}
}

/* In these, threads wait for each other. */
#define WAITS (1u << HOST_OS | 1u << HOST_GIL)

/* States that are work: not these, nor ranges. */
#define WORK (((1u << HOST_OS) - 1) & ~WAITS)

static inline bool has(const struct host_sweep *sweep, unsigned int slot, unsigned int state)
{
	return sweep->has[slot] >> state & 1;
}

/* Moves on to the latest interval that begins before `now`. */
static inline void go_before(
	struct host_sweep *sweep, unsigned int slot, unsigned int state, uint64_t now)
{
	struct interval *at = &sweep->at[slot][state];

	while (has(sweep, slot, state) && at->begin >= now) {
		if (!interval_queue_pop(&sweep->states->slots[slot].queues[state], at)) {
			sweep->has[slot] &= (uint16_t) ~(1u << state);
		}
	}
}

/* Returns the states of another slot that count for a gap that the thread of slot `of` ended. */
static inline unsigned int counting(
	const struct host_sweep *sweep, unsigned int slot, unsigned int of)
{
	const unsigned int code =
		1u << HOST_COMPILATION | 1u << HOST_GC | 1u << HOST_LOADER | 1u << HOST_OPERATOR;

	if (of == HOST_OTHERS) {
		return host_states_waits_for_work(sweep->states, slot) ? sweep->has[slot] & ~WAITS
								       : sweep->has[slot];
	}
	/* While another thread waits for Python's lock, this one may have it. */
	return sweep->states->slots[slot].is_launching ? sweep->has[slot] & ~(1u << HOST_GIL)
						       : sweep->has[slot] & code;
}

/*
 * Returns the state of a slot just before `now`. *until is where that begins or, of all that the
 * slot does not do then, the latest end.
 */
static unsigned int state_in(struct host_sweep *sweep, unsigned int slot, unsigned int mask,
	uint64_t now, uint64_t *until)
{
	for (; mask; mask &= mask - 1) {
		unsigned int state = (unsigned int)__builtin_ctz(mask);
		const struct interval *at = &sweep->at[slot][state];

		go_before(sweep, slot, state, now);
		if (!has(sweep, slot, state)) {
			continue;
		}
		if (at->end >= now) {
			*until = at->begin > *until ? at->begin : *until;
			return state;
		}
		*until = at->end > *until ? at->end : *until;
	}
	return HOST_USER;
}

/*
 * Returns bits of the slots in `among` whose threads work just before `now`, and do so back to
 * *until.
 */
static uint16_t working(struct host_sweep *sweep, unsigned int among, uint64_t now, uint64_t *until)
{
	uint16_t found = 0;

	for (; among; among &= among - 1) {
		unsigned int slot = (unsigned int)__builtin_ctz(among);

		if (state_in(sweep, slot, sweep->has[slot] & WORK, now, until) != HOST_USER) {
			found |= (uint16_t)(1u << slot);
		}
	}
	return found;
}

/*
 * Returns the state just before `now`, back to *until; `own` is that of the slot. Waiting for
 * Python's lock is waiting for the collection of another thread, if there is one.
 */
static unsigned int find_state(
	struct host_sweep *sweep, unsigned int of, unsigned int own, uint64_t now, uint64_t *until)
{
	unsigned int state = own;

	for (unsigned int slot = 0;
		slot < HOST_THREADS && (state == HOST_USER || state == HOST_GIL); slot++) {
		if (slot != of && sweep->has[slot]) {
			unsigned int mask = counting(sweep, slot, of);
			unsigned int found = state_in(sweep, slot,
				state == HOST_GIL ? mask & 1u << HOST_GC : mask, now, until);

			state = found == HOST_USER ? state : found;
		}
	}
	return state;
}

static void open_samples(
	struct code_samples *code, unsigned int state, uint64_t begin, uint64_t end)
{
	if (state == HOST_GIL) {
		code_samples_open(code, CODE_GIL, begin, end);
	} else if (state == HOST_LOADER || state >= HOST_OS) {
		code_samples_open(code,
			state == HOST_LOADER ? CODE_LOADER
			: state == HOST_OS   ? CODE_OS
					     : CODE_USER,
			begin, end);
	}
}

/*
 * The thread's own state comes first; what others do counts only where it does nothing. Each
 * look-up shortens the stretch to the time in which its answer holds. Threads that are known to
 * have worked beside it need no further one.
 */
void host_sweep_add(struct host_sweep *sweep, unsigned int slot, uint64_t begin, uint64_t end,
	uint64_t *ns, struct code_samples *code)
{
	const unsigned int others = sweep->launching & ~(1u << slot);
	uint64_t now = end;
	uint16_t beside = 0;

	sweep->work_begin = end;
	sweep->beside = 0;
	while (now > begin) {
		uint64_t until = begin;
		unsigned int mask =
			slot == HOST_OTHERS ? counting(sweep, slot, slot) : sweep->has[slot];
		unsigned int own = state_in(sweep, slot, mask, now, &until);
		unsigned int state = find_state(sweep, slot, own, now, &until);

		beside |= working(sweep, others & ~(unsigned int)beside, now, &until);
		ns[state] += now - until;
		if (code) {
			open_samples(code, state, until, now);
		}
		if (WORK >> own & 1) {
			sweep->work_begin = until;
			sweep->beside = beside;
		}
		now = until;
	}
}

bool host_sweep_is_in(
	struct host_sweep *sweep, unsigned int slot, enum host_state state, uint64_t time)
{
	go_before(sweep, slot, state, time);
	return has(sweep, slot, state) && sweep->at[slot][state].end >= time;
}

/*
 * Returns the end of the work of the thread of `slot` that began last before `time`; it may be
 * later.
 */
static uint64_t work_end(struct host_sweep *sweep, unsigned int slot, uint64_t time)
{
	uint64_t end = 0;

	for (unsigned int mask = WORK; mask; mask &= mask - 1) {
		unsigned int state = (unsigned int)__builtin_ctz(mask);

		go_before(sweep, slot, state, time);
		if (has(sweep, slot, state) && sweep->at[slot][state].end > end) {
			end = sweep->at[slot][state].end;
		}
	}
	return end;
}

bool host_sweep_is_handed_over(
	struct host_sweep *sweep, unsigned int slot, uint64_t time, uint64_t since)
{
	unsigned int others = sweep->launching & ~(1u << slot) & ~(unsigned int)sweep->beside;
	uint64_t end = slot == HOST_OTHERS || !others ? UINT64_MAX : work_end(sweep, slot, time);

	since = since > end ? since : end;
	for (; others && end <= time; others &= others - 1) {
		unsigned int other = (unsigned int)__builtin_ctz(others);

		go_before(sweep, other, HOST_LAUNCH, time);
		if (host_sweep_is_in(sweep, other, HOST_WAIT, time) &&
			sweep->at[other][HOST_WAIT].end < sweep->work_begin &&
			has(sweep, other, HOST_LAUNCH) &&
			sweep->at[other][HOST_LAUNCH].begin >= since) {
			return true;
		}
	}
	return false;
}

void host_sweep_end(struct host_sweep *sweep, uint64_t begin)
{
	for (unsigned int slot = 0; slot < HOST_THREADS; slot++) {
		for (unsigned int state = 0; state < NR_HOST_STATES; state++) {
			const struct interval *at = &sweep->at[slot][state];

			go_before(sweep, slot, state, begin);
			if (has(sweep, slot, state)) {
				host_states_push(sweep->states, slot, (enum host_state)state,
					at->begin, at->end < begin ? at->end : begin);
			}
		}
	}
}
