/* SPDX-License-Identifier: Apache-2.0 */
/* Three stages with one micro-batch a step of 10 ms; and ranks that are no pipeline. */
#include "report/comm/pipeline.h"

#include <string.h>

#include "test/unit/report_ranks.h"

#define START_NS 100000000ull
#define STEP_NS	 10000000ull

enum { NR = 3, NR_STEPS = 4, SHAPE = 1, SHAPE_NCCL = 2 };

extern const struct view_class view_pipeline;

/* What each does in a step, in us: computes (kind 0), or sends and receives. */
static const struct part {
	int rank;
	uint8_t kind;
	int peer;
	uint64_t begin_us, end_us;
} parts[] = {
	{0, 0, 0, 0, 2000},
	{0, GPROF_NCCL_SEND, 1, 2000, 2100},
	{0, GPROF_NCCL_RECV, 1, 2100, 7100}, /* waits until 7000 */
	{0, 0, 0, 7100, 8100},
	{1, GPROF_NCCL_RECV, 0, 0, 2100}, /* until 2000 */
	{1, 0, 0, 2100, 4100},
	{1, GPROF_NCCL_SEND, 2, 4100, 4200},
	{1, GPROF_NCCL_RECV, 2, 4200, 6200}, /* until 6100, and computes meanwhile */
	{1, 0, 0, 4500, 5000},
	{1, 0, 0, 6200, 7000},
	{1, GPROF_NCCL_SEND, 0, 7000, 7100},
	{2, GPROF_NCCL_RECV, 1, 0, 4200}, /* until 4100 */
	{2, 0, 0, 4200, 6100},
	{2, GPROF_NCCL_SEND, 1, 6100, 6200},
};

static const uint64_t bubbles_us[NR] = {4900, 3400, 4100};
static const uint64_t computations_us[NR] = {3000, 3300, 1900};

static void add_step(struct made *made, int rank, uint32_t step)
{
	uint64_t start = START_NS + step * STEP_NS;

	made_step(made, start, step);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *part = &parts[i];
		uint64_t begin = start + part->begin_us * 1000, end = start + part->end_us * 1000;

		if (part->rank != rank) {
			continue;
		}
		if (part->kind) {
			ranks_launch(made,
				ranks_call(made, part->kind, part->peer, step + 1, 1000,
					start + 1 + i * 100),
				SHAPE_NCCL, begin, end);
		} else {
			made_kernel(made, SHAPE, 0, begin, end);
		}
	}
}

static void make(struct process **processes)
{
	for (int rank = 0; rank < NR; rank++) {
		struct made made = ranks_open((uint32_t)rank, NR);

		ck_assert_uint_eq(made_shape(&made, "gemm", 1, 32, 16, 0), SHAPE);
		ck_assert_uint_eq(
			made_shape(&made, "ncclDevKernel_SendRecv", 1, 32, 16, 0), SHAPE_NCCL);
		for (uint32_t step = 0; step < NR_STEPS; step++) {
			add_step(&made, rank, step);
		}
		made_step(&made, START_NS + NR_STEPS * STEP_NS, NR_STEPS);
		processes[rank] = ranks_close(&made);
	}
}

static void drop(struct process **processes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		process_destroy(processes[i]);
	}
}

START_TEST(stages_and_bubbles_are_those_of_the_streams)
{
	struct process *processes[NR];
	struct table *table;

	make(processes);
	table = tables_make(&view_pipeline, processes, NR, false);
	ck_assert_uint_eq(table->nr_rows, NR);
	for (size_t i = 0; i < NR; i++) {
		ck_assert_uint_eq(tables_number(table, i, "rank"), i);
		ck_assert_uint_eq(tables_number(table, i, "stage"), i);
		ck_assert_uint_eq(tables_number(table, i, "stages"), NR);
		ck_assert_uint_eq(tables_number(table, i, "steps"), NR_STEPS);
		ck_assert_uint_eq(tables_number(table, i, "time_ns"), NR_STEPS * STEP_NS);
		ck_assert_uint_eq(tables_number(table, i, "computation_ns"),
			NR_STEPS * computations_us[i] * 1000);
		ck_assert_uint_eq(
			tables_number(table, i, "bubble_ns"), NR_STEPS * bubbles_us[i] * 1000);
		ck_assert_double_eq_tol(tables_cell(table, i, "bubble_pct")->number,
			(double)bubbles_us[i] / 100, 1e-9);
		ck_assert_double_eq_tol(tables_cell(table, i, "micro_batches")->number, 1, 1e-12);
		ck_assert_double_eq_tol(
			tables_cell(table, i, "ideal_pct")->number, 100 * 2. / 3, 1e-9);
	}
	table_destroy(table);
	table = tables_make(&view_pipeline, processes, NR, true);
	ck_assert_uint_eq(table->nr_rows, NR * NR_STEPS);
	ck_assert_uint_eq(tables_number(table, NR_STEPS + 2, "rank"), 1);
	ck_assert_uint_eq(tables_number(table, NR_STEPS + 2, "step"), 2);
	ck_assert_uint_eq(tables_number(table, NR_STEPS + 2, "bubble_ns"), bubbles_us[1] * 1000);
	ck_assert_ptr_null(table->note);
	table_destroy(table);
	table = tables_make(&view_pipeline, &processes[1], 1, false);
	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
	table = tables_make(&view_pipeline, &processes[1], 2, false);
	ck_assert_msg(strstr(table->note, "Covers 2 of 3 ranks.") != NULL, "%s", table->note);
	table_destroy(table);
	drop(processes, NR);
}
END_TEST

