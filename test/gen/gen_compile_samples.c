/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 40 ms whose GPU computes for 20 ms, of a program that compiles again and marks nothing.
 * Samples of the loop's thread show it, each 10 ms on a CPU and each 20 ms while it waits:
 *
 *     steps 0, 12, 16, 20  JAX traces, lowers and compiles, 300 ms, called from line 31; in 16 the
 *                          frames of two samples were not read
 *     step 14              Triton tunes a kernel, 60 ms, called from line 44 of ops.py
 *     step 18              a compilation of two samples, which is too short
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define MS	 1000000ull
#define NR_STEPS 24u
#define LOOP_TID 4242u
#define PACKAGES "/nowhere/lib/python3.12/site-packages"

enum { TRAIN = 1, OPS, PJIT, PARTIAL_EVAL, PXLA, COMPILER, TUNER, TRITON }; /* files */
enum { MODULE = 1, STEP, NORM, CACHE_MISS, TRACE, LOWER, COMPILE, BENCH, TRITON_COMPILE };
enum { /* stacks */
	AT_31 = 1,
	AT_33,
	AT_44,
	MISSES,
	TRACES,
	CALLS_STEP,
	LOWERS,
	COMPILES,
	TUNES,
	COMPILES_KERNEL,
};

static void add_definitions(struct gen *gen)
{
	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_thread(gen, 1, LOOP_TID, "python");
	gen_py_file(gen, TRAIN, "/nowhere/train.py");
	gen_py_file(gen, OPS, "/nowhere/ops.py");
	gen_py_file(gen, PJIT, PACKAGES "/jax/_src/pjit.py");
	gen_py_file(gen, PARTIAL_EVAL, PACKAGES "/jax/_src/interpreters/partial_eval.py");
	gen_py_file(gen, PXLA, PACKAGES "/jax/_src/interpreters/pxla.py");
	gen_py_file(gen, COMPILER, PACKAGES "/jax/_src/compiler.py");
	gen_py_file(gen, TUNER, PACKAGES "/triton/runtime/autotuner.py");
	gen_py_file(gen, TRITON, PACKAGES "/triton/compiler/compiler.py");
	gen_py_code(gen, MODULE, TRAIN, 1, "<module>");
	gen_py_code(gen, STEP, TRAIN, 10, "step");
	gen_py_code(gen, NORM, OPS, 40, "norm");
	gen_py_code(gen, CACHE_MISS, PJIT, 251, "cache_miss");
	gen_py_code(gen, TRACE, PARTIAL_EVAL, 2269, "trace_to_jaxpr");
	gen_py_code(gen, LOWER, PXLA, 955, "lower_sharding_computation");
	gen_py_code(gen, COMPILE, COMPILER, 387, "compile_or_get_cached");
	gen_py_code(gen, BENCH, TUNER, 148, "_bench");
	gen_py_code(gen, TRITON_COMPILE, TRITON, 226, "compile");
	gen_py_stack(gen, AT_31, 0, MODULE, 31);
	gen_py_stack(gen, AT_33, 0, MODULE, 33);
	gen_py_stack(gen, AT_44, AT_33, NORM, 44);
	gen_py_stack(gen, MISSES, AT_31, CACHE_MISS, 270);
	gen_py_stack(gen, TRACES, MISSES, TRACE, 2300);
	gen_py_stack(gen, CALLS_STEP, TRACES, STEP, 12);
	gen_py_stack(gen, LOWERS, MISSES, LOWER, 1000);
	gen_py_stack(gen, COMPILES, MISSES, COMPILE, 450);
	gen_py_stack(gen, TUNES, AT_44, BENCH, 184);
	gen_py_stack(gen, COMPILES_KERNEL, TUNES, TRITON_COMPILE, 300);
}

/* A sample at that time. Returns the time of the next one. */
static uint64_t run(struct gen *gen, uint64_t at, uint32_t stack)
{
	uint32_t name = gen_string(gen, "python");
	struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

	row->time = at;
	row->ns = 10 * MS;
	row->task = LOOP_TID;
	row->name = name;
	row->py_stack = stack;
	return at + 10 * MS;
}

static uint64_t wait(struct gen *gen, uint64_t at, uint32_t stack)
{
	uint32_t call = gen_string(gen, "futex"), name = gen_string(gen, "python");
	struct gprof_row_wait_sample *row = gen_row(gen, GPROF_TABLE_wait_sample);

	row->time = at + 10 * MS;
	row->ns = 20 * MS;
	row->task = LOOP_TID;
	row->name = name;
	row->syscall = call;
	row->kind = GPROF_OS_WAIT;
	row->py_stack = stack;
	return at + 20 * MS;
}

/* 300 ms, from 10 ms before `at` on. */
static uint64_t jax_compiles(struct gen *gen, uint64_t at, bool is_unread)
{
	for (uint32_t i = 0; i < 4; i++) {
		at = run(gen, at, CALLS_STEP);
	}
	for (uint32_t i = 0; i < 2; i++) {
		at = run(gen, at, is_unread ? GPROF_PY_STACK_NOT_READ : LOWERS);
	}
	for (uint32_t i = 0; i < 4; i++) {
		at = run(gen, at, COMPILES);
	}
	for (uint32_t i = 0; i < 10; i++) {
		at = wait(gen, at, COMPILES);
	}
	return at;
}

static uint64_t compile(struct gen *gen, uint32_t step, uint64_t at)
{
	switch (step) {
	case 0:
	case 12:
	case 16:
	case 20:
		return jax_compiles(gen, at, step == 16);
	case 14:
		at = run(gen, at, TUNES);
		for (uint32_t i = 0; i < 5; i++) {
			at = run(gen, at, COMPILES_KERNEL);
		}
		return at;
	case 18:
		at = run(gen, at, COMPILES);
		return run(gen, at, COMPILES);
	default:
		return at;
	}
}

void gen_compile_samples(struct gen *gen)
{
	uint64_t at = START_NS;

	add_definitions(gen);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		gen_step(gen, i, at);
		at = compile(gen, i, at + 12 * MS);
		at = run(gen, at, AT_33);
		gen_launch(gen, at - 5 * MS, 20, 20000, i + 1);
		at += 18 * MS;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
