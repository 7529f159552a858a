/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The depth of a stream's launch queue: launched but not begun. It grows by one at the begin of the
 * launching call and shrinks by one at the begin of the activity, as in HolisticTraceAnalysis.
 *
 * At any time the depth is the number of calls before it minus the number of begins before it,
 * whichever belong together. So both are followed in their own order, from the last to the first,
 * as op_walk.h delivers them.
 *
 * A stream works in order. Begins out of order are sorted within QUEUE_DEPTH_WINDOW; memory is that
 * and the deepest queue.
 */
#ifndef REPORT_OPS_QUEUE_DEPTH_H
#define REPORT_OPS_QUEUE_DEPTH_H

#include <stddef.h>
#include <stdint.h>

#define QUEUE_DEPTH_WINDOW 64u

/*
 * CUDA queues 1,024 launches a stream; then the host's launches block. This depth counts as full.
 */
#define QUEUE_DEPTH_FULL 1000u

struct queue_depth_call {
	uint64_t begin, ns;
};

struct queue_depth {
	uint64_t begins[2 * QUEUE_DEPTH_WINDOW]; /* from `first_begin` on, falling */
	uint32_t first_begin, nr_begins;
	struct queue_depth_call *calls; /* from `first_call` on, falling */
	size_t first_call, nr_calls, capacity;
	uint64_t now;
	uint64_t length;
	/* results, after queue_depth_finish; times in ns */
	uint64_t nr, max;
	uint64_t first, last; /* call and begin */
	uint64_t empty_ns, full_ns;
	unsigned __int128 area;		 /* depth times ns */
	uint64_t nr_blocked, blocked_ns; /* calls that found it full, and their time */
};

/* Zero-initialized. Calls must come roughly from the last to the first, as from op_walk.h. */
void queue_depth_add(
	struct queue_depth *queue, uint64_t call_begin, uint64_t call_end, uint64_t begin);
void queue_depth_finish(struct queue_depth *queue);
void queue_depth_fini(struct queue_depth *queue);

#endif
