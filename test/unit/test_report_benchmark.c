/* SPDX-License-Identifier: Apache-2.0 */
/* Samples a second and the reader's share of steps, and steps where there is little else. */
#include <stdio.h>
#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

START_TEST(benchmark_counts_samples)
{
	struct table *table = tables_of(&view_benchmark, streams_ops("ops.gprof"), false);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "steps"), 3);
	ck_assert_uint_eq(tables_number(table, 0, "reader_cost_min_ns"), 100000);
	ck_assert_double_eq_tol(
		tables_cell(table, 0, "reader_ratio_pct")->number, 100 * 300.0 / 2710, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, 0, "ips_avg")->number, 12e6 / 2710, 1e-6);
	table_destroy(table);
}
END_TEST

/* Steps of three layers each, the last batch being smaller. */
START_TEST(the_batch_is_seen_in_shapes)
{
	const char *path = streams_path("batch.gprof");
	struct gen *gen = gen_open(path);
	uint32_t name = gen_op_name(gen, "aten::linear");
	uint32_t full = gen_op_shape(gen, "float32[32,128], float32[10,128]");
	uint32_t part = gen_op_shape(gen, "float32[7,128], float32[10,128]");
	struct table *table;

	for (uint32_t i = 0; i < 20; i++) {
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		op->begin = 1000 * i + 100;
		op->dur = 1000 * i + 200;
		op->thread = op->end_thread = 1;
		op->op_name = name;
		op->op_shape = i < 19 ? full : part;
		step->time = 1000 * i;
		step->step = i;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_benchmark, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "batch_size"), 32);
	ck_assert_double_eq_tol(tables_cell(table, 0, "ips_avg")->number, 32e6, 1);
	ck_assert_ptr_nonnull(strstr(table->note, "The batch size is that of the inputs"));
	ck_assert_ptr_null(strstr(table->note, "Ips counts"));
	table_destroy(table);
}
END_TEST

static void add_op(struct gen *gen, uint32_t name, uint64_t begin, uint64_t end, uint8_t scope)
{
	struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

	op->begin = begin;
	op->dur = end;
	op->thread = op->end_thread = 1;
	op->op_name = name;
	op->scope = scope;
}

static void add_step(struct gen *gen, uint64_t time, uint64_t number)
{
	struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

	step->time = time;
	step->step = number;
}

static void add_window(struct gen *gen, uint64_t step, uint8_t state)
{
	struct gprof_row_window *window = gen_row(gen, GPROF_TABLE_window);

	window->time = 1000 * step;
	window->step = step;
	window->state = state;
}

/* Steps of 1000 ns with 100 in the loader, in a process without device records. */
static const char *loop(const char *name, uint32_t nr_steps, bool is_part)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint32_t loader = gen_op_name(gen, "enumerate(DataLoader)#x.__next__");
	uint32_t range = gen_op_name(gen, "the model");

	if (is_part) {
		add_window(gen, 0, GPROF_WINDOW_CLOSED);
		add_window(gen, 20, GPROF_WINDOW_RECORD);
		add_window(gen, 25, GPROF_WINDOW_CLOSED);
	}
	for (uint32_t i = 0; i < nr_steps; i++) {
		add_step(gen, 1000 * i, i);
		if (!is_part || (i >= 20 && i < 25)) {
			add_op(gen, loader, 1000 * i + 100, 1000 * i + 200, 0);
			add_op(gen, range, 1000 * i + 300, 1000 * i + 400, 7);
		}
	}
	gen_close(gen, "exit");
	return path;
}

START_TEST(steps_that_were_not_recorded_do_not_count)
{
	struct table *table = tables_of(&view_benchmark, loop("part.gprof", 31, true), false);

	ck_assert_uint_eq(tables_number(table, 0, "steps"), 5);
	ck_assert_uint_eq(tables_number(table, 0, "batch_cost_max_ns"), 1000);
	ck_assert_double_eq_tol(tables_cell(table, 0, "reader_ratio_pct")->number, 10, 1e-9);
	ck_assert_ptr_null(strstr(table->note, "excluded"));
	table_destroy(table);
}
END_TEST

