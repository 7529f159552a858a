/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the threads that a step waits for were ready to run and had no CPU: the loop's, and
 * those that launch. The recorder samples what the kernel counts (table thread_cpu), each 100 ms by
 * default; between two samples of a thread its waits are spread evenly. Before the first one, they
 * are unknown and count as none.
 *
 * Memory: 16 bytes for each value that is read, 10 MB for an hour with 8 threads.
 */
#ifndef REPORT_BUDGET_CPU_WAITS_H
#define REPORT_BUDGET_CPU_WAITS_H

#include "report/model/model.h"

struct cpu_waits;

/* The waits of an interval, or the sum of several intervals. */
struct cpu_wait {
	/*
	 * Waits, at most the time, and at most what the process left of the CPUs that it may run
	 * on: where its own threads fill them, fewer threads would not do more.
	 */
	uint64_t ns;
	uint64_t nr_threads; /* of the process that compute, by CPU samples; 0: unknown */
	uint64_t nr_cpus;    /* that the process may run on; 0: unknown */
	uint64_t own_ns;     /* CPU time of the other threads of the process */
	uint64_t process_ns; /* CPU time of all its threads */
	uint64_t others_ns;  /* CPU time of other processes; 0: unknown, it may not use all CPUs */
	uint64_t held_ns;    /* threads of its container were held back by a limit */
	uint64_t limit_milli_cpus; /* the lowest of such limits; 0: there is none */
};

/* Sums over the threads: each counts from its first sample to its last one. */
struct cpu_times {
	uint64_t all_ns, cpu_ns, wait_ns;
	uint64_t nr_cpus; /* that the process may use; 0: unknown */
};

/* Reads the samples of a process; returns NULL if it has none. The caller destroys them. */
struct cpu_waits *cpu_waits_create(struct process *process);
void cpu_waits_destroy(struct cpu_waits *waits);

/* From begin_ns to end_ns (CLOCK_MONOTONIC). */
struct cpu_wait cpu_waits_between(
	const struct cpu_waits *waits, uint64_t begin_ns, uint64_t end_ns);

struct cpu_times cpu_waits_times(const struct cpu_waits *waits);

/* Adds to a sum. */
void cpu_wait_add(struct cpu_wait *sum, const struct cpu_wait *more);

#endif
