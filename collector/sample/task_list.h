/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of the process's threads. Reading files takes low numbers of the target's
 * for an instant, so it is avoided where there is another way. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_TASK_LIST_H
#define COLLECTOR_SAMPLE_TASK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Has the process so many threads, and has the list been read lately? Opens no file. One thread may
 * end as another begins, so a list becomes too old.
 */
bool task_list_has(uint32_t nr_threads, uint64_t now_ns);

/*
 * Calls look(context, name) for each thread, by its number in decimal. Threads that begin meanwhile
 * are in the next reading.
 */
void task_list_read(uint64_t now_ns, void (*look)(void *context, const char *name), void *context);

/* The next list is the first one. */
void task_list_forget(void);

/* Is there such a thread of the process? Opens no file. */
bool task_exists(uint32_t tid);

/* Is it ready to run, on a CPU or not? */
bool task_is_ready(uint32_t tid);

/* Reads its name; "" if it has ended. */
void task_read_name(uint32_t tid, char *name, size_t nr_bytes);

#endif
