/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and kernels beside the peaks of an A100, computed by hand. */
#include <string.h>

#include "report/analysis/view.h"
#include "report/model/gpu_peak.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define A100_HALF   312e12
#define A100_SINGLE 19.5e12
#define A100_MEMORY 1555e9

static const struct expected {
	const char *name, *shape, *inner; /* inner: one that launches the kernel */
	double flops, bytes, gpu_ns, peak;
} expected[] = {
	{"aten::mm", "bfloat16[1000,2000], bfloat16[2000,3000]", NULL, 2.0 * 1000 * 2000 * 3000,
		2 * (2e6 + 6e6 + 3e6), 100000, A100_HALF},
	{"aten::add", "float32[1000,1000], float32[1000,1000], scalar", NULL, 1e6, 4 * 3e6, 10000,
		A100_SINGLE},
	/* 8 channels of 32 x 32 from 3 x 3 x 3 weights each, of 4 pictures; and a bias. */
	{"aten::conv2d",
		"float32[4,3,32,32], float32[8,3,3,3], float32[8], (1,1), (1,1), (1,1), scalar",
		"aten::cudnn_convolution", 2.0 * 4 * 8 * 32 * 32 * 27,
		4.0 * (4 * 3 * 32 * 32 + 8 * 27 + 8 + 4 * 8 * 32 * 32), 5000, A100_SINGLE},
	/* Each of 2 x 4 heads: 8 x 10 products of 16, and as many of 12. */
	{"aten::_scaled_dot_product_flash_attention",
		"float16[2,4,8,16], float16[2,4,10,16], float16[2,4,10,12], scalar", NULL,
		2.0 * 2 * 4 * 8 * 10 * (16 + 12),
		2.0 * 2 * 4 * (8 * 16 + 10 * 16 + 10 * 12 + 8 * 12), 1000, A100_HALF},
	/* Counted once, though both are known. */
	{"aten::relu_", "float32[500000]", "aten::clamp_min_", 5e5, 4 * 1e6, 4000, A100_SINGLE},
};
#define NR_EXPECTED (sizeof(expected) / sizeof(expected[0]))

static void add_attribute(struct gen *gen, const char *name, uint64_t value)
{
	uint32_t id = gen_string(gen, name);
	struct gprof_row_attribute *row = gen_row(gen, GPROF_TABLE_attribute);

	row->name = id;
	row->value = value;
}

static void add_op(struct gen *gen, const char *name, const char *shape, uint64_t begin,
	uint64_t end, uint16_t depth)
{
	uint32_t shape_id = gen_op_shape(gen, shape);
	struct gprof_row_op *row = gen_op(gen, name, begin, end);

	row->op_shape = shape_id;
	row->depth = depth;
}

static void add_sample(struct gen *gen, uint64_t time, unsigned int metric, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = time;
	row->metric = (uint8_t)metric;
	row->value = value;
}

/* Counters of GPU 0 every 2 us: in the kernels that begin at `at`, the tensor cores work. */
static void add_counters(struct gen *gen, uint64_t begin, uint64_t ns, uint64_t tensor)
{
	for (uint64_t end = begin + 2000; end <= begin + ns; end += 2000) {
		add_sample(gen, end, GPROF_METRIC_GPU_MEANS_NS, 2000);
		add_sample(gen, end, GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT, tensor);
		add_sample(gen, end, GPROF_METRIC_GPU_DRAM_MILLI_PERCENT, 30000);
	}
}

static const char *write_these(
	const char *gpu, unsigned int capability, const struct expected *these, uint32_t nr)
{
	const char *path = streams_path("roofline.gprof");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7), name = gen_string(gen, "gemm_kernel");
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);

	shape->id = 1;
	shape->name = name;
	gen_device(gen, 0, gpu);
	add_attribute(gen, "multiprocessors", 108);
	add_attribute(gen, "capability_major", capability);
	add_attribute(gen, "capability_minor", 0);
	gen_anchor(gen, 0, 0, 0);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t at = 1000000 * (i + 1);
		struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);
		struct gprof_row_kernel *kernel;

		call->begin = at + 100;
		call->dur = at + 200;
		call->thread = 1;
		call->call = launch;
		call->correlation = i + 1;
		kernel = gen_row(gen, GPROF_TABLE_kernel);
		kernel->begin = at + 1000;
		kernel->dur = at + 1000 + (uint64_t)these[i].gpu_ns;
		kernel->place = place;
		kernel->shape = 1;
		kernel->correlation = i + 1;
		if (these[i].inner) {
			add_op(gen, these[i].inner, these[i].shape, at + 50, at + 400, 1);
		}
		add_op(gen, these[i].name, these[i].shape, at, at + 500, 0);
	}
	/* mm has 10 samples of 100 us, the convolution, whose kernel an inner one launches, 2. */
	add_counters(gen, 1001000, 20000, 80000);
	add_counters(gen, 3001000, 4500, 50000);
	gen_close(gen, "exit");
	return path;
}

