/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most that a GPU can do: the bandwidth of its memory, and floating-point operations. Where its
 * name is known, operations are those of the vendor's data sheet, which model FLOPs utilization
 * (MFU) refers to by convention; for others, and for a part of a GPU (MIG), they follow from clock,
 * multiprocessors and compute capability, or are unknown. The bandwidth is the one that the
 * recording has, else the data sheet's.
 */
#ifndef REPORT_MODEL_GPU_PEAK_H
#define REPORT_MODEL_GPU_PEAK_H

#include "report/model/model.h"

/*
 * Types of numbers. FLOAT64, FLOAT16 and BFLOAT16 are by tensor cores where the GPU has some for
 * them, without sparsity; FLOAT32 is not: TF32 may exceed it. GPUs before compute capability 8.0
 * compute no BFLOAT16 of their own: its peak is unknown there.
 */
enum gpu_float {
	GPU_FLOAT64,
	GPU_FLOAT32,
	GPU_FLOAT16,
	GPU_BFLOAT16,
	NR_GPU_FLOATS,
};

struct gpu_peak {
	double memory_bytes_per_s;   /* of device memory, reads and writes together; 0: unknown */
	double flops[NR_GPU_FLOATS]; /* per second, a multiplication and addition are two; 0:
					unknown */
	const char *source;	     /* of `flops`; NULL: unknown */
};

/* "float32", "bfloat16" ... */
extern const char *const gpu_float_names[NR_GPU_FLOATS];

struct gpu_peak gpu_peak_of(const struct process *process, uint32_t device);

/* Returns the peak of all GPUs of a process, as far as they are alike. */
struct gpu_peak gpu_peak_common(const struct process *process);

#endif
