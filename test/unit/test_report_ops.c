/* SPDX-License-Identifier: Apache-2.0 */
/* The views over operators and samples. */
#include <stdlib.h>
#include <string.h>

#include "report/ops/flops.h"
#include "report/timeline/chrome.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

START_TEST(operators_have_their_own_time_and_that_of_what_they_launched)
{
	struct table *table = tables_of(&view_operator, streams_ops("ops.gprof"), false);
	size_t node = tables_find(table, "name", "MmBackward0", 0),
	       mm = tables_find(table, "name", "aten::mm", 0);

	ck_assert_uint_eq(tables_number(table, node, "self_ns"), 45000);
	ck_assert_uint_eq(tables_number(table, node, "total_ns"), 135000);
	ck_assert_uint_eq(tables_number(table, node, "gpu_self_ns"), 0);
	ck_assert_uint_eq(tables_number(table, node, "gpu_total_ns"), 270000);
	ck_assert_uint_eq(tables_number(table, mm, "calls"), 6);
	ck_assert_uint_eq(tables_number(table, mm, "gpu_self_ns"), 330000);
	ck_assert_uint_eq(tables_number(table, mm, "flops"), 6 * 2 * 4 * 16 * 10);
	for (size_t i = 0; i < table->nr_rows; i++) {
		ck_assert_str_ne(string_pool_text((uint32_t)tables_number(table, i, "name"), NULL),
			"the model");
	}
	table_destroy(table);
}
END_TEST

/* Flips a bit in a column of the first block of operators. */
static void damage(unsigned char *bytes, size_t nr_bytes, unsigned int column)
{
	size_t end, at = streams_block(bytes, nr_bytes, GPROF_TABLE_op, &end);
	struct gprof_column_entry entry = {0};
	struct gprof_block_header header;
	size_t frame;

	memcpy(&header, bytes + at, sizeof(header));
	at += sizeof(header);
	frame = at + header.nr_columns * sizeof(entry);
	for (unsigned int i = 0; i < header.nr_columns; i++) {
		memcpy(&entry, bytes + at + i * sizeof(entry), sizeof(entry));
		if (entry.column == column) {
			break;
		}
		frame += entry.stored_bytes;
	}
	ck_assert_uint_eq(entry.column, column);
	ck_assert_uint_gt(entry.stored_bytes, 0);
	bytes[frame + entry.stored_bytes - 1] ^= 1;
}

START_TEST(damage_in_a_column_that_no_view_wants_costs_no_operator)
{
	const char *path = streams_ops("ops.gprof");
	size_t nr_bytes;
	unsigned char *bytes = streams_read(path, &nr_bytes);
	struct table *table;

	damage(bytes, nr_bytes, COL_op_sequence);
	streams_write(path, bytes, nr_bytes);
	table = tables_of(&view_operator, path, false);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "aten::mm", 0), "calls"), 6);
	table_destroy(table);
	free(bytes);
}
END_TEST

START_TEST(operators_of_threads_by_themselves)
{
	struct table *table = tables_of(&view_operator, streams_ops("ops.gprof"), true);
	size_t a = tables_find(table, "name", "aten::mm", 0),
	       b = tables_find(table, "name", "aten::mm", 1);

	ck_assert_uint_eq(
		tables_number(table, a, "tid") + tables_number(table, b, "tid"), 2 * GEN_PID + 1);
	ck_assert_uint_eq(tables_number(table, a, "calls"), 3);
	ck_assert_str_eq(string_pool_text((uint32_t)tables_number(table, a, "shapes"), NULL),
		"float32[4,16], float32[16,10]");
	table_destroy(table);
}
END_TEST