/* Each of all but the last with each other; that one with the first alone. */
START_TEST(who_exchanges_with_more_is_counted)
{
	enum { NR_MESHED = 4 };
	struct process *processes[NR_MESHED + 1];
	struct table *table;

	for (int rank = 0; rank <= NR_MESHED; rank++) {
		struct made made = ranks_open((uint32_t)rank, NR_MESHED + 1);
		uint64_t time = START_NS;

		for (int peer = 0; peer <= NR_MESHED; peer++) {
			bool is_met = (rank && peer) ? rank < NR_MESHED && peer < NR_MESHED : true;

			if (peer != rank && is_met) {
				ranks_call(&made, GPROF_NCCL_SEND, peer, 1, 1000, time += 20);
				ranks_call(&made, GPROF_NCCL_RECV, peer, 1, 1000, time += 20);
			}
		}
		processes[rank] = ranks_close(&made);
	}
	table = tables_make(&view_pipeline, processes, NR_MESHED + 1, false);
	ck_assert_uint_eq(table->nr_rows, 0);
	ck_assert_msg(strstr(table->note, "5 processes exchange data with more than two others, or "
					  "with such a process; "
					  "they form no pipeline.") != NULL,
		"%s", table->note);
	table_destroy(table);
	drop(processes, NR_MESHED + 1);
}
END_TEST

/* ---- who is in a pipeline ---- */

enum { MOST = 64 };

static struct nccl_op items[MOST];
static struct nccl_side sides[MOST];
static struct nccl_ops ops;

static void start(uint32_t nr_processes)
{
	ops = (struct nccl_ops){.ops = items, .sides = sides, .nr_processes = nr_processes};
}

static void add(int32_t from, int32_t to)
{
	static uint32_t sequence;

	sequence++;
	for (int i = 0; i < 2; i++) {
		int32_t rank = i ? to : from;

		items[ops.nr_ops] = (struct nccl_op){.key = 9,
			.id = (uint32_t)ops.nr_ops,
			.nr_calls = 1,
			.rank = rank,
			.process = (uint32_t)rank,
			.kind = i ? GPROF_NCCL_RECV : GPROF_NCCL_SEND};
		sides[ops.nr_sides++] = (struct nccl_side){.key = 9,
			.from = from,
			.to = to,
			.sequence = sequence,
			.op = (uint32_t)ops.nr_ops++,
			.is_receive = i};
	}
}

START_TEST(a_row_is_numbered_from_the_end_that_sends_first)
{
	static const int32_t order[] = {2, 0, 3, 1};
	struct pipeline pipeline;

	start(4);
	for (int i = 0; i < 3; i++) {
		add(order[i], order[i + 1]);
	}
	for (int i = 3; i > 0; i--) {
		add(order[i], order[i - 1]);
	}
	pipeline_find(&pipeline, &ops);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(pipeline.ranks[order[i]].stage, i);
		ck_assert_uint_eq(pipeline.ranks[order[i]].nr_stages, 4);
	}
	pipeline_fini(&pipeline);
	start(2);
	add(0, 1);
	items[0].kind = NCCL_OPS_SEND_RECV; /* in a group: who is first is not known */
	pipeline_find(&pipeline, &ops);
	ck_assert_int_eq(pipeline.ranks[0].stage, -1);
	ck_assert_uint_eq(pipeline.ranks[0].nr_stages, 2);
	pipeline_fini(&pipeline);
}
END_TEST

START_TEST(a_ring_has_no_stages_and_a_mesh_is_no_pipeline)
{
	struct pipeline pipeline;

	start(4);
	for (int32_t i = 0; i < 4; i++) {
		add(i, (i + 1) % 4);
	}
	pipeline_find(&pipeline, &ops);
	ck_assert_uint_eq(pipeline.ranks[0].nr_neighbours, 2);
	ck_assert_uint_eq(pipeline.ranks[0].nr_stages, 0);
	ck_assert_int_eq(pipeline.ranks[0].stage, -1);
	ck_assert_uint_eq(pipeline.nr_meshed, 0);
	pipeline_fini(&pipeline);
	start(6);
	for (int32_t i = 0; i < 12; i++) {
		if (i / 4 != i % 4) {
			add(i / 4, i % 4);
		}
	}
	add(3, 4); /* hangs on the mesh */
	pipeline_find(&pipeline, &ops);
	ck_assert_uint_eq(pipeline.nr_meshed, 5);
	for (int i = 0; i < 6; i++) {
		ck_assert_uint_eq(pipeline.ranks[i].nr_neighbours, 0);
	}
	pipeline_fini(&pipeline);
}
END_TEST

START_TEST(nonsense_breaks_nothing)
{
	tables_of_nonsense(&view_pipeline, false);
	tables_of_nonsense(&view_pipeline, true);
}
END_TEST

UNIT_SUITE("report/pipeline", stages_and_bubbles_are_those_of_the_streams,
	who_exchanges_with_more_is_counted, a_row_is_numbered_from_the_end_that_sends_first,
	a_ring_has_no_stages_and_a_mesh_is_no_pipeline, nonsense_breaks_nothing)
