/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of breakdown.h's steps, and what is which. */
#ifndef REPORT_ANALYSIS_BREAKDOWN_PART_H
#define REPORT_ANALYSIS_BREAKDOWN_PART_H

#include "report/ops/op.h"
#include "report/ops/op_launch.h"

enum breakdown_part {
	BREAKDOWN_KERNEL,
	BREAKDOWN_MEMCPY,
	BREAKDOWN_MEMSET,
	BREAKDOWN_COMMUNICATION,
	BREAKDOWN_RUNTIME,
	BREAKDOWN_DATALOADER,
	BREAKDOWN_CPU,
	BREAKDOWN_OTHER,
	NR_BREAKDOWN_PARTS,
};

extern const char *const breakdown_keys[NR_BREAKDOWN_PARTS];   /* "kernel_ns" */
extern const char *const breakdown_titles[NR_BREAKDOWN_PARTS]; /* as TensorBoard has them */

/* OTHER: none of its own, since another operator covers it, or it is around all of them. */
enum breakdown_part breakdown_part_of_op(const struct op *op);
enum breakdown_part breakdown_part_of_record(
	const struct process *process, const struct op_record *record);

#endif
