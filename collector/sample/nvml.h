/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the GPUs of this process through NVML. Each value that NVML lacks becomes one notice and
 * is not requested again: a driver without NVML, a MIG instance, a GPU that several processes share
 * (MPS).
 */
#ifndef COLLECTOR_SAMPLE_NVML_H
#define COLLECTOR_SAMPLE_NVML_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Opens the library, on the attaching thread, as device_find does and after it. NVML itself is
 * begun by the first nvml_look.
 */
void nvml_find(void);

/*
 * Finds the GPUs that the process uses by now. Beginning NVML and finding a GPU take 10 to 20 ms,
 * once; later calls are cheap. The drain thread.
 */
void nvml_look(void);

/* Passes the values of each GPU that nvml_look has found to `add`. The drain thread. */
void nvml_take(void (*add)(uint8_t metric, uint8_t device, uint64_t value));

/* The SM clock of a GPU that nvml_look has found; false if it is unknown. The drain thread. */
bool nvml_sm_clock(int device, uint64_t *mhz);

/*
 * Call it when recording pauses: forgets the last samples of hardware counters, so that no mean
 * covers the pause. It does not call NVML. The drain thread.
 */
void nvml_restart(void);

/*
 * Around a fork, in the parent: NVML has locks, and a child must not inherit them locked. So no
 * gprof thread is inside NVML then, unless that takes longer than a fork may wait (0.1 s).
 */
void nvml_hold(void);
void nvml_release(void);

/* In a forked child. */
void nvml_forget(void);

#endif
