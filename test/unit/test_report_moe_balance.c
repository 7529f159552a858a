/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three ranks that exchange twice a step: by AlltoAll 1 ms after its begin, and, once each has
 * computed for a time of its own, by a group of sends and receives of sizes of their own.
 */
#include <string.h>

#include "test/unit/report_ranks.h"

#define START_NS 100000000ull
#define STEP_NS	 10000000ull

enum { NR = 3, NR_STEPS = 4, SHAPE = 1, SHAPE_ALL = 2, SHAPE_GROUP = 3 };
enum { PART_BYTES = 100, DENSE_US = 1000, FIRST_END_US = 1200, SECOND_END_US = 3300 };

extern const struct view_class view_moe_balance;

static const uint64_t experts_us[NR] = {1000, 2000, 500};
static const uint64_t bytes_from_each[NR] = {1000, 3000, 500};

static void add_group(struct made *made, uint32_t rank, uint32_t step, uint64_t call,
	uint64_t begin, uint64_t end)
{
	struct gprof_row_nccl *row = NULL;
	uint64_t launch = call;

	for (uint32_t i = 0; i < 2 * NR; i++) {
		uint32_t peer = i / 2;
		bool is_receive = i % 2;

		if (peer != rank) {
			row = ranks_call(made, is_receive ? GPROF_NCCL_RECV : GPROF_NCCL_SEND,
				(int32_t)peer, step + 1, bytes_from_each[is_receive ? rank : peer],
				launch);
			row->group = call;
			launch += 20;
		}
	}
	row = ranks_call(made, GPROF_NCCL_GROUP_END, -1, 0, 0, launch);
	row->comm = 0;
	row->group = call;
	ranks_launch(made, row, SHAPE_GROUP, begin, end);
}

static void add_step(struct made *made, uint32_t rank, uint32_t step)
{
	uint64_t start = START_NS + step * STEP_NS, us = 1000;
	uint64_t first = start + DENSE_US * us, first_end = start + FIRST_END_US * us;
	uint64_t second = first_end + experts_us[rank] * us;

	made_step(made, start, step);
	made_kernel(made, SHAPE, 0, start, first);
	ranks_launch(made,
		ranks_call(made, GPROF_NCCL_ALL_TO_ALL, -1, step + 1, PART_BYTES, start + 1),
		SHAPE_ALL, first, first_end);
	made_kernel(made, SHAPE, 0, first_end, second);
	add_group(made, rank, step, start + 1000, second, start + SECOND_END_US * us);
}

static void make(struct process **processes)
{
	for (uint32_t rank = 0; rank < NR; rank++) {
		struct made made = ranks_open(rank, NR);

		ck_assert_uint_eq(made_shape(&made, "gemm", 1, 32, 16, 0), SHAPE);
		ck_assert_uint_eq(made_shape(&made, "ncclDevKernel_AlltoAll_RING_LL", 1, 32, 16, 0),
			SHAPE_ALL);
		ck_assert_uint_eq(
			made_shape(&made, "ncclDevKernel_SendRecv", 1, 32, 16, 0), SHAPE_GROUP);
		for (uint32_t step = 0; step < NR_STEPS; step++) {
			add_step(&made, rank, step);
		}
		made_step(&made, START_NS + NR_STEPS * STEP_NS, NR_STEPS);
		processes[rank] = ranks_close(&made);
	}
}

static void check_row(const struct table *table, size_t row, uint32_t rank, uint64_t nr_steps,
	uint64_t computation_us)
{
	uint64_t received = 2 * bytes_from_each[rank] + NR * PART_BYTES;

	ck_assert_uint_eq(tables_number(table, row, "rank"), rank);
	ck_assert_uint_eq(tables_number(table, row, "all_to_alls"), 2 * nr_steps);
	ck_assert_uint_eq(tables_number(table, row, "received_bytes"), nr_steps * received);
	ck_assert_uint_eq(tables_number(table, row, "computation_ns"), computation_us * 1000);
	ck_assert_uint_eq(tables_number(table, row, "late_wait_ns"),
		rank == 1 ? nr_steps * (1000 + 1500) * 1000 : 0);
}

