/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU can do at most, from its clocks: the bandwidth of its memory, and floating-point
 * operations. Traces of other profilers lack clocks; then the vendor's figures for the name of the
 * GPU are used, and nothing is assumed of other GPUs.
 */
#ifndef REPORT_MODEL_GPU_PEAK_H
#define REPORT_MODEL_GPU_PEAK_H

#include "report/model/model.h"

/* Types of numbers; HALF is float16 and bfloat16, by tensor cores where the GPU has some. */
enum gpu_float {
	GPU_FLOAT64,
	GPU_FLOAT32,
	GPU_HALF,
	NR_GPU_FLOATS,
};

struct gpu_peak {
	double memory_bytes_per_s;   /* of device memory, reads and writes together; 0: unknown */
	double flops[NR_GPU_FLOATS]; /* per second, a multiplication and addition are two; 0:
					unknown */
};

struct gpu_peak gpu_peak_of(const struct process *process, uint32_t device);

/* That of all its GPUs, as far as they are alike. */
struct gpu_peak gpu_peak_common(const struct process *process);

#endif
