/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects what the host and the devices did in a step and before it, for critical.h and replay.h,
 * from the last step to the first in a pass over operators (op_walk.h). Devices may be a whole
 * queue behind, so what came before is as much as holds STEP_EVENTS_BEFORE activities, at least one
 * step and at most STEP_EVENTS_STEPS: so many are in memory at a time. Steps that do not count
 * (counted_steps.h) are left out. A process without steps counts as one, from its first call or
 * operator to the end of its last or of what it launched.
 *
 * CUPTI's records of synchronisations and events say which stream or event a call was about, by
 * correlation ID (table sync, table event; 40 bytes each in memory). Where a process has no such
 * records, the handles say it that were passed to its calls: a handle means the stream on which the
 * activities ran that were launched with it last (or next). A call that synchronises and of which
 * neither is known waits for all work. Operators that go on over more than one step are not seen.
 */
#ifndef REPORT_REPLAY_STEP_EVENTS_H
#define REPORT_REPLAY_STEP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/scan.h"
#include "report/ops/counted_steps.h"
#include "report/ops/op_walk.h"

enum call_role {
	CALL_PLAIN,
	CALL_WAITS_ALL,
	CALL_WAITS_CONTEXT,
	CALL_WAITS_STREAM,
	CALL_WAITS_EVENT,
	CALL_WAITS_OWN, /* for what it launched on its stream; or as the next */
	CALL_LAUNCHES,	/* on its stream; waits for room */
};

/* An operator or a call on the host. Those of one thread are nested or disjoint. */
struct step_item {
	uint64_t begin, end;
	uint64_t stream; /* step_stream; of roles that have one */
	uint64_t handle; /* of that stream, as step_handle; 0: the stream is known */
	uint64_t event;
	uint32_t thread, name;
	uint64_t correlation; /* of a call */
	uint8_t role;	      /* enum call_role */
	bool is_call;
	bool is_os;	    /* a call of the operating system */
	bool is_waiting;    /* one that waits (os_kind_waits): mostly for work, in other threads
			       than the loop's */
	bool is_range;	    /* the user's: says little, what lies in it does */
	bool is_loader;	    /* the training loop waits for a batch */
	bool is_collective; /* of the host, see host_collectives.h */
};

struct step_activity {
	uint64_t begin, end;
	uint64_t call_begin, call_end; /* of its launch */
	uint64_t stream;
	uint64_t handle;      /* handle of its launch, as step_handle; 0 if unknown */
	uint64_t correlation; /* of its launch */
	uint32_t thread;
	uint32_t name;
	uint32_t device;
	uint32_t captured; /* of a graph's node: 1 + an index in step_events.captured; 0: none */
	bool is_copy;
};

/*
 * An operator inside the capture of a graph. Launches of the graph run what it launched, but it has
 * no time of its own there.
 */
struct step_captured {
	uint32_t name;
	uint32_t outer; /* 1 + the index of the one around it, 0: none */
};

/*
 * A call that records an event after what was launched on a stream so far, or that makes a stream
 * wait for one. CUPTI knows it by its correlation ID; these rise in the order of calls.
 */
struct step_event {
	uint64_t stream, handle; /* as those of step_item */
	uint64_t event;
	uint64_t correlation;
	bool is_wait;
};

static inline uint64_t step_stream(uint32_t context, uint32_t stream)
{
	return (uint64_t)context << 32 | stream;
}

struct step_events {
	uint64_t begin, end;
	uint64_t complete_from; /* all that began then or later is here: the begin of a step */
	uint32_t thread;	/* of the loop: it ends there */
	uint64_t number;	/* of the step; 0 if the process has none */
	bool is_recording;	/* it has none: this is all of the recording */
	/* Also of steps before: what was launched there may end here. */
	struct step_item *items;
	size_t nr_items;
	struct step_activity *records;
	size_t nr_records;
	/* Without a launch: before the recording, or lost. Of most only those of this step are
	 * here. */
	struct step_activity *lone;
	size_t nr_lone;
	/*
	 * The events of the process, by rising correlation ID; streams of those with handles are
	 * known where the records are.
	 */
	const struct step_event *events;
	size_t nr_events;
	const struct step_captured *captured; /* of the process */
};

#define STEP_EVENTS_BEFORE 2048u
#define STEP_EVENTS_STEPS  16u

/* Steps wait for each other until so many activities are in memory. */
#define STEP_EVENTS_TOGETHER 8192u

