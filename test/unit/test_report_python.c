/* SPDX-License-Identifier: Apache-2.0 */
/* Python stacks, on the stream of gen_python. */
#include <string.h>

#include "report/model/py_stack.h"
#include "report/model/select.h"
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
	ck_assert_uint_eq(tables_find(table, "name", "Net_0", 0), 0);
	ck_assert_uint_eq(tables_find(table, "name", "Conv2d_0", 0), 1);
	ck_assert_uint_eq(tables_find(table, "class", "Conv2d", 0), 1);
	ck_assert_uint_eq(table_level(table, 1), 1);
	ck_assert_ptr_nonnull(strstr(table->note, "names are classes and numbers"));
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
	ck_assert_ptr_nonnull(
		strstr(string_pool_text(py_stack_text(process, 1), NULL), "(unknown) <- "));
	ck_assert_str_eq(string_pool_text(py_stack_text(process, 99), NULL),
		string_pool_text(process_string(process, UINT32_MAX), NULL));
	process_destroy(process);
}
END_TEST

static void add_op(struct gen *gen, const char *name, uint64_t begin, uint64_t end, uint16_t depth,
	uint8_t framework, uint32_t py_stack)
{
	struct gprof_row_op *row = gen_op(gen, name, begin, end);

	row->depth = depth;
	row->framework = framework;
	row->scope = framework == GPROF_FRAMEWORK_PYTHON ? GPROF_PYTHON_MODULE : 0;
	row->py_stack = py_stack;
}

static void add_module(
	struct gen *gen, const char *name, uint64_t begin, uint64_t end, uint16_t depth)
{
	add_op(gen, name, begin, end, depth, GPROF_FRAMEWORK_PYTHON, 0);
}

