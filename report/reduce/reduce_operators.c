/* SPDX-License-Identifier: Apache-2.0 */
/* Operators as in view_operator.c, with the distribution of their times. */
#include <stdlib.h>

#include "report/reduce/reduce.h"

struct operators {
	struct reduce_rows rows;
	struct process *process;
};

static void *create(const struct view_input *input)
{
	struct operators *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	reduce_rows_init(&view->rows);
	return view;
}

static void begin(void *context, struct process *process)
{
	((struct operators *)context)->process = process;
}

static void take_op(void *context, const struct op *op)
{
	struct operators *view = context;
	const struct clock_map *clock = &view->process->host_clock;
	uint64_t ticks = op->end - op->begin;
	uint64_t self_ticks = ticks > op->child_ticks ? ticks - op->child_ticks : 0;
	uint32_t row;
	uint64_t *sums = reduce_rows_find(&view->rows, op->name, 0, &row);

	histogram_add(&view->rows.tally.times, row, clock_map_duration(clock, ticks));
	sums[REDUCED_SELF_NS] += clock_map_duration(clock, self_ticks);
	sums[REDUCED_GPU_SELF_NS] += op->gpu_self_ns;
	sums[REDUCED_GPU_TOTAL_NS] += op->gpu_total_ns;
	sums[REDUCED_WORKS] += op->nr_activities;
}

const struct reduce_rows *reduce_operators_rows(void *context)
{
	return &((struct operators *)context)->rows;
}

static void destroy(void *context)
{
	struct operators *view = context;

	reduce_rows_fini(&view->rows);
	free(view);
}

const struct view_class reduce_operators = {
	.ops = {.begin = begin, .op = take_op, .op_is = OP_IS_OPERATOR},
	.create = create,
	.destroy = destroy,
};