/* A step that needs more operators and calls, or more records, has no path: 250 MB. */
#define STEP_EVENTS_MAX 2000000u

struct step_loader {
	struct process *process;
	struct step_marks *marks; /* of all processes, from the scan */
	size_t nr_marks, mark_capacity;
	struct step_marks *of_process;
	struct counted_steps counted; /* of the process */
	/* Span of operators, ranges, calls and activities, without calls of the system, as in
	 * budget.h */
	uint64_t seen_begin, seen_end;
	uint8_t *call_roles; /* 1 + enum call_role by a call's name, by its id; 0: not found yet */
	struct step_handle *handles;
	size_t nr_handles, handle_capacity;
	struct step_item *items;
	size_t nr_items, item_capacity;
	size_t found; /* an item of the step that has_any looked at last */
	struct step_activity *records;
	size_t nr_records, record_capacity;
	struct step_activity *lone;
	size_t nr_kept_lone, lone_capacity;
	struct step_captured *captured; /* by number of op.copy, from 1; name 0: not there yet */
	size_t nr_captured, captured_capacity;
	size_t next;	      /* 1 + the index of the step that comes next; 0: none is left */
	uint64_t until;	      /* of it, ticks: what began then or later is not needed */
	uint64_t begin;	      /* of it, ns */
	uint64_t near, far;   /* begin of the step before it, and of STEP_EVENTS_STEPS before it */
	uint64_t nr_before;   /* records that were launched before it */
	size_t nr_not_before; /* so many records, from the first, were not launched before it */
	uint64_t position;    /* all that ends later has come */
	uint64_t too_many;    /* steps that end later than that have more than STEP_EVENTS_MAX */
	size_t most_events;   /* 0: STEP_EVENTS_MAX; less takes less memory */
	struct step_events ready[STEP_EVENTS_STEPS]; /* steps of which all is in memory */
	size_t nr_ready;
	bool is_together; /* `take` may get several steps, else one by one */
	/* Is the step of that number wanted? NULL: all are. Steps between them cost little. */
	bool (*wants)(void *context, uint64_t number);
	/*
	 * Gets each wanted step that has anything in it, the last one first. Steps that come
	 * together have the same items and records: those of all of them. `take` moves none.
	 */
	void (*take)(void *context, struct step_events *steps, size_t nr_steps);
	void *context;
	uint64_t nr_steps, nr_too_long, nr_empty; /* of all processes: taken, and left out */
	uint64_t nr_lone;			  /* records without a launch */
};

/* For struct scan_want[]. */
#define STEP_LOADER_WANTS                                                               \
	{GPROF_TABLE_sync, COLS(sync, place, correlation, event, type), 0},             \
		{GPROF_TABLE_event, COLS(event, place, correlation, event), 0},         \
	{                                                                               \
		GPROF_TABLE_api, COLS(api, correlation, thread, call, event, stream), 0 \
	}

/* For scan_view. */
void step_loader_mark(struct step_loader *load, struct process *process, const struct batch *batch);

/* Used by the inline functions: most operators, calls and records are of steps not wanted. */
void step_loader_add_op(struct step_loader *load, const struct op *op);
void step_loader_add_collection(struct step_loader *load, const struct op *op);
void step_loader_add_call(struct step_loader *load, const struct op_call *call);
void step_loader_add_record(struct step_loader *load, const struct op_record *record,
	const struct op_call *call, const struct op *op);
void step_loader_add_lone(struct step_loader *load, const struct op_record *record);

/* For op_view. */
void step_loader_begin(struct step_loader *load, struct process *process);
static inline void step_loader_op(struct step_loader *load, const struct op *op)
{
	if (op->begin < load->until) {
		step_loader_add_op(load, op);
	}
}

static inline void step_loader_collection(
	struct step_loader *load, const struct op_collection *collection)
{
	if (collection->op.begin < load->until) {
		step_loader_add_collection(load, &collection->op);
	}
}

static inline void step_loader_call(struct step_loader *load, const struct op_call *call)
{
	if (call->begin < load->until) {
		step_loader_add_call(load, call);
	}
}

static inline void step_loader_record(struct step_loader *load, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	if (!call) {
		load->nr_lone++;
		step_loader_add_lone(load, record);
	} else if (call->begin < load->until && record->is_timed) {
		step_loader_add_record(load, record, call, op);
	}
}

void step_loader_range(struct step_loader *load, const struct op_range *range);
void step_loader_end(struct step_loader *load);

void step_loader_fini(struct step_loader *load);

#endif
