/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of other threads, for stalls: read through the kernel, from the interpreter's
 * list of threads. Neither the GIL nor any lock is taken and no thread is touched, so that
 * anything may change meanwhile: each object is looked at for what it is, and the collector asks
 * whether the thread has stood still.
 */
#ifndef PRELOAD_PYTHON_PYTHON_THREAD_H
#define PRELOAD_PYTHON_PYTHON_THREAD_H

/*
 * With the GIL held, and a layout that was tried out (python.c): finds in the calling thread's
 * state how threads are told apart, and lets the collector read stacks from then on. NULL, or the
 * reason why it cannot.
 */
const char *python_thread_start(const void *thread_state);

/* In a forked child, on its only thread, whose state that is; NULL if it has none. */
void python_thread_forget(const void *thread_state);

#endif
