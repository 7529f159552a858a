/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the queue of a stream was: launched, but not begun. One more as the launching call
 * begins, one less as its work begins (HolisticTraceAnalysis counts so). A moment's length is the
 * number of calls before it less the number of begins before it, whichever belongs to which; so
 * both are walked along in their orders, from the last to the first as op_walk.h hands them out.
 *
 * A stream works off what it was given in turn. Begins that come out of turn are put right within
 * QUEUE_DEPTH_WINDOW; memory is that and the longest queue.
 */
#ifndef REPORT_OPS_QUEUE_DEPTH_H
#define REPORT_OPS_QUEUE_DEPTH_H

#include <stddef.h>
#include <stdint.h>

#define QUEUE_DEPTH_WINDOW 64u

/* CUDA has room for 1,024 of a stream; then the host's launches wait. What counts as full. */
#define QUEUE_DEPTH_FULL 1000u

struct queue_depth_call {
	uint64_t begin, ns;
};

struct queue_depth {
	uint64_t begins[QUEUE_DEPTH_WINDOW + 1]; /* rising */
	uint32_t nr_begins;
	struct queue_depth_call *calls; /* from `first_call` on, falling */
	size_t first_call, nr_calls, capacity;
	uint64_t now;
	uint64_t length;
	/* results, after queue_depth_finish; times in ns */
	uint64_t nr, max;
	uint64_t first, last; /* call and begin */
	uint64_t empty_ns, full_ns;
	unsigned __int128 area;		 /* length times ns */
	uint64_t nr_blocked, blocked_ns; /* calls that found it full, and how long they took */
};

/* Starts with all zeros. Calls must come about from the last to the first, as op_walk.h has them.
 */
void queue_depth_add(
	struct queue_depth *queue, uint64_t call_begin, uint64_t call_end, uint64_t begin);
void queue_depth_finish(struct queue_depth *queue);
void queue_depth_fini(struct queue_depth *queue);

#endif