START_TEST(phases_add_up_to_the_steps)
{
	struct table *model = tables_of(&view_model, streams_ops("ops.gprof"), false);
	struct table *steps = tables_of(&view_steps, streams_ops("ops.gprof"), false);
	uint64_t sum = 0;

	ck_assert_uint_eq(model->nr_rows, 1 + NR_PHASES);
	for (size_t i = 1; i < model->nr_rows; i++) {
		sum += tables_number(model, i, "total_ns");
	}
	ck_assert_uint_eq(sum, tables_number(model, 0, "total_ns"));
	ck_assert_uint_eq(
		tables_number(model, tables_find(model, "name", "Backward", 0), "gpu_total_ns"),
		270000);
	ck_assert_uint_eq(
		tables_number(model, tables_find(model, "name", "Optimization", 0), "calls"), 6);
	ck_assert_uint_eq(steps->nr_rows, 4);
	ck_assert_uint_eq(tables_number(steps, 0, "duration_ns"), 710000);
	ck_assert_uint_eq(tables_number(steps, 1, "duration_ns"), 1000000);
	ck_assert_uint_eq(tables_number(steps, 1, "forward_ns"), 190000);
	ck_assert_uint_eq(tables_number(steps, 1, "others_ns"), 350000);
	ck_assert_uint_eq(tables_number(steps, 1, "gpu_ns"), 180000);
	ck_assert(!tables_cell(steps, 3, "duration_ns")->is_known);
	table_destroy(model);
	table_destroy(steps);
}
END_TEST

START_TEST(samples_become_shares_of_time)
{
	struct table *table = tables_of(&view_utilization, streams_ops("ops.gprof"), false);
	size_t cpu = tables_find(table, "metric", "CPU(Process)", 0);
	size_t host = tables_find(table, "metric", "CPU(System)", 0);
	size_t gpu = tables_find(table, "metric", "busy, sampled", 0);

	ck_assert_double_eq_tol(tables_cell(table, cpu, "avg")->number, 150, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, host, "avg")->number, 50, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, gpu, "avg")->number, 15, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, gpu, "max")->number, 30, 1e-9);
	table_destroy(table);
}
END_TEST

START_TEST(waiting_for_data_is_told)
{
	struct table *table = tables_of(&view_data_loading, streams_ops("ops.gprof"), false);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "batches"), 3);
	ck_assert_uint_eq(tables_number(table, 0, "wait_ns"), 300000);
	ck_assert_uint_eq(tables_number(table, 0, "cpu_ns"), 4500000);
	/* Neither the loader's nor a user's range, but what lies in the latter. */
	ck_assert_uint_eq(tables_number(table, 0, "operators_ns"), 3 * 435000);
	table_destroy(table);
}
END_TEST

START_TEST(operations_of_some_calls_are_said_to_be_that)
{
	const char *path = streams_path("flops.gprof");
	struct gen *gen = gen_open(path);
	uint32_t mm = gen_op_name(gen, "aten::mm"), bmm = gen_op_name(gen, "aten::bmm");
	uint32_t shape = gen_op_shape(gen, "float32[2,3], float32[3,5]");
	uint32_t huge = gen_op_shape(gen,
		"float32[9223372036854775807,9223372036854775807,9223372036854775807], "
		"float32[9223372036854775807,9223372036854775807,9223372036854775807]");
	struct table *table;

	for (uint32_t i = 0; i < 4; i++) {
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

		op->begin = 100 * i;
		op->dur = 100 * i + 10;
		op->thread = op->end_thread = 1;
		op->op_name = i < 3 ? mm : bmm;
		op->op_shape = i < 2 ? shape : i == 3 ? huge : 0;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_operator, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "flops"), 120);
	ck_assert(!tables_cell(table, 0, "flops_per_s")->is_known);
	ck_assert_uint_eq(tables_number(table, 1, "flops"), UINT64_MAX);
	ck_assert_ptr_nonnull(strstr(view_column(&view_operator, "flops")->help,
		"of calls whose input shapes are known"));
	table_destroy(table);
}
END_TEST

