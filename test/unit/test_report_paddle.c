/* SPDX-License-Identifier: Apache-2.0 */
/* The tables in Paddle's layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/styles/paddle.h"
#include "report/session/summary.h"
#include "test/unit/report_played.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

/* The rules and the row are as a real one has them: widths grow with what stands in a column. */
START_TEST(a_table_has_the_widths_of_paddle)
{
	struct paddle_grid grid = {.title = "Model Summary",
		.unit = "ms",
		.titles = {"Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)",
			"GPU Total / Avg / Max / Min / Ratio(%)"},
		.widths = {15, 6, 40, 40},
		.nr_columns = 4};
	struct paddle_row *row = paddle_grid_add(&grid);
	struct buf out = {0};

	row->cells[0] = mem_text("ProfileStep");
	row->cells[1] = mem_text("3");
	row->cells[2] = mem_text("1705.19 / 568.40 / 573.03 / 565.52 / 100.00");
	row->cells[3] = mem_text("1397.52 / 465.84 / 466.44 / 465.33 / 100.00");
	paddle_grid_print(&grid, &out);
	buf_char(&out, '\0');
	ck_assert_str_eq(out.bytes,
		"--------------------------------------------------Model "
		"Summary---------------------"
		"-----------------------------\n"
		"Time unit: ms\n"
		"---------------  ------  -------------------------------------------  "
		"-------------------------------------------  \n"
		"Name             Calls   CPU Total / Avg / Max / Min / Ratio(%)       "
		"GPU Total / Avg / Max / Min / Ratio(%)       \n"
		"---------------  ------  -------------------------------------------  "
		"-------------------------------------------  \n"
		"ProfileStep      3       1705.19 / 568.40 / 573.03 / 565.52 / 100.00  "
		"1397.52 / 465.84 / 466.44 / 465.33 / 100.00  \n"
		"---------------  ------  -------------------------------------------  "
		"-------------------------------------------  \n\n\n");
	buf_fini(&out);
}
END_TEST

/* What the style prints of a stream. */
static char *print(const char *path, const struct summary *summary)
{
	struct process *process = streams_process(path);
	struct cmd_input input = {.processes = &process, .nr_processes = 1};
	struct buf out = {0};

	ck_assert_ptr_null(style_paddle.print(summary, &input, &out));
	buf_char(&out, '\0');
	process_destroy(process);
	return out.bytes;
}

static void check_lines(const char *text, const char *const *lines)
{
	for (size_t i = 0; lines[i]; i++) {
		ck_assert_msg(
			strstr(text, lines[i]) != NULL, "no line '%s' in:\n%s", lines[i], text);
	}
}

START_TEST(deep_names_stay_in_their_column)
{
	static const char name[] = "aten::a_name_that_is_longer_than_the_column";
	struct summary summary = {0};
	struct paddle_report report = {.summary = &summary};

	for (unsigned int level = 0; level < 40; level++) {
		char *text = paddle_name_text(&report, name, strlen(name), level, 25);

		ck_assert_uint_eq(strlen(text), 25);
		free(text);
	}
}
END_TEST

