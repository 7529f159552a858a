/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which CPUs, and how urgently, the drain thread runs: not as the thread of the target that
 * happened to start it, which may be a real-time thread, or be pinned to a CPU of its own.
 */
#ifndef COLLECTOR_UTIL_CPUS_H
#define COLLECTOR_UTIL_CPUS_H

#include <stdbool.h>

/* When the library is loaded: these CPUs the process was given, by whoever started it. */
void cpus_remember(void);

/*
 * Takes the calling thread aside: from real-time to normal scheduling, and from a single CPU, which
 * its creator had for itself, to the others that the process was given.
 */
void cpus_step_aside(void);

/* The calling thread's threads are to be the target's again. */
void cpus_step_back(void);

/*
 * The calling thread works for short times, and wants to run soon when it wakes (true), or is as
 * any other again. Kernels before 6.12 do not know that of threads.
 */
void cpus_hurry(bool is_short);

#endif
