/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 1 ms that run what torch.compile compiled. Their GPU works from 0.11 to 0.31 ms and from
 * 0.61 to 0.90 ms:
 *
 *     0.05-0.20 ms    the code, "Torch-Compiled Region: 0/N", with a launch at 0.10 ms; its
 *                     CompiledFunction has inputs whose size changes with each version
 *     0.40-0.70 ms    its backward pass, CompiledFunctionBackward, with a launch at 0.60 ms
 *
 * Steps 0, 8, 14 and 20 compile first: 30 ms before the code and 10 ms in the backward pass, by
 * which all that follows comes later. Of the 30 ms
 *
 *      4 ms    are bytecode_tracing, with an aten::mm that computes nothing,
 *     20 ms    compile_fx_inner, of these 15 ms async_compile.wait, while another thread is in
 *              compile_file, and 1 ms a launch that measures a kernel: it runs for 0.5 ms.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define US	 1000ull
#define NR_STEPS 25u
#define POOL	 2u /* a thread */

enum { FUNCTION, BACKWARD, USER = 7 }; /* scopes of PyTorch */

static struct gprof_row_op *add(struct gen *gen, uint8_t depth, uint8_t scope, const char *name,
	uint64_t at, uint64_t dur_us)
{
	struct gprof_row_op *row = gen_op(gen, name, at, at + dur_us * US);

	row->scope = scope;
	row->depth = depth;
	return row;
}

/* Inner ranges end first. */
static void compile_forward(struct gen *gen, uint64_t at, uint32_t step)
{
	struct gprof_row_op *row;

	add(gen, 2, FUNCTION, "aten::mm", at + 1000 * US, 100);
	add(gen, 1, USER, "bytecode_tracing (dynamo_timed)", at + 500 * US, 4000);
	gen_launch(gen, at + 8000 * US, 20, 500, 1000 + step);
	row = add(gen, 0, USER, "compile_file (dynamo_timed)", at + 10000 * US, 14000);
	row->thread = row->end_thread = POOL;
	add(gen, 2, USER, "async_compile.wait (dynamo_timed)", at + 9500 * US, 15000);
	add(gen, 1, USER, "compile_fx_inner (dynamo_timed)", at + 6000 * US, 20000);
	add(gen, 0, USER, "_compile.compile_inner (dynamo_timed)", at, 30000);
}

void gen_compile(struct gen *gen)
{
	static const char *const codes[] = {"Torch-Compiled Region: 0/0",
		"Torch-Compiled Region: 0/1", "Torch-Compiled Region: 0/2",
		"Torch-Compiled Region: 0/3"};
	static const char *const inputs[] = {"float32[8,64], float32[16,64]",
		"float32[8,64], float32[24,64]", "float32[8,64], float32[32,64]",
		"float32[8,64], float32[32,64], float32[64]"};
	uint64_t at = START_NS;
	unsigned int nr = 0; /* versions so far */

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		bool compiles = i == 0 || (i > 6 && i % 6 == 2);
		uint64_t begin, dur_us;

		gen_step(gen, i, at);
		if (compiles) {
			compile_forward(gen, at + 10 * US, i);
			at += 30000 * US;
			nr++;
		}
		gen_launch(gen, at + 100 * US, 10, 200, 2 * i + 1);
		add(gen, 1, FUNCTION, "CompiledFunction", at + 60 * US, 130)->op_shape =
			gen_op_shape(gen, inputs[nr - 1]);
		add(gen, 0, FUNCTION, codes[nr - 1], at + 50 * US, 150);
		begin = at + 400 * US;
		if (compiles) {
			add(gen, 2, USER, "backward._backward_impl (dynamo_timed)", begin + 10 * US,
				10000);
			at += 10000 * US;
		}
		gen_launch(gen, at + 600 * US, 10, 290, 2 * i + 2);
		dur_us = (at + 700 * US - begin) / US;
		add(gen, 1, BACKWARD, "CompiledFunctionBackward", begin, dur_us);
		add(gen, 0, FUNCTION,
			"autograd::engine::evaluate_function: CompiledFunctionBackward", begin,
			dur_us);
		at += 1000 * US;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
