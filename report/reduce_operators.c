/* SPDX-License-Identifier: Apache-2.0 */
/* Operators as in view_operator.c, with the distribution of their times. */
#include <stdlib.h>

#include "report/reduce.h"

struct sums {
	uint64_t sums[NR_REDUCED_SUMS];
};

struct operators {
	struct tally tally;
	struct sums *sums; /* of its rows */
	size_t capacity;
	struct process *process;
};

static void *create(const struct view_input *input)
{
	struct operators *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	tally_init(&view->tally);
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
	size_t nr_rows = view->tally.nr_rows;
	uint32_t row = tally_find(&view->tally, op->name, op->name, 0);

	if (row == nr_rows) {
		view->sums = array_grow(view->sums, row, &view->capacity, sizeof(*view->sums));
		view->sums[row] = (struct sums){{0}};
	}
	stat_add(&view->tally.times, row, clock_map_duration(clock, ticks));
	view->sums[row].sums[REDUCED_SELF_NS] += clock_map_duration(clock, self_ticks);
	view->sums[row].sums[REDUCED_GPU_SELF_NS] += op->gpu_self_ns;
	view->sums[row].sums[REDUCED_GPU_TOTAL_NS] += op->gpu_total_ns;
	view->sums[row].sums[REDUCED_WORKS] += op->nr_works;
}

const struct tally *reduce_operators_tally(void *context)
{
	return &((struct operators *)context)->tally;
}

const uint64_t *reduce_operators_sums(void *context, size_t row)
{
	return ((struct operators *)context)->sums[row].sums;
}

static void destroy(void *context)
{
	struct operators *view = context;

	tally_fini(&view->tally);
	free(view->sums);
	free(view);
}

const struct view_class reduce_operators = {
	.ops = {.begin = begin, .op = take_op, .op_is = OP_IS_OPERATOR},
	.create = create,
	.destroy = destroy,
};
