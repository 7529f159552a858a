/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of the host's threads as rows of table thread: first event, creation, name, end. Runs
 * on those threads; no lock, no allocation of ours.
 */
#ifndef COLLECTOR_THREAD_H
#define COLLECTOR_THREAD_H

#include <stdint.h>

#include "collector/format/format.h"

/*
 * Once, before threads and other libraries use up the keys of thread-local data whose values need
 * no memory: makes the one by which the end of a thread is seen.
 */
void thread_reserve_key(void);

/*
 * From now on a thread's first row says who it is, and its last one that it ends. Where there was
 * no key the last one is missing, and the drain looks whether the thread is still there.
 * Idempotent.
 */
void thread_init(void);

/* Writes a row about the calling thread. */
void thread_emit(enum gprof_thread_what what, uint32_t parent, const char *name);

#endif
