/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reports of `nsys stats` that a stream can fill: same names, columns, order and units. Column
 * strings are those that it prints; what each column is, and the base of each percentage, is as its
 * documentation says. To add one: an entry in nsys_reports.c and a function that makes its table,
 * whose columns have nsys's strings as titles.
 */
#ifndef REPORT_STYLES_NSYS_REPORTS_H
#define REPORT_STYLES_NSYS_REPORTS_H

#include "report/session/summary.h"
#include "report/analysis/trace.h"

#define NSYS_VIEWS 5u

struct nsys_report {
	const char *name;  /* "cuda_gpu_kern_sum" */
	const char *title; /* of its banner */
	const char *what;  /* of "does not contain ... data"; NULL: a rule, that may find nothing */
	const char *advice;				  /* of a rule: what its findings mean */
	const struct view_class *views[NSYS_VIEWS];	  /* that it is made of, NULL behind them */
	const struct view_class *range_views[NSYS_VIEWS]; /* those with :nvtx-name */
	/* views: as many as the report has. */
	struct table *(*table)(const struct nsys_ask *ask, void *const *views);
	bool is_default; /* with --style nsys, without --report */
	bool has_names;	 /* knows :base and :mangled */
	/* Instead of views and table: a query of sql/, see nsys_query.h. */
	bool is_query;
	bool has_clock_note;
	unsigned int most; /* rows that are shown, 0: all */
};

/* In the order they are printed without --report; ends with one without a name. */
extern const struct nsys_report nsys_reports[];

/*
 * Takes "NAME[:ARGUMENT]...[,NAME...]" after the reports so far; false if there is no such report,
 * or it has no such argument.
 */
bool nsys_take(struct summary *summary, const char *list);

/* All names with their titles, one a line. */
void nsys_list(struct buf *out);

/*
 * Returns a text as the report shows names of kernels (:base, :mangled); of string_pool.h, to be
 * shown raw.
 */
uint32_t nsys_kernel_name(const struct nsys_ask *ask, uint32_t name);

/* Finds a C++ name without result, namespaces, template arguments and arguments. */
void nsys_base_name(const char *name, size_t nr_bytes, size_t *begin, size_t *end);

/* Sets a cell to a text of string_pool.h, as it is. */
void nsys_set_name(struct table_cell *cell, uint32_t name);

/* Returns "[CUDA memcpy Host-to-Device]", of string_pool.h. */
uint32_t nsys_operation(uint32_t copy);

/* Sets a cell to the device of a struct trace_row, "name (0)". */
void nsys_set_device(const void *row, struct table_cell *cell);

/* PID and TID of a thread of the stream; UINT32_MAX unknown. */
struct nsys_thread {
	uint32_t pid, tid;
};
struct nsys_thread nsys_thread(const struct process *process, uint32_t thread_id);

/* Sets a cell to a kernel's name as the report in the trace's hint shows it. */
void nsys_set_kernel(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cell);

#define NSYS_DURATION_START                                       \
	TABLE_COLUMN("duration_ns", "Duration (ns)", TABLE_TIME), \
		TABLE_COLUMN("start_ns", "Start (ns)", TABLE_TIME)

/* A row of sums, and its first columns. */
struct nsys_sum_row {
	struct keyed_stats_times times;
	uint32_t name, kind; /* as in the keyed row */
};
#define NSYS_TIMES(count)                                                                      \
	TABLE_COLUMN("share_pct", "Time (%)", TABLE_PERCENT,                                   \
		TABLE_MEMBER(nsys_sum_row, times.share_pct)),                                  \
		TABLE_COLUMN("total_ns", "Total Time (ns)", TABLE_TIME,                        \
			TABLE_MEMBER(nsys_sum_row, times.total_ns)),                           \
		TABLE_COLUMN(                                                                  \
			"calls", count, TABLE_COUNT, TABLE_MEMBER(nsys_sum_row, times.calls)), \
		TABLE_COLUMN("avg_ns", "Avg (ns)", TABLE_MEAN_TIME,                            \
			TABLE_MEMBER(nsys_sum_row, times.avg_ns)),                             \
		TABLE_COLUMN("median_ns", "Med (ns)", TABLE_MEAN_TIME,                         \
			TABLE_MEMBER(nsys_sum_row, times.median_ns)),                          \
		TABLE_COLUMN("min_ns", "Min (ns)", TABLE_TIME,                                 \
			TABLE_MEMBER(nsys_sum_row, times.min_ns)),                             \
		TABLE_COLUMN("max_ns", "Max (ns)", TABLE_TIME,                                 \
			TABLE_MEMBER(nsys_sum_row, times.max_ns)),                             \
		TABLE_COLUMN("stddev_ns", "StdDev (ns)", TABLE_MEAN_TIME,                      \
			TABLE_MEMBER(nsys_sum_row, times.stddev_ns))

/* nsys_sums.c */
struct table *nsys_api_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_osrt_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_kern_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_kern_gb_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_mem_time_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_mem_size_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_gpu_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_api_gpu_sum(const struct nsys_ask *ask, void *const *views);

/* nsys_kernels.c: kernels by name, grid and block, and by the innermost pushed range around them */
extern const struct view_class view_nsys_kernels, view_nsys_range_kernels;
struct nsys_kernel_row {
	uint32_t range; /* of string_pool.h, 0 none */
	uint32_t name;	/* of string_pool.h */
	uint32_t grid[3], block[3];
};
const struct keyed_stats *nsys_kernels_tally(void *view);
const struct nsys_kernel_row *nsys_kernels_row(void *view, size_t row);

/* nsys_traces.c */
extern const struct view_class view_nsys_api;
struct table *nsys_gpu_trace(const struct nsys_ask *ask, void *const *views);
struct table *nsys_api_trace(const struct nsys_ask *ask, void *const *views);

/* nsys_nvtx.c */
extern const struct view_class view_nsys_ranges;
struct table *nsys_nvtx_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_nvtx_pushpop_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_nvtx_startend_sum(const struct nsys_ask *ask, void *const *views);

/* nsys_proj.c */
extern const struct view_class view_nsys_pushpop, view_nsys_proj;
struct table *nsys_nvtx_pushpop_trace(const struct nsys_ask *ask, void *const *views);
struct table *nsys_nvtx_gpu_proj_sum(const struct nsys_ask *ask, void *const *views);
struct table *nsys_nvtx_gpu_proj_trace(const struct nsys_ask *ask, void *const *views);

/* nsys_range_sum.c */
extern const struct view_class view_nsys_range_sum;
struct table *nsys_nvtx_kern_sum(const struct nsys_ask *ask, void *const *views);

#endif
