/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PM sampling by CUPTI: hardware counters of the GPUs that the process uses, every GPROF_METRICS_US
 * (from 20 us), while something is recorded. Off unless GPROF_METRICS has `pm` or names of metrics.
 * Samples are rows of table sample, as those of NVML's counters, which rest meanwhile.
 *
 * CUPTI has one session a GPU, for all processes of the machine, and reads counters only with
 * privilege in most installations. Each refusal becomes one notice with its remedy, and gprof
 * continues without. Another CUPTI client of the process gets CUPTI without gprof's session:
 *
 *   records activities     cupti_pm_yield; the samples continue after its turn (cupti_share.h)
 *   profiles counters      cupti_pm_leave; for the rest of the process
 *
 * cuptiProfilerDeInitialize is never called: CUPTI does not count its users, and a second call
 * crashes.
 */
#ifndef COLLECTOR_CUPTI_CUPTI_PM_H
#define COLLECTOR_CUPTI_CUPTI_PM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * After cupti_load, on the attaching thread: opens the libraries that CUPTI opens later, so that no
 * fork meets the drain thread inside the loader.
 */
void cupti_pm_find(void);

/*
 * Starts, reads or stops the samples, as is due at now_ns (CLOCK_MONOTONIC). read_clock: the SM
 * clock of a GPU; false if nobody knows it. The drain thread.
 */
void cupti_pm_take(uint64_t now_ns, bool (*read_clock)(int device, uint64_t *mhz));

/* When cupti_pm_take is due; UINT64_MAX: never. The drain thread. */
uint64_t cupti_pm_due_ns(void);

/* Reads what is left and ends all sessions, while the driver is still there. The drain thread. */
void cupti_pm_end(void);

/* Is that GPU sampled now? The drain thread. */
bool cupti_pm_has(int device);

/*
 * Ends all sessions on the drain thread and waits for that, for a bounded time: until the turn is
 * ours again, or for good. Any thread but the drain's.
 */
void cupti_pm_yield(void);
void cupti_pm_leave(void);

/* In a forked child. */
void cupti_pm_forget(void);

/* ---- pure, for the tests ---- */

/* Does the driver allow only privileged processes to read counters? root: "", or a folder. */
bool cupti_pm_is_restricted(const char *root);

/* The metrics that the bits of GPROF_METRICS choose, as bits of pm_metrics; 0: no PM sampling. */
uint32_t cupti_pm_metrics(uint64_t words);

#endif
