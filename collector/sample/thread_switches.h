/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread does between context switches, from the kernel's records of these: rows of the
 * table thread_state, which meet without gaps while all records are there. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_THREAD_SWITCHES_H
#define COLLECTOR_SAMPLE_THREAD_SWITCHES_H

#include "collector/sample/cpu_ring.h"
#include "collector/util/clock.h"

/* What a thread has done since its last row. */
struct thread_switches {
	uint64_t since_ns, since_raw; /* CLOCK_MONOTONIC, and the CPU clock's value of it */
	uint32_t cpu;
	uint8_t state; /* enum gprof_thread_state; 0: it ended, or nothing is recorded */
	bool is_known; /* else the first record will say what it has done since then */
	bool has_switched_then;
};

/* A thread, and when its records are read. */
struct thread_switches_of {
	uint32_t tid;
	const char *name;
	const struct clock_anchor *now;
	bool is_wanted; /* else no rows are added */
};

/* From that time on the kernel records all switches; what the thread does then is unknown. */
void thread_switches_begin(
	struct thread_switches *switches, const struct clock_anchor *now, uint64_t monotonic_ns);

/* One that is older than what was read before is left out: two buffers may have the same. */
void thread_switches_add(struct thread_switches *switches, const struct thread_switches_of *of,
	const struct cpu_ring_switch *record);

/* Adds the row up to now, and begins another one there. */
void thread_switches_cut(struct thread_switches *switches, const struct thread_switches_of *of);

/* Nothing is recorded from now on. */
void thread_switches_end(struct thread_switches *switches, const struct thread_switches_of *of);

#endif
