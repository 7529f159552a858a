/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples process, host and GPUs every GPROF_SAMPLE_MS into rows of table sample, on the drain
 * thread between its other work, and only while something is recorded. Each kind waits a thousand
 * times as long as its last sample took (/proc/stat of a machine with hundreds of CPUs takes a
 * millisecond), so that no kind costs more than a thousandth of a core. All are due at multiples of
 * the interval, so that one wake-up serves them.
 */
#ifndef COLLECTOR_SAMPLE_SAMPLE_H
#define COLLECTOR_SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* At the start, before the first event: reads GPROF_SAMPLE_MS and opens what is read later. */
void sample_init(void);

/*
 * Takes the samples due at now_ns (CLOCK_MONOTONIC); of GPUs only if is_attached. When recording
 * has stopped, it takes a last one of process and host, which shares of CPU time need.
 */
void sample_take(uint64_t now_ns, bool is_attached);

/* When the next is due, on the same clock; UINT64_MAX if none. */
uint64_t sample_due_ns(void);

/* In a forked child, before it starts its own. */
void sample_forget(void);

/* ---- pure, for the tests ---- */

/* The first multiple of the interval, from the one at or before now on, after that long a wait. */
uint64_t sample_next_ns(uint64_t now_ns, uint64_t wait_ns, uint64_t interval_ns);

/* Ticks of all CPUs since boot. */
struct sample_cpus {
	uint64_t user, system, iowait; /* user with nice, system with interrupts */
	uint64_t busy, all;
};

/* Reads the text of /proc/stat; false if it is malformed. */
bool sample_read_cpus(const char *text, struct sample_cpus *cpus);

/* From the text of /proc/PID/status: on how many CPUs it may run; false if it does not say so. */
bool sample_read_allowed(const char *text, uint64_t *nr);

/* From the text of /proc/PID/status: resident memory; false if it does not say so. */
bool sample_read_resident(const char *text, uint64_t *bytes);

/*
 * Finds in the text of /proc/PID/io the bytes that calls read; false if the kernel does not count
 * those that storage delivered.
 */
bool sample_read_bytes(const char *text, uint64_t *bytes);

#endif
