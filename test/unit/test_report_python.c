/* SPDX-License-Identifier: Apache-2.0 */
/* Python stacks, on the stream of gen_python. */
#include <string.h>

#include "report/py_stack.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

static const char *python(void)
{
	const char *path = streams_path("python.gprof");
	struct gen *gen = gen_open(path);

	gen_python(gen);
	gen_close(gen, "exit");
	return path;
}

START_TEST(python_stacks_have_what_was_called_from_them)
{
	static const char forward[] =
		"torch/nn/modules/conv.py(463): forward <- train.py(9): <module>";
	static const char loss[] = "train.py(7): loss <- train.py(9): <module>";
	struct table *table = tables_of(&view_python, python(), false);
	size_t row = tables_find(table, "stack", forward, 0);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(tables_number(table, row, "ops"), 2);
	ck_assert_uint_eq(tables_number(table, row, "self_ns"), 100000);
	ck_assert_uint_eq(tables_number(table, row, "launches"), 1);
	ck_assert_uint_eq(tables_number(table, row, "gpu_ns"), 60000);
	row = tables_find(table, "stack", loss, 0);
	ck_assert_uint_eq(tables_number(table, row, "ops"), 1);
	ck_assert_uint_eq(tables_number(table, row, "self_ns"), 20000);
	ck_assert_uint_eq(tables_number(table, row, "launches"), 1);
	ck_assert_uint_eq(tables_number(table, row, "gpu_ns"), 20000);
	ck_assert_ptr_nonnull(strstr(table->note, "3 of 4 operators"));
	table_destroy(table);
	table = tables_of(&view_python, python(), true);
	ck_assert_uint_eq(table->nr_rows, 4);
	row = tables_find(table, "op", "aten::mm", 0);
	ck_assert_uint_eq(tables_number(table, row, "self_ns"), 40000);
	ck_assert_uint_eq(tables_number(table, row, "launches"), 1);
	table_destroy(table);
}
END_TEST

START_TEST(modules_are_a_tree_and_no_operators)
{
	struct table *table = tables_of(&view_module, python(), false);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(tables_find(table, "module", "Net_0", 0), 0);
	ck_assert_uint_eq(tables_find(table, "module", "  Conv2d_0", 0), 1);
	ck_assert_uint_eq(tables_find(table, "path", "Net_0/Conv2d_0", 0), 1);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 165000);
	ck_assert_uint_eq(tables_number(table, 0, "self_ns"), 55000);
	ck_assert_uint_eq(tables_number(table, 0, "gpu_total_ns"), 60000);
	ck_assert_uint_eq(tables_number(table, 0, "gpu_self_ns"), 0);
	ck_assert_uint_eq(tables_number(table, 1, "self_ns"), 110000);
	ck_assert_uint_eq(tables_number(table, 1, "gpu_self_ns"), 60000);
	table_destroy(table);
	table = tables_of(&view_operator, python(), false);
	ck_assert_uint_eq(table->nr_rows, 4);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "aten::conv2d", 0), "self_ns"),
		60000);
	table_destroy(table);
}
END_TEST

START_TEST(python_stacks_of_a_damaged_stream)
{
	const char *path = streams_path("circle.gprof");
	struct gen *gen = gen_open(path);
	struct gprof_row_py_stack *row;
	struct process *process;

	for (uint32_t id = 1; id <= 2; id++) {
		row = gen_row(gen, GPROF_TABLE_py_stack);
		row->id = id;
		row->parent = 3 - id;
		row->py_code = 77;
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_ptr_nonnull(strstr(names_raw(py_stack_text(process, 1), NULL), "(unknown) <- "));
	ck_assert_str_eq(names_raw(py_stack_text(process, 99), NULL),
		names_raw(process_string(process, UINT32_MAX), NULL));
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/python", python_stacks_have_what_was_called_from_them,
	modules_are_a_tree_and_no_operators, python_stacks_of_a_damaged_stream)
