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
 * With the GIL held, and a verified layout (python_start.c): learns from the calling thread's state
 * how threads are identified, and lets the collector read stacks from then on: of threads that
 * hang, or of those that it samples. Returns NULL, or the reason why it cannot.
 */
const char *python_thread_start(const void *thread_state, bool has_hangs, bool has_samples);

/* In a forked child, on its only thread, with that thread's state; NULL if it has none. */
void python_thread_forget(const void *thread_state);

#endif
