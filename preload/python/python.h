/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python, for what C cannot see. With GPROF_PYTHON, GPROF_HANG_TIMEOUT_S or GPROF_CPU_HZ in the
 * environment it gets into the interpreter, where no Python code runs apart from one trial at the
 * start. Without them, python_thread.c alone is active: it reads frames from outside.
 *
 *     python_start.c   gets into the interpreter by an audit hook, and verifies assumptions
 *     python_frame.c   reads frames, names and lines from its memory, without the GIL
 *     python_line.c    line tables
 *     python_stack.c   stacks to ids: tables py_file, py_code, py_stack
 *     python_call.c    calls of functions and modules
 *     python_module.c  names of modules
 *     python_gc.c      collections of garbage
 *     python_thread.c  stacks of other threads, for hang reports and CPU samples
 *     python_room.c    how much of the C stack is left
 */
#ifndef PRELOAD_PYTHON_PYTHON_H
#define PRELOAD_PYTHON_PYTHON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/util/config.h"

/* The parts that are wanted and work, and ask for frames: 1 << PYTHON_STACKS and so on. */
extern _Atomic uint32_t python_parts __attribute__((visibility("hidden")));

static inline bool python_has(uint32_t part)
{
	return __builtin_expect(
		atomic_load_explicit(&python_parts, memory_order_relaxed) >> part & 1u, 0);
}

static inline bool python_has_any(void)
{
	return __builtin_expect(atomic_load_explicit(&python_parts, memory_order_relaxed) != 0, 0);
}

/*
 * Returns the interpreter's state of the calling thread, NULL if Python does not know the thread.
 */
extern void *(*python_thread_state)(void)__attribute__((visibility("hidden")));

/* The position of the calling thread's Python; zeros for none. */
struct python_place {
	uintptr_t frame; /* the innermost */
	uint32_t stack;	 /* as in the stream */
};

/*
 * The stack of the calling thread, if one is due (GPROF_PYTHON_HZ), and writes its rows; stack is 0
 * if none is due. `outer`, or NULL, is the place of an enclosing open operator: its frames have not
 * changed, so its stack is free if Python has called nothing since. Never call it between reserving
 * and committing a row. Keeps errno; takes neither GIL nor lock.
 */
struct python_place python_stack_take(const struct python_place *outer);

/* Units of the raw clock for that many ns; once the recorder has started. */
uint64_t python_raw_of(uint64_t ns);

/* The id of a function in table py_code if GPROF_PYTHON_FILTER selects it, else 0. */
struct python_frame;
uint32_t python_code_wanted(const struct python_frame *frame);

/* For a call of a torch.nn.Module, the id of its name in table op_name, else 0. */
uint32_t python_module_name(const struct python_frame *frame);

/* Is it such a call? Without the GIL too. */
bool python_module_is_call(const struct python_frame *frame);
void python_module_forget(void);

/* Before the first name: finds the function that reads the attributes of modules. */
void python_module_find_symbols(void);

/* In a forked child, whose stream is new. */
void python_stack_forget(void);

#endif
