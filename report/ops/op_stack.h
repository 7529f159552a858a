/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For op_walk.c: the operators of a thread that are open at the moment of a pass from the last
 * event to the first, and what they get of those that lie in them.
 */
#ifndef REPORT_OPS_OP_STACK_H
#define REPORT_OPS_OP_STACK_H

#include "report/ops/op.h"
#include "report/ops/op_load.h"

/* Starts with all zeros. */
struct op_stack {
	struct op **ops; /* outermost first; each its own memory, used again: views point to them */
	size_t nr_ops, nr_made, capacity;
	uint64_t gpu_ns, nr_works; /* of what the thread launched later than the event at hand */
};

/*
 * The operator that an event tells of, by itself. Field by field: a literal is cleared as a whole
 * first, by an instruction that takes longer than all else here.
 */
static inline void op_stack_read(struct op *restrict op, const struct op_event *restrict event)
{
	_Static_assert(sizeof(struct op) == 104, "a new field is to be set here, too");

	op->begin = event->begin;
	op->end = event->end;
	op->thread = event->thread;
	op->name = event->name;
	op->shape = event->shape;
	op->py_stack = event->py_stack;
	op->depth = event->depth;
	op->framework = event->framework;
	op->scope = event->scope;
	op->is = 0;
	op->parent = NULL;
	op->child_ticks = 0;
	op->nr_works = 0;
	op->gpu_self_ns = 0;
	op->gpu_total_ns = 0;
	op->module_ticks = 0;
	op->module_gpu_ns = 0;
	op->phase = 0;
	op->segment = 0;
}

void op_stack_fini(struct op_stack *stack);

/* The innermost one, NULL if none is open. */
static inline struct op *op_stack_top(const struct op_stack *stack)
{
	return stack->nr_ops ? stack->ops[stack->nr_ops - 1] : NULL;
}

struct op *op_stack_push_slow(struct op_stack *stack);

/* Room for one that lies in the others. */
static inline struct op *op_stack_push(struct op_stack *stack)
{
	return stack->nr_ops < stack->nr_made ? stack->ops[stack->nr_ops++]
					      : op_stack_push_slow(stack);
}

/* Everything that lies in the innermost one has been seen: takes it out, for as long as nothing is
 * pushed. */
const struct op *op_stack_pop(struct op_stack *stack);

/* Is there an innermost one that began after the event, and so does not enclose it? */
static inline bool op_stack_ends_before(const struct op_stack *stack, const struct op_event *event)
{
	const struct op *top = op_stack_top(stack);

	if (!top || top->begin > event->begin) {
		return top != NULL;
	}
	/* Depths are of operators among each other, and of modules. */
	return event->kind == OP_EVENT_OP && top->depth >= event->depth &&
	       op_is_module(top->framework, top->scope) ==
		       op_is_module(event->framework, event->scope);
}

#endif
