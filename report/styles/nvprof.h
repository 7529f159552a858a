/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of the style nvprof share. */
#ifndef REPORT_STYLES_NVPROF_H
#define REPORT_STYLES_NVPROF_H

#include "report/session/summary.h"
#include "report/analysis/trace.h"

/* Prints the lines before a table. */
void nvprof_print_head(const struct process *process, bool is_csv, struct buf *out);

/*
 * Prints the trace of the class (view_gpu_trace or view_api_trace), of one process: text with a
 * unit for each number, CSV with a unit for each column. Sizes and rates are in powers of 1024.
 */
void nvprof_print_trace(const struct summary *summary, struct process *process,
	const struct view_class *class, struct buf *out);

/* nvprof_csv.c: the tables, which take the trace over, and how they are printed. */
struct table *nvprof_csv_gpu(struct trace *trace);
struct table *nvprof_csv_calls(struct trace *trace);
void nvprof_csv_print(const struct table *table, struct buf *out);

/* Columns of both formats set cells by these: the name of a struct trace_row ... */
void nvprof_set_name(const void *row, struct table_cell *cell);
/* ... and the text of a number, a uint64_t. */
void nvprof_set_number(const void *number, struct table_cell *cell);

#endif
