/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of a CPU sample: Python's frames, and below them, inwards, the machine code that the
 * innermost of them had called. Where a sample has no Python frames it is its native stack.
 */
#ifndef REPORT_MODEL_MIXED_STACK_H
#define REPORT_MODEL_MIXED_STACK_H

#include "report/model/native_stack.h"

#define MIXED_STACK_MAX_FRAMES (2 * NATIVE_STACK_MAX_FRAMES)

struct mixed_frame {
	uint32_t function; /* of string_pool.h; of Python "train.py(5): step" */
	uint32_t file;	   /* as in struct native_frame; 0: of Python */
	uint32_t py_code;  /* 0: of machine code */
	uint32_t line;	   /* that a Python frame was at, 0: unknown */
};

/* The ids of both stacks of a sample as one number, and back. */
static inline uint64_t mixed_stack_id(uint64_t native_stack, uint64_t py_stack)
{
	return py_stack << 32 | (uint32_t)native_stack;
}

/* Does the stack have Python frames? */
static inline bool mixed_stack_has_python(uint64_t id)
{
	uint32_t py_stack = (uint32_t)(id >> 32);

	return py_stack && py_stack != GPROF_PY_STACK_NOT_READ;
}

/* Were there Python frames that could not be read? */
static inline bool mixed_stack_lacks_python(uint64_t id)
{
	return (uint32_t)(id >> 32) == GPROF_PY_STACK_NOT_READ;
}

/* Takes the frames, the innermost first; returns how many there are, at least 1. */
uint32_t mixed_stack_frames(
	struct process *process, uint64_t id, struct mixed_frame frames[MIXED_STACK_MAX_FRAMES]);

/*
 * Returns where the code was, a number of string_pool.h: a line of Python as "dataset.py(41):
 * load", also while machine code, Python's own library or PyTorch ran that it had called, or in a
 * thread without Python the innermost function of machine code. 0: unknown.
 */
uint32_t mixed_stack_place(struct process *process, uint64_t id);

/* Does PyTorch run, in Python or in machine code, which a line of the program has called? */
bool mixed_stack_runs_framework(struct process *process, uint64_t id);

#endif
