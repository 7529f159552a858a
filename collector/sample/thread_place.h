/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells where a thread runs, as the kernel counts it: its CPU and how fast that is, how often it
 * moved to another CPU, and its page faults that waited for storage. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_THREAD_PLACE_H
#define COLLECTOR_SAMPLE_THREAD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/util/private_fd.h"

struct thread_place {
	struct private_fd stat, sched;
	uint8_t known; /* bits of enum gprof_thread_known */
	uint32_t cpu;
	uint32_t cpu_khz; /* 0: unknown */
	uint64_t migrations, major_faults;
};

/* Opens its files; the task is a folder such as "/proc/self/task/4242". Looks for the first time.
 */
void thread_place_open(struct thread_place *place, const char *task);
void thread_place_close(struct thread_place *place);

/*
 * Reads all of it anew, but for the frequency. That may take the kernel some ms, so the caller asks
 * for it of one thread at a time.
 */
void thread_place_look(struct thread_place *place);
void thread_place_look_at_frequency(struct thread_place *place);

/* ---- pure, for the tests ---- */

/* Reads the text of /proc/PID/task/TID/stat; false if it is malformed. */
bool thread_place_read_stat(const char *text, uint32_t *cpu, uint64_t *major_faults);

/* Reads the text of /proc/PID/task/TID/sched; false if it does not say so. */
bool thread_place_read_sched(const char *text, uint64_t *migrations);

#endif
