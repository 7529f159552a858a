/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples of a process in the order of their times, to be looked up by time.
 *
 * Memory: 32 bytes for each sample, 11 MB for a thread and an hour at 99 Hz.
 */
#ifndef REPORT_BUDGET_TIMED_SAMPLES_H
#define REPORT_BUDGET_TIMED_SAMPLES_H

#include "report/model/mixed_stack.h"

struct timed_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t stack;	  /* as mixed_stack.h has it */
	uint64_t cpu_ns;  /* that it stands for */
	uint32_t task;	  /* the system's number of the thread */
};

/* Zero-initialized. */
struct timed_samples {
	struct timed_sample *all;
	size_t nr, capacity;
};

/* The columns of GPROF_TABLE_cpu_sample that timed_sample_of needs, for struct scan_want. */
#define TIMED_SAMPLE_COLUMNS COLS(cpu_sample, time, ns, task, native_stack, py_stack)

/*
 * Do CPU samples of the process stand for its time in the kernel, too? Not where the kernel refuses
 * samples of itself, nor in older streams.
 */
bool cpu_samples_have_kernel(const struct process *process);

/* Returns a row of such a batch. */
struct timed_sample timed_sample_of(
	struct process *process, const struct batch *batch, uint32_t row);

void timed_samples_add(struct timed_samples *samples, const struct timed_sample *sample);

/* Puts them in the order of their times. To be called before the next function. */
void timed_samples_sort(struct timed_samples *samples);

/* Returns the index of the first sample at `time_ns` or later; samples->nr if there is none. */
size_t timed_samples_from(const struct timed_samples *samples, uint64_t time_ns);

/* Frees all, and leaves it as at first. */
void timed_samples_fini(struct timed_samples *samples);

#endif