START_TEST(metrics_of_a_newer_recorder_are_left_out)
{
	const char *path = streams_path("newer.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint32_t i = 0; i < 6; i++) {
		struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

		row->time = 1000 * (i / 2);
		row->metric = i % 2 ? 200 : GPROF_METRIC_HOST_CPU_BUSY_NS;
		row->device = 255;
		row->value = 100 * i;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_utilization, path, false);
	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
}
END_TEST

static double flops(const char *name, const char *shapes)
{
	double count = -1;

	return flops_of(string_pool_intern(name, strlen(name)),
		       string_pool_intern(shapes, strlen(shapes)), 0, &count)
		       ? count
		       : -1;
}

START_TEST(operations_are_counted_from_shapes)
{
	ck_assert_double_eq(flops("aten::mm", "float32[2,3], float32[3,5]"), 60);
	ck_assert_double_eq(
		flops("aten::addmm", "float32[5], float32[2,3], float32[3,5], scalar"), 60);
	ck_assert_double_eq(flops("aten::bmm", "bfloat16[7,2,3], bfloat16[7,3,5]"), 420);
	ck_assert_double_eq(
		flops("aten::baddbmm", "float32[7,2,5], float32[7,2,3], float32[7,3,5]"), 420);
	ck_assert_double_eq(
		flops("aten::convolution", "float32[4,3,8,8], float32[16,3,3,3], ?"), -1);
	ck_assert_double_eq(
		flops("aten::conv2d",
			"float32[4,3,32,32], float32[8,3,3,3], scalar, (2,2), (1,1), (1,1)"),
		442368);
	ck_assert_double_eq(
		flops("aten::conv2d",
			"float32[4,3,32,32], float32[8,3,3,3], float32[8], (1,1), (0,0), (2,2)"),
		1354752);
	ck_assert_double_eq(
		flops("aten::conv2d", /* without a batch */
			"float32[3,32,32], float32[8,3,3,3], scalar, (1,1), (0,0), (1,1)"),
		388800);
	ck_assert_double_eq(
		flops("aten::conv2d", /* padding="same" */
			"float32[4,3,32,32], float32[8,3,3,3], scalar, (1,1), scalar, (1,1)"),
		-1);
	ck_assert_double_eq(
		flops("aten::conv2d", /* larger than its input */
			"float32[4,3,2,2], float32[8,3,3,3], scalar, (1,1), (0,0), (1,1)"),
		-1);
	ck_assert_double_eq(
		flops("aten::conv_transpose2d",
			"float32[2,3,8,8], float32[3,4,3,3], scalar, (2,2), (0,0), (0,0)"),
		27648);
	ck_assert_double_eq(flops("aten::_scaled_dot_product_flash_attention",
				    "float16[2,4,8,16], float16[2,4,6,16], float16[2,4,6,32]"),
		2.0 * 2 * 4 * 8 * 6 * (16 + 32));
	ck_assert_double_eq(flops("aten::_scaled_dot_product_flash_attention_backward",
				    "float16[2,4,8,32], float16[2,4,8,16], float16[2,4,6,16], "
				    "float16[2,4,6,32], float16[2,4,8,32], float32[2,4,8], ?, ?"),
		2.0 * 2 * 4 * 8 * 6 * (3 * 16 + 2 * 32));
	ck_assert_double_eq(flops("aten::_scaled_dot_product_efficient_attention_backward",
				    "float16[2,4,8,16], float16[2,4,8,16], float16[2,4,6,16], "
				    "float16[2,4,6,16], ?, float16[2,4,8,16], float32[2,4,8], "
				    "int64[], int64[], scalar, (true,true,true,false), scalar, ?"),
		2.5 * flops("aten::_scaled_dot_product_efficient_attention",
			      "float16[2,4,8,16], float16[2,4,6,16], float16[2,4,6,16]"));
	ck_assert_double_eq(flops("aten::_scaled_dot_product_cudnn_attention_backward",
				    "float16[2,4,8,16], float16[2,4,8,16], float16[2,4,6,16]"),
		-1);
	ck_assert_double_eq(flops("aten::add", "float32[4,1,8], float32[3,1], scalar"), 96);
	ck_assert_double_eq(flops("aten::add", "float32[0,1], float32[1,5]"), 0);
	ck_assert_double_eq(flops("aten::relu", "float32[]"), 1);
	ck_assert_double_eq(flops("aten::mm", "float32[2,3], float32[4,5]"), -1);
	ck_assert_double_eq(flops("aten::mm", "float32[2,x], float32[3,5]"), -1);
	ck_assert_double_eq(flops("aten::mm", "float32[2,3"), -1);
	ck_assert_double_eq(flops("aten::mm", "float32[1,2,3,4,5,6,7,8,9]"), -1);
	ck_assert_double_eq(flops("aten::mm", ""), -1);
	ck_assert_double_eq(flops("aten::embedding", "float32[2,3], int64[3,5]"), -1);
}
END_TEST

