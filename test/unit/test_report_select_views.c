/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of chosen steps: alone they are what they are among others, and parts add up. */
#include <stdio.h>
#include <string.h>

#include "test/unit/report_chosen.h"
#include "test/unit/report_made.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

static void same_rows(const struct table *some, const struct table *all, size_t from)
{
	for (size_t i = 0; i < some->nr_rows; i++) {
		for (unsigned int c = 0; c < all->nr_columns; c++) {
			const struct table_cell *a = &some->cells[i * all->nr_columns + c];
			const struct table_cell *b = &all->cells[(from + i) * all->nr_columns + c];

			ck_assert_int_eq(a->is_known, b->is_known);
			ck_assert_uint_eq(a->integer, b->integer);
		}
	}
}

START_TEST(a_step_has_the_same_phases_alone_as_among_others)
{
	struct process *process = streams_process(streams_ops("phases.gprof"));
	struct table *all = tables_make(&view_steps, &process, 1, false), *some;

	ck_assert_str_eq(chosen_by(process, "1-2", ""), "");
	some = tables_make(&view_steps, &process, 1, false);
	ck_assert_uint_eq(some->nr_rows, 2);
	same_rows(some, all, 1);
	table_destroy(some);
	ck_assert_str_eq(chosen_by(process, "2", ""), "");
	some = tables_make(&view_steps, &process, 1, false);
	ck_assert_uint_eq(some->nr_rows, 1);
	same_rows(some, all, 2);
	table_destroy(some);
	some = tables_make(&view_model, &process, 1, false);
	ck_assert_uint_eq(tables_number(some, 0, "calls"), 1);
	ck_assert_uint_eq(tables_number(some, 0, "total_ns"), 1000000);
	ck_assert_uint_eq(
		tables_number(some, tables_find(some, "name", "Backward", 0), "calls"), 1);
	table_destroy(some);
	some = tables_make(&view_data_loading, &process, 1, false);
	ck_assert_uint_eq(tables_number(some, 0, "batches"), 1);
	table_destroy(some);
	table_destroy(all);
	chosen_end(process);
}
END_TEST

START_TEST(the_parts_of_tables_by_step_add_up)
{
	struct process *process = streams_process(streams_ops("sums.gprof"));
	uint64_t calls = 0, ns = 0, all_calls = 0, all_ns = 0;

	for (int step = -1; step < 3; step++) {
		char list[16] = "";
		struct table *kernels, *ops;

		if (step >= 0) {
			snprintf(list, sizeof(list), "%d", step);
		}
		ck_assert_str_eq(chosen_by(process, list, ""), "");
		kernels = tables_make(&view_kernel, &process, 1, false);
		ops = tables_make(&view_operator, &process, 1, false);
		*(step < 0 ? &all_ns : &ns) += tables_number(kernels, 0, "total_ns");
		*(step < 0 ? &all_calls : &calls) +=
			tables_number(ops, tables_find(ops, "name", "aten::mm", 0), "calls");
		table_destroy(kernels);
		table_destroy(ops);
	}
	ck_assert_uint_eq(calls, all_calls);
	ck_assert_uint_eq(ns, all_ns);
	ck_assert_uint_gt(ns, 0);
	chosen_end(process);
}
END_TEST

/*
 * The second step begins with the end of the first one's kernel, at 2,400, also if it is chosen
 * alone. A launch of the first one is lost, which is nothing to the second.
 */
START_TEST(chosen_steps_have_their_part_of_the_time_budget)
{
	struct made made = made_open("chosen.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct process *process;
	struct table *table;

	made_step(&made, 1000, 7);
	made_step(&made, 2000, 8);
	made_step(&made, 3000, 9);
	chosen_call(made.gen, 1, 1100, 999);
	made_launch(&made, shape, 1150, 30, 1900, 2400);
	made_launch(&made, shape, 2150, 30, 2500, 2600);
	gen_close(made.gen, "exit");
	process = streams_process(made.path);
	ck_assert_str_eq(chosen_by(process, "8", ""), "");
	table = tables_make(&view_headline, &process, 1, false);
	ck_assert_uint_eq(tables_number(table, 0, "computing_ns"), 100);
	ck_assert_uint_eq(tables_number(table, 0, "idle_latency_ns"), 100);
	ck_assert_uint_eq(tables_number(table, 0, "idle_user_ns"), 400);
	ck_assert_ptr_null(strstr(table->figure, "not recorded"));
	table_destroy(table);
	table = tables_make(&view_budget, &process, 1, false);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "part", "Computing", 0), "total_ns"), 100);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "part", "Idle: user code", 0), "total_ns"),
		400);
	table_destroy(table);
	ck_assert_str_eq(chosen_by(process, "", ""), "");
	table = tables_make(&view_headline, &process, 1, false);
	ck_assert_ptr_nonnull(strstr(table->figure, "not recorded"));
	table_destroy(table);
	chosen_end(process);
}
END_TEST

#define MS 1000000u

static double busy_share(struct process *process, const char *steps)
{
	struct table *table;
	double share;

	ck_assert_str_eq(chosen_by(process, steps, ""), "");
	table = tables_make(&view_utilization, &process, 1, false);
	share = tables_cell(table, 0, "avg")->number;
	table_destroy(table);
	return share;
}

/* By time, whoever launched it: half of step 0, all of step 1, a tenth of step 2. */
START_TEST(utilization_is_of_the_time_of_the_steps)
{
	const char *path = streams_path("busy.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct gprof_row_kernel *kernel;

	for (uint64_t i = 0; i < 5; i++) {
		chosen_step(gen, 100 * MS * (1 + i), i);
	}
	chosen_call(gen, 1, 110 * MS, 1);
	kernel = gen_row(gen, GPROF_TABLE_kernel);
	kernel->begin = 150 * MS;
	kernel->dur = 310 * MS;
	kernel->correlation = 1;
	kernel->place = gen_place(gen, 0, 1, 7);
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_double_eq_tol(busy_share(process, "0"), 50, 1e-6);
	ck_assert_double_eq_tol(busy_share(process, "1"), 100, 1e-6);
	ck_assert_double_eq_tol(busy_share(process, "0-1"), 75, 1e-6);
	chosen_end(process);
}
END_TEST

UNIT_SUITE("report/select_views", a_step_has_the_same_phases_alone_as_among_others,
	the_parts_of_tables_by_step_add_up, chosen_steps_have_their_part_of_the_time_budget,
	utilization_is_of_the_time_of_the_steps)
