/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the style nvprof share. */
#ifndef REPORT_NVPROF_H
#define REPORT_NVPROF_H

#include "report/summary.h"

/* The lines before a table. */
void nvprof_print_head(const struct process *process, bool is_csv, struct buf *out);

/*
 * The trace that the class is of (view_gpu_trace or view_api_trace), of one process: text with a
 * unit for each number, CSV with a unit for each column. Sizes and rates are in powers of 1024.
 */
void nvprof_print_trace(const struct summary *summary, struct process *process,
	const struct view_class *class, struct buf *out);

#endif
