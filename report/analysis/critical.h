/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path of a step: what its length was made of, from its end back to its begin, each
 * time to what came last of what was waited for. Every moment of the step is in exactly one piece.
 *
 *     on a thread     the innermost operator or call; back to its begin. Where the thread is in
 *                     none, another thread is followed that is (the loop's first), since who waits
 *                     for whom is not recorded; where no thread is in any, the host as such, by
 *                     the innermost range that the loop's thread is in.
 *     a call waits    (for a stream, an event, all work of a context, its own copy) if what it
 *                     waits for ended in it: the time from there is its return, and the path goes
 *                     on with that work. What a call waits for was launched before it. A launch
 *                     waits if the queue of its stream is full (queue.h), for the last begin of
 *                     work on that stream while it waited.
 *     on a device     the record; then what let it begin: its launch, what was launched before it
 *                     on its stream or in its graph, or what the stream waits for by an
 *                     event. The last of these to end is followed, the launch where it is no
 *                     earlier, and the time from there is the launch's or the stream's delay.
 *
 * HolisticTraceAnalysis looks for the longest path through such a graph; here it is followed from
 * its end, so that it has no holes and its length is the step's. All times are ns of one clock.
 */
#ifndef REPORT_ANALYSIS_CRITICAL_H
#define REPORT_ANALYSIS_CRITICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum critical_kind {
	CRITICAL_OPERATOR,
	CRITICAL_HOST, /* in no operator and no call */
	CRITICAL_CALL,
	CRITICAL_RETURN, /* of a call that waited, from when it could */
	CRITICAL_LAUNCH, /* from the end of a launching call to the begin of the work */
	CRITICAL_STREAM, /* from the end of other work to the begin */
	CRITICAL_KERNEL,
	CRITICAL_COPY, /* and sets */
	NR_CRITICAL_KINDS,
};

extern const char *const critical_kind_names[NR_CRITICAL_KINDS];

enum critical_role {
	CRITICAL_PLAIN,
	CRITICAL_WAITS_ALL,
	CRITICAL_WAITS_CONTEXT,
	CRITICAL_WAITS_STREAM,
	CRITICAL_WAITS_EVENT,
	CRITICAL_WAITS_OWN,	/* for what it launched on its stream; or as the next */
	CRITICAL_LAUNCHES,	/* on its stream; waits for room */
	CRITICAL_RECORDS_EVENT, /* after what was launched on its stream so far */
	CRITICAL_STREAM_WAITS,	/* its stream waits for its event, the host does not */
};

/* The host in an operator or a call. Those of one thread lie in each other or apart. */
struct critical_item {
	uint64_t begin, end;
	uint64_t stream; /* critical_stream; of roles that have one */
	uint32_t event;
	uint32_t thread, name;
	uint32_t correlation; /* of a call */
	uint8_t role;	      /* enum critical_role */
	bool is_call;
	bool is_range; /* the user's: says little, what lies in it does */
};

struct critical_record {
	uint64_t begin, end;
	uint64_t call_begin, call_end; /* of its launch */
	uint64_t stream;
	uint32_t thread, correlation; /* of its launch */
	uint32_t name;
	bool is_copy;
};

static inline uint64_t critical_stream(uint32_t context, uint32_t stream)
{
	return (uint64_t)context << 32 | stream;
}

struct critical_step {
	uint64_t begin, end;
	uint32_t thread; /* of the loop: it ends there */
	/* Also of the step before: what was launched there may end here. Both are sorted. */
	struct critical_item *items;
	size_t nr_items;
	struct critical_record *records;
	size_t nr_records;
};

/* `take` gets each piece, from the last to the first; name 0: none. */
void critical_run(struct critical_step *step,
	void (*take)(void *context, enum critical_kind kind, uint32_t name, uint64_t begin,
		uint64_t end),
	void *context);

#endif
