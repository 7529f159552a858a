/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of the process's threads in /proc. For the drain thread. */
#ifndef COLLECTOR_SAMPLE_TASK_LIST_H
#define COLLECTOR_SAMPLE_TASK_LIST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls look(context, name) for each thread, by its number in decimal, or returns false if there
 * are as many as at the last reading, and that is not long ago: reading opens a file, which takes a
 * low number of the target's for an instant. Threads that begin meanwhile are in the next reading.
 */
bool task_list_read(uint64_t now_ns, void (*look)(void *context, const char *name), void *context);

/* The next reading is the first one. */
void task_list_forget(void);

/* Is it ready to run, on a CPU or not? */
bool task_is_ready(uint32_t tid);

#endif
