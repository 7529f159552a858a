/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_stack.h"

#include <stdlib.h>

#include "report/util/buf.h"

void op_stack_fini(struct op_stack *stack)
{
	for (size_t i = 0; i < stack->nr_made; i++) {
		free(stack->ops[i]);
	}
	free(stack->ops);
}

struct op *op_stack_push_slow(struct op_stack *stack)
{
	stack->ops = array_grow(stack->ops, stack->nr_made, &stack->capacity, sizeof(*stack->ops));
	stack->ops[stack->nr_made++] = mem_zeroed(1, sizeof(struct op));
	return stack->ops[stack->nr_ops++];
}

static bool is_module(const struct op *op)
{
	return op->is & OP_IS_MODULE;
}

/* Operators may lie between a module and the one that it lies in. */
static void add_to_module(const struct op_stack *stack, const struct op *op)
{
	for (size_t i = stack->nr_ops; i-- > 0;) {
		if (is_module(stack->ops[i])) {
			stack->ops[i]->module_ticks += op->end - op->begin;
			stack->ops[i]->module_gpu_ns += op->gpu_total_ns;
			return;
		}
	}
}

const struct op *op_stack_pop(struct op_stack *stack)
{
	struct op *op = stack->ops[--stack->nr_ops];
	struct op *parent = op_stack_top(stack);

	op->gpu_total_ns += op->gpu_self_ns;
	if (parent) {
		parent->child_ticks += is_module(op) ? op->child_ticks : op->end - op->begin;
		parent->gpu_total_ns += op->gpu_total_ns;
	}
	if (is_module(op)) {
		add_to_module(stack, op);
	}
	return op;
}
