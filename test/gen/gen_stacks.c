/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 1,000 us of a C++ program, whose calls of CUDA have native stacks:
 *
 *       0-5 us     a launch in launch_add, below forward and main; its kernel runs from 20 to 220
 * us 10-400 us    it waits for the stream in wait_for_loss, which libcudart's own frame is inside
 * of 500-505 us   a launch without a stack; its kernel runs from 510 to 900 us 910-960 us   a copy
 * in save_loss, whose outer frames are unknown
 *
 * The stacks have their names, as another profiler would give them, and files that nobody has.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define NR_STEPS 25u

enum {
	STACK_MAIN = 1,
	STACK_FORWARD,
	STACK_LAUNCH,
	STACK_WAIT,
	STACK_RUNTIME,
	STACK_OUTER,
	STACK_SAVE
};

static uint32_t add_file(struct gen *gen, uint32_t id, const char *path)
{
	uint32_t name = gen_string(gen, path);
	struct gprof_row_code_file *row = gen_row(gen, GPROF_TABLE_code_file);

	row->id = id;
	row->path = name;
	return id;
}

static void add_stack(
	struct gen *gen, uint32_t id, uint32_t parent, uint32_t file, const char *function)
{
	uint32_t name = gen_string(gen, function);
	struct gprof_row_native_stack *row = gen_row(gen, GPROF_TABLE_native_stack);

	row->id = id;
	row->parent = parent;
	row->code_file = file;
	row->address = 0x1000 + 16 * id;
	row->name = name;
}

static void add_stacks(struct gen *gen)
{
	uint32_t program = add_file(gen, 1, "/nowhere/train");
	uint32_t runtime = add_file(gen, 2, "/nowhere/libcudart.so.13");

	add_stack(gen, STACK_MAIN, 0, program, "main");
	add_stack(gen, STACK_FORWARD, STACK_MAIN, program, "_ZN5model7forwardEv");
	add_stack(gen, STACK_LAUNCH, STACK_FORWARD, program, "launch_add");
	add_stack(gen, STACK_WAIT, STACK_MAIN, program, "wait_for_loss");
	add_stack(gen, STACK_RUNTIME, STACK_WAIT, runtime, "cudaStreamSynchronize_ptsz");
	add_stack(gen, STACK_OUTER, 0, 0, GPROF_NATIVE_STACK_OUTER);
	add_stack(gen, STACK_SAVE, STACK_OUTER, program, "save_loss");
}

static void add_wait(struct gen *gen, uint64_t begin)
{
	uint16_t call = gen_call(gen, "cudaStreamSynchronize", GPROF_API_RUNTIME);
	struct gprof_row_api_sync *row = gen_row(gen, GPROF_TABLE_api_sync);

	row->begin = begin;
	row->dur = begin + 390000;
	row->thread = 1;
	row->call = call;
	row->native_stack = STACK_RUNTIME;
}

static void add_copy(struct gen *gen, uint64_t begin)
{
	uint16_t call = gen_call(gen, "cudaMemcpy", GPROF_API_RUNTIME);
	struct gprof_row_api_copy *row = gen_row(gen, GPROF_TABLE_api_copy);

	row->begin = begin;
	row->dur = begin + 50000;
	row->thread = 1;
	row->call = call;
	row->copy_kind = 2;
	row->bytes = 4;
	row->native_stack = STACK_SAVE;
}

void gen_stacks(struct gen *gen)
{
	uint64_t at = START_NS;

	gen_info_bytes(gen, "process.command", "./train", 7);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_info(gen, "config.GPROF_LAUNCH_STACKS", "all");
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	add_stacks(gen);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		uint64_t gpu = at + 20000;

		gen_step(gen, i, at);
		gen_kernel(gen, at, gpu, gpu + 200000, 2 * i + 1).launch->native_stack =
			STACK_LAUNCH;
		add_wait(gen, at + 10000);
		gen_launch(gen, at + 500000, 10, 390, 2 * i + 2);
		add_copy(gen, at + 910000);
		at += 1000000;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
