/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads hardware counters through NVML's GPM (GPU performance monitoring) on Hopper and later GPUs:
 * active SMs, occupancy, tensor cores, memory bandwidth, PCIe and NVLink traffic. It needs neither
 * CUPTI nor CUDA. A value is the mean between two samples; GPROF_METRIC_GPU_MEANS_NS is the time
 * between them.
 *
 * Only nvml.c calls it, which handles forks, and only on the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_GPM_H
#define COLLECTOR_SAMPLE_GPM_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/sample/nvml_abi.h"

/* The state of one GPU; zeroed if the GPU has no counters. */
struct gpm {
	nvml_gpm_sample samples[2]; /* the older one first */
	uint64_t since_ns;	    /* when the first was taken, CLOCK_MONOTONIC; 0: not taken */
	nvml_device gpu;	    /* for a MIG instance, the GPU that it belongs to */
	unsigned int instance;
	bool is_instance;
	bool is_refused;
};

/*
 * Allocates the samples of a GPU, which is number `number` in the process. GPUs before Hopper have
 * no counters, which needs no notice; any other failure adds one. is_instance: `gpu` is a MIG
 * instance.
 */
void gpm_begin(
	struct gpm *gpm, const struct nvml *nvml, int number, nvml_device gpu, bool is_instance);

/*
 * Passes to `add` the means since the last sample, or takes the first one. Does nothing if the last
 * sample is younger than NVML allows. If NVML fails, a notice says so and the GPU is not sampled
 * again.
 */
void gpm_take(struct gpm *gpm, const struct nvml *nvml, int number,
	void (*add)(uint8_t metric, uint8_t device, uint64_t value));

/* Forgets the last sample, so that no mean covers time that was not recorded. */
void gpm_restart(struct gpm *gpm);

#endif