static struct table *as_paddle(const char *path)
{
	struct process *process = streams_process(path);
	const struct view_input input = {
		.processes = &process, .nr_processes = 1, .has_all_steps = true};
	struct table *table = tables_with(&view_benchmark, &input);

	process_destroy(process);
	return table;
}

START_TEST(paddle_has_the_length_of_all_steps_but_the_first_ones)
{
	struct table *table = as_paddle(loop("part.gprof", 31, true));

	ck_assert_uint_eq(tables_number(table, 0, "steps"), 20);
	ck_assert_double_eq_tol(tables_cell(table, 0, "reader_ratio_pct")->number, 10, 1e-9);
	ck_assert_ptr_nonnull(strstr(table->note, "only the recorded steps"));
	ck_assert_ptr_nonnull(strstr(table->note, "As in Paddle, the first 10 steps are excluded"));
	table_destroy(table);
}
END_TEST

START_TEST(steps_before_the_first_event_have_their_own_start)
{
	struct table *table = tables_of(&view_steps, loop("part.gprof", 31, true), false);

	ck_assert_uint_eq(tables_number(table, 0, "start_ns"), 0);
	ck_assert_uint_eq(tables_number(table, 7, "start_ns"), 7000);
	ck_assert_uint_eq(tables_number(table, 22, "start_ns"), 22000);
	table_destroy(table);
}
END_TEST

