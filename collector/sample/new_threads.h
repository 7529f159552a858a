/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the target that say that they begin. The drain finds them at its next read, where a
 * scan of all threads may be due much later.
 */
#ifndef COLLECTOR_SAMPLE_NEW_THREADS_H
#define COLLECTOR_SAMPLE_NEW_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * By a thread of the target as it begins: reads one flag, and makes one system call if somebody
 * wants to know.
 */
void new_threads_add(void);

/* ---- by the drain thread ---- */

void new_threads_want(bool is_wanted);

/* Calls it with the kernel's number of each that has begun since, and still is one of ours. */
void new_threads_each(void (*on_thread)(uint32_t tid));

/* In a forked child: those so far were the parent's, and none is wanted. */
void new_threads_forget(void);

#endif
