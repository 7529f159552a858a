/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with what they fill of the device, by name and by operator and launch. */
#include <string.h>

#include "test/unit/report_made.h"

#define NVJET "nvjet_tst_128x64_64x8_1x2_h_bz_coopA_TNT"
#define MINE  "_Z4minePf"

/*
 * Three shapes of two names: nvjet with 1,000 ns at 19 % (shared memory) and 3,000 ns at 6 % (grid:
 * 66 blocks of 8 warps on 132), mine with 500 ns at 100 %; one of them without a launch.
 */
static const char *make(const char *name)
{
	struct made made = made_open(name);
	uint32_t big = made_shape(&made, NVJET, 132, 384, 168, 231424);
	uint32_t few = made_shape(&made, NVJET, 66, 256, 168, 0);
	uint32_t mine = made_shape(&made, MINE, 132 * 64, 256, 32, 0);

	made_launch(&made, big, 1100, 10, 2000, 3000);
	made_op(&made, "aten::mm", 1050, 1150, 1);
	made_launch(&made, few, 1200, 10, 3000, 6000);
	made_op(&made, "aten::addmm", 1000, 1300, 0);
	made_launch(&made, mine, 1400, 10, 6000, 6300);
	made_kernel(&made, mine, 77777, 7000, 7200);
	gen_close(made.gen, "exit");
	return made.path;
}

START_TEST(kernels_say_what_they_fill_and_whether_they_use_tensor_cores)
{
	struct table *table = tables_of(&view_kernel, make("k.gprof"), false);
	size_t nvjet = tables_find(table, "name", NVJET, 0),
	       mine = tables_find(table, "name", MINE, 0);

	ck_assert_str_eq(tables_cell(table, nvjet, "tensor_cores")->text, "yes");
	ck_assert_str_eq(tables_cell(table, mine, "tensor_cores")->text, "unknown");
	/* 1,000 ns at 18.75 % and 3,000 at 6.25 %; 1 block and half a block per multiprocessor */
	ck_assert_double_eq_tol(
		tables_cell(table, nvjet, "occupancy_pct")->number, (18.75 + 3 * 6.25) / 4, 1e-9);
	ck_assert_double_eq_tol(
		tables_cell(table, nvjet, "blocks_per_sm")->number, (1 + 3 * 0.5) / 4, 1e-9);
	ck_assert_str_eq(
		string_pool_text((uint32_t)tables_number(table, nvjet, "limit"), NULL), "GRID");
	ck_assert_double_eq_tol(tables_cell(table, mine, "occupancy_pct")->number, 100, 1e-9);
	ck_assert_uint_eq(tables_number(table, mine, "calls"), 2);
	table_destroy(table);
}
END_TEST

START_TEST(kernels_are_told_apart_by_operator_and_launch)
{
	struct table *table = tables_of(&view_kernel_operator, make("ko.gprof"), false);
	size_t mm = tables_find(table, "operator", "aten::mm", 0),
	       addmm = tables_find(table, "operator", "aten::addmm", 0),
	       none = tables_find(table, "operator", "(no operator)", 0),
	       lone = tables_find(table, "operator", "(no launch recorded)", 0);

	ck_assert_uint_eq(table->nr_rows, 4);
	ck_assert_uint_eq(tables_number(table, mm, "total_ns"), 1000);
	ck_assert_uint_eq(tables_number(table, addmm, "total_ns"), 3000);
	ck_assert_uint_eq(tables_number(table, none, "total_ns"), 300);
	ck_assert_uint_eq(tables_number(table, lone, "total_ns"), 200);
	ck_assert_str_eq(tables_cell(table, mm, "grid")->text, "[132, 1, 1]");
	ck_assert_str_eq(tables_cell(table, mm, "block")->text, "[384, 1, 1]");
	ck_assert_uint_eq(tables_number(table, mm, "shared_bytes"), 231424);
	ck_assert_str_eq(tables_cell(table, mm, "tensor_eligible")->text, "yes");
	ck_assert_str_eq(tables_cell(table, lone, "tensor_eligible")->text, "no");
	ck_assert_double_eq_tol(tables_cell(table, mm, "occupancy_pct")->number, 18.75, 1e-9);
	ck_assert_str_eq(
		string_pool_text((uint32_t)tables_number(table, mm, "limit"), NULL), "REGS|SMEM");
	ck_assert_double_eq_tol(tables_cell(table, addmm, "occupancy_pct")->number, 6.25, 1e-9);
	table_destroy(table);
}
END_TEST

/* The process used an H100 and something else: what it filled of which is not known by name. */
START_TEST(of_devices_that_differ_no_occupancy_is_told_by_name)
{
	struct made made = made_open("mixed.gprof");
	uint32_t shape = made_shape(&made, MINE, 132 * 64, 256, 32, 0);
	struct table *table;

	made_attribute(&made, 1, "multiprocessors", 80);
	made_launch(&made, shape, 1000, 10, 2000, 3000);
	made.place = gen_place(made.gen, 1, 2, 7);
	made_launch(&made, shape, 1100, 10, 2000, 3000);
	gen_close(made.gen, "exit");
	table = tables_of(&view_kernel, made.path, false);
	ck_assert(!tables_cell(table, 0, "occupancy_pct")->is_known);
	table_destroy(table);
	table = tables_of(&view_kernel_operator, made.path, false);
	ck_assert_double_eq_tol(tables_cell(table, 0, "occupancy_pct")->number, 100, 1e-9);
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/kernel", kernels_say_what_they_fill_and_whether_they_use_tensor_cores,
	kernels_are_told_apart_by_operator_and_launch,
	of_devices_that_differ_no_occupancy_is_told_by_name)
