/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What process, host and GPUs do at a moment, every GPROF_SAMPLE_MS: rows of table sample. On the
 * drain thread, between its other work, and only while something is recorded. Each kind of sample
 * waits a thousand times as long as taking it took (/proc/stat of a machine with hundreds of CPUs
 * takes a millisecond), so that no kind ever costs more than a thousandth of a core. All
 * are due at multiples of the interval, so that one waking serves them.
 */
#ifndef COLLECTOR_SAMPLE_SAMPLE_H
#define COLLECTOR_SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* At the start, before the first event: reads GPROF_SAMPLE_MS and opens what is read later. */
void sample_init(void);

/* Takes what is due at now_ns (CLOCK_MONOTONIC); of GPUs if is_attached. */
void sample_take(uint64_t now_ns, bool is_attached);

/* When the next is due, on the same clock; UINT64_MAX if none. */
uint64_t sample_due_ns(void);

/* In a forked child, before it starts its own. */
void sample_forget(void);

/* ---- pure, for the tests ---- */

/* The first multiple of the interval, from the one at or before now on, after that long a wait. */
uint64_t sample_next_ns(uint64_t now_ns, uint64_t wait_ns, uint64_t interval_ns);

/* From the text of /proc/stat: ticks that all CPUs spent busy, and in all; false if it is odd. */
bool sample_read_cpus(const char *text, uint64_t *busy, uint64_t *all);

/* From the text of /proc/PID/statm: resident pages; false if it is odd. */
bool sample_read_resident(const char *text, uint64_t *pages);

#endif