START_TEST(every_table_of_a_loop)
{
	static const char *const lines[] = {
		"-------------------Device Summary-------------------\n",
		"\nCPU(Process)                    150.00                \n",
		"\nGPU0                            16.24                 \n",
		"\nProfileStep                3                          2.71                      "
		" "
		"100.00                     \n",
		"\n                           Calls                      GPU Time                  "
		" "
		"Ratio (%)                  \n",
		"\n  Kernel                   10                         0.44                      "
		" "
		"16.24                      \n",
		"\n  Optimization   6       0.18 / 0.03 / 0.05 / 0.01 / 6.64          0.03 / 0.01 "
		"/ "
		"0.01 / 0.00 / 5.56          \n",
		"\n  Others         -       0.76 / - / - / - / 28.04                  0.00 / - / - "
		"/ - "
		"/ 0.00                   \n",
		"-Thread: All threads merged-",
		"\n    void gemm<float>(float const*, float const*, ...  3       - / - / - / - / - "
		"    "
		"                    0.27 / 0.09 / 0.09 / 0.09 / 100.00        \n",
		"\nvoid gemm<float>                                                                "
		"    "
		"        12      0.54 / 0.04 / 0.09 / 0.01 / 100.00        \n",
		"\nthe model  3       0.60 / 0.20 / 0.20 / 0.20 / 22.14         "
		"0.24 / 0.08 / 0.08 / 0.08 / 44.44         \n",
		"============================================Perf "
		"Summary==========================="
		"=================\nReader Ratio: 10.000%\nTime Unit: s, IPS Unit: samples/s\n"
		"|                 |       avg       |       max       |       min       |\n"
		"|   reader_cost   |     0.00010     |     0.00010     |     0.00010     |\n"
		"|    batch_cost   |     0.00100     |     0.00100     |     0.00100     |\n"
		"|       ips       |    4000.00000   |    4000.00000   |    4000.00000   |\n",
		NULL,
	};
	struct summary summary = {.is_default = true, .style = &style_paddle};
	char *text = print(streams_ops("ops.gprof"), &summary);

	check_lines(text, lines);
	ck_assert_ptr_null(strstr(text, "Distribution")); /* nothing is communicated */
	free(text);
}
END_TEST

START_TEST(views_units_and_levels_are_chosen)
{
	static const char *const lines[] = {
		"Time unit: us\n", "\naten::mm ", "390.00 / 65.00 / 100.00 / 30.00 / 29.21 ", NULL};
	struct summary summary = {.style = &style_paddle,
		.views = {&view_operator},
		.nr_views = 1,
		.has_detail = true,
		.asked.table.unit = "us"};
	char *text = print(streams_ops("ops.gprof"), &summary);

	check_lines(text, lines);
	ck_assert_ptr_null(strstr(text, "Model Summary"));
	free(text);
}
END_TEST

/* Where in the text the operator's own row begins. */
static const char *row_of(const char *text, const char *name)
{
	char line[64];
	const char *found;

	snprintf(line, sizeof(line), "\n%s ", name);
	found = strstr(text, line);
	ck_assert_ptr_nonnull(found);
	return found;
}

START_TEST(keys_sort_as_in_paddle)
{
	struct summary summary = {.style = &style_paddle, .views = {&view_operator}, .nr_views = 1};
	char *text;

	summary.sort = "GPUMax";
	text = print(streams_ops("ops.gprof"), &summary);
	ck_assert(row_of(text, "aten::mm") < row_of(text, "aten::convolution"));
	free(text);
	summary.sort = "CPUMin"; /* rises */
	text = print(streams_ops("ops.gprof"), &summary);
	ck_assert(row_of(text, "aten::relu") < row_of(text, "aten::mm"));
	ck_assert(row_of(text, "aten::mm") < row_of(text, "aten::stack"));
	free(text);
}
END_TEST

/* The tables add up: overlap is what both have in common. */
START_TEST(communication_and_threads)
{
	struct summary summary = {.is_default = true, .is_per_thread = true};
	static const char *const lines[] = {"Distribution Summary", "\n  Overlap   ", "Thread: 1-",
		"Thread: 2-", "ncclDevKernel_AllReduce_Sum_f32_RING_LL  ",
		"\nGpuMemcpySync:CPU->GPU ", NULL};
	struct played *played = calloc(1, sizeof(*played));
	char *text;

	played_make(played, 3, streams_path("played.gprof"));
	text = print(streams_path("played.gprof"), &summary);
	check_lines(text, lines);
	free(text);
	free(played);
}
END_TEST