static const char *write_ops(const char *gpu)
{
	return write_these(gpu, 8, expected, NR_EXPECTED);
}

static double number(const struct table *table, size_t row, const char *key)
{
	ck_assert(tables_cell(table, row, key)->is_known);
	return tables_cell(table, row, key)->number;
}

START_TEST(operators_are_beside_the_roofs_of_their_type)
{
	struct table *table = tables_of(&view_roofline, write_ops("NVIDIA A100-SXM4-40GB"), false);
	size_t nr_operators = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		nr_operators += !strcmp(tables_cell(table, i, "kind")->text, "operator");
	}
	ck_assert_uint_eq(nr_operators, NR_EXPECTED);
	for (size_t i = 0; i < NR_EXPECTED; i++) {
		size_t row = tables_find(table, "name", expected[i].name, 0);
		double compute_ns = expected[i].flops / expected[i].peak * 1e9;
		double memory_ns = expected[i].bytes / A100_MEMORY * 1e9, ns = expected[i].gpu_ns;
		double least_ns = compute_ns > memory_ns ? compute_ns : memory_ns;

		ck_assert_double_eq_tol(number(table, row, "flops"), expected[i].flops, 1e-6);
		ck_assert_double_eq_tol(number(table, row, "bytes"), expected[i].bytes, 1e-6);
		ck_assert_double_eq_tol(number(table, row, "flops_per_byte"),
			expected[i].flops / expected[i].bytes, 1e-9);
		ck_assert_double_eq_tol(number(table, row, "roof_pct"), 100 * least_ns / ns, 1e-6);
		ck_assert_str_eq(tables_cell(table, row, "bound")->text,
			compute_ns > memory_ns ? "compute" : "memory");
	}
	/* By hand: 12 GFLOP at 312 TFLOP/s are 38.46 us of 100; 12 MB at 1555 GB/s 7.717 of 10. */
	ck_assert_double_eq_tol(
		number(table, tables_find(table, "name", "aten::mm", 0), "roof_pct"), 38.4615,
		1e-3);
	ck_assert_double_eq_tol(
		number(table, tables_find(table, "name", "aten::add", 0), "roof_pct"), 77.1704,
		1e-3);
	ck_assert_ptr_nonnull(strstr(table->note, "take 100.0 % of the GPU time"));
	ck_assert_ptr_nonnull(strstr(table->note, "312.0 TFLOP/s"));
	ck_assert_ptr_nonnull(strstr(table->note, "NVIDIA A100 Tensor Core GPU data sheet"));
	table_destroy(table);
}
END_TEST

START_TEST(measurements_are_beside_what_is_estimated)
{
	struct table *table = tables_of(&view_roofline, write_ops("NVIDIA A100-SXM4-40GB"), false);
	size_t mm = tables_find(table, "name", "aten::mm", 0);
	size_t convolution = tables_find(table, "name", "aten::conv2d", 0);
	size_t add = tables_find(table, "name", "aten::add", 0);
	size_t kernel = tables_find(table, "name", "gemm_kernel", 0);

	ck_assert_double_eq_tol(number(table, mm, "measured_tensor_pct"), 80, 1e-4);
	ck_assert_double_eq_tol(number(table, mm, "measured_bandwidth_pct"), 30, 1e-4);
	ck_assert_double_eq_tol(number(table, mm, "sampled_pct"), 20, 1e-9);
	ck_assert_double_eq_tol(number(table, kernel, "measured_tensor_pct"), 80, 1e-4);
	ck_assert_double_eq_tol(number(table, kernel, "sampled_pct"), 20, 1e-9);
	ck_assert_double_eq_tol(number(table, convolution, "measured_tensor_pct"), 50, 1e-4);
	ck_assert_double_eq_tol(number(table, convolution, "sampled_pct"), 80, 1e-9);
	ck_assert(!tables_cell(table, add, "measured_tensor_pct")->is_known);
	ck_assert_double_eq_tol(number(table, add, "sampled_pct"), 0, 1e-9);
	table_destroy(table);
}
END_TEST

