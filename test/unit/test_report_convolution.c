/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs of traces: of convolutions, where strides are lacking, and of what is captured. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/analysis/view.h"
#include "test/unit/report_tables.h"
#include "test/unit/report_traces.h"
#include "test/unit/unit.h"

/* An image of 32, 3 x 224 x 224, and 64 filters of 7 x 7 in steps of 2. */
#define IMAGE	"[32,3,224,224]"
#define FILTERS "[64,3,7,7]"
#define HALVED	"[32,64,112,112]"
#define FIRST	(2.0 * 32 * 112 * 112 * 64 * 3 * 7 * 7)

/* 128 filters of 3 x 3 on what the first makes, in steps of 1. */
#define INNER  "[128,64,3,3]"
#define SECOND (2.0 * 32 * 112 * 112 * 128 * 64 * 3 * 3)

static struct buf events;

static void add(
	const char *name, unsigned int tid, unsigned int us, unsigned int dur, const char *args)
{
	buf_printf(&events,
		"%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":7,\"tid\":%u,"
		"\"ts\":%u,\"dur\":%u,\"args\":{%s}}",
		events.nr_bytes ? "," : "[",
		strncmp(name, "ProfilerStep", 12) == 0 ? "user_annotation"
		: strncmp(name, "cuda", 4) == 0	       ? "cuda_runtime"
						       : "cpu_op",
		name, tid, us, dur, args);
}

/* All inputs are float32. */
static void add_op(const char *name, unsigned int us, unsigned int dur, const char *dims)
{
	char args[400];

	snprintf(args, sizeof(args),
		"\"Input Dims\":[%s],\"Input type\":[\"float\",\"float\",\"float\"]", dims);
	add(name, 9, us, dur, args);
}

/* As PyTorch nests them. */
static void add_convolution(unsigned int us, const char *dims)
{
	add_op("aten::conv2d", us, 9, dims);
	add_op("aten::convolution", us + 1, 7, dims);
	add_op("aten::_convolution", us + 2, 5, dims);
	add_op("aten::cudnn_convolution", us + 3, 3, dims);
}

static struct table *make(const struct view_class *class)
{
	struct table *table;

	buf_text(&events, "]");
	buf_char(&events, '\0');
	table = tables_of(class, traces_write("convolution.json", events.bytes), false);
	buf_fini(&events);
	events = (struct buf){0};
	return table;
}

/* Those of an operator; -1: unknown. */
static double flops(const struct table *table, const char *name)
{
	const struct table_cell *cell =
		tables_cell(table, tables_find(table, "name", name, 0), "flops");

	return cell->is_known ? cell->number : -1;
}

START_TEST(what_reads_the_output_next_tells_its_size)
{
	struct table *table;

	add_convolution(10, IMAGE "," FILTERS);
	add_op("aten::add", 20, 2, "[],[]"); /* batches that were counted */
	add_op("aten::batch_norm", 30, 9, HALVED ",[64],[64]");
	add_op("aten::native_batch_norm", 31, 7, HALVED ",[64],[64]");
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv2d"), FIRST);
	ck_assert_double_eq(flops(table, "aten::convolution"), -1); /* conv2d has them */
	table_destroy(table);
	/* One after the other, of which the second reads what the first made. */
	add_convolution(10, IMAGE "," FILTERS);
	add_op("aten::relu_", 20, 2, HALVED);
	add_convolution(30, HALVED "," INNER);
	add_op("aten::add_", 40, 2, "[32,128,112,112],[32,128,112,112]");
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv2d"), FIRST + SECOND);
	table_destroy(table);
}
END_TEST

