/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts the time of a step if something in it took less time. The recorded step becomes a graph
 * (dependencies.h), whose nodes run again with other durations.
 *
 *     host         The operators and calls of a thread, and the time between them, run in program
 *                  order. In two kinds of gaps a thread waits for another thread instead:
 *                  - in the loop's thread, a gap that the operators and calls of another thread
 *                    fill by half or more (autograd runs backward on its own thread) lasts until
 *                    the last of these ends;
 *                  - in any other thread, a gap in which the loop's thread ends an operator or call
 *                    lasts until the end of the last one of these.
 *     waits        A call that waited returns its measured delay after the end of what it waited
 *                  for.
 *     activities   An activity begins when all that it waits for has ended: the work before it on
 *                  the stream, the work that the stream waits for by an event, and its launch. Each
 *                  of these has a delay: what ended last has the measured one, the others have the
 *                  median of the process, but at most the time that there was.
 *     unexplained  A delay of more than REPLAY_DELAY_MAX_NS is no launch overhead: the activity
 *                  waited for something that is not recorded. The replay counts the median
 *                  instead, so the unchanged replay is shorter than the step by that time. This is
 *                  its error.
 *     collectives  A collective of several processes (replay_join) begins when its last rank comes.
 *                  Its transfer takes as long as recorded. One that runs on the host (gloo, MPI)
 *                  begins as long after what the loop's thread was in as recorded. A thread waits
 *                  for it in a gap that such collectives fill by half or more.
 *
 * Work that shares the device keeps its recorded duration, even if its neighbour ends earlier.
 * Streams overlap no more than they did: a step takes at least the time in which a device had any
 * of the activities that are left. Where activities that overlap are scaled, the largest factor
 * counts. Of a collective of several processes only the transfer counts.
 *
 * The graph has the step and the steps before it that are in memory (step_events.h), so that the
 * host can run ahead of the device. A step ends when its thread and all its activities have ended;
 * its time begins at the end of the step before.
 *
 * Daydream (Zhu et al., USENIX ATC 2020) predicts in this manner from traces with dependencies; its
 * graphs have no delays.
 */
#ifndef REPORT_REPLAY_REPLAY_H
#define REPORT_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/replay/step_events.h"

#define REPLAY_DELAY_MAX_NS 100000u

/* The kinds of nodes that can limit a step. */
enum replay_kind {
	REPLAY_HOST, /* in no operator and no call */
	REPLAY_OPERATOR,
	REPLAY_LOADER,
	REPLAY_CALL,
	REPLAY_WAIT,  /* the return of a call that waited */
	REPLAY_DELAY, /* between a launch or other work and the begin of an activity */
	REPLAY_KERNEL,
	REPLAY_COLLECTIVE,
	REPLAY_COPY,
	REPLAY_BUSY, /* of a device, whatever waits for what */
	NR_REPLAY_KINDS,
};

extern const char *const replay_kind_names[NR_REPLAY_KINDS];

/* The parts that a change can take out, as bits 1 << enum replay_removal. */
enum replay_removal {
	REPLAY_NO_LOADER,   /* batches are there when the loop asks for them */
	REPLAY_NO_SYNC,	    /* calls that synchronise do not wait */
	REPLAY_NO_COPIES,   /* copies and sets take no time, and calls do not wait for their own */
	REPLAY_NO_COMM,	    /* collectives take no time */
	REPLAY_NO_LAUNCHES, /* from the first launch to the last without a wait between them, the
			     * host takes no time: as one launch of a CUDA graph */
	REPLAY_NO_STRAGGLERS, /* collectives begin when half of the ranks have come */
	REPLAY_NO_GAPS,	      /* no delay between activities that follow each other on a stream */
	NR_REPLAY_REMOVALS,
};

#define REPLAY_SCALES 16u

struct replay_change {
	uint32_t removals;
	uint32_t scales; /* which of the factors apply: bits */
	double factors[REPLAY_SCALES];
};

enum replay_item {
	REPLAY_ITEM_OPERATOR,
	REPLAY_ITEM_CALL,    /* of CUDA, HIP or the like */
	REPLAY_ITEM_OS_CALL, /* of the operating system */
	REPLAY_ITEM_ACTIVITY,
};

/* Questions that the maker of a graph answers by the names of its nodes. */
struct replay_names {
	/*
	 * Returns the scales that apply to an item of that name, as bits. Those of an operator
	 * apply to what lies in it, those of a call to what it launched.
	 */
	uint32_t (*scales_of)(void *context, uint32_t name, enum replay_item item);
	/* The collective that a launch is a part of, by its correlation ID: 1 + its number, 0: none
	 */
	uint32_t (*of_collective)(void *context, uint64_t correlation);
	/* Returns how many activities belong to such a collective, one on each rank. */
	uint32_t (*ranks_of)(void *context, uint32_t collective);
	void *context;
	bool has_no_limits; /* nobody reads the limits: the graph may have fewer nodes */
	/* As of_collective, of one of the host that begins then, ns; NULL: none is known */
	uint32_t (*of_host_collective)(void *context, uint64_t begin);
};

struct replay_graph;

/* Sorts what the step has. The caller destroys the graph. names: NULL for nothing else. */
struct replay_graph *replay_create(struct step_events *step, const struct replay_names *names);
void replay_destroy(struct replay_graph *graph);

/*
 * One graph of graphs of the same step of several processes, which stay: part i is graphs[i]. A
 * collective whose activities are all here begins when the last of them begins, and then takes what
 * it took. Others take their own time, with their waiting.
 */
struct replay_graph *replay_join(
	struct replay_graph *const *graphs, size_t nr_graphs, const struct replay_names *names);

/* As recorded, by the same definition of a step's end. */
uint64_t replay_measured_ns(const struct replay_graph *graph, size_t part);

/* Delays of activities of the step that are not explained, ns; they may overlap. */
uint64_t replay_unexplained_ns(const struct replay_graph *graph, size_t part);

/* Does the change concern anything of the graph? */
bool replay_has(const struct replay_graph *graph, const struct replay_change *change);

struct replay_result {
	uint64_t step_ns, least_ns;	  /* least: what a device needs for it */
	uint64_t limits[NR_REPLAY_KINDS]; /* what that is made of, along the critical path: ns */
};

/* Sets the result of each part. change: NULL for none. */
void replay_run(struct replay_graph *graph, const struct replay_change *change,
	struct replay_result *results);

#endif