/* Values and widths as std::cout had them. */
START_TEST(the_report_of_the_profiler_before)
{
	static const char *const lines[] = {
		"\n------------------------->     Profiling Report     "
		"<-------------------------\n",
		"\nPlace: All\nTime unit: ms\nSorted by total time in descending order in the same "
		"thread\n",
		"\nTotal time: 1.875 \n",
		"\n  Computation time       Total: 1.365       Ratio: 72.8%\n",
		"\n  Framework overhead     Total: 0.51        Ratio: 27.2%\n",
		"\nGpuMemcpy                Calls: 0           Total: 0           Ratio: 0%\n",
		"\nthread1::autograd::engine::evaluate_function: MmBackward0        6           "
		"0.87"
		"        0.600000 (0.689655)     0.270000 (0.310345)     0.14        0.15        "
		"0.145"
		"       1\n",
		"\n  MmBackward0                                                    3           "
		"0.405  "
		"     0.135000 (0.333333)     0.270000 (0.666667) ",
		NULL,
	};
	struct summary summary = {.style = &style_paddle,
		.views = {&view_framework},
		.nr_views = 1,
		.is_per_thread = true,
		.has_detail = true,
		.detail = VIEW_DETAIL_OP};
	char *text = print(streams_ops("ops.gprof"), &summary);

	check_lines(text, lines);
	ck_assert_ptr_null(strstr(text, "Device Summary"));
	free(text);
}
END_TEST

static void add_op(struct gen *gen, uint32_t name, uint64_t begin, uint64_t end, uint16_t depth)
{
	struct gprof_row_op *row = gen_row(gen, GPROF_TABLE_op);

	row->begin = begin;
	row->dur = end;
	row->thread = row->end_thread = 1;
	row->op_name = name;
	row->depth = depth;
	row->scope = depth ? 0 : 7;
}

/* Inference, with the user's range around all of it. */
/* Nothing says that they are the forward pass of a training. */
START_TEST(operators_in_a_range_have_no_phase)
{
	struct summary summary = {.style = &style_paddle, .views = {&view_model}, .nr_views = 1};
	static const char *const lines[] = {"\n  Others         -       0.60 / - / - / - / 100.00 ",
		"\nNothing marks phases in this recording: all operators count as Others.\n", NULL};
	const char *path = streams_path("inference.gprof");
	struct gen *gen = gen_open(path);
	uint32_t mm = gen_op_name(gen, "aten::mm"), range = gen_op_name(gen, "generate");
	char *text;

	add_op(gen, mm, 200000, 300000, 1);
	add_op(gen, mm, 700000, 800000, 1);
	add_op(gen, range, 100000, 900000, 0);
	gen_close(gen, "exit");
	text = print(path, &summary);
	check_lines(text, lines);
	free(text);
}
END_TEST

/* The first step that counts is the shortest. */
START_TEST(the_first_record_may_be_the_least)
{
	struct summary summary = {
		.style = &style_paddle, .views = {&view_benchmark}, .nr_views = 1};
	static const char *const lines[] = {
		"\n|    batch_cost   |     0.00300     |     0.00400     |     0.00200     |\n",
		NULL};
	static const uint64_t steps_us[] = {0, 9000, 11000, 14000, 18000};
	const char *path = streams_path("steps.gprof");
	struct gen *gen = gen_open(path);
	char *text;

	for (uint32_t i = 0; i < 5; i++) {
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = 1000 * steps_us[i];
		step->step = i;
	}
	gen_close(gen, "exit");
	text = print(path, &summary);
	check_lines(text, lines);
	free(text);
}
END_TEST

/* What a kernel is called, and what of it is shown. */
static const char *const kernels[][2] = {
	{"void f<int, g<4> >(int, float)", "void f<int, g<4> >"},
	{"std::enable_if<(((8)>(0)))&&a::b<C>::exists, void>::type a::f<C, 8>(C*, long)",
		"std::enable_if<(((8)>(0)))&&a::b<C>::exists, void>::type a::f<C, 8>"},
	{"void (anonymous namespace)::f<2>(int)", "void (anonymous namespace)::f<2>"},
	{"void f<k(T&)::{lambda()#3}::operator()() const::{lambda(int)#1}>(int, T)",
		"void f<k(T&)::{lambda()#3}::operator()() const::{lambda(int)#1}>"},
	{"a::{lambda(int)#2}::operator()(int) const", "a::{lambda(int)#2}::operator()"},
	{"triton_mm", "triton_mm"},
	{"broken<(", "broken<("},
	{"broken>)(x", "broken>)"},
};

