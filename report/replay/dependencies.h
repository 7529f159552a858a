/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what waited for what in a step: which operator or call each thread was in, which GPU
 * activity a call waited for, and which activities had to end before another one could begin. The
 * critical path (critical.h) and the replay (replay.h) follow these.
 *
 *     a call waits    (for a stream, an event, all work of a context, its own copy) if what it
 *                     waits for ended in it. What a call waits for was launched before it. A
 *                     launch waits if the queue of its stream is full (queue_depth.h), for the
 *                     last begin of work on that stream while it waited.
 *     an activity     waits for what was launched before it on its stream or in its graph, and for
 *                     what its stream waits for by an event.
 *
 * Which event stands for what goes by correlation IDs, which rise in the order of calls.
 *
 * All times are ns of one clock. One thread only.
 */
#ifndef REPORT_REPLAY_DEPENDENCIES_H
#define REPORT_REPLAY_DEPENDENCIES_H

#include "report/replay/step_events.h"

/* A stretch of a thread in one operator or call: the innermost. */
struct host_stretch {
	uint64_t begin, end;
	const struct step_item *item;
};

struct host_thread {
	uint32_t thread;
	size_t first, end; /* of its stretches */
	size_t found;	   /* where the last search ended; the next one mostly ends near it */
};

struct host_timeline {
	struct host_stretch *stretches; /* by thread, rising */
	size_t nr_stretches, capacity;
	struct host_thread *threads; /* by number, rising */
	size_t nr_threads, thread_capacity;
	size_t found; /* the thread of the last search */
};

/* Used by the inline function where neither of the stretches that it looks at is the one. */
const struct host_stretch *host_timeline_search(
	const struct host_timeline *host, struct host_thread *thread, uint64_t time);

/*
 * The last stretch of threads[i] that begins before `time`, NULL if there is none. A path that goes
 * back finds the one found last, or the one before it.
 */
static inline const struct host_stretch *host_timeline_find_at(
	const struct host_timeline *host, size_t i, uint64_t time)
{
	struct host_thread *thread = &host->threads[i];
	const struct host_stretch *all = host->stretches;

	if (thread->found == thread->end || all[thread->found].begin >= time) {
		for (size_t back = 0; back < 2 && thread->found > thread->first; back++) {
			if (all[thread->found - 1].begin < time) {
				return &all[thread->found - 1];
			}
			thread->found--;
		}
	}
	return host_timeline_search(host, thread, time);
}

/* The same of a thread by its number. */
const struct host_stretch *host_timeline_find(
	struct host_timeline *host, uint32_t thread, uint64_t time);

struct dependencies {
	const struct step_events *step;
	const struct step_item **items; /* by thread and begin, what encloses first */
	size_t nr_items;
	struct step_activity *records; /* by stream, in the order of launches */
	size_t nr_records;
	size_t found;			     /* where the last search of records ended */
	struct host_timeline host;	     /* operators and calls */
	struct host_timeline ranges;	     /* of users */
	const struct step_activity **causes; /* of dependencies_find_causes */
	size_t nr_causes, cause_capacity;
};

/*
 * The step, its items and its records must stay until dependencies_fini; they may be those of later
 * steps, too. The caller never looks at what the host did until `from`: items has only the rest.
 */
void dependencies_init(
	struct dependencies *dependencies, const struct step_events *step, uint64_t from);
void dependencies_fini(struct dependencies *dependencies);

struct awaited {
	const struct step_activity *record; /* NULL: nothing */
	uint64_t time;			    /* of its end, or of its begin */
};

/* Returns what a call waited for. */
struct awaited dependencies_awaited(
	struct dependencies *dependencies, const struct step_item *call);

/* Sets `causes` to what one of `records` waited for in addition to its launch; first the work
 * before it. */
void dependencies_find_causes(
	struct dependencies *dependencies, const struct step_activity *record);

#endif