START_TEST(kernels_that_run_an_operator_alone_have_its_figures)
{
	struct table *table = tables_of(&view_roofline, write_ops("NVIDIA A100-SXM4-40GB"), false);
	size_t brain = tables_find(table, "name", "gemm_kernel", 0);
	size_t single = tables_find(table, "name", "gemm_kernel", 1);
	size_t half = tables_find(table, "name", "gemm_kernel", 2);

	/* One row a type: that of mm, of add and clamp_min_, and of attention. */
	ck_assert_uint_eq(table->nr_rows, NR_EXPECTED + 3);
	ck_assert_str_eq(tables_cell(table, brain, "type")->text, "bfloat16");
	ck_assert_uint_eq(tables_number(table, brain, "calls"), 1);
	ck_assert_double_eq_tol(number(table, brain, "flops"), expected[0].flops, 1e-6);
	ck_assert_str_eq(tables_cell(table, half, "type")->text, "float16");
	ck_assert_uint_eq(tables_number(table, half, "calls"), 1);
	ck_assert_double_eq_tol(number(table, half, "flops"), expected[3].flops, 1e-6);
	ck_assert_uint_eq(tables_number(table, single, "calls"), 2);
	ck_assert_double_eq_tol(
		number(table, single, "bytes"), expected[1].bytes + expected[4].bytes, 1e-6);
	table_destroy(table);
}
END_TEST

START_TEST(a_gpu_that_is_not_known_has_no_roof)
{
	struct table *table = tables_of(&view_roofline, write_ops("NVIDIA Test 1"), false);

	for (size_t i = 0; i < table->nr_rows; i++) {
		ck_assert(!tables_cell(table, i, "roof_pct")->is_known);
		ck_assert(tables_cell(table, i, "flops_per_byte")->is_known);
	}
	ck_assert_ptr_nonnull(strstr(table->note,
		"NVIDIA Test 1: peak FLOP/s not known, peak bandwidth of memory not known."));
	table_destroy(table);
	/* A seventh of it: no clock is recorded, and that of the whole does not say more. */
	table = tables_of(&view_roofline, write_ops("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), false);
	ck_assert_ptr_null(strstr(table->note, "data sheet"));
	table_destroy(table);
	tables_of_nonsense(&view_roofline, false);
	tables_of_nonsense(&view_roofline, true);
}
END_TEST

/* TF32 came with compute capability 8.0. */
START_TEST(only_gpus_that_have_tf32_may_compute_in_it)
{
	static const struct expected fast = {
		"aten::mm", "float32[1000,2000], float32[2000,3000]", NULL, 0, 0, 100000, 0};
	struct table *table =
		tables_of(&view_roofline, write_these("NVIDIA A100-SXM4-40GB", 8, &fast, 1), false);

	ck_assert_double_gt(number(table, 0, "roof_pct"), 100);
	ck_assert_ptr_nonnull(strstr(table->note, "convolutions do), or computes in a faster type "
						  "(TF32)."));
	table_destroy(table);
	table = tables_of(&view_roofline, write_these("Tesla V100-DGXS-32GB", 7, &fast, 1), false);
	ck_assert_double_gt(number(table, 0, "roof_pct"), 100);
	ck_assert_ptr_nonnull(strstr(table->note, "(as Winograd convolutions do)."));
	ck_assert_ptr_null(strstr(table->note, "TF32"));
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/roofline", only_gpus_that_have_tf32_may_compute_in_it,
	operators_are_beside_the_roofs_of_their_type, measurements_are_beside_what_is_estimated,
	kernels_that_run_an_operator_alone_have_its_figures, a_gpu_that_is_not_known_has_no_roof)