START_TEST(names_of_kernels_keep_arguments_of_templates)
{
	struct summary summary = {.style = &style_paddle, .views = {&view_kernel}, .nr_views = 1};
	const char *path = streams_path("names.gprof");
	struct gen *gen = gen_open(path);
	char *text;

	for (uint32_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		uint32_t string = gen_string(gen, kernels[i][0]);
		struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

		shape->id = kernel->shape = i + 1;
		shape->name = string;
		kernel->begin = 1000 * i;
		kernel->dur = 1000 * i + 10;
	}
	gen_close(gen, "exit");
	text = print(path, &summary);
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		char line[160];

		snprintf(line, sizeof(line), "\n%-90s  1 ", kernels[i][1]);
		ck_assert_msg(strstr(text, line) != NULL, "no '%s' in\n%s", line, text);
	}
	free(text);
}
END_TEST

static void add_range(
	struct gen *gen, const char *name, uint64_t begin, uint64_t end, uint8_t scope)
{
	struct gprof_row_op *row = gen_op(gen, name, begin, end);

	row->framework = GPROF_FRAMEWORK_PADDLE;
	row->scope = scope;
}

START_TEST(ranges_around_copies_are_memory_manipulation)
{
	struct summary summary = {
		.style = &style_paddle, .views = {&view_memcpy, &view_user_ranges}, .nr_views = 2};
	const char *path = streams_path("ranges.gprof");
	struct gen *gen = gen_open(path);
	char *text, *manipulation, *user;

	add_range(gen, "BufferedReader:MemoryCopy", 1000, 3000, 7);
	add_range(gen, "GpuMemcpySync:GPU->CPU", 4000, 5000, 7); /* the copy itself is a row */
	add_range(gen, "matmul pybind_imperative_func", 5000, 6000, 7); /* Paddle's own */
	add_range(gen, "my range", 6000, 7000, 14);
	gen_close(gen, "exit");
	text = print(path, &summary);
	manipulation = strstr(text, "Memory Manipulation Summary");
	user = strstr(text, "UserDefined Summary");
	ck_assert(manipulation && user && manipulation < user);
	ck_assert(strstr(text, "\nBufferedReader:MemoryCopy  1 ") < user);
	ck_assert_ptr_null(strstr(user, "MemoryCopy"));
	ck_assert_ptr_null(strstr(text, "GpuMemcpySync"));
	ck_assert_ptr_null(strstr(user, "pybind_imperative_func"));
	ck_assert_ptr_nonnull(strstr(user, "\nmy range  1 "));
	free(text);
}
END_TEST

START_TEST(what_paddle_has_not_is_an_error)
{
	struct summary summary = {.style = &style_paddle, .views = {&view_api}, .nr_views = 1};
	struct cmd_input input = {0};
	struct buf out = {0};

	ck_assert_ptr_nonnull(style_paddle.print(&summary, &input, &out));
	buf_fini(&out);
}
END_TEST

UNIT_SUITE("report/paddle", a_table_has_the_widths_of_paddle, deep_names_stay_in_their_column,
	every_table_of_a_loop, views_units_and_levels_are_chosen, keys_sort_as_in_paddle,
	communication_and_threads, the_report_of_the_profiler_before,
	operators_in_a_range_have_no_phase, the_first_record_may_be_the_least,
	names_of_kernels_keep_arguments_of_templates, ranges_around_copies_are_memory_manipulation,
	what_paddle_has_not_is_an_error)