/* The FLOPs of an operator called within another one; -1: none that the other one does not have. */
static double flops_within(const char *outer, const char *inner, const char *shapes)
{
	uint32_t shape = string_pool_intern(shapes, strlen(shapes));
	struct op around = {.name = string_pool_intern(outer, strlen(outer)), .shape = shape};
	struct op op = {.name = string_pool_intern(inner, strlen(inner)), .shape = shape};
	double count;

	op.parent = &around;
	return flops_of_op(&op, &count) ? count : -1;
}

START_TEST(backward_calls_count_a_forward_call_for_each_gradient)
{
	const char *transposed = "float32[2,4,17,17], float32[2,3,8,8], float32[3,4,3,3]";

	/* 4 images of 6 x 6 positions, each of 16 x 5 x 3 x 3 weights. */
	ck_assert_double_eq(flops("aten::convolution_backward",
				    "float32[4,16,6,6], float32[4,5,8,8], float32[16,5,3,3]"),
		2 * 2.0 * 4 * 36 * 16 * 45);
	ck_assert_double_eq(flops("aten::convolution_backward",
				    "float32[4,16,6,6], float32[4,3,8,8], float32[16,3,3,3]"),
		2.0 * 4 * 36 * 16 * 27); /* images need no gradient */
	ck_assert_double_eq(
		flops("aten::convolution_backward",
			"float32[4,16,6,6], float32[4,3,8,8], float32[16,3,3,3], (16), (1,1), "
			"(0,0), (1,1), scalar, (0,0), scalar, (true,true,true)"),
		2 * 2.0 * 4 * 36 * 16 * 27);
	ck_assert_double_eq(
		flops("aten::convolution_backward",
			"float32[4,16,6,6], float32[4,5,8,8], float32[16,5,3,3], scalar, (1,1), "
			"(0,0), (1,1), scalar, (0,0), scalar, (false,true,false)"),
		2.0 * 4 * 36 * 16 * 45);
	/* Each element of the input, 8 x 8, met all weights of its channel. */
	ck_assert_double_eq(flops("aten::convolution_backward", transposed), 27648);
	ck_assert_double_eq(flops("aten::cudnn_convolution_backward",
				    "float32[4,5,8,8], float32[4,16,6,6], float32[16,5,3,3]"),
		-1); /* operators inside it have them */
	ck_assert_double_eq(flops("aten::convolution_backward", "float32[4,16,6,6]"), -1);
	ck_assert_double_eq(flops("aten::convolution_backward",
				    "float32[4,16,6,6], float32[4,5,8,8], float32[16,5,3]"),
		-1);
	ck_assert_double_eq(flops("aten::mm", "float32[2,3], float32[3,5], (true,fal"), -1);
}
END_TEST

