/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's operations by communicator and kind, as in view_communication.c but for what several ranks
 * together tell. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/util/string_pool.h"
#include "report/comm/nccl_ops.h"
#include "report/reduce/reduce.h"

struct communication {
	struct nccl_ops ops;
	struct reduce_rows rows; /* times: of the kernels of an operation */
};

static void *create(const struct view_input *input)
{
	struct communication *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	reduce_rows_init(&view->rows);
	return view;
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	struct communication *view = context;

	(void)process;
	nccl_ops_add_batch(&view->ops, batch);
}

/* That of its communicator, which is the same on all ranks; "" if nobody knows. */
static uint32_t name_of(const struct nccl_op *op)
{
	char text[17];
	int length = snprintf(text, sizeof(text), "%016" PRIx64, op->key);

	return string_pool_intern(text, op->key ? (size_t)length : 0);
}

static uint32_t kind_of(const struct nccl_op *op)
{
	return REDUCED_NCCL_KIND(op->kind,
		op->nr_ranks < REDUCED_NCCL_MOST_RANKS ? op->nr_ranks : REDUCED_NCCL_MOST_RANKS);
}

static void add(struct communication *view, const struct nccl_op *op)
{
	uint32_t row;
	uint64_t *sums = reduce_rows_find(&view->rows, name_of(op), kind_of(op), &row);

	sums[REDUCED_BYTES] += op->bytes;
	sums[REDUCED_CALLS] += op->nr_calls;
	if (nccl_op_has_time(op)) {
		sums[REDUCED_TIMED_BYTES] += op->bytes;
		histogram_add(&view->rows.tally.times, row, op->end_ns - op->begin_ns);
	} else {
		view->rows.tally.rows[row].untimed++;
	}
}

static void end(void *context, struct process *process)
{
	struct communication *view = context;

	nccl_ops_end(&view->ops, process);
	for (size_t i = 0; i < view->ops.nr_ops; i++) {
		add(view, &view->ops.ops[i]);
	}
	view->ops.nr_ops = 0;
}

const struct reduce_rows *reduce_communication_rows(void *context)
{
	return &((struct communication *)context)->rows;
}

static void destroy(void *context)
{
	struct communication *view = context;

	nccl_ops_fini(&view->ops);
	reduce_rows_fini(&view->rows);
	free(view);
}

static const struct scan_want wants[] = {{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0}};

const struct view_class reduce_communication = {
	.scan = {wants, 1, NULL, NULL, take, end},
	.create = create,
	.destroy = destroy,
};