START_TEST(what_no_stride_gives_is_no_output)
{
	struct table *table;

	add_convolution(10, IMAGE "," FILTERS);
	add_op("aten::relu", 20, 2, "[32,64,300,300]"); /* larger than the padded image */
	add_op("aten::relu", 25, 2, "[16,64,112,112]"); /* of other images */
	add_op("aten::relu", 30, 2, "[32,63,112,112]"); /* other channels */
	add_op("aten::relu", 35, 2, "[32,64]");
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv2d"), -1);
	ck_assert_ptr_nonnull(strstr(table->note, "neither their strides nor the sizes of their"));
	table_destroy(table);
	/* It may have been made smaller before the next convolution reads it, and afterwards. */
	add_convolution(10, IMAGE "," FILTERS);
	add_convolution(20, "[32,64,56,56],[64,64,3,3]");
	add_op("aten::relu_", 30, 2, "[32,64,56,56]");
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv2d"), 2.0 * 32 * 56 * 56 * 64 * 64 * 3 * 3);
	ck_assert_ptr_nonnull(strstr(table->note, "neither their strides nor the sizes of their"));
	table_destroy(table);
}
END_TEST

START_TEST(the_backward_call_tells_the_size)
{
	struct table *table;

	add_convolution(10, IMAGE "," FILTERS);
	add_op("aten::convolution_backward", 50, 9, HALVED "," IMAGE "," FILTERS);
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv2d"), FIRST);
	/* The gradient of an image is not asked for. */
	ck_assert_double_eq(flops(table, "aten::convolution_backward"), FIRST);
	table_destroy(table);
	/* Two sizes of the same inputs: what comes next decides. */
	add_convolution(10, HALVED "," INNER);
	add_op("aten::relu_", 20, 2, "[32,128,112,112]");
	add_op("aten::convolution_backward", 50, 9, "[32,128,112,112]," HALVED "," INNER);
	add_op("aten::convolution_backward", 60, 9, "[32,128,56,56]," HALVED "," INNER);
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv2d"), SECOND);
	ck_assert_double_eq(
		flops(table, "aten::convolution_backward"), 2 * SECOND + 2 * SECOND / 4);
	table_destroy(table);
}
END_TEST

/* Before PyTorch 1.11 an operator for each gradient, which are those that were asked for. */
START_TEST(each_gradient_counts_as_the_forward_call)
{
	struct table *table;

	add_convolution(10, HALVED "," INNER);
	add_op("aten::cudnn_convolution_backward", 50, 20, HALVED ",[32,128,112,112]," INNER);
	add_op("aten::cudnn_convolution_backward_input", 51, 3, "[],[32,128,112,112]," INNER);
	add_op("aten::cudnn_convolution_backward_weight", 56, 3, "[],[32,128,112,112]," HALVED);
	add_op("aten::cudnn_convolution_backward", 80, 20, HALVED ",[32,128,112,112]," INNER);
	add_op("aten::cudnn_convolution_backward_weight", 86, 3, "[],[32,128,112,112]," HALVED);
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv2d"), SECOND);
	ck_assert_double_eq(flops(table, "aten::cudnn_convolution_backward"), -1);
	ck_assert_double_eq(flops(table, "aten::cudnn_convolution_backward_input"), SECOND);
	ck_assert_double_eq(flops(table, "aten::cudnn_convolution_backward_weight"), 2 * SECOND);
	table_destroy(table);
}
END_TEST

/* Their weights lead from the output to the input, whose size is known. */
START_TEST(transposed_ones_need_no_strides)
{
	const double want = 2.0 * 32 * 56 * 56 * 128 * 64 * 3 * 3;
	struct table *table;

	add_op("aten::conv_transpose2d", 10, 9, "[32,128,56,56]," INNER);
	add_op("aten::convolution", 11, 7, "[32,128,56,56]," INNER);
	add_op("aten::cudnn_convolution_transpose_backward", 50, 20,
		"[32,128,56,56]," HALVED "," INNER);
	add_op("aten::cudnn_convolution_transpose_backward_weight", 56, 3,
		HALVED ",[32,128,56,56]");
	table = make(&view_operator);
	ck_assert_double_eq(flops(table, "aten::conv_transpose2d"), want);
	ck_assert_double_eq(flops(table, "aten::convolution"), -1);
	ck_assert_double_eq(
		flops(table, "aten::cudnn_convolution_transpose_backward_weight"), want);
	ck_assert_ptr_null(table->note);
	table_destroy(table);
}
END_TEST

