/* SPDX-License-Identifier: Apache-2.0 */
/* Views of ranks whose figures are known, with the extremes and whose they are. */
#include "report/session/summary.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/report_made.h"

extern const struct view_class view_gpu_trace, view_steps, view_utilization;

enum { NR = 4 };

static struct process *processes[NR + 1];
static size_t nr_processes;

/* Rank -1: none. Kernels of so many us each; 0: none of it. */
static void add(int rank, uint64_t gemm_us, uint64_t relu_us)
{
	char name[32], number[16];
	struct made made;
	uint64_t at = 1000000;

	snprintf(name, sizeof(name), "over%d.gprof", rank);
	snprintf(number, sizeof(number), "%d", rank);
	made = made_open(name);
	if (rank >= 0) {
		gen_info(made.gen, "rank.world", number);
	}
	for (int i = 0; i < 2; i++) {
		uint64_t us = i ? relu_us : gemm_us;
		uint32_t shape = made_shape(&made, i ? "relu" : "gemm", 1, 32, 16, 0);

		if (us) {
			made_kernel(&made, shape, 0, at, at + us * 1000);
			at += us * 1000 + 1000;
		}
	}
	made_step(&made, 1000, 7);
	made_step(&made, 1000 + gemm_us * 1000, 8);
	gen_flush(made.gen);
	gen_close(made.gen, "exit");
	processes[nr_processes++] = streams_process(made.path);
}

static struct table *over(const struct view_class *class, const char *column, const char **wrong)
{
	struct view_input input = {.processes = processes, .nr_processes = nr_processes};

	struct rank_waits waits;
	struct table *table;

	rank_waits_read(&waits, processes, nr_processes);
	table = rank_spread_table(class, &input, &waits, column, wrong);
	rank_waits_fini(&waits);
	return table;
}

static void add_all(void)
{
	add(0, 100, 10);
	add(1, 140, 0);
	add(2, 500, 30);
	add(3, 120, 20);
	add(-1, 9000, 9000);
}

static void drop_all(void)
{
	while (nr_processes) {
		process_destroy(processes[--nr_processes]);
	}
}

START_TEST(rows_have_extremes_and_whose_they_are)
{
	struct table *table;
	const char *wrong;
	size_t gemm, relu;

	add_all();
	table = over(&view_kernel, NULL, &wrong);
	ck_assert_ptr_null(wrong);
	ck_assert_uint_eq(table->nr_rows, 2);
	gemm = tables_find(table, "name", "gemm", 0);
	relu = tables_find(table, "name", "relu", 0);
	ck_assert_uint_eq(gemm, 0); /* the largest first */
	ck_assert_uint_eq(tables_number(table, gemm, "nr_ranks"), 4);
	ck_assert_uint_eq(tables_number(table, gemm, "min_ns"), 100000);
	ck_assert_uint_eq(tables_number(table, gemm, "min_rank"), 0);
	ck_assert_double_eq_tol(tables_cell(table, gemm, "median_ns")->number, 130000, 0.1);
	ck_assert_uint_eq(tables_number(table, gemm, "max_ns"), 500000);
	ck_assert_uint_eq(tables_number(table, gemm, "max_rank"), 2);
	ck_assert_uint_eq(tables_number(table, relu, "nr_ranks"), 3);
	ck_assert_double_eq_tol(tables_cell(table, relu, "median_ns")->number, 20000, 0.1);
	ck_assert_uint_eq(tables_number(table, relu, "max_rank"), 2);
	ck_assert_str_eq(table->note,
		"Compares \"Total\" of 4 ranks; a rank without the row has no value.\n"
		"Processes without a rank are excluded.");
	table_destroy(table);
	drop_all();
}
END_TEST

START_TEST(any_column_of_numbers_can_be_compared)
{
	struct table *table;
	const char *wrong;

	add_all();
	table = over(&view_kernel, "calls", &wrong);
	ck_assert_ptr_null(wrong);
	ck_assert_uint_eq(tables_number(table, 0, "max"), 1);
	ck_assert(!tables_cell(table, 0, "max_rank")->is_known); /* the same on all */
	table_destroy(table);
	table = over(&view_steps, "duration", &wrong);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "rule", "(start)", 0), "step"), 7);
	ck_assert_uint_eq(tables_number(table, 0, "max_ns"), 500000);
	table_destroy(table);
	drop_all();
}
END_TEST

