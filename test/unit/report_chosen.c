/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/report_chosen.h"

#include <stdio.h>
#include <string.h>

#include "report/model/scan.h"
#include "report/model/select.h"
#include "test/unit/unit.h"

struct chosen chosen;

/* ---- what is seen ---- */

#define CALL_MASK (COL_BIT(COL_api_begin) | COL_BIT(COL_api_thread))
#define WORK_MASK COL_BIT(COL_kernel_graph_node)

static const struct scan_want wants[] = {
	{GPROF_TABLE_api, CALL_MASK, 0},
	{GPROF_TABLE_api_launch, CALL_MASK, COL_BIT(COL_api_thread)},
	{GPROF_TABLE_kernel, WORK_MASK, 0},
	{GPROF_TABLE_memset, WORK_MASK, 0},
	{GPROF_TABLE_untimed, COL_BIT(COL_untimed_graph_node), 0},
	{GPROF_TABLE_nvtx, COL_BIT(COL_nvtx_payload), 0},
};

static void take(void *context, struct process *process, const struct batch *b)
{
	(void)context;
	(void)process;
	ck_assert_uint_gt(b->nr_rows, 0);
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		switch (b->table) {
		case GPROF_TABLE_kernel:
		case GPROF_TABLE_memset:
			chosen.works[b->col[COL_kernel_graph_node][i] % CHOSEN_MOST]++;
			break;
		case GPROF_TABLE_untimed:
			chosen.works[b->col[COL_untimed_graph_node][i] % CHOSEN_MOST]++;
			break;
		case GPROF_TABLE_nvtx:
			chosen.marks[b->col[COL_nvtx_payload][i] % CHOSEN_MOST]++;
			break;
		default:
			chosen.calls[b->col[COL_api_begin][i] % CHOSEN_MOST]++;
			break;
		}
	}
}

static void walk_op(void *context, const struct op *op)
{
	(void)context;
	chosen.ops[op->begin % CHOSEN_MOST]++;
}

static void walk_range(void *context, const struct op_range *range)
{
	(void)context;
	chosen.ranges[range->begin % CHOSEN_MOST]++;
}

static void walk_call(void *context, const struct op_call *call, const struct op *op)
{
	(void)context;
	(void)op;
	chosen.walked_calls[call->begin % CHOSEN_MOST]++;
}

static void walk_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	(void)context;
	(void)call;
	(void)op;
	chosen.walked_works[record->graph_node % CHOSEN_MOST]++;
}

const struct op_view chosen_view = {
	.op = walk_op, .range = walk_range, .call = walk_call, .record = walk_record};

void chosen_see(struct process *process)
{
	static const struct scan_view scan = {
		.wants = wants, .nr_wants = sizeof(wants) / sizeof(wants[0]), .on_batch = take};
	const struct scan scans = {&scan, NULL};
	const struct op_walk walks = {&chosen_view, NULL};

	memset(&chosen, 0, sizeof(chosen));
	scan_run(&process, 1, &scans, 1);
	op_walk_run(&process, 1, &walks, 1);
}

const char *chosen_by(struct process *process, const char *steps, const char *windows)
{
	static char text[512];
	struct select_options ask = {0};
	struct buf why = {0};

	ck_assert(!*steps || numbers_parse(&ask.steps, steps, true));
	ck_assert(!*windows || numbers_parse(&ask.windows, windows, false));
	select_drop(process);
	ck_assert_int_eq(select_all(&process, 1, &ask, &why), why.nr_bytes == 0);
	snprintf(text, sizeof(text), "%.*s", (int)why.nr_bytes, why.bytes ? why.bytes : "");
	buf_fini(&why);
	numbers_fini(&ask.steps);
	numbers_fini(&ask.windows);
	return text;
}

void chosen_end(struct process *process)
{
	select_drop(process);
	process_destroy(process);
}

/* ---- rows ---- */

void chosen_step(struct gen *gen, uint64_t tick, uint64_t number)
{
	struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

	step->time = tick;
	step->step = number;
}

void chosen_call(struct gen *gen, uint32_t thread, uint64_t begin, uint32_t correlation)
{
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

	call->begin = begin;
	call->dur = begin + 2;
	call->thread = thread;
	call->correlation = correlation;
}

void chosen_kernel(struct gen *gen, uint64_t begin, uint32_t correlation, uint64_t number)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	kernel->begin = begin;
	kernel->dur = begin + 5;
	kernel->correlation = correlation;
	kernel->graph_node = number;
}

void chosen_mark(struct gen *gen, uint32_t thread, uint64_t time, uint8_t op, uint64_t range,
	uint64_t number)
{
	struct gprof_row_nvtx *nvtx = gen_nvtx(gen, thread, op, time);

	nvtx->range = range;
	nvtx->payload = number;
}