START_TEST(an_end_that_was_none_ends_no_step)
{
	const char *path = streams_path("turns.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	gen_info(gen, "step.inner_end", "1000");
	for (uint32_t i = 0; i < 5; i++) {
		add_step(gen, 1000 * i, i);
	}
	gen_close(gen, "exit");
	table = tables_of(&view_steps, path, false);
	ck_assert_uint_eq(table->nr_rows, 4); /* the last one has no end */
	ck_assert_uint_eq(tables_number(table, 0, "step"), 0);
	ck_assert_uint_eq(tables_number(table, 1, "step"), 2); /* as in windows and hang reports */
	ck_assert_uint_eq(tables_number(table, 1, "start_ns"), 2000);
	ck_assert_uint_eq(tables_number(table, 1, "duration_ns"), 1000);
	table_destroy(table);
}
END_TEST

START_TEST(steps_are_shown_where_there_is_nothing_else)
{
	const char *path = streams_path("timer.gprof");
	struct gen *gen = gen_open(path);
	struct table *steps, *kernels;

	add_step(gen, 1000, 0);
	add_step(gen, 2000, 1);
	gen_close(gen, "exit");
	steps = tables_of(&view_steps, path, false);
	kernels = tables_of(&view_kernel, path, false);
	ck_assert(!steps->is_aside);
	ck_assert_uint_eq(tables_number(steps, 0, "duration_ns"), 1000);
	ck_assert_str_eq(
		kernels->note, "No GPU activities were recorded: no CUDA calls were recorded.");
	table_destroy(steps);
	table_destroy(kernels);
}
END_TEST

/* A step on the CPU of a program that asked for GPUs, with that result. */
static const char *without_gpu(int32_t result)
{
	static char note[128];
	const char *path = streams_path("cpu.gprof");
	struct gen *gen = gen_open(path);
	uint16_t call_id = gen_call(gen, "cudaGetDeviceCount", GPROF_API_RUNTIME);
	struct gprof_row_api *call = gen_row(gen, GPROF_TABLE_api);
	struct table *kernels;

	call->begin = 10;
	call->dur = 5;
	call->thread = 1;
	call->call = call_id;
	call->result = result;
	add_step(gen, 1000, 0);
	add_step(gen, 2000, 1);
	gen_close(gen, "exit");
	kernels = tables_of(&view_kernel, path, false);
	snprintf(note, sizeof(note), "%.*s", (int)table_note_length(kernels->note), kernels->note);
	table_destroy(kernels);
	return note;
}

START_TEST(a_program_that_found_no_gpu_has_none)
{
	ck_assert_str_eq(
		without_gpu(100), "No GPU: cudaGetDeviceCount failed (no CUDA-capable device).");
	ck_assert_str_eq(without_gpu(46), "No GPU: cudaGetDeviceCount failed (error 46).");
	ck_assert_str_eq(
		without_gpu(0), "No GPU activities were recorded: the reason is not recorded.");
}
END_TEST

START_TEST(a_first_step_alone_is_no_benchmark_of_paddle)
{
	struct table *table = as_paddle(loop("one.gprof", 2, false));

	ck_assert_uint_eq(tables_number(table, 0, "steps"), 0);
	ck_assert(!tables_cell(table, 0, "batch_cost_avg_ns")->is_known);
	ck_assert(!tables_cell(table, 0, "ips_avg")->is_known);
	table_destroy(table);
}
END_TEST

/* One process with a GPU and a batch size, and one without either. */
START_TEST(what_one_process_does_not_know_is_not_zero)
{
	struct process *two[2] = {streams_process(streams_ops("ops.gprof")),
		streams_process(loop("loop.gprof", 4, false))};
	struct table *table = tables_make(&view_benchmark, two, 2, false);
	size_t row;

	ck_assert_ptr_nonnull(strstr(table->note, "where Batch is known, else steps"));
	table_destroy(table);
	table = tables_make(&view_operator, two, 2, true);
	row = tables_find(table, "name", "enumerate(DataLoader)#x.__next__", 0);
	ck_assert(!tables_cell(table, row, "gpu_total_ns")->is_known);
	row = tables_find(table, "name", "aten::relu", 0);
	ck_assert_uint_eq(tables_number(table, row, "gpu_total_ns"), 0);
	table_destroy(table);
	table = tables_make(&view_user_ranges, two, 2, false);
	ck_assert_uint_eq(tables_number(table, 0, "calls"), 7);
	/* Of the three that are known: 60 and 20 us each. */
	ck_assert_double_eq_tol(tables_cell(table, 0, "gpu_avg_ns")->number, 80000, 1e-9);
	ck_assert_uint_eq(tables_number(table, 0, "gpu_min_ns"), 80000);
	table_destroy(table);
	table = tables_make(&view_steps, two, 2, false);
	ck_assert_uint_eq(tables_number(table, 1, "gpu_ns"), 180000);
	ck_assert_uint_eq(tables_number(table, 5, "dataloader_ns"), 100);
	ck_assert(!tables_cell(table, 5, "gpu_ns")->is_known);
	table_destroy(table);
	table = tables_make(&view_model, two, 2, false);
	ck_assert_uint_gt(tables_number(table, 0, "gpu_min_ns"), 0);
	table_destroy(table);
	process_destroy(two[0]);
	process_destroy(two[1]);
}
END_TEST

START_TEST(without_a_whole_step_there_is_no_share_of_steps)
{
	const char *path = streams_path("rows.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	add_step(gen, 0, 0);
	add_step(gen, 1000, 1);
	add_op(gen, gen_op_name(gen, "aten::mm"), 100, 200, 0);
	gen_close(gen, "exit");
	table = tables_of(&view_model, path, false);
	ck_assert(!tables_cell(table, 0, "ratio_pct")->is_known);
	ck_assert(!tables_cell(table, 1, "ratio_pct")->is_known);
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/benchmark", benchmark_counts_samples, the_batch_is_seen_in_shapes,
	steps_that_were_not_recorded_do_not_count,
	paddle_has_the_length_of_all_steps_but_the_first_ones,
	steps_before_the_first_event_have_their_own_start, an_end_that_was_none_ends_no_step,
	steps_are_shown_where_there_is_nothing_else, a_program_that_found_no_gpu_has_none,
	a_first_step_alone_is_no_benchmark_of_paddle, what_one_process_does_not_know_is_not_zero,
	without_a_whole_step_there_is_no_share_of_steps)
