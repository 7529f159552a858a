/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of kernels, for tables: demangled names have hundreds of letters. */
#ifndef REPORT_TABLE_KERNEL_NAME_H
#define REPORT_TABLE_KERNEL_NAME_H

#include "report/util/buf.h"

/* From the shortest form to the whole name. */
enum kernel_name_form {
	KERNEL_NAME_SHORT,   /* elementwise<add>, gemm bf16 128x64 */
	KERNEL_NAME_TYPED,   /* elementwise<mul bf16 scalar>, gemm bf16 128x64 tn, conv wgrad ... */
	KERNEL_NAME_STYLED,  /* elementwise<mul bf16 scalar> vectorized 4, gemm ... align4 */
	KERNEL_NAME_VARIANT, /* with template arguments */
	KERNEL_NAME_FULL,
};

/*
 * Appends the name in that form. What is no C++ function and no matrix multiplication of a library
 * stays as it is.
 */
void kernel_name_add(
	struct buf *out, const char *name, size_t nr_bytes, enum kernel_name_form form);

#endif
