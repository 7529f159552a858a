/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies kernels by name: do they move data between devices, do they use tensor cores? It reads
 * each demangled name once and caches the answer. One thread only.
 */
#ifndef REPORT_MODEL_KERNEL_CLASS_H
#define REPORT_MODEL_KERNEL_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum kernel_class {
	KERNEL_COMPUTATION,
	KERNEL_COMMUNICATION,
};

enum tensor_use {
	TENSOR_NO,
	TENSOR_YES,
	TENSOR_UNKNOWN, /* the name does not show it */
};
#define NR_TENSOR_USES 3u

/*
 * Classifies by the function's own name without template arguments. Communication is NCCL and
 * similar libraries, NVSHMEM, DeepEP and what others made of it, MSCCL++, and the collectives over
 * peer and symmetric memory of serving engines and PyTorch. All views use this.
 */
enum kernel_class kernel_class_of(uint32_t name);

/*
 * YES: the name contains a tensor instruction or its shape (hmma, 16816, wgmma, tensorop, nvjet
 * ...), or the kernel exists for tensor cores only (flash attention, trtllm-gen). NO: simt, sgemm
 * of any generation, and kernels that multiply no matrices. UNKNOWN: generated and unfamiliar
 * kernels (triton_mm).
 */
enum tensor_use tensor_use_of(uint32_t name);

/*
 * Does an operator of that name multiply matrices or convolve, so that its kernels could use tensor
 * cores?
 */
bool tensor_is_eligible(uint32_t operator);

/* "yes", "no", "unknown". */
extern const char *const tensor_use_names[NR_TENSOR_USES];

#endif
