/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary has of the breakdown, of communicators, and over processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/err.h"
#include "report/util/string_pool.h"
#include "report/reduce/reduced_view.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

enum { NR_RANKS = 3 };

static const char *rank_of_model(unsigned int rank)
{
	char name[32], text[8];
	const char *path;
	struct gen *gen;

	snprintf(name, sizeof(name), "rank%u.gprof", rank);
	snprintf(text, sizeof(text), "%u", rank);
	path = streams_path(name);
	gen = gen_open(path);
	gen_info(gen, "rank.world", text);
	gen_model(gen, 9000, rank + 1);
	gen_close(gen, "exit");
	return path;
}

static const char *rank_of_nccl(unsigned int rank)
{
	const char *path = streams_path(rank ? "nccl1.gprof" : "nccl0.gprof");
	struct gen *gen = gen_open(path);

	gen_nccl(gen, rank, false);
	gen_close(gen, "exit");
	return path;
}

/* A call of AllReduce as those of rank_of_nccl, of which no kernel is recorded. */
static const char *rank_without_kernels(void)
{
	const char *path = streams_path("nccl2.gprof");
	struct gen *gen = gen_open(path);
	struct gprof_row_nccl_comm *comm = gen_row(gen, GPROF_TABLE_nccl_comm);
	struct gprof_row_nccl *call;

	gen_info(gen, "rank.world", "2");
	*comm = (struct gprof_row_nccl_comm){.id = 1, .key = 0xfedcba9876543210, .nr_ranks = 2};
	call = gen_row(gen, GPROF_TABLE_nccl);
	*call = (struct gprof_row_nccl){.begin = 1000,
		.dur = 2000,
		.thread = 1,
		.comm = 1,
		.sequence = 1,
		.group = 1,
		.bytes = 1000000,
		.kind = GPROF_NCCL_ALL_REDUCE};
	gen_close(gen, "exit");
	return path;
}

static struct reduced reduced_of_all(const char *(*path_of)(unsigned int rank), unsigned int nr)
{
	struct reduced all = {0};

	for (unsigned int rank = 0; rank < nr; rank++) {
		struct reduced one = streams_reduced(path_of(rank));

		ck_assert_msg(!reduced_merge(&all, &one), "%s", err_text());
	}
	reduced_sort(&all);
	return all;
}

static struct table *over_of(struct reduced *reduced, const struct view_class *view)
{
	return reduced_over_table(reduced, reduced_view_find(view), view->name);
}

START_TEST(breakdown_is_that_of_the_view_and_sums_to_the_step)
{
	static const struct table_column parts[] = {BUDGET_PLUGIN_COLUMNS};
	const char *path = rank_of_model(1);
	struct table *view = tables_of(&view_breakdown, path, false);
	struct reduced reduced = streams_reduced(path);
	struct table *table = reduced_breakdown_table(&reduced, 0);
	size_t average = tables_find(view, "step", "average", 0);
	double sum = 0;

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), view->nr_rows - 1);
	for (unsigned int i = 0; i < NR_BUDGET_PLUGIN_PARTS; i++) {
		double part = tables_cell(table, 0, parts[i].key)->number;

		ck_assert_double_eq_tol(
			part, tables_cell(view, average, parts[i].key)->number, 1e-6);
		sum += part;
	}
	ck_assert_double_eq_tol(sum, tables_cell(table, 0, "total_ns")->number, 1e-3);
	table_destroy(view);
	table_destroy(table);
	reduced_fini(&reduced);
}
END_TEST