/* Two networks, and a third that took no time. */
START_TEST(modules_come_by_their_time_and_stay_with_theirs)
{
	static const char *const paths[] = {"B_0", "B_0/Linear_0", "B_0/Relu_0", "A_0",
		"A_0/Linear_0", "A_0/Linear_0/Drop_0", "C_0"};
	const char *path = streams_path("tree.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	gen_anchor(gen, 0, 0, 0);
	add_module(gen, "nn.Module: Drop_0", 120, 140, 2);
	add_module(gen, "nn.Module: Linear_0", 110, 150, 1);
	add_module(gen, "nn.Module: A_0", 100, 200, 0);
	add_module(gen, "nn.Module: Relu_0", 310, 330, 1);
	add_module(gen, "nn.Module: Linear_0", 340, 400, 1);
	add_module(gen, "nn.Module: B_0", 300, 600, 0);
	add_module(gen, "nn.Module: C_0", 700, 700, 0);
	gen_close(gen, "exit");
	table = tables_of(&view_module, path, false);
	ck_assert_uint_eq(table->nr_rows, 7);
	for (size_t i = 0; i < 7; i++) {
		ck_assert_uint_eq(tables_find(table, "path", paths[i], 0), i);
	}
	ck_assert_double_eq(tables_cell(table, 0, "share_pct")->number, 75);
	ck_assert_double_eq(tables_cell(table, 6, "share_pct")->number, 0);
	table_destroy(table);
}
END_TEST

/* As a damaged stream has it. */
START_TEST(modules_without_a_name_do_not_hold_themselves)
{
	const char *path = streams_path("nameless.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	gen_anchor(gen, 0, 0, 0);
	add_module(gen, "nn.Module: ", 110, 150, 1);
	add_module(gen, "nn.Module: ", 100, 200, 0);
	add_module(gen, "nn.Module: A_0", 300, 400, 0);
	gen_close(gen, "exit");
	table = tables_of(&view_module, path, false);
	ck_assert_uint_eq(table->nr_rows, 3);
	table_destroy(table);
}
END_TEST

static void add_alloc(struct gen *gen, uint64_t time, int64_t bytes, uint8_t device_type)
{
	struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

	row->time = time;
	row->thread = 1;
	row->address = time;
	row->bytes = bytes;
	row->device_type = device_type;
}

/* Two layers of one class, one of which is made anew; a shared one has a row in each. */
static const char *layers(void)
{
	const char *path = streams_path("layers.gprof");
	struct gen *gen = gen_open(path);
	uint32_t shape = gen_op_shape(gen, "float32[2,3], float32[3,5]");

	gen_anchor(gen, 0, 0, 0);
	for (uint64_t at = 0; at < 2000; at += 1000) {
		add_alloc(gen, at + 112, 4096, 1);
		add_alloc(gen, at + 113, 512, 0);
		add_op(gen, "aten::mm", at + 110, at + 120, 1, 0, 0);
		gen_op(gen, "aten::mm", at + 111, at + 119)->op_shape = shape;
		add_module(gen, at ? "nn.Module: Linear_7 h.0.fc" : "nn.Module: Linear_0 h.0.fc",
			at + 105, at + 130, 2);
		add_module(gen, "nn.Module: Drop_0 h.0.drop", at + 140, at + 150, 2);
		add_module(gen, "nn.Module: Block_0 h.0", at + 102, at + 160, 1);
		gen_op(gen, "aten::mm", at + 210, at + 220)->op_shape = shape;
		add_alloc(gen, at + 230, -1024, 1);
		add_module(gen, "nn.Module: Drop_0 h.0.drop", at + 240, at + 250, 2);
		add_module(gen, "nn.Module: Block_1 h.1", at + 202, at + 255, 1);
		add_module(gen, "nn.Module: Net_0", at + 100, at + 300, 0);
	}
	gen_close(gen, "exit");
	return path;
}

START_TEST(modules_have_their_place_and_the_sums_of_those_in_them)
{
	static const struct {
		const char *path, *name, *class;
		uint64_t calls, flops, bytes;
		double kept;
	} wanted[] = {{"Net_0", "Net_0", "Net", 2, 240, 8192, 6144},
		{"Net_0/Block_0", "h.0", "Block", 2, 120, 8192, 8192},
		{"Net_0/Block_0/Linear_0", "h.0.fc", "Linear", 2, 120, 8192, 8192},
		{"Net_0/Block_0/Drop_0", "h.0.drop", "Drop", 2, 0, 0, 0},
		{"Net_0/Block_1", "h.1", "Block", 2, 120, 0, -2048},
		{"Net_0/Block_1/Drop_0", "h.0.drop", "Drop", 2, 0, 0, 0}};
	struct table *table = tables_of(&view_module, layers(), false);

	ck_assert_uint_eq(table->nr_rows, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < table->nr_rows; i++) {
		size_t row = tables_find(table, "path", wanted[i].path, 0);

		ck_assert_str_eq(tables_name(table, row), wanted[i].name);
		ck_assert_str_eq(
			string_pool_text((uint32_t)tables_number(table, row, "class"), NULL),
			wanted[i].class);
		ck_assert_uint_eq(tables_number(table, row, "calls"), wanted[i].calls);
		ck_assert_uint_eq(tables_number(table, row, "allocated_bytes"), wanted[i].bytes);
		ck_assert_double_eq(tables_cell(table, row, "kept_bytes")->number, wanted[i].kept);
		ck_assert(tables_cell(table, row, "flops")->is_known == !!wanted[i].flops);
		ck_assert_double_eq(
			tables_cell(table, row, "flops")->number, (double)wanted[i].flops);
	}
	ck_assert_double_eq(tables_cell(table, 0, "self_flops")->number, 0);
	table_destroy(table);
}
END_TEST

/* The longest ones and those around them, and how many others there are. */
START_TEST(the_modules_with_most_time_are_kept)
{
	struct process *process = streams_process(layers());
	const struct view_class *class = &view_module;
	struct view_input input = {.processes = &process, .nr_processes = 1, .nr_rows = 3};
	struct table *table;
	void *view;

	view_run(&input, &class, 1, &view);
	table = view_table(class, view);
	ck_assert_uint_eq(table->nr_rows, 3);
	ck_assert_uint_eq(table->nr_cut, 3);
	ck_assert_uint_eq(tables_find(table, "path", "Net_0/Block_0", 0), 1);
	ck_assert_uint_eq(tables_find(table, "path", "Net_0/Block_1", 0), 2);
	table_destroy(table);
	view_destroy(class, view);
	process_destroy(process);
}
END_TEST

/* Those in a module that began before what was chosen. */
START_TEST(modules_in_one_that_is_not_chosen_are_shown)
{
	const char *path = streams_path("cut.gprof");
	struct select_options ask = {0};
	struct gen *gen = gen_open(path);
	struct process *process;
	struct table *table;
	struct buf why = {0};

	gen_anchor(gen, 0, 0, 0);
	for (uint64_t step = 0; step < 3; step++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = 100 + step * 100;
		row->step = step;
		row->thread = 1;
	}
	add_module(gen, "nn.Module: Linear_0 layers.1.fc", 220, 260, 1);
	add_module(gen, "nn.Module: Net_0", 150, 290, 0);
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert(numbers_parse(&ask.steps, "1", true));
	ck_assert(select_all(&process, 1, &ask, &why));
	table = tables_make(&view_module, &process, 1, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_find(table, "path", "Net_0/Linear_0", 0), 0);
	ck_assert_uint_eq(tables_find(table, "name", "layers.1.fc", 0), 0);
	ck_assert_uint_eq(table_level(table, 0), 0);
	ck_assert_double_eq(tables_cell(table, 0, "share_pct")->number, 100);
	table_destroy(table);
	select_drop_all(&process, 1);
	numbers_fini(&ask.steps);
	process_destroy(process);
}
END_TEST

/* A clock that is too coarse for them: what they are of the whole is not known. */
START_TEST(shares_of_nothing_are_unknown)
{
	static const struct view_class *const views[] = {
		&view_module, &view_operator, &view_python, &view_kernel};
	const char *path = streams_path("nothing.gprof");
	struct gen *gen = gen_open(path);
	struct gprof_row_kernel *kernel;
	uint32_t place;

	gen_anchor(gen, 0, 0, 0);
	gen_row(gen, GPROF_TABLE_py_code);
	((struct gprof_row_py_stack *)gen_row(gen, GPROF_TABLE_py_stack))->id = 1;
	add_op(gen, "aten::mm", 100, 100, 1, 0, 1);
	add_module(gen, "nn.Module: Net_0", 100, 100, 0);
	place = gen_place(gen, 0, 1, 7);
	kernel = gen_row(gen, GPROF_TABLE_kernel);
	kernel->begin = kernel->dur = 200;
	kernel->place = place;
	gen_close(gen, "exit");
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct table *table = tables_of(views[i], path, false);

		ck_assert_uint_eq(table->nr_rows, 1);
		ck_assert(!tables_cell(table, 0, "share_pct")->is_known);
		table_destroy(table);
	}
}
END_TEST

UNIT_SUITE("report/python", python_stacks_have_what_was_called_from_them,
	modules_are_a_tree_and_no_operators, modules_come_by_their_time_and_stay_with_theirs,
	modules_without_a_name_do_not_hold_themselves, modules_in_one_that_is_not_chosen_are_shown,
	modules_have_their_place_and_the_sums_of_those_in_them, the_modules_with_most_time_are_kept,
	shares_of_nothing_are_unknown, python_stacks_of_a_damaged_stream)
