/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python, for what C cannot see, and only where GPROF_PYTHON or GPROF_STALL_S asks for it: without
 * that nothing of this is in the process. No Python code is run beyond one trial at the start.
 *
 *     python.c	       gets in by an audit hook, tries out what is assumed of the interpreter
 *     python_frame.c  reads frames, names and lines from its memory, without the GIL
 *     python_line.c   tables of lines
 *     python_stack.c  stacks to ids: tables py_file, py_code, py_stack
 *     python_call.c    calls of functions and modules
 *     python_module.c  names of modules
 *     python_thread.c  stacks of other threads, for stalls
 */
#ifndef PRELOAD_PYTHON_PYTHON_H
#define PRELOAD_PYTHON_PYTHON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/util/config.h"

/* The parts that are wanted and work: 1 << PYTHON_STACKS and so on. */
extern _Atomic uint32_t python_parts __attribute__((visibility("hidden")));

static inline bool python_has(uint32_t part)
{
	return __builtin_expect(
		atomic_load_explicit(&python_parts, memory_order_relaxed) >> part & 1u, 0);
}

/* The state of the calling thread in the interpreter, NULL if Python does not know it. */
extern void *(*python_thread_state)(void)__attribute__((visibility("hidden")));

/* Where the calling thread's Python is; zeros for nowhere. */
struct python_place {
	uintptr_t frame; /* the innermost */
	uint32_t stack;	 /* as in the stream */
};

/*
 * The stack of the calling thread, if one is due (GPROF_PYTHON_HZ), with its rows; stack is 0 if
 * not. `outer`, or NULL, is that of an operator that is still open around the call: its frames have
 * stood still, so it is had for nothing if Python has not gone further in. Never before a row of
 * the ring that is reserved and not committed. Keeps errno; takes neither GIL nor lock.
 */
struct python_place python_stack_take(const struct python_place *outer);

/* The raw clock's units for so many ns; once the recorder has started. */
uint64_t python_raw_of(uint64_t ns);

/* The id of a function in table py_code if GPROF_PYTHON_FILTER wants it, else 0. */
struct python_frame;
uint32_t python_code_wanted(const struct python_frame *frame);

/* If it is a call of a torch.nn.Module, the id of its name in table op_name, else 0. */
uint32_t python_module_name(const struct python_frame *frame);

/* Is it such a call? Without the GIL too. */
bool python_module_is_call(const struct python_frame *frame);
void python_module_forget(void);

/* In a forked child, whose stream begins anew. */
void python_stack_forget(void);

#endif
