/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of a thread that are open at the current event of op_walk.c, and what they get from
 * their children. Only op_walk.c includes this: most functions run for every event.
 */
#ifndef REPORT_OPS_OP_WALK_STACK_H
#define REPORT_OPS_OP_WALK_STACK_H

#include <stdlib.h>

#include "report/ops/convolution.h"
#include "report/ops/op_load.h"
#include "report/util/buf.h"

/* Starts with all zeros. */
struct op_stack {
	struct op **ops; /* outermost first; each has its own memory, since views point to them */
	size_t nr_ops, nr_made, capacity;
	uint64_t gpu_ns, nr_activities;	 /* what the thread launched after the current event */
	uint64_t graph_ns, nr_in_graphs; /* and what it captured after it, launched at any time */
	uint64_t call_begin;		 /* of the call that was met last */
	uint32_t call_stack;		 /* its Python stack */
	uint64_t capture_end;		 /* of a capture whose begin is not met yet, 0: none */
	/*
	 * From here on the time of all that is still to come belongs to operators that were popped,
	 * which the event that popped them overlapped in part. 0: there are none.
	 */
	uint64_t taken_begin;
	struct convolution_later later;
};

/*
 * Fills in the operator of an event, field by field: a compound literal is cleared first, by an
 * instruction slower than all else here.
 */
static inline void op_stack_read(struct op *restrict op, const struct op_event *restrict event)
{
	_Static_assert(sizeof(struct op) == 144, "a new field is to be set here, too");

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
	op->wanted = 0;
	op->parent = NULL;
	op->child_ticks = 0;
	op->taken_ticks = 0;
	op->part_ticks = 0;
	op->nr_activities = 0;
	op->gpu_self_ns = 0;
	op->gpu_total_ns = 0;
	op->graph_self_ns = 0;
	op->module_ticks = 0;
	op->module_gpu_ns = 0;
	op->phase = 0;
	op->segment = 0;
	op->inner_segment = UINT32_MAX;
	op->copy = 0;
	op->positions = 0;
}

/* The innermost one, NULL if none is open. */
static inline struct op *op_stack_top(const struct op_stack *stack)
{
	return stack->nr_ops ? stack->ops[stack->nr_ops - 1] : NULL;
}

static struct op *op_stack_push_slow(struct op_stack *stack)
{
	stack->ops = array_grow(stack->ops, stack->nr_made, &stack->capacity, sizeof(*stack->ops));
	stack->ops[stack->nr_made++] = mem_zeroed(1, sizeof(struct op));
	return stack->ops[stack->nr_ops++];
}

/* Makes room for one within the others. */
static inline struct op *op_stack_push(struct op_stack *stack)
{
	return stack->nr_ops < stack->nr_made ? stack->ops[stack->nr_ops++]
					      : op_stack_push_slow(stack);
}

/* Did the innermost one begin after the event, so that it does not contain it? */
static inline bool op_stack_ends_before(const struct op_stack *stack, const struct op_event *event)
{
	const struct op *top = op_stack_top(stack);

	if (!top || top->begin > event->begin) {
		return top != NULL;
	}
	/* Operators and modules count their depths separately. */
	return event->kind == OP_EVENT_OP && top->depth >= event->depth &&
	       op_is_module(top->framework, top->scope) ==
		       op_is_module(event->framework, event->scope);
}

static inline bool op_stack_is_module(const struct op *op)
{
	return op->is & OP_IS_MODULE;
}

/*
 * The innermost one is about to be popped since it began after the event. Where the event reaches
 * into it, its time stays its own:
 *
 *   popped           |-----------|
 *   event       |---------|
 *   later ones  |--|   |--|           what they have behind the begin of the popped one is taken
 */
static inline void op_stack_keep_overlap(struct op_stack *stack, const struct op_event *event)
{
	const struct op *top = op_stack_top(stack);

	if (__builtin_expect(top->begin < event->end, 0) && !op_stack_is_module(top) &&
		(!stack->taken_begin || top->begin < stack->taken_begin)) {
		stack->taken_begin = top->begin;
	}
}

/* Leaves an operator that was just read what is not taken. */
static inline void op_stack_take(const struct op_stack *stack, struct op *op)
{
	if (__builtin_expect(stack->taken_begin && stack->taken_begin < op->end, 0)) {
		op->taken_ticks =
			op->end - (op->begin > stack->taken_begin ? op->begin : stack->taken_begin);
		op->child_ticks = op->taken_ticks;
	}
}

static inline void op_stack_fini(struct op_stack *stack)
{
	for (size_t i = 0; i < stack->nr_made; i++) {
		free(stack->ops[i]);
	}
	free(stack->ops);
}

static inline struct op *op_stack_module(const struct op_stack *stack)
{
	for (size_t i = stack->nr_ops; i-- > 0;) {
		if (op_stack_is_module(stack->ops[i])) {
			return stack->ops[i];
		}
	}
	return NULL;
}

/* Operators may lie between two modules. */
static inline void op_stack_add_to_module(const struct op_stack *stack, const struct op *op)
{
	struct op *module = op_stack_module(stack);

	if (module) {
		module->module_ticks += op->end - op->begin;
		module->module_gpu_ns += op->gpu_total_ns;
	}
}

/*
 * Closes the innermost one, whose content is complete, and adds its sums to its parent. A module
 * adds only the time of the operators in it, since it is none itself. It stays valid until the next
 * push.
 */
static inline struct op *op_stack_pop(struct op_stack *stack)
{
	struct op *op = stack->ops[--stack->nr_ops];
	struct op *parent = op_stack_top(stack);

	op->gpu_total_ns += op->gpu_self_ns;
	if (parent) {
		parent->child_ticks += op_stack_is_module(op)
					       ? op->child_ticks
					       : op->end - op->begin - op->taken_ticks;
		parent->gpu_total_ns += op->gpu_total_ns;
		if (op_is_part(op->framework, op->scope)) {
			parent->part_ticks +=
				op->end - op->begin - op->child_ticks + op->part_ticks;
		}
	}
	if (op_stack_is_module(op)) {
		op_stack_add_to_module(stack, op);
	}
	return op;
}

#endif