START_TEST(operations_of_an_operator_within_another_one_count_once)
{
	const char *image = "float32[4,3,8,8], float32[16,3,3,3], ?, (1,1), (1,1), (1,1)",
		   *numbers = "float32[10,10]";

	ck_assert_double_eq(flops_within("aten::conv2d", "aten::convolution", image), -1);
	ck_assert_double_eq(flops_within("aten::relu", "aten::clamp_min", numbers), -1);
	ck_assert_double_eq(flops_within("aten::relu_", "aten::clamp_min_", numbers), -1);
	ck_assert_double_eq(flops_within("aten::hardtanh", "aten::clamp_min", numbers), 100);
	ck_assert_double_eq(flops_within("aten::add", "aten::mul", numbers), 100);
}
END_TEST

/* The operator that made the node is the last that begins with its number. */
START_TEST(arrows_go_from_operators_to_their_nodes)
{
	struct process *process = streams_process(streams_ops("ops.gprof"));
	struct buf out = {0};
	size_t nr_begins = 0, nr_ends = 0;

	chrome_write(&process, 1, &(struct chrome_file){.name = "x"}, &out);
	buf_char(&out, '\0');
	for (const char *at = out.bytes; (at = strstr(at, "\"cat\": \"fwdbwd\"")); at++) {
		nr_begins += at[-4] == 's';
		nr_ends += at[-4] == 'f';
	}
	ck_assert_uint_eq(nr_begins, 3);
	ck_assert_uint_eq(nr_ends, 3);
	/* 220 us after the start of the first step, where aten::mm begins */
	ck_assert_ptr_nonnull(strstr(out.bytes,
		"\"fwdbwd\", \"id\": 1, \"pid\": 4242, \"tid\": 4242, \"ts\": 51200000220.000"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"cat\": \"cpu_op\", \"name\": \"aten::mm\""));
	ck_assert_ptr_nonnull(
		strstr(out.bytes, "\"cat\": \"user_annotation\", \"name\": \"the model\""));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"Bytes\": -1048576"));
	buf_fini(&out);
	process_destroy(process);
}
END_TEST

/* As DataParallel does it: autograd counts anew in each thread. */
START_TEST(arrows_begin_in_any_number_of_threads)
{
	const char *path = streams_path("threads.gprof");
	struct gen *gen = gen_open(path);
	uint32_t name = gen_op_name(gen, "aten::mm");
	struct process *process;
	struct buf out = {0};
	size_t nr_arrows = 0;

	for (uint32_t i = 0; i < 600; i++) {
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);
		uint32_t thread = i % 300 + 1;

		op->begin = 1000 * i;
		op->dur = op->begin + 10;
		op->op_name = name;
		op->sequence = 7;
		op->thread = op->end_thread = i < 300 ? thread : 1000;
		op->scope = i < 300 ? 0 : 1;
		if (i < 300) {
			op->framework_thread = thread;
		} else {
			op->forward_thread = thread;
		}
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	chrome_write(&process, 1, &(struct chrome_file){.name = "x"}, &out);
	buf_char(&out, '\0');
	for (const char *at = out.bytes; (at = strstr(at, "\"ph\": \"f\", \"cat\": \"fwdbwd\""));
		at++) {
		nr_arrows++;
	}
	ck_assert_uint_eq(nr_arrows, 300);
	buf_fini(&out);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/ops", operators_have_their_own_time_and_that_of_what_they_launched,
	damage_in_a_column_that_no_view_wants_costs_no_operator, operators_of_threads_by_themselves,
	phases_add_up_to_the_steps, samples_become_shares_of_time, waiting_for_data_is_told,
	operations_of_some_calls_are_said_to_be_that, metrics_of_a_newer_recorder_are_left_out,
	operations_are_counted_from_shapes, backward_calls_count_a_forward_call_for_each_gradient,
	operations_of_an_operator_within_another_one_count_once,
	arrows_go_from_operators_to_their_nodes, arrows_begin_in_any_number_of_threads)
