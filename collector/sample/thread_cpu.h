/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples how long threads ran on CPUs, and how long they were ready to run and had none, into rows
 * of table thread_cpu. The kernel counts both (/proc/PID/task/TID/schedstat). The process's first
 * thread and those that launch work are sampled: their waits delay the program, and each thread
 * costs three descriptors. For the drain thread, but for thread_cpu_init.
 */
#ifndef COLLECTOR_SAMPLE_THREAD_CPU_H
#define COLLECTOR_SAMPLE_THREAD_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* At the start, before the first event, if samples are taken at all: opens a file. */
void thread_cpu_init(void);

/* Adds rows with that clock_raw() for threads whose times have changed. */
void thread_cpu_take(uint64_t raw);

/* Reads where these threads run, for the rows that come next; slower than thread_cpu_take. */
void thread_cpu_look_at_places(void);

/* In a forked child, before it starts its own: closes the files of the parent's threads. */
void thread_cpu_forget(void);

/* ---- pure, for the tests ---- */

/* From the text of a file schedstat; false if it is malformed. */
bool thread_cpu_read(const char *text, uint64_t *cpu_ns, uint64_t *wait_ns);

#endif
