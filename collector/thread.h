/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the target as rows of table thread: first event, creation, name, end. Runs on those
 * threads; no lock, no allocation by gprof.
 */
#ifndef COLLECTOR_THREAD_H
#define COLLECTOR_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

/*
 * Makes the key whose destructor reports the end of a thread. Once, before threads and other
 * libraries use up the keys of thread-local data whose values need no memory.
 */
void thread_reserve_key(void);

/*
 * From now on the first row of a thread identifies it, and its last row reports its end. Without a
 * key that row is missing, and the drain checks whether the thread still exists. Idempotent.
 */
void thread_init(void);

/*
 * The calling thread begins, created by the thread with that id. Threads that wait in a pool may
 * never have an event: this goes with the first one, and takes no memory of the rings until then.
 */
void thread_began(uint32_t parent);

/* Writes a row about the calling thread. */
void thread_emit(enum gprof_thread_what what, uint32_t parent, const char *name);

/*
 * A process whose main thread called pthread_exit ends when its last thread ends; the C library
 * counts our thread too. So that thread must know when it is the last one. Both use no descriptor,
 * since the target may rely on their numbers. Any thread.
 */

/* Has the main thread ended while others continue? */
bool thread_has_main_left(void);

/*
 * Is the calling thread the last one? UNKNOWN: the main thread has ended, and /proc is unavailable.
 */
enum thread_last { THREAD_LAST_NO, THREAD_LAST_YES, THREAD_LAST_UNKNOWN };
enum thread_last thread_look_for_last(void);

#endif
