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

/*
 * Both formats show an event by these. Its name, of string_pool.h: "[CUDA memcpy HtoD]" or the
 * kernel's.
 */
uint32_t nvprof_name(const struct trace *trace, const struct trace_event *event);
bool nvprof_is_copy(const struct trace_event *event); /* or a set */

/* The memory that a copy is from and to; NULL for none. A set's memory stands on the left. */
const char *nvprof_source(const struct trace_event *event);
const char *nvprof_target(const struct trace_event *event);

/* Bytes per second, if they are known; and the device, "name (0)". */
bool nvprof_has_rate(const struct trace_event *event);
double nvprof_rate(const struct trace_event *event);
void nvprof_set_device(const struct trace *trace, const struct trace_event *event,
	const struct model_place *place, struct table_cell *cell);

/* Sets a cell to the text of a number that is a name. */
void nvprof_set_number(struct table_cell *cell, uint32_t number);

#endif