START_TEST(who_computes_most_comes_first_and_is_waited_for)
{
	struct process *processes[NR];
	struct table *table;

	make(processes);
	table = tables_make(&view_moe_balance, processes, NR, false);
	ck_assert_uint_eq(table->nr_rows, NR);
	/* Before the first all-to-all nothing is counted: 3 times the 1 ms before AlltoAll. */
	check_row(table, 0, 1, NR_STEPS, 4 * 2000 + 3000);
	check_row(table, 1, 0, NR_STEPS, 4 * 1000 + 3000);
	check_row(table, 2, 2, NR_STEPS, 4 * 500 + 3000);
	ck_assert_double_eq_tol(
		tables_cell(table, 0, "computation_pct")->number, 100 * 11. * 3 / 23, 1e-9);
	ck_assert_double_eq_tol(
		tables_cell(table, 0, "received_pct")->number, 100 * 6300. * 3 / 9900, 1e-9);
	table_destroy(table);
	table = tables_make(&view_moe_balance, processes, NR, true);
	ck_assert_uint_eq(table->nr_rows, NR * NR_STEPS);
	for (uint64_t step = 0; step < NR_STEPS; step++) {
		ck_assert_uint_eq(tables_number(table, NR * step, "step"), step);
		check_row(table, NR * step, 1, 1, 2000 + (step ? DENSE_US : 0));
		check_row(table, NR * step + 2, 2, 1, 500 + (step ? DENSE_US : 0));
	}
	table_destroy(table);
	table = tables_make(&view_moe_balance, processes, 2, false);
	ck_assert_msg(strstr(table->note, "Covers 2 of 3 ranks.") != NULL, "%s", table->note);
	table_destroy(table);
	/* Where others are missing, nobody knows who came last. */
	table = tables_make(&view_moe_balance, &processes[1], 1, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "computation_ns"), 11000000);
	ck_assert(!tables_cell(table, 0, "late_wait_ns")->is_known);
	table_destroy(table);
	for (int i = 0; i < NR; i++) {
		process_destroy(processes[i]);
	}
}
END_TEST

/* Closes the rank, of which the view has nothing. */
static void check_none(struct made *made)
{
	struct process *process = ranks_close(made);
	struct table *table = tables_make(&view_moe_balance, &process, 1, false);

	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
	process_destroy(process);
}

/* Its only sends and receives go to one of two others. */
START_TEST(a_group_with_some_of_the_others_is_no_all_to_all)
{
	struct made made = ranks_open(0, NR);

	made_shape(&made, "ncclDevKernel_SendRecv", 1, 32, 16, 0);
	made_step(&made, START_NS, 0);
	ranks_call(&made, GPROF_NCCL_SEND, 1, 1, 100, START_NS + 10)->group = START_NS + 10;
	ranks_launch(&made, ranks_call(&made, GPROF_NCCL_RECV, 1, 1, 100, START_NS + 30), 1,
		START_NS + 100, START_NS + 200);
	check_none(&made);
}
END_TEST

START_TEST(where_nobody_tells_the_number_of_ranks_nothing_is_shared_out)
{
	struct made made = ranks_open(0, 0);

	made_shape(&made, "ncclDevKernel_AlltoAll_RING_LL", 1, 32, 16, 0);
	ranks_launch(&made,
		ranks_call(&made, GPROF_NCCL_ALL_TO_ALL, -1, 1, PART_BYTES, START_NS + 1), 1,
		START_NS + 100, START_NS + 200);
	check_none(&made);
}
END_TEST

START_TEST(nonsense_breaks_nothing)
{
	tables_of_nonsense(&view_moe_balance, false);
	tables_of_nonsense(&view_moe_balance, true);
}
END_TEST

UNIT_SUITE("report/expert", who_computes_most_comes_first_and_is_waited_for,
	a_group_with_some_of_the_others_is_no_all_to_all,
	where_nobody_tells_the_number_of_ranks_nothing_is_shared_out, nonsense_breaks_nothing)
