/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of `summary`: what a view wants of the events, and the table it makes of them. To add
 * one, write view_NAME.c with a `const struct view_class view_NAME` and list it in view.c.
 */
#ifndef REPORT_ANALYSIS_VIEW_H
#define REPORT_ANALYSIS_VIEW_H

#include "report/ops/op_walk.h"
#include "report/model/scan.h"
#include "report/table/keyed_stats.h"

/* How far operators are taken apart, as Paddle's old profiler did: --detail=default|op|all. */
enum view_detail {
	VIEW_DETAIL_DEFAULT,
	VIEW_DETAIL_OP,	 /* by what lies in them */
	VIEW_DETAIL_ALL, /* and by their place in the step */
};

/* What views may show besides events. */
struct view_input {
	struct process **processes;
	size_t nr_processes;
	bool is_per_thread; /* rows of threads are not added up */
	bool is_detailed;   /* --detail alone: rows by the shapes of inputs, too */
	enum view_detail detail;
	size_t nr_rows; /* that the user wants of tables in their own order; 0: all, or not known */
};

struct view_class {
	const char *name;
	const char *help;
	bool is_default;      /* shown without --view */
	bool is_empty_hidden; /* not shown without --view if it has no rows */
	bool is_asked_only;   /* nor in JSON without --view: as long as the stream */
	struct scan_view scan;
	struct op_view ops; /* after the scan, for those that set any of it */
	void *(*create)(const struct view_input *input);
	/* After the scan: the table, which the caller destroys. */
	struct table *(*table)(void *view);
	void (*destroy)(void *view);
};

/* All views, in the order they are shown; ends with NULL. */
extern const struct view_class *const view_classes[];

/* The view of that name, NULL if there is none. */
const struct view_class *view_find(const char *name, size_t nr_bytes);

/* Has the process any record of work on a device? If not, `*why` says what is known of the reason.
 */
bool view_has_device_records(const struct process *process, const char **why);

/* Processes of which a table shows the host's calls instead, and why the last of them. */
struct view_without {
	size_t nr_processes, nr_without;
	const char *why;
};

/* Counts a process. True if it has none. */
bool view_without_take(struct view_without *without, const struct process *process);

/* Appends to the table's note, formatted. */
void view_note_more(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Says so in the table's note, if there are any; `rest` goes on with what stands there instead. If
 * no process has one, there is nothing else to say of the table.
 */
void view_without_note(const struct view_without *without, struct table *table, const char *rest);

/* Appends to the table's note how exact times of several processes beside each other are. */
void view_note_clock(struct table *table, struct process *const *processes, size_t nr_processes);
/* The same of what compares ranks, but never by wall clocks: only how exact the clocks agree. */
void view_note_fit(struct table *table, struct process *const *processes, size_t nr_processes);

/* Appends to it of which ranks something is missing, and who cannot be of the job (stranger.h). */
void view_note_ranks(struct table *table, struct process *const *processes, size_t nr_processes);

/* Appends to it what counts where hosts communicate (host_comm.h). */
void view_note_host(struct table *table);

/*
 * Appends to the table's note how the recorder found the steps of the process by itself, and how
 * sure it is; or why it found none and what to do.
 */
void view_note_steps(struct table *table, const struct process *process);

extern const struct view_class view_framework, view_manipulation, view_overview,
	view_operator_detail /* for --detail=op|all */;

/* Rows that the styles share; tallies are finished by view_kernel.table and so on, or by these. */
extern const struct view_class view_kernel, view_api, view_memcpy, view_memset, view_nvtx;
const struct keyed_stats *view_kernel_tally(void *view);
const struct keyed_stats *view_api_tally(void *view);
const struct keyed_stats *view_copy_tally(
	void *view); /* of memcpy and of memset; see copy.h for kinds */
const struct keyed_stats *view_nvtx_tally(void *view); /* kind: enum gprof_nvtx, PUSH or START */
const char *view_nvtx_style(uint32_t kind);
const struct keyed_stats *view_collective_tally(
	void *view, const struct histogram **overlaps /* of rows, ns */);
struct breakdown_sums view_breakdown_sums(void *view); /* of view_breakdown; breakdown.h */

extern const struct view_class view_sync, view_device, view_threads, view_overhead, view_losses,
	view_notices, view_steps, view_windows;
extern const struct view_class view_kernel_operator, view_breakdown, view_gpu_use;

/*
 * The name of the innermost operator around a launch, beyond modules and users' ranges; in round
 * brackets that there is none, or that no launch was recorded.
 */
uint32_t view_operator_of(const struct op_call *call, const struct op *op);

extern const struct view_class view_operator, view_model, view_userdefined, view_benchmark,
	view_memory, view_memory_curve, view_memory_events, view_dataprep, view_utilization,
	view_python, view_module;
extern const struct view_class view_optype, view_step_stats, view_utilization_time,
	view_dataprep_steps, view_advice;
extern const struct view_class view_gpu_trace, view_api_trace;
extern const struct view_class view_temporal, view_distributed, view_straggler, view_pipeline,
	view_expert, view_collective, view_communication, view_stall, view_pending, view_idle,
	view_gaps, view_launch, view_queue, view_bandwidth, view_critical;

#endif