START_TEST(the_mask_tells_which_gradients_are_computed)
{
	const char *const masks[] = {
		"[True, True, False]", "[False, True, True]", "[false, false, false]"};
	struct table *table;

	for (unsigned int i = 0; i < 3; i++) {
		char args[400];

		snprintf(args, sizeof(args),
			"\"Input Dims\":[[32,128,112,112]," HALVED "," INNER ",[],[],[],[],[]],"
			"\"Input type\":[\"float\",\"float\",\"float\"],"
			"\"Concrete Inputs\":[\"\",\"\",\"\",\"[128]\",\"[1, 1]\",\"[1, 1]\","
			"\"[1, 1]\",\"%s\"]",
			masks[i]);
		add("aten::convolution_backward", 9, 10, 5, args);
		table = make(&view_operator);
		ck_assert_double_eq(flops(table, "aten::convolution_backward"), (2 - i) * SECOND);
		table_destroy(table);
	}
}
END_TEST

/* The first screen has no FLOP/s where a convolution of the steps has no FLOPs. */
START_TEST(without_sizes_there_is_no_utilization)
{
	struct table *table;

	add("ProfilerStep#1", 9, 0, 1000, "");
	add_convolution(10, IMAGE "," FILTERS);
	add_op("aten::mm", 30, 9, "[100,100],[100,100]");
	table = make(&view_headline);
	ck_assert(!tables_cell(table, 0, "flops_per_s")->is_known);
	ck_assert(!tables_cell(table, 0, "mfu_pct")->is_known);
	ck_assert_ptr_nonnull(strstr(
		table->figure, "\nCompute n/a (strides of convolutions are not recorded)\n"));
	table_destroy(table);
	add("ProfilerStep#1", 9, 0, 1000, "");
	add_convolution(10, IMAGE "," FILTERS);
	add_op("aten::relu_", 30, 9, HALVED);
	table = make(&view_headline);
	ck_assert_double_eq_tol(tables_cell(table, 0, "flops_per_s")->number,
		(FIRST + 32 * 64 * 112 * 112) / 1e-3, FIRST);
	ck_assert_ptr_null(strstr(table->figure, "n/a"));
	table_destroy(table);
}
END_TEST

/* Traces show captures by their calls alone. Other threads may capture in between, too. */
START_TEST(an_operator_that_is_captured_computes_nothing)
{
	const double one = 2.0 * 100 * 100 * 100;
	struct table *table;

	for (unsigned int i = 0; i < 2; i++) {
		add("ProfilerStep#1", 9, 0, 1000, "");
		add_op("aten::mm", 10, 9, "[100,100],[100,100]");
		add("cudaStreamBeginCapture", 9, 100, 2, "\"correlation\":1");
		add_op("aten::mm", 110, 9, "[100,100],[100,100]");
		add("aten::mm", 10, 130, 9,
			"\"Input Dims\":[[100,100],[100,100]],\"Input "
			"type\":[\"float\",\"float\"]");
		add("cudaStreamEndCapture", 9, 200, 2, "\"correlation\":2");
		add_op("aten::mm", 210, 9, "[100,100],[100,100]");
		table = make(i ? &view_operator : &view_headline);
		if (i) {
			ck_assert_double_eq(flops(table, "aten::mm"), 2 * one);
		} else {
			ck_assert_double_eq_tol(
				tables_cell(table, 0, "flops_per_s")->number, 2 * one / 1e-3, one);
		}
		table_destroy(table);
	}
}
END_TEST

UNIT_SUITE("report/convolution", what_reads_the_output_next_tells_its_size,
	what_no_stride_gives_is_no_output, the_backward_call_tells_the_size,
	each_gradient_counts_as_the_forward_call, an_operator_that_is_captured_computes_nothing,
	transposed_ones_need_no_strides, the_mask_tells_which_gradients_are_computed,
	without_sizes_there_is_no_utilization)
