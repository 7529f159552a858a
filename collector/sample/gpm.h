/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the counters of the hardware itself through NVML's GPM (GPU performance monitoring), which
 * Hopper and later GPUs have: how many SMs had work, how busy tensor cores and memory were, traffic
 * of PCIe and NVLink. It needs neither CUPTI nor CUDA. GPM keeps sums, so each value is a mean from
 * one sample to the next; GPROF_METRIC_GPU_MEANS_NS says how long that was.
 *
 * For nvml.c alone, which sees to forks, and on the drain thread alone.
 */
#ifndef COLLECTOR_SAMPLE_GPM_H
#define COLLECTOR_SAMPLE_GPM_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/sample/nvml_abi.h"

/* Of one GPU. All zeros: it has no counters. */
struct gpm {
	nvml_gpm_sample samples[2]; /* the older one first */
	uint64_t since_ns;	    /* when the first was taken, CLOCK_MONOTONIC; 0: not taken */
	nvml_device gpu;	    /* of a MIG instance the GPU that it is a part of */
	unsigned int instance;
	bool is_instance;
	bool is_refused; /* the samples stay, as NVML itself does */
};

/*
 * Starts to count on a GPU, which the process knows by `number`, if it can. One that is too old
 * cannot, which is no news; other reasons become a notice. is_instance: the handle is that of a MIG
 * instance.
 */
void gpm_begin(
	struct gpm *gpm, const struct nvml *nvml, int number, nvml_device gpu, bool is_instance);

/*
 * Passes the means since the last call to `add`, if that is long enough ago for NVML: 0.1 s and
 * more. If NVML refuses, a notice says so and the GPU has no counters from then on.
 */
void gpm_take(struct gpm *gpm, const struct nvml *nvml, int number,
	void (*add)(uint8_t metric, uint8_t device, uint64_t value));

/* The next means begin anew, so that none covers a time that was not recorded. */
void gpm_restart(struct gpm *gpm);

#endif
