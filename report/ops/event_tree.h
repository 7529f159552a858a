/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of operators, of those inside them, and of the GPU activities that they launched, with
 * times of all calls.
 *
 * A row is found by its parent, kind and name. Memory is bounded by the number of different rows.
 * Rows by position in the step also keep the events of a thread in one step.
 */
#ifndef REPORT_OPS_EVENT_TREE_H
#define REPORT_OPS_EVENT_TREE_H

#include "report/util/hash.h"
#include "report/ops/op_walk.h"
#include "report/stats/min_max_sum.h"

enum event_kind {
	EVENT_KIND_OP,
	EVENT_KIND_PLACED,   /* operators of a name by their position in the step, see below */
	EVENT_KIND_COPY,     /* copies and sets by direction, with their calls */
	EVENT_KIND_ACTIVITY, /* kernels and others by name; they have no host calls */
};

struct event_key {
	uint32_t outer; /* number of the parent row, 0: none */
	uint32_t name;	/* of string_pool.h */
	uint32_t place; /* of EVENT_KIND_PLACED: 1 for the first of its name in a step */
	uint32_t kind;
	uint32_t process, thread; /* 0 if merged */
};

struct event_row {
	struct event_key key;
	struct min_max_sum cpu;	    /* ns on the host; none for activities */
	struct min_max_sum gpu;	    /* ns of what each call launched, whenever that ran */
	struct min_max_sum both;    /* ns: the sum of both, as far as known */
	uint32_t first, last, next; /* numbers: first and last child, next sibling */
	bool lacks_gpu_times;	    /* some of its processes have no device records */
	uint32_t number;
	UT_hash_handle hh;
};

/* Zero-initialized. Rows are numbered from 1. */
struct event_tree {
	struct event_row *index; /* by key */
	struct event_row **rows;
	size_t nr_rows, capacity;
	uint32_t first, last; /* the rows without a parent */
};

void event_tree_fini(struct event_tree *tree);

static inline struct event_row *event_tree_row(const struct event_tree *tree, uint32_t number)
{
	return tree->rows[number - 1];
}

/* The number of the row; a new one becomes the last child of its parent. */
uint32_t event_tree_find(struct event_tree *tree, const struct event_key *key);

/* Counts one more call. UINT64_MAX: that time is unknown. */
void event_tree_add(struct event_tree *tree, uint32_t number, uint64_t cpu_ns, uint64_t gpu_ns);

/* Adds the time of work that a graph's launch ran for a call that is counted already. */
void event_tree_add_replay(struct event_tree *tree, uint32_t number, uint64_t gpu_ns);

/*
 * Returns the row for operators at one position in the step that corresponds to row `number` for
 * all of them. `number` is row `top` of the outermost operator, or lies in it.
 */
uint32_t event_tree_placed(struct event_tree *tree, uint32_t number, uint32_t top, uint32_t place);

/* Appends the row's name: "conv2d", "conv2d0" for the first place, "Backward0#0". */
void event_row_name(const struct event_row *row, struct buf *out);

/*
 * A copy or set as Paddle names it: "GpuMemcpyAsync:CPU->GPU", "GpuMemsetSync:GPU". It is
 * "GpuMemcpy:" if there is no call (NULL) and the record does not say whether it is asynchronous.
 */
uint32_t event_copy_name(
	const struct process *process, const struct op_record *record, const struct op_call *call);

/* ---- positions in a step ---- */

/*
 * The position of an outermost operator: how many-th of its name its thread ran in the step. The
 * pass goes backwards, so additions wait until the thread's step is complete: 40 bytes for each
 * event of a thread in one step.
 */

/* Later positions are not distinguished. */
#define OP_PLACE_MAX 10000u

/* An addition to a row, once its position (1 for the first) is known. */
struct op_place_item {
	uint32_t top, number; /* rows, see event_tree_placed */
	uint32_t after;	      /* how many of its name come later in the step */
	uint32_t count;	      /* index in the counts of its name */
	uint64_t cpu_ns, gpu_ns;
};

struct op_places {
	void (*add)(void *context, const struct op_place_item *item, uint32_t place);
	void *context;
	struct idmap threads;
	struct phases phases; /* for the steps of the current process */
	bool has_begun;
	bool is_cut; /* there were more than OP_PLACE_MAX */
};

/* Starts with `add` and `context` set. */
void op_places_begin(struct op_places *places, struct process *process);

/*
 * Adds something of the outermost operator `outer`, whose row is `top`; the operator itself comes
 * last. Adds nothing if there are no steps.
 */
void op_places_add(struct op_places *places, const struct op *outer, struct op_place_item item);

/* Call it after the last operator of the process. */
void op_places_end(struct op_places *places);

#endif
