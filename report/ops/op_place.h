/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of operators in the step: the first, the second ... of its name that its thread ran in
 * the step, of operators that lie in no other one. The pass over operators goes backwards, so what
 * is to be added for a place is kept until the step of the thread is over: 40 bytes for each event
 * of a thread in one step.
 */
#ifndef REPORT_OPS_OP_PLACE_H
#define REPORT_OPS_OP_PLACE_H

#include "report/ops/op_walk.h"

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
