/* SPDX-License-Identifier: Apache-2.0 */
/* What `reduce` gathers that no view of summary has: these views make rows, and no tables. */
#include "report/reduce/reduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/memory_scan.h"
#include "report/comm/nccl_ops.h"
#include "report/util/string_pool.h"

/* ---- rows with their sums ---- */

static void reduce_rows_init(struct reduce_rows *rows)
{
	*rows = (struct reduce_rows){.sums = NULL};
	keyed_stats_init(&rows->tally);
}

static void reduce_rows_fini(struct reduce_rows *rows)
{
	keyed_stats_fini(&rows->tally);
	free(rows->sums);
	*rows = (struct reduce_rows){.sums = NULL};
}

/* The row of that name and kind, in *row; returns its sums, good until the next one is found. */
static uint64_t *reduce_rows_find(
	struct reduce_rows *rows, uint32_t name, uint32_t kind, uint32_t *row)
{
	size_t nr_rows = rows->tally.nr_rows;

	*row = keyed_stats_find(&rows->tally, (uint64_t)kind << 32 | name, name, kind);
	if (*row == nr_rows) {
		rows->sums = array_grow(rows->sums, nr_rows, &rows->capacity, sizeof(*rows->sums));
		rows->sums[nr_rows] = (struct reduce_sums){{0}};
	}
	return rows->sums[*row].sums;
}

/* ---- operators ---- */

/* Operators as in view_operator.c, with the distribution of their times. */
struct operators {
	struct view_input input;
	struct reduce_rows rows;
	struct process *process;
};

static void operators_init(void *state)
{
	reduce_rows_init(&((struct operators *)state)->rows);
}

static void operators_begin(void *context, struct process *process)
{
	((struct operators *)context)->process = process;
}

static void operators_take_op(void *context, const struct op *op)
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

static void operators_fini(void *state)
{
	struct operators *view = state;

	reduce_rows_fini(&view->rows);
}

const struct view_class reduce_operators = {
	VIEW_STATE(struct operators),
	.ops = {.begin = operators_begin, .op = operators_take_op, .op_is = OP_IS_OPERATOR},
	.init = operators_init,
	.fini = operators_fini,
};

/* ---- NCCL operations ---- */

/* NCCL's operations by communicator and kind, as in view_communication.c but for what several ranks
 * together tell. */
struct communication {
	struct view_input input;
	struct nccl_ops ops;
	struct reduce_rows rows; /* times: of the kernels of an operation */
};

static void communication_init(void *state)
{
	reduce_rows_init(&((struct communication *)state)->rows);
}

static void communication_take(void *context, struct process *process, const struct batch *batch)
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
	return NCCL_ROW_KIND(
		op->kind, op->nr_ranks < NCCL_ROW_MOST_RANKS ? op->nr_ranks : NCCL_ROW_MOST_RANKS);
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

static void communication_end(void *context, struct process *process)
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

static void communication_fini(void *state)
{
	struct communication *view = state;

	nccl_ops_fini(&view->ops);
	reduce_rows_fini(&view->rows);
}

static const struct scan_want wants[] = {{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0}};

const struct view_class reduce_communication = {
	VIEW_STATE(struct communication),
	.scan = {wants, 1, NULL, NULL, communication_take, communication_end},
	.init = communication_init,
	.fini = communication_fini,
};

/* ---- peaks of memory ---- */

/* Peaks of a process's memory on GPUs, as in the view `memory`. */
struct peaks {
	struct memory_scan scan;
	struct view_input input;
};

static void take_peak(uint64_t *fact, uint64_t bytes)
{
	if (*fact == UINT64_MAX || bytes > *fact) {
		*fact = bytes;
	}
}

void reduce_memory_facts(void *context, uint64_t *facts)
{
	const struct memory *memory = &((struct peaks *)context)->scan.memory;

	for (size_t i = 0; i < memory->nr_places; i++) {
		const struct memory_timeline *pool = &memory->places[i].pool;
		uint8_t type = memory->places[i].device_type;

		if (!type || !memory_timeline_has_totals(pool)) {
			continue; /* the CPU, or without totals */
		}
		if (type < MEMORY_DRIVER) {
			take_peak(&facts[REDUCED_ALLOCATED_BYTES], pool->peak_bytes);
		} else if (type == MEMORY_DRIVER + GPROF_SPACE_DEVICE) {
			take_peak(&facts[REDUCED_CUDA_MALLOC_BYTES], pool->peak_bytes);
		}
		if (pool->peak_reserved_bytes) {
			take_peak(&facts[REDUCED_RESERVED_BYTES], pool->peak_reserved_bytes);
		}
	}
}

static void peaks_fini(void *state)
{
	memory_scan_fini(&((struct peaks *)state)->scan);
}

const struct view_class reduce_memory = {
	VIEW_STATE(struct peaks),
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end},
	.fini = peaks_fini,
};