/* The whole of a recording without steps is no step to compare with those of others. */
START_TEST(a_process_without_steps_has_a_breakdown_but_none_over_processes)
{
	struct reduced reduced = reduced_of_all(rank_of_nccl, 2),
		       other = streams_reduced(rank_of_model(2));
	struct table *table, *over;

	ck_assert_int_eq(reduced_merge(&reduced, &other), 0);
	reduced_sort(&reduced);
	table = reduced_breakdown_table(&reduced, 0);
	over = over_of(&reduced, &view_breakdown);
	ck_assert_uint_eq(table->nr_rows, 3);
	ck_assert(!tables_cell(table, 0, "steps")->is_known);
	ck_assert(tables_cell(table, 0, "total_ns")->is_known);
	ck_assert_uint_eq(over->nr_rows, 1 + NR_BUDGET_PLUGIN_PARTS);
	ck_assert_uint_eq(tables_number(over, 0, "processes"), 1);
	ck_assert_double_eq(
		tables_cell(over, 0, "max_ns")->number, tables_cell(table, 2, "total_ns")->number);
	table_destroy(table);
	table_destroy(over);
	reduced_fini(&reduced);
}
END_TEST

static size_t find_op(const struct table *table, const char *name)
{
	return tables_find(table, "name", name, 0);
}

/* See gen_nccl.c: rank 0 is 300 us in AllReduce before rank 1 comes, which is 100 us before it the
 * second time. */
START_TEST(operations_of_nccl_are_those_of_their_communicator)
{
	struct reduced reduced = reduced_of_all(rank_of_nccl, 2);
	struct table *table = reduced_rows_table(&reduced, REDUCED_NCCL);
	size_t reduce = find_op(table, "AllReduce"), gather = find_op(table, "AllGather");

	ck_assert_uint_eq(table->nr_rows, 4); /* and Send, Recv */
	ck_assert_str_eq(tables_cell(table, reduce, "communicator")->text, "fedcba9876543210");
	ck_assert_uint_eq(tables_number(table, reduce, "ranks"), 2);
	ck_assert_uint_eq(tables_number(table, reduce, "calls"), 6);
	ck_assert_uint_eq(tables_number(table, reduce, "bytes"), 6000000);
	ck_assert_uint_eq(tables_number(table, reduce, "time_ns"), 800000);
	ck_assert_uint_eq(tables_number(table, reduce, "untimed"), 0);
	ck_assert_uint_eq(tables_number(table, reduce, "least_ns"), 300000);
	ck_assert_str_eq(tables_cell(table, reduce, "least_rank")->text, "1");
	ck_assert_uint_eq(tables_number(table, reduce, "most_ns"), 500000);
	ck_assert_double_eq_tol(tables_cell(table, reduce, "algbw_bytes_per_s")->number, 7.5e9, 1);
	ck_assert_uint_eq(tables_number(table, gather, "bytes"), 4000000);
	/* Of those that spent the same the first. */
	ck_assert_str_eq(tables_cell(table, gather, "least_rank")->text, "0");
	ck_assert_str_eq(tables_cell(table, gather, "most_rank")->text, "0");
	ck_assert_double_eq_tol(tables_cell(table, gather, "busbw_bytes_per_s")->number, 5e9, 1);
	table_destroy(table);
	reduced_fini(&reduced);
}
END_TEST

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

START_TEST(what_each_process_has_is_compared)
{
	struct reduced reduced = reduced_of_all(rank_of_model, NR_RANKS);
	struct table *each = reduced_distributed_each(&reduced, 1);
	struct table *over = over_of(&reduced, &view_distributed);
	size_t row = tables_find(over, "name", "Computation", 0);
	double values[NR_RANKS];
	char most[8] = "";

	ck_assert_uint_eq(each->nr_rows, NR_RANKS);
	for (unsigned int rank = 0; rank < NR_RANKS; rank++) {
		values[rank] = tables_cell(each, rank, "computation_ns")->number;
		if (values[rank] == tables_cell(over, row, "max_ns")->number) {
			snprintf(most, sizeof(most), "%u", rank);
		}
	}
	ck_assert_str_eq(tables_cell(over, row, "max_rank")->text, most);
	qsort(values, NR_RANKS, sizeof(values[0]), by_value);
	ck_assert_double_lt(values[0], values[2]);
	ck_assert_uint_eq(tables_number(over, row, "processes"), NR_RANKS);
	ck_assert_double_eq(tables_cell(over, row, "min_ns")->number, values[0]);
	ck_assert_double_eq(tables_cell(over, row, "median_ns")->number, values[1]);
	ck_assert_double_eq(tables_cell(over, row, "max_ns")->number, values[2]);
	table_destroy(each);
	table_destroy(over);
	reduced_fini(&reduced);
}
END_TEST

