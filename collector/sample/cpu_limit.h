/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU limit of the process's cgroup (`docker run --cpus`, limits of Kubernetes), and how long
 * it held the process's threads back. The drain's thread alone calls this.
 */
#ifndef COLLECTOR_SAMPLE_CPU_LIMIT_H
#define COLLECTOR_SAMPLE_CPU_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the lowest cgroup with a limit. root: "", or a folder in place of /, for tests. */
void cpu_limit_init(const char *root);

/*
 * The limit now, in thousandths of a CPU, and the time since the cgroup was made for which threads
 * of it that were ready were not let run, summed up over CPUs. False if there is no limit.
 */
bool cpu_limit_read(uint64_t *milli_cpus, uint64_t *throttled_ns);

/* In a forked child, before it starts its own. */
void cpu_limit_close(void);

/* For the tests: the text of cpu.max of version 2; false if that is no limit. */
bool cpu_limit_parse(const char *max, uint64_t *milli_cpus);

#endif
