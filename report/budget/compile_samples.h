/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compilations that no range marks, found by samples: those of JAX, Triton, Numba and others, and
 * of PyTorch where it marks none. A thread compiles while a frame of compiler.def is in its stack.
 *
 *     compilation  samples of one thread in one compiler, called from one line of the program, with
 *                  no other sample of the thread between them. At least COMPILE_MIN_SAMPLES.
 *     begin        where the time begins that the first sample stands for, but not before the
 *                  sample before it, nor in an earlier step
 *     end          the time of the last sample
 *
 * So both ends are off by up to a period: of CPU samples their own; waits are looked at each
 * COMPILE_WAIT_PERIOD_NS. What is shorter than three periods is not found. Compilations from the
 * same line that follow each other at once are one. Samples whose Python frames could not be read
 * neither begin nor end any, but for many of them in a row.
 *
 * Memory: 32 bytes for each sample in a compiler or within four seconds of one, and 16 for each
 * stack of Python, while they are read; 56 for each compilation.
 */
#ifndef REPORT_BUDGET_COMPILE_SAMPLES_H
#define REPORT_BUDGET_COMPILE_SAMPLES_H

#include "report/model/model.h"
#include "report/ops/op.h"

#define COMPILE_MIN_SAMPLES    3u
#define COMPILE_WAIT_PERIOD_NS 20000000u

struct sampled_compilation {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t end;		   /* the same as a tick */
	uint64_t stage_ns;	   /* that the samples in `stage` stand for */
	uint32_t nr;		   /* of samples */
	uint32_t thread;	   /* 0: the stream describes none with that number */
	uint32_t step;		   /* in which it begins, as in phase_segment */
	uint32_t line;	  /* of the program that calls the compiler, of string_pool.h; 0: unknown */
	uint32_t stage;	  /* with most of the samples' time, of string_pool.h */
	uint8_t compiler; /* enum op_compiler */
};

/* Zero-initialized. */
struct compile_samples {
	struct sampled_compilation *items; /* by rising ends */
	size_t nr;
	uint64_t error_ns; /* most by which an end is off, of a thread that had a CPU */
};

/*
 * Finds those of a process. Reads samples only if a function of its Python stacks is a compiler's,
 * or a library of its native stacks may have one.
 */
void compile_samples_find(struct compile_samples *samples, struct process *process);

/* Frees all, and leaves it as at first. */
void compile_samples_fini(struct compile_samples *samples);

/* "jax.jit at train.py(31): step", of string_pool.h. */
uint32_t sampled_compilation_text(const struct sampled_compilation *item);

#endif
