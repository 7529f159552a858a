/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path of a step: what its length was made of, from its end back to its begin, each
 * time to what came last of what was waited for. Every ns of the step is in exactly one segment.
 *
 *     on a thread     the innermost operator or call; back to its begin. Where the thread is in
 *                     none, another thread is followed that is (the loop's first), since who waits
 *                     for whom is not recorded; where no thread is in any, the host as such, by
 *                     the innermost range that the loop's thread is in.
 *     a call waits    (for a stream, an event, all work of a context, its own copy) if what it
 *                     waits for ended in it: the time from there is its return, and the path goes
 *                     on with that work. What a call waits for was launched before it. A launch
 *                     waits if the queue of its stream is full (queue_depth.h), for the last begin
 * of work on that stream while it waited. on a device     the record; then what let it begin: its
 * launch, what was launched before it on its stream or in its graph, or what the stream waits for
 * by an event. The last of these to end is followed, the launch where it is no earlier, and the
 * time from there is the launch's or the stream's delay.
 *
 * HolisticTraceAnalysis looks for the longest path through such a graph; here it is followed from
 * its end, so that it has no holes and its length is the step's. All times are ns of one clock.
 */
#ifndef REPORT_ANALYSIS_CRITICAL_H
#define REPORT_ANALYSIS_CRITICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/scan.h"
#include "report/ops/op_walk.h"

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

/*
 * What hosts and devices did in a step and before it, for critical.h, collected from the last step
 * to the first in a pass over operators (op_walk.h). Devices may be a whole queue behind, so what
 * came before is as much as holds CRITICAL_BEFORE records of work, at least one step and at most
 * CRITICAL_STEPS: so many are in memory at a time. A process without steps counts as one, from its
 * first call or operator to the end of its last.
 *
 * Which stream or event a call was about is what CUPTI's records of synchronisations and events
 * say, by correlation id (table sync, table event; 24 bytes each in memory). A call that
 * synchronises without such a record waits for all work. Operators that go on over more than one
 * step are not seen.
 */

#define CRITICAL_BEFORE 2048u
#define CRITICAL_STEPS	16u

/* A step that needs more operators and calls, or more records, has no path: 250 MB. */
#define CRITICAL_MOST 2000000u

struct critical_load {
	struct process *process;
	struct critical_load_marks *marks; /* of all processes, from the scan */
	size_t nr_marks, mark_capacity;
	const struct critical_load_marks *of_process;
	struct critical_item *items;
	size_t nr_items, item_capacity;
	struct critical_record *records;
	size_t nr_records, record_capacity;
	size_t next;	    /* 1 + the place of the step that comes next; 0 none is left */
	uint64_t begin;	    /* of it, ns */
	uint64_t near, far; /* begin of the step before it, and of CRITICAL_STEPS before it */
	uint64_t nr_before; /* records that were launched before it */
	uint64_t too_many;  /* steps that end later than that have more than CRITICAL_MOST */
	/* Gets each step that has anything in it. */
	void (*take)(void *context, struct critical_step *step);
	void *context;
	uint64_t nr_steps, nr_too_long, nr_empty; /* of all processes: taken, and left out */
	uint64_t nr_lone;			  /* records without a launch */
};

#define CRITICAL_LOAD_NR_WANTS 2u
extern const struct scan_want critical_load_wants[CRITICAL_LOAD_NR_WANTS];

/* For scan_view. */
void critical_load_mark(
	struct critical_load *load, struct process *process, const struct batch *batch);

/* For op_view. */
void critical_load_begin(struct critical_load *load, struct process *process);
void critical_load_op(struct critical_load *load, const struct op *op);
void critical_load_call(struct critical_load *load, const struct op_call *call);
void critical_load_record(
	struct critical_load *load, const struct op_record *record, const struct op_call *call);
void critical_load_end(struct critical_load *load);

void critical_load_fini(struct critical_load *load);

#endif
