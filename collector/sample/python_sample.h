/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns ids to Python stacks that CPU samples read, and adds the rows that define them, as
 * dictionary.h does. The ids differ from those that the program's own threads assign. For the drain
 * thread.
 */
#ifndef COLLECTOR_SAMPLE_PYTHON_SAMPLE_H
#define COLLECTOR_SAMPLE_PYTHON_SAMPLE_H

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

#endif
