/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One backward pass over the operators of a process for several views.
 *
 * Rows are written at the end of what they describe, so backwards an operator comes before what it
 * contains. Memory is bounded by the nesting depth and by what the recorder wrote at once.
 *
 * A call belongs to the innermost operator of its thread that contains it. That is exact: one
 * thread, one clock. Activities belong to calls by correlation ID alone.
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
	const struct phases *phases; /* as far as they are known: what is later, by falling time */
};

/* An NVTX range that was pushed and popped. */
struct op_range {
	uint64_t begin, end; /* ticks */
	uint32_t thread;
	uint32_t name; /* "domain:range", of string_pool.h */
	uint64_t gpu_ns, nr_activities;
	const struct op *op; /* the innermost one at its begin, NULL if none */
};

/* A call of CUDA, or of the C library. */
struct op_call {
	uint64_t begin, end; /* ticks; the process's clock_map converts to ns */
	uint32_t thread;
	uint64_t correlation; /* 0: unknown */
	uint32_t call;	      /* an id of the stream: process_call_name */
	int32_t result;
	uint64_t handle; /* the API's, of the stream of a launch, copy or set, or of what is waited
			    for; of a call of the C library, the number of its file, or
			    OS_FILES_HOLDER and the thread that it waits for */
	uint32_t step;	 /* in which it began, as in phase_segment: 0 before the first */
	uint32_t py_stack, native_stack; /* 0: not recorded */
	uint32_t segment;		 /* of phases, as an operator has it */
	uint8_t table;			 /* GPROF_TABLE_api ... _api_sync, or os_call */
};

/* The handle of a call of the C library; 0 for all other calls. */
static inline uint64_t op_call_file(const struct op_call *call)
{
	return call->table == GPROF_TABLE_os_call ? call->handle : 0;
}

struct graph_member;

/*
 * A collection of Python's garbage, as an operator would be: `op` has its name, which says the
 * generation, and as parent the innermost operator around it.
 */
struct op_collection {
	struct op op;
	uint64_t collected, uncollectable; /* objects */
	uint32_t step;			   /* in which it began, as in struct op_call */
	uint8_t generation;
};

/* The name of one, of string_pool.h. */
uint32_t op_collection_name(uint8_t generation);
bool op_is_collection(uint32_t name);
/* Is a text the name of one? Then `generation` is set. */
bool op_collection_read(const char *text, size_t nr_bytes, uint8_t *generation);

struct op_view {
	/* The view also gets what is not selected (select.h), and uses select_has_step itself. */
	bool ignores_selection;
	/* `op` is called for operators of any of these kinds of enum op_is only; 0: for all. */
	uint8_t op_is;
	/*
	 * Is `op` to be called for operators of that name? The walk asks once a name. NULL: for
	 * all. enter_wants is the same for `enter`, which also gets those that no other one covers.
	 */
	bool (*op_wants)(uint32_t name, uint8_t framework, uint8_t scope);
	bool (*enter_wants)(uint32_t name, uint8_t framework, uint8_t scope);
	/* Does `op` need any operator of the process? NULL: those of all. */
	bool (*has_ops)(const struct process *process);
	/* Must allocations of the process be read for `alloc`? NULL: those of all. */
	bool (*has_allocs)(const struct process *process);
	/* Any may be NULL. begin and end are called for every process, also without operators. */
	void (*begin)(void *context, struct process *process);
	/*
	 * Called at an operator's end, before what it contains: by falling ends over all threads.
	 */
	void (*enter)(void *context, const struct op *op);
	/* Called when the operator is complete, after all that it contains. */
	void (*op)(void *context, const struct op *op);
	/*
	 * Called for each operator of whose capture a launch of a CUDA graph ran something, as if
	 * it ran again: its GPU times are those of this launch, and it begins and ends at the call,
	 * taking no time. Inner ones come first; the outermost ones lie in what is around the call.
	 * graph_nodes.h has more.
	 */
	void (*replay)(void *context, const struct op *op);
	/* op: the innermost one, NULL if none. */
	void (*alloc)(void *context, const struct op_alloc *alloc, const struct op *op);
	void (*range)(void *context, const struct op_range *range);
	void (*collection)(void *context, const struct op_collection *collection);
	void (*gpu_call)(void *context, const struct op_gpu_call *call, const struct op *op);
	/* Called for every call, from the last end to the first. */
	void (*call)(void *context, const struct op_call *call, const struct op *op);
	/*
	 * Called for every activity right after its call, from the last call to the first. Those of
	 * one call (a graph's nodes) have no order; each has the operator and the Python stack of
	 * its capture, as in `replay`. If the stream has no call with the correlation
	 * id, call is NULL, and it may come at any time.
	 */
	void (*record)(void *context, const struct op_record *record, const struct op_call *call,
		const struct op *op);
	/*
	 * Called after that for each node of a graph, by which views know what a launch ran that
	 * was recorded as a whole; see graph_nodes_each_member().
	 */
	void (*graph_member)(void *context, const struct graph_member *member);
	void (*end)(void *context, struct process *process, const struct phases *phases);
};

/* Does the view want anything of this pass? */
bool op_view_is_set(const struct op_view *view);

struct op_walk {
	const struct op_view *view;
	void *context;
};

void op_walk_run(struct process *const *processes, size_t nr_processes, const struct op_walk *walks,
	size_t nr_walks);

#endif