START_TEST(rows_over_processes_are_those_of_the_streams_across_ranks)
{
	struct reduced reduced = reduced_of_all(rank_of_nccl, 2);
	struct table *over = over_of(&reduced, &view_communication), *kernels;
	size_t row = find_op(over, "AllReduce");

	ck_assert_uint_eq(tables_number(over, row, "processes"), 2);
	ck_assert_uint_eq(tables_number(over, row, "min_ns"), 300000);
	ck_assert_str_eq(tables_cell(over, row, "min_rank")->text, "1");
	ck_assert_double_eq_tol(
		tables_cell(over, row, "median_ns")->number, 400000, 400000 * 0.016);
	ck_assert_str_eq(tables_cell(over, row, "max_rank")->text, "0");
	/* All the same: nobody is named. */
	ck_assert(!tables_cell(over, find_op(over, "AllGather"), "max_rank")->is_known);
	kernels = over_of(&reduced, &view_kernel);
	ck_assert_uint_eq(tables_number(kernels, 0, "max_ns"), 5400000);
	table_destroy(over);
	table_destroy(kernels);
	reduced_fini(&reduced);
}
END_TEST

START_TEST(rows_over_processes_begin_with_the_largest)
{
	struct reduced reduced = reduced_of_all(rank_of_model, 1);
	struct table *over = over_of(&reduced, &view_operator);

	ck_assert_uint_gt(over->nr_rows, 5);
	for (size_t i = 1; i < over->nr_rows; i++) {
		ck_assert_uint_ge(
			tables_number(over, i - 1, "max_ns"), tables_number(over, i, "max_ns"));
	}
	table_destroy(over);
	reduced_fini(&reduced);
}
END_TEST

/* It spent what nobody knows, not 0. */
START_TEST(a_rank_without_times_spent_neither_least_nor_most)
{
	struct reduced reduced = streams_reduced(rank_without_kernels());
	struct reduced others = reduced_of_all(rank_of_nccl, 2);
	struct table *table = reduced_rows_table(&reduced, REDUCED_NCCL), *over;
	size_t row;

	ck_assert_uint_eq(tables_number(table, 0, "untimed"), 1);
	ck_assert(!tables_cell(table, 0, "least_rank")->is_known);
	table_destroy(table);
	over = over_of(&reduced, &view_communication);
	ck_assert_uint_eq(over->nr_rows, 0);
	table_destroy(over);
	ck_assert_int_eq(reduced_merge(&reduced, &others), 0);
	table = reduced_rows_table(&reduced, REDUCED_NCCL);
	over = over_of(&reduced, &view_communication);
	row = find_op(table, "AllReduce");
	ck_assert_uint_eq(tables_number(table, row, "processes"), 3);
	ck_assert_uint_eq(tables_number(table, row, "least_ns"), 300000);
	ck_assert_str_eq(tables_cell(table, row, "least_rank")->text, "1");
	ck_assert_uint_eq(tables_number(table, row, "bytes"), 7000000);
	ck_assert_double_eq_tol(tables_cell(table, row, "algbw_bytes_per_s")->number, 7.5e9, 1);
	row = find_op(over, "AllReduce");
	ck_assert_uint_eq(tables_number(over, row, "processes"), 2);
	ck_assert_uint_eq(tables_number(over, row, "min_ns"), 300000);
	ck_assert_double_eq_tol(
		tables_cell(over, row, "median_ns")->number, 400000, 400000 * 0.016);
	table_destroy(table);
	table_destroy(over);
	reduced_fini(&reduced);
}
END_TEST

UNIT_SUITE("report/reduce over processes", breakdown_is_that_of_the_view_and_sums_to_the_step,
	a_process_without_steps_has_a_breakdown_but_none_over_processes,
	rows_over_processes_begin_with_the_largest,
	operations_of_nccl_are_those_of_their_communicator, what_each_process_has_is_compared,
	rows_over_processes_are_those_of_the_streams_across_ranks,
	a_rank_without_times_spent_neither_least_nor_most)
