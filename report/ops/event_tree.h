/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of things that lie in each other: operators, what lies in them, and the work on devices that
 * they launched, each with the times of all its calls. A row is found by the one that it lies in,
 * what it is and its name. Memory is bounded by how many different rows there are, and where
 * operators are told apart by their place in the step, by what a thread did in one step.
 */
#ifndef REPORT_OPS_EVENT_TREE_H
#define REPORT_OPS_EVENT_TREE_H

#include "report/util/hash.h"
#include "report/ops/op_walk.h"
#include "report/table/min_max_sum.h"

enum event_kind {
	EVENT_KIND_OP,
	EVENT_KIND_PLACED,   /* operators of a name by their place in the step, see below */
	EVENT_KIND_COPY,     /* copies and sets by direction, with their calls */
	EVENT_KIND_ACTIVITY, /* kernels and others by name: no calls of the host */
};

struct event_key {
	uint32_t outer; /* the number of the row that it lies in, 0 none */
	uint32_t name;	/* of names.h */
	uint32_t place; /* of EVENT_KIND_PLACED: 1 for the first of its name in a step */
	uint32_t kind;
	uint32_t process, thread; /* 0 where they are merged */
};

struct event_row {
	struct event_key key;
	struct min_max_sum cpu;	    /* ns: of the host's time; none of work */
	struct min_max_sum gpu;	    /* ns: for each call what it launched, whenever that ran */
	struct min_max_sum both;    /* ns: the sum of both, as far as they are known */
	uint32_t first, last, next; /* numbers: the rows in it, the one after it in the same */
	bool is_without_gpu;	    /* some of its processes have no device records */
	uint32_t number;
	UT_hash_handle hh;
};

/* Starts with all zeros. Rows are numbered from 1. */
struct event_tree {
	struct event_row *index; /* by key */
	struct event_row **rows;
	size_t nr_rows, capacity;
	uint32_t first, last; /* of the rows that lie in none */
};

void event_tree_fini(struct event_tree *tree);

static inline struct event_row *event_tree_row(const struct event_tree *tree, uint32_t number)
{
	return tree->rows[number - 1];
}

/* The number of the row; a new one comes last in the one that it lies in. */
uint32_t event_tree_find(struct event_tree *tree, const struct event_key *key);

/* One more call; UINT64_MAX: that time is unknown. Also if both are, it is one more. */
void event_tree_add(struct event_tree *tree, uint32_t number, uint64_t cpu_ns, uint64_t gpu_ns);

/*
 * The row that is for operators at one place in the step what the row `number` is for all of them:
 * `number` is the outermost operator's row `top`, or lies in it.
 */
uint32_t event_tree_placed(struct event_tree *tree, uint32_t number, uint32_t top, uint32_t place);

/* Appends what the row is called: "conv2d", "conv2d0" at the first place, "Backward0#0". */
void event_row_name(const struct event_row *row, struct buf *out);

/* What a record is called: the kernel, or as copy_name has it. */
uint32_t event_activity_name(const struct process *process, const struct op_record *record);

/*
 * As Paddle calls a copy or set: "GpuMemcpyAsync:CPU->GPU", "GpuMemsetSync:GPU"; "GpuMemcpy:" where
 * neither the record nor its call (NULL: none) says that it is asynchronous, and there is no call.
 */
uint32_t event_copy_name(
	const struct process *process, const struct op_record *record, const struct op_call *call);

/* ---- places in a step ---- */

/*
 * The place of operators in the step: the first, the second ... of its name that its thread ran in
 * the step, of operators that lie in no other one. The pass over operators goes backwards, so what
 * is to be added for a place is kept until the step of the thread is over: 40 bytes for each event
 * of a thread in one step.
 */

/* Places from here on are not told apart. */
#define OP_PLACE_MOST 10000u

/* What is added to a row, once its place (1 the first) is known. */
struct op_place_item {
	uint32_t top, number; /* rows, see event_tree_placed */
	uint32_t after;	      /* how many of its name came later in the step */
	uint32_t count;	      /* the place in the counts of its name */
	uint64_t cpu_ns, gpu_ns;
};

struct op_places {
	void (*add)(void *context, const struct op_place_item *item, uint32_t place);
	void *context;
	struct idmap threads;
	struct phases phases; /* for the steps of the process at hand */
	bool has_begun;
	bool is_cut; /* there were more than OP_PLACE_MOST */
};

/* Starts with `add` and `context` set. */
void op_places_begin(struct op_places *places, struct process *process);

/*
 * Something of the outermost operator `outer` (or it itself, last), whose row is `top`. Nothing is
 * added where there are no steps.
 */
void op_places_add(struct op_places *places, const struct op *outer, struct op_place_item item);

/* After the last operator of the process. */
void op_places_end(struct op_places *places);

#endif
