/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads of a process did while its GPUs were idle. The first HOST_OTHERS threads have
 * intervals of their own, and so have those that launch work, as long as there is room; all others
 * share theirs. Like interval_queue.h, this is filled and emptied from the latest event to the
 * earliest.
 *
 * Memory: an interval queue (interval_queue.h) for each state of HOST_THREADS threads.
 */
#ifndef REPORT_BUDGET_HOST_STATES_H
#define REPORT_BUDGET_HOST_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/budget/code_samples.h"
#include "report/util/interval_queue.h"

/* The innermost state first: an earlier one hides a later one of the same thread. */
enum host_state {
	HOST_COMPILATION, /* a compiler works (compiler.def); hides what it does for that */
	HOST_STARTUP,	  /* a long call of a kind that does not come again */
	HOST_ALLOCATION,  /* calls that allocate, free, load or compile */
	HOST_WAIT,	  /* calls that wait for the GPU, and copies that read back */
	HOST_STAGING,	  /* copies to the GPU that return after it has read the memory */
	HOST_LAUNCH,	  /* launches, copies and sets */
	HOST_CALL,	  /* other calls of CUDA or HIP */
	HOST_GIL,	  /* waits for Python's lock, where calls of the system were recorded */
	HOST_GC,	  /* collects Python's garbage */
	HOST_LOADER,
	HOST_OPERATOR,
	HOST_OS,    /* calls of the operating system, where they were recorded */
	HOST_RANGE, /* nothing of these, in a range of the user */
	NR_HOST_STATES,
	HOST_USER = NR_HOST_STATES, /* nothing that is recorded */
};

#define HOST_THREADS 9u
#define HOST_OTHERS  (HOST_THREADS - 1) /* the slot of all further threads */

/*
 * In a gap that a wait for the GPU opened, is what the host does a cost of that wait? What has a
 * cause of its own is not, and waits are counted wherever they are.
 */
static inline bool host_state_is_of_wait(unsigned int state)
{
	return state != HOST_WAIT && state != HOST_STARTUP && state != HOST_COMPILATION &&
	       state != HOST_LOADER && state != HOST_GC && state != HOST_GIL;
}

/* Zero-initialized. */
struct host_states {
	struct {
		uint32_t thread;
		bool is_launching;
		uint16_t used; /* bits of enum host_state */
		/* The earliest begin of what hides calls of the operating system; 0: nothing yet */
		uint64_t hidden_from;
		struct interval_queue queues[NR_HOST_STATES];
	} slots[HOST_THREADS];
	unsigned int nr; /* of slots that have a thread */
	/*
	 * The thread of the training loop, in a process without GPUs. Only its own calls of the
	 * operating system and waits for Python's lock count: other threads mostly wait for work,
	 * or for this one. 0: unknown, those of all count.
	 */
	uint32_t loop_thread;
	unsigned int last; /* the slot that was found last */
};

void host_states_fini(struct host_states *states);

/* Used by the inline function. */
unsigned int host_states_find_slot(struct host_states *states, uint32_t thread);

/* The slot of a thread. */
static inline unsigned int host_states_slot(struct host_states *states, uint32_t thread)
{
	if (states->last < states->nr && states->slots[states->last].thread == thread) {
		return states->last;
	}
	return host_states_find_slot(states, thread);
}

/* The same of a thread that launches work: it may take the slot of one that does not. */
unsigned int host_states_launching(struct host_states *states, uint32_t thread);

/* Are calls of the operating system in that slot no part of the loop? */
static inline bool host_states_waits_for_work(const struct host_states *states, unsigned int slot)
{
	return states->loop_thread && states->slots[slot].thread != states->loop_thread;
}

/* ns; ignores what ends before it begins. Returns how many intervals of that state wait. */
static inline size_t host_states_push(struct host_states *states, unsigned int slot,
	enum host_state state, uint64_t begin, uint64_t end)
{
	struct interval_queue *queue = &states->slots[slot].queues[state];

	states->slots[slot].used |= (uint16_t)(1u << state);
	if (state < HOST_OS &&
		(!states->slots[slot].hidden_from || begin < states->slots[slot].hidden_from)) {
		states->slots[slot].hidden_from = begin;
	}
	interval_queue_push(queue, begin, end);
	return queue->strays.nr;
}

/*
 * Is a call of the operating system that begins then within what was pushed: a call of CUDA, an
 * operator, a loader? All that ends later has been pushed by then. The slot that threads share
 * cannot tell.
 */
static inline bool host_states_hides(
	const struct host_states *states, unsigned int slot, uint64_t begin)
{
	uint64_t from = states->slots[slot].hidden_from;

	return slot != HOST_OTHERS && from && from <= begin;
}

/* Do more than `most` intervals of a state wait out of order? */
bool host_states_are_many(const struct host_states *states, size_t most);

/* ---- a sweep from a late time to an early one ---- */

struct host_sweep {
	struct host_states *states;
	struct interval at[HOST_THREADS][NR_HOST_STATES];
	uint16_t has[HOST_THREADS]; /* bits of enum host_state: there is an interval */
	uint16_t launching;	    /* bits of slots whose thread launches; not of HOST_OTHERS */
	/*
	 * For the time that host_sweep_add added last: where its thread began to work (its end:
	 * nowhere), and which other slots worked since then
	 */
	uint64_t work_begin;
	uint16_t beside;
};

void host_sweep_begin(struct host_sweep *sweep, struct host_states *states);

/*
 * Adds the time from `begin` to `end` to ns[NR_HOST_STATES + 1] by state: by what the thread of
 * `slot` did; where it did nothing that is recorded, by what others that launch did, and by
 * operators, loaders, compilations and collections of the rest. While a thread collects garbage, no
 * other runs Python, so a wait for Python's lock is then a wait for the collection. HOST_OTHERS: by
 * what any thread did. Times must fall from call to call. Opens the samples of `code` that lie in
 * user code, in the data loader or in waits for Python's lock; NULL: there are none.
 */
void host_sweep_add(struct host_sweep *sweep, unsigned int slot, uint64_t begin, uint64_t end,
	uint64_t *ns, struct code_samples *code);

/* Was the thread of `slot` in that state just before a time, and until then at least? */
bool host_sweep_is_in(
	struct host_sweep *sweep, unsigned int slot, enum host_state state, uint64_t time);

/*
 * host_sweep_add has added a time that begins at `time`. Did the thread of `slot` take over in it
 * from another one, which waited for the GPU? The two take turns:
 *
 * - Since the thread of `slot` last worked, and since `since`, the other one has launched.
 * - The other one waits at `time`, and no longer than until the thread of `slot` works again.
 * - From then on it does nothing beside that thread.
 *
 * Work is a call of CUDA or HIP, an operator or a data loader. A thread that works on meanwhile did
 * not wait for the other one.
 */
bool host_sweep_is_handed_over(
	struct host_sweep *sweep, unsigned int slot, uint64_t time, uint64_t since);

/* Keeps what lies before `begin` for a later sweep. */
void host_sweep_end(struct host_sweep *sweep, uint64_t begin);

#endif
