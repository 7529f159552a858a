/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the name of a kernel says of it: whether it moves data between devices, and whether it uses
 * tensor cores. Both are read off the readable name once and kept. Not for several threads at once.
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
	TENSOR_UNKNOWN, /* the name does not tell */
};
#define NR_TENSOR_USES 3u

/*
 * By the function's own name, without arguments of templates: NCCL and its likes, NVSHMEM, DeepEP,
 * MSCCL++, and the all-reduces over peers' memory that serving engines and PyTorch bring along.
 */
enum kernel_class kernel_class_of(uint32_t name);

/*
 * Narrower: a kernel of NCCL, RCCL or HCCL themselves. That is what other tools count as
 * communication; use it where figures are to be compared with theirs (the view device).
 */
bool kernel_class_is_library(uint32_t name);

/*
 * Kernels that say their instruction or its shape (hmma, 16816, wgmma, tensorop, nvjet ...) or are
 * written for tensor cores alone (flash attention, trtllm-gen) are YES; those that say simt, the
 * sgemm of every generation, and kernels that multiply no matrices are NO; generated and unheard-of
 * ones (triton_mm) UNKNOWN.
 */
enum tensor_use tensor_use_of(uint32_t name);

/* Does an operator of that name multiply matrices or convolve, so that its kernels could use them?
 */
bool tensor_is_eligible(uint32_t operator);

/* "yes", "no", "unknown". */
extern const char *const tensor_use_names[NR_TENSOR_USES];

#endif