/* A view's digits are a text: there is nothing to compare. */
static void fill_digits(void *state, struct table *table)
{
	struct table_cell *cells = table_add_row(table);

	(void)state;
	table_set_integer(&cells[0], 1);
	table_set_text(&cells[1], "0.50", 4);
}

START_TEST(digits_are_no_numbers_to_compare)
{
	static const struct table_column columns[] = {TABLE_COLUMN("calls", "Calls", TABLE_COUNT),
		TABLE_COLUMN("digits", "Digits", TABLE_DIGITS)};
	struct state {
		struct view_input input;
	};
	static const struct view_class class = {.name = "made",
		.title = "Made",
		VIEW_COLUMNS(columns),
		VIEW_STATE(struct state),
		.fill = fill_digits};
	const char *wrong;

	add_all();
	ck_assert_ptr_null(over(&class, "digits", &wrong));
	ck_assert_ptr_nonnull(wrong);
	drop_all();
}
END_TEST

/* When a step began says little of ranks, and what a rank looked like is its own. */
START_TEST(without_a_choice_ranks_are_compared_by_what_tells_most)
{
	struct table *table;
	const char *wrong;

	add_all();
	table = over(&view_steps, NULL, &wrong);
	ck_assert_ptr_eq(strstr(table->note, "Compares \"Duration\" of 4 ranks"), table->note);
	table_destroy(table);
	table = over(&view_utilization, NULL, &wrong);
	ck_assert_ptr_eq(strstr(table->note, "Compares \"Avg\" of 4 ranks"), table->note);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_str_eq(tables_cell(table, 0, "metric")->text, "busy");
	ck_assert_uint_eq(tables_number(table, 0, "nr_ranks"), 4);
	table_destroy(table);
	drop_all();
}
END_TEST

/* A view whose rows lie in each other: x in a, and another x in b. */
struct nested_view {
	struct view_input input;
};

static const struct table_column nested_columns[] = {
	TABLE_COLUMN("name", "Name", TABLE_TEXT), TABLE_COLUMN("total_ns", "Total", TABLE_TIME)};

static void nested_fill(void *state, struct table *table)
{
	static const char *const names[] = {"a", "x", "b", "x"};
	const struct process *process = ((struct nested_view *)state)->input.processes[0];

	for (uint64_t i = 0; i < 4; i++) {
		struct table_cell *cells = table_add_row(table);

		table_set_string(&cells[0], names[i]);
		table_set_integer(&cells[1], i < 3 ? 10 * i + (uint64_t)process->rank : UINT64_MAX);
		table_set_level(table, i % 2);
	}
}

START_TEST(rows_are_told_apart_by_what_they_lie_in)
{
	static const struct view_class nested = {.name = "nested",
		.title = "Nested",
		VIEW_COLUMNS(nested_columns),
		VIEW_STATE(struct nested_view),
		.fill = nested_fill};
	struct table *table;
	const char *wrong;

	add_all();
	table = over(&nested, NULL, &wrong);
	ck_assert_uint_eq(table->nr_rows, 4);
	ck_assert_uint_eq(tables_number(table, tables_find(table, "name", "x", 0), "max_ns"),
		18446744073709549568u);
	ck_assert_uint_eq(tables_number(table, tables_find(table, "name", "x", 1), "max_ns"), 13);
	table_destroy(table);
	drop_all();
}
END_TEST

START_TEST(what_cannot_be_compared_is_refused)
{
	const char *wrong;

	add_all();
	ck_assert_ptr_null(over(&view_kernel, "name", &wrong));
	ck_assert_ptr_nonnull(strstr(wrong, "no view has such a column"));
	ck_assert_ptr_null(over(&view_gpu_trace, NULL, &wrong));
	ck_assert_ptr_nonnull(strstr(wrong, "single events"));
	drop_all();
	add(-1, 10, 10);
	ck_assert_ptr_null(over(&view_kernel, NULL, &wrong));
	ck_assert_str_eq(wrong, "no process has a rank for --across-ranks");
	drop_all();
}
END_TEST

UNIT_SUITE("report/across_ranks", rows_have_extremes_and_whose_they_are,
	any_column_of_numbers_can_be_compared, digits_are_no_numbers_to_compare,
	without_a_choice_ranks_are_compared_by_what_tells_most,
	rows_are_told_apart_by_what_they_lie_in, what_cannot_be_compared_is_refused)
