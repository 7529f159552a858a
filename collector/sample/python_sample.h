/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns ids to Python stacks that CPU samples read, and adds the rows that define them, as
 * dictionary.h does. The ids differ from those that the program's own threads assign. For the drain
 * thread.
 */
#ifndef COLLECTOR_SAMPLE_PYTHON_SAMPLE_H
#define COLLECTOR_SAMPLE_PYTHON_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/ring/python_frames.h"

/* Returns 0 or -ENOMEM. In a forked child, uses the parent's memory again. */
int python_sample_init(void);

/* Releases the memory. */
void python_sample_fini(void);

/*
 * The id of the stack in table py_stack, 0 if it has no frames; GPROF_PY_STACK_NOT_READ if a name
 * of it cannot be read any more.
 */
uint32_t python_sample_add(const struct python_sampler *sampler, const struct python_stack *stack);

/* A reading of a thread's Python, and its time. */
struct python_moment {
	bool is_read;
	uint64_t ns; /* CLOCK_MONOTONIC, after it */
	struct python_stack stack;
};

/* The same for a sample at that time, if it was read at most late_ns after it; else as unread. */
uint32_t python_sample_at(const struct python_sampler *sampler, const struct python_moment *moment,
	uint64_t sample_ns, uint64_t late_ns);

/* A thread of Python that the drain looks at, because the kernel takes no samples of it. */
struct python_looked {
	uint32_t tid;
	uintptr_t *python; /* its state in the interpreter; 0: none any more */
	uint64_t *cpu_ns;  /* that it had used when samples were last made */
	uint64_t period_ns;
	bool is_wanted; /* else the time until now needs no samples */
};

/* Reads its stack into `moment`; returns how many samples that stands for. */
uint64_t python_sample_look(const struct python_sampler *sampler,
	const struct python_looked *looked, struct python_moment *moment);

#endif
