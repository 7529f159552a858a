/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of other threads, for hang reports and CPU samples: read through the kernel,
 * from the interpreter's list of threads. Takes neither the GIL nor any lock and stops no thread,
 * so everything may change during the read: each object is checked for its type. For a hang the
 * collector checks that the thread has not moved; a sample is as good as python_frames.h says.
 */
#ifndef PRELOAD_PYTHON_PYTHON_THREAD_H
#define PRELOAD_PYTHON_PYTHON_THREAD_H

#include <stdbool.h>

/*
 * Lets the collector sample the threads of an interpreter that nothing has got into: the drain
 * looks for it. Nothing runs in the interpreter for that, so nothing has tried the layout, but the
 * ids of the main thread and the types of all objects that are read must be right.
 */
void python_thread_init(void);

/* This interpreter is not as we know it: the drain shall not look for it. */
void python_thread_refuse(void);

/*
 * With the GIL held, and a verified layout (python_start.c): learns from the calling thread's state
 * how threads are identified, and lets the collector read the stacks of threads that hang. Returns
 * NULL, or the reason why it cannot.
 */
const char *python_thread_start(const void *thread_state, bool has_hangs);

/* In a forked child, on its only thread, with that thread's state; NULL if it has none. */
void python_thread_forget(const void *thread_state);

#endif
