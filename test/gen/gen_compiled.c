/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 1 ms that run two graphs of torch.compile, each in a module that Inductor generated:
 *
 *     forward   line 40    triton_poi_fused_add_relu_0     100 us, of two lines of code
 *               line 44    a kernel of cuBLAS               200 us, whose launch has a Python stack
 *                                                           in even steps
 *               line 52    triton_poi_fused_add_relu_0     100 us
 *     backward  line 31    triton_red_fused_sum_1           50 us
 *               line 35    triton_poi_fused_add_relu_0      20 us: another kernel, the same name
 *
 * and a kernel of the optimizer, which nothing compiled, for 30 us. Steps from 10 on run the
 * kernel of line 31 under the name that Triton gave it before 2.2. The kernel of line 35 has a
 * Python stack in even steps.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define US	 1000ull
#define STEP_US	 1000u
#define NR_STEPS 20u

enum { TRAIN = 1, FORWARD, BACKWARD };		 /* files */
enum { MODULE = 1, CALL, CALL_BACKWARD };	 /* functions */
enum { AT_12 = 1, AT_44, AT_35 };		 /* stacks */
enum { ADD_RELU = 1, GEMM, SUM, OLD_SUM, ADAM }; /* kernels */

static const char *const files[] = {
	[TRAIN] = "/nowhere/train.py",
	[FORWARD] = "/tmp/torchinductor_user/2u/"
		    "c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py",
	[BACKWARD] = "/tmp/torchinductor_user/o3/"
		     "co3wat6tiwap7yhb2rgnq5vh3wdhv5iotvitvfuuvphtkoljhflg.py",
};

static void add_shape(struct gen *gen, uint32_t id, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *row = gen_row(gen, GPROF_TABLE_shape);

	row->id = id;
	row->name = string;
	row->grid_x = 64;
	row->grid_y = row->grid_z = row->block_y = row->block_z = 1;
	row->block_x = 256;
}

static void add_call(struct gen *gen, uint32_t file, uint32_t line, const char *name,
	const char *operators, const char *nodes)
{
	uint32_t path = gen_string(gen, files[file]), name_id = gen_string(gen, name);
	uint32_t operators_id = gen_string(gen, operators);
	uint32_t nodes_id = nodes ? gen_string(gen, nodes) : 0;
	struct gprof_row_compiled_call *row = gen_row(gen, GPROF_TABLE_compiled_call);

	row->file = path;
	row->line = line;
	row->name = name_id;
	row->operators = operators_id;
	row->nodes = nodes_id;
}

static void add_definitions(struct gen *gen)
{
	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_thread(gen, 1, 4242, "python");
	gen_device(gen, 0, "NVIDIA Test 1");
	for (uint32_t file = TRAIN; file <= BACKWARD; file++) {
		gen_py_file(gen, file, files[file]);
	}
	gen_py_code(gen, MODULE, TRAIN, 1, "<module>");
	gen_py_code(gen, CALL, FORWARD, 20, "call");
	gen_py_code(gen, CALL_BACKWARD, BACKWARD, 20, "call");
	gen_py_stack(gen, AT_12, 0, MODULE, 12);
	gen_py_stack(gen, AT_44, AT_12, CALL, 44);
	gen_py_stack(gen, AT_35, AT_12, CALL_BACKWARD, 35);
	add_shape(gen, ADD_RELU, "triton_poi_fused_add_relu_0");
	add_shape(gen, GEMM, "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n");
	add_shape(gen, SUM, "triton_red_fused_sum_1");
	add_shape(gen, OLD_SUM, "triton_red_fused_sum_1_0d1d2de");
	add_shape(gen, ADAM, "multi_tensor_apply_kernel");
	add_call(gen, FORWARD, 40, "triton_poi_fused_add_relu_0", "aten.add, aten.relu", "h, h_1");
	add_call(gen, FORWARD, 44, "extern_kernels.addmm", "aten.t, aten.addmm", "linear");
	add_call(
		gen, FORWARD, 52, "triton_poi_fused_add_relu_0", "aten.add, aten.relu", "h_4, h_5");
	add_call(gen, BACKWARD, 31, "triton_red_fused_sum_1", "aten.sum", NULL);
	add_call(gen, BACKWARD, 35, "triton_poi_fused_add_relu_0",
		"aten.add, aten.threshold_backward", "add_3");
	add_call(gen, FORWARD, 44, "extern_kernels.addmm", "aten.t, aten.addmm",
		"linear"); /* again */
}

/* A launch that takes 5 us, and its kernel, which begins 10 us after it. */
static void launch(struct gen *gen, uint64_t at, uint32_t shape, uint32_t us, uint32_t py_stack,
	uint32_t correlation)
{
	uint64_t begin = at + 10 * US;
	struct gen_launched rows = gen_kernel(gen, at, begin, begin + us * US, correlation);

	rows.launch->shape = rows.kernel->shape = shape;
	rows.launch->py_stack = py_stack;
}

void gen_compiled(struct gen *gen)
{
	add_definitions(gen);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		uint64_t at = START_NS + i * STEP_US * US;
		uint32_t sum = i < NR_STEPS / 2 ? SUM : OLD_SUM, id = 6 * i;

		gen_step(gen, i, at);
		launch(gen, at, ADD_RELU, 100, 0, id + 1);
		launch(gen, at + 110 * US, GEMM, 200, i % 2 ? 0 : AT_44, id + 2);
		launch(gen, at + 320 * US, ADD_RELU, 100, 0, id + 3);
		launch(gen, at + 430 * US, sum, 50, 0, id + 4);
		launch(gen, at + 490 * US, ADD_RELU, 20, i % 2 ? 0 : AT_35, id + 5);
		launch(gen, at + 520 * US, ADAM, 30, AT_12, id + 6);
	}
	gen_step(gen, NR_STEPS, START_NS + NR_STEPS * STEP_US * US);
	gen_anchor(gen, START_NS + NR_STEPS * STEP_US * US, START_NS + NR_STEPS * STEP_US * US,
		START_NS + NR_STEPS * STEP_US * US + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
