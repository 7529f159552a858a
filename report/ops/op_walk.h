/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the operators of a process for several views at once, from the last to the first:
 * rows come at the end of what they tell of, so backwards what encloses comes before what lies in
 * it, and memory is bounded by how deep they nest and by what the recorder wrote at once.
 *
 * Calls are joined to the innermost operator of their thread that encloses them, which is exact:
 * one thread, one clock. Device work is joined to calls by correlation id alone.
 */
#ifndef REPORT_OPS_OP_WALK_H
#define REPORT_OPS_OP_WALK_H

#include "report/ops/op.h"
#include "report/ops/op_launch.h"
#include "report/ops/phase.h"

/* ---- the walk ---- */

/* Memory that a framework's allocator gave (bytes > 0) or took back. */
struct op_alloc {
	uint64_t tick, address;
	int64_t bytes;
	uint8_t device_type, device;
};

/* An NVTX range that was pushed and popped. */
struct op_range {
	uint64_t begin, end; /* ticks */
	uint32_t thread;
	uint32_t name; /* "domain:range", of names.h */
	uint64_t gpu_ns, nr_activities;
	const struct op *op; /* the innermost one that it began in, NULL if in none */
};

/* A call that started work on a device, or whose Python stack was taken. */
struct op_work {
	uint64_t begin, end; /* ticks */
	uint64_t ns;	     /* of the work */
	uint32_t nr_activities, py_stack;
};

/* A call of CUDA. */
struct op_call {
	uint64_t begin, end; /* ticks; clock_map of the process makes ns of them */
	uint32_t thread;
	uint32_t correlation; /* 0 unknown */
	uint32_t call;	      /* an id of the stream: process_call_name */
	int32_t result;
	uint32_t step;	   /* that it began in, as in phase_segment: 0 before the first */
	uint32_t py_stack; /* 0 not taken */
	uint8_t table;	   /* GPROF_TABLE_api ... _api_sync */
};

struct op_view {
	/* What is not chosen (select.h) comes, too: the view goes by select_has_step itself. */
	bool ignores_selection;
	/* `op` comes for those alone that are any of these, of enum op_is; 0: for all. */
	uint8_t op_is;
	/* All may be NULL. begin and end come for every process, also for one without operators. */
	void (*begin)(void *context, struct process *process);
	/* Met from its end, before what lies in it: by falling ends, over all threads. */
	void (*enter)(void *context, const struct op *op);
	/* Complete; those that lie in it came before. */
	void (*op)(void *context, const struct op *op);
	/* op: the innermost one, NULL if in none. */
	void (*alloc)(void *context, const struct op_alloc *alloc, const struct op *op);
	void (*range)(void *context, const struct op_range *range);
	void (*work)(void *context, const struct op_work *work, const struct op *op);
	/* Every call, from the last to the first by their ends. */
	void (*call)(void *context, const struct op_call *call, const struct op *op);
	/*
	 * Every record of work, right after its call: from the last call to the first, those of one
	 * call (a graph's nodes) in no order. call is NULL where the stream has none with that
	 * correlation id; these may come at any time.
	 */
	void (*record)(void *context, const struct op_record *record, const struct op_call *call,
		const struct op *op);
	void (*end)(void *context, struct process *process, const struct phases *phases);
};

/* Does it want anything of such a pass? */
bool op_view_is_set(const struct op_view *view);

struct op_walk {
	const struct op_view *view;
	void *context;
};

void op_walk_run(struct process *const *processes, size_t nr_processes, const struct op_walk *walks,
	size_t nr_walks);

#endif
