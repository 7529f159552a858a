/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators and launches with Python stacks:
 *
 *     100-200 us  aten::conv2d, from forward, a kernel of 60 us by aten::mm in it (120-160 us)
 *     210-230 us  aten::add, from loss
 *     240-250 us  aten::relu, whose stack was not taken
 *     260-262 us  a launch from loss outside all operators, a kernel of 20 us
 *
 * in modules, Net_0 (90-255 us) and in it Conv2d_0 (95-205 us), and functions.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull

enum stack { NONE, MODULE, FORWARD, LOSS };

static uint64_t at(uint32_t us)
{
	return START_NS + us * 1000ull;
}

static void add_python(struct gen *gen)
{
	static const char *const files[] = {
		"train.py", "/usr/lib/python3/dist-packages/torch/nn/modules/conv.py"};

	for (uint32_t i = 0; i < 2; i++) {
		gen_py_file(gen, i + 1, files[i]);
	}
	gen_py_code(gen, 1, 1, 1, "<module>");
	gen_py_code(gen, 2, 2, 450, "forward");
	gen_py_code(gen, 3, 1, 5, "loss");
	gen_py_stack(gen, MODULE, NONE, 1, 9);
	gen_py_stack(gen, FORWARD, MODULE, 2, 463);
	gen_py_stack(gen, LOSS, MODULE, 3, 7);
}

static void op(struct gen *gen, const char *name, uint32_t begin, uint32_t end, uint16_t depth,
	enum stack stack)
{
	struct gprof_row_op *row = gen_op(gen, name, at(begin), at(end));

	row->depth = depth;
	row->py_stack = stack;
}

static void module(struct gen *gen, const char *name, uint32_t begin, uint32_t end, uint16_t depth)
{
	struct gprof_row_op *row = gen_op(gen, name, at(begin), at(end));

	row->depth = depth;
	row->framework = GPROF_FRAMEWORK_PYTHON;
	row->scope = GPROF_PYTHON_MODULE;
}

static void call(struct gen *gen, uint32_t code, uint32_t begin, uint32_t end)
{
	struct gprof_row_py_call *row = gen_row(gen, GPROF_TABLE_py_call);

	row->begin = at(begin);
	row->dur = at(end);
	row->thread = 1;
	row->py_code = code;
}

static void launch(
	struct gen *gen, uint32_t begin, uint32_t kernel_us, uint32_t correlation, enum stack stack)
{
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint16_t id = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	call->begin = at(begin);
	call->dur = at(begin + 2);
	call->thread = 1;
	call->call = id;
	call->correlation = correlation;
	call->py_stack = stack;
	kernel->begin = at(begin + 10) + GEN_CUPTI_OFFSET_NS;
	kernel->dur = kernel->begin + kernel_us * 1000ull;
	kernel->place = place;
	kernel->correlation = correlation;
}

void gen_python(struct gen *gen)
{
	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, at(1000), at(1000), at(1000) + GEN_CUPTI_OFFSET_NS);
	add_python(gen);
	launch(gen, 130, 60, 1, NONE);
	op(gen, "aten::mm", 120, 160, 1, FORWARD);
	op(gen, "aten::conv2d", 100, 200, 0, FORWARD);
	call(gen, 2, 98, 202);
	module(gen, "nn.Module: Conv2d_0", 95, 205, 1);
	op(gen, "aten::add", 210, 230, 0, LOSS);
	op(gen, "aten::relu", 240, 250, 0, NONE);
	module(gen, "nn.Module: Net_0", 90, 255, 0);
	launch(gen, 260, 20, 2, LOSS);
	call(gen, 1, 80, 270);
	gen_flush(gen);
}
