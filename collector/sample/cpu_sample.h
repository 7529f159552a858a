/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples what the threads of the process do on CPUs, GPROF_CPU_HZ times per second of CPU time of
 * each: rows of table cpu_sample. The kernel takes the samples (perf_event_open, a software clock;
 * of itself, too, if that is allowed), and writes into a buffer for each thread, which the drain
 * reads: a copy of the stack, in which the drain finds the frames, or where there is no room for
 * that, the frames by frame pointers. The target runs no instruction and gets no signal for it.
 * Samples of threads that run Python have its frames, too, read out of the interpreter's memory.
 * For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_CPU_SAMPLE_H
#define COLLECTOR_SAMPLE_CPU_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* At the start: reads GPROF_CPU_HZ. */
void cpu_sample_init(void);

/*
 * After each sleep, first of all: reads the Python frames of samples that have just been taken, and
 * looks at threads of Python that wait (wait_sample.h) or that the kernel does not sample, if that
 * is due. Returns true if there was any of that.
 */
bool cpu_sample_catch(void);

/*
 * Reads the buffers if that is due at now_ns (CLOCK_MONOTONIC), and finds new threads. Samples of
 * times without a record window are dropped, exact to an interval of reads.
 */
void cpu_sample_take(uint64_t now_ns);

/* When the next read is due, on the same clock; UINT64_MAX if none. */
uint64_t cpu_sample_due_ns(void);

/* Reads what is left, and ends sampling. */
void cpu_sample_end(void);

/* In a forked child, which has none of its parent's buffers, before it starts its own. */
void cpu_sample_forget(void);

#endif
