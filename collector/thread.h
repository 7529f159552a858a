/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of the host's threads as rows of table thread: first event, creation, name, end. Runs
 * on those threads; no lock, no allocation of ours.
 */
#ifndef COLLECTOR_THREAD_H
#define COLLECTOR_THREAD_H

#include <stdint.h>

#include "collector/format.h"

/* From now on a thread's first row tells who it is, and a destructor tells its end. Idempotent. */
void thread_init(void);

/* Writes a row about the calling thread. */
void thread_emit(enum gprof_thread_what what, uint32_t parent, const char *name);

#endif
