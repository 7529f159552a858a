/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUs of this process as NVML sees them. Each thing that it does not tell is said in a notice,
 * once, and not asked for again: a driver without NVML, a part of a GPU (MIG), a GPU that several
 * processes share (MPS).
 */
#ifndef COLLECTOR_SAMPLE_NVML_H
#define COLLECTOR_SAMPLE_NVML_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Opens the library, on the attaching thread, as device_find does and after it. NVML itself is
 * begun by the first nvml_take.
 */
void nvml_find(void);

/* Hands what there is to `add`, for each GPU that the process uses. The drain's. */
void nvml_take(void (*add)(uint8_t metric, uint8_t device, uint64_t value));

/*
 * Around a fork, in the parent: NVML has locks, and a child that uses it must not find them taken.
 * So we are not in it at that moment, unless it takes longer than a fork may wait (0.1 s).
 */
void nvml_hold(void);
void nvml_release(void);

/* In a forked child. */
void nvml_forget(void);

#endif
