/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of `summary`. A view is a declaration: its columns, the events that it wants and the
 * state that it gathers from them. Text, CSV, JSON, Markdown, the page, `help`, completion and the
 * manual read that declaration. To add a view, add one file to report/views or report/host with
 * `VIEW(NAME, ORDER) = {...};`; nothing else lists it.
 */
#ifndef REPORT_ANALYSIS_VIEW_H
#define REPORT_ANALYSIS_VIEW_H

#include <stddef.h>

#include "report/budget/launch_counter.h"
#include "report/ops/op_walk.h"
#include "report/model/device_records.h"
#include "report/model/scan.h"
#include "report/stats/keyed_stats.h"

/*
 * The depth to which operators are taken apart, as Paddle's old profiler did:
 * --detail=default|op|all.
 */
enum view_detail {
	VIEW_DETAIL_DEFAULT,
	VIEW_DETAIL_OP,	 /* by what lies in them */
	VIEW_DETAIL_ALL, /* and by their position in the step */
};

/* The times that the view framework counts: --state=all|cpu|gpu. */
enum view_times {
	VIEW_TIMES_ALL,
	VIEW_TIMES_CPU,
	VIEW_TIMES_GPU,
};

/* A time that the user asks for: --at=TIME|step=N. */
struct view_at {
	bool is_set;
	bool is_step;	/* the end of a step */
	uint64_t value; /* ns on the axis of time; or the step's number */
};

struct nccl_job;
struct what_if;

/* Options of the user and facts of the run that views may need besides events. */
struct view_input {
	struct process **processes;
	size_t nr_processes;
	/* The process that either pass reads, and its index; set before each `begin`. */
	struct process *process;
	size_t number;
	bool is_per_thread; /* rows of threads are not added up */
	bool is_all;	    /* also findings that save little, and rules that do not apply */
	bool is_detailed;   /* --detail alone: rows by the shapes of inputs, too */
	enum view_detail detail;
	enum view_times times;
	struct view_at at;
	size_t nr_rows; /* that the user wants of tables in their own order; 0: all, or not known */
	const struct nccl_job *job; /* with more processes than these; NULL: there are no others */
	/* The same of the only process, which has begun there; NULL: there are no others. */
	const struct rank_waits *waits;
	struct what_if *what_if; /* what the view what-if changes; NULL: each removal by itself */
	/* The counts of each process, after the pass, for a view that counts launches; it owns
	 * them. */
	struct budget_launches *launches;
	bool has_all_steps; /* also those that warm up and outliers, as tables of other tools */
	bool is_merged; /* `reduce` reads the states: they also gather what only `merge` needs */
	/* As the TensorBoard plugin has it: occupancy in whole percents, GPUs between steps, too */
	bool is_of_plugin;
	size_t line_width; /* columns of a line of text; 0: no limit */
	bool is_brief;	   /* all views that show the state are brief: see view_class */
	size_t nr_showing; /* views that show the state and are not destroyed */
};

/* The layout of a view's state: where generic code finds the members that it needs. */
struct view_state {
	size_t size;
	size_t input; /* offset of its struct view_input */
	size_t keyed; /* offset of its struct keyed_stats */
	bool is_keyed;
};

/* A row that `reduce` added up, for views that show it in columns of their own. */
#define VIEW_MERGE_SUMS 4u
struct view_merged {
	const struct histogram_group *times; /* ns, with their median */
	uint64_t p99_ns, untimed;
	const uint64_t *sums;
	uint32_t kind;
};

/*
 * Says what `reduce` keeps of the state of a view. Of its keyed rows: counts, times, their
 * distribution and some sums; rows of several processes add up where their kinds and names are the
 * same. Of each process: some facts.
 */
#define VIEW_MERGE_KEYS 3u
struct view_merge {
	const char *title;		   /* of the table of such rows; NULL: as in the view */
	const char *share;		   /* title of the first column; NULL: as in the view */
	const char *sums[VIEW_MERGE_SUMS]; /* keys of columns that add up */
	const char *keys[VIEW_MERGE_KEYS]; /* keys of the columns that say what a row is */
	uint32_t kind_mask;		   /* what of a row's kind is kept; 0: all of it */
	/* Sets the sums of each keyed row, which start at 0; NULL: there are none. */
	void (*get_sums)(const void *state, uint64_t (*sums)[VIEW_MERGE_SUMS]);
	/* Sets the cells of `keys`; NULL: the name, of several keys members of struct
	 * keyed_stats_row. */
	void (*fill_keys)(uint32_t kind, uint32_t name, struct table_cell *cells);

	/* Behind `keys`, instead of the columns of keyed_stats.h and of `sums`; or NULL. */
	const struct table_column *columns;
	unsigned int nr_columns;
	void (*fill)(const struct view_merged *row, struct table_cell *cells);
	const char *sort, *note; /* of that table */

	/* Sets the facts of the only process; they start as UINT64_MAX, which is unknown. */
	void (*get_facts)(const void *state, uint64_t *facts);
	unsigned int nr_facts;
};

/* A member of a view's state that gathers by itself, after the view and the members before it. */
#define VIEW_MAX_PARTS 4u
struct view_part {
	const struct scan_view *scan;	 /* NULL: nothing */
	const struct op_view *ops;	 /* NULL: nothing; both NULL: there is no such member */
	size_t offset;			 /* of the member, which is their context */
	const struct op_view *brief_ops; /* instead of ops, where the view is_brief; or NULL */
	bool (*needs_scan)(const void *member); /* asked before the scan; NULL: always */
	bool is_scan_rare; /* few streams have what it scans: it does not count for balance */
};

/* The subject of a view, for lists of views, in their order there. */
enum view_subject {
	VIEW_ABOUT_VERDICT = 1,
	VIEW_ABOUT_STEPS,
	VIEW_ABOUT_GPU,
	VIEW_ABOUT_HOST,
	VIEW_ABOUT_MEMORY,
	VIEW_ABOUT_DISTRIBUTED,
	VIEW_ABOUT_RECORDING,
	VIEW_NR_SUBJECTS,
};

struct view_class {
	const char *name; /* in JSON with underscores for dashes */
	enum view_subject subject;
	const char *help;     /* one line */
	const char *about;    /* for `help VIEW`, if columns do not say it all: what the table
			       * counts, what shares are shares of; sentences, or NULL */
	bool is_default;      /* shown without --view; others with --all */
	bool is_empty_hidden; /* not shown without --view if it has no rows */
	bool is_asked_only;   /* nor in JSON without --view: as long as the stream */
	/* It shows when a GPU worked or did not: see view_note_lost. */
	bool counts_launches;

	const char *title; /* of the table */
	const struct table_column *columns;
	unsigned int nr_columns;

	/* It shows the state of that view, which gathers once for all that do; NULL: its own. Of a
	 * view that shows another's, the members from `state` to `fini` are of that one, but for
	 * `merge` and `fill`. */
	const struct view_class *shows;
	/* It needs not all that the view gathers whose state it shows. That says what it leaves
	 * out where all that show the state are brief. */
	bool is_brief;
	struct view_state state;
	struct view_merge merge; /* all zeros: `reduce` keeps nothing of the state */
	struct scan_view scan;
	struct op_view ops; /* after the scan, for those that set any of it */
	struct view_part parts[VIEW_MAX_PARTS];
	/* All may be NULL. init gets the state zeroed but for its input and its keyed rows. */
	void (*init)(void *state);
	/* After the scan: adds the rows, in their order, and the notes. */
	void (*fill)(void *state, struct table *table);
	/* Frees what the state holds, but for its keyed rows. */
	void (*fini)(void *state);
};

/* Defines a view; the build lists all views by ORDER, in which they are shown. */
#define VIEW(name, order)                           \
	extern const struct view_class view_##name; \
	const struct view_class view_##name

#define VIEW_COLUMNS(array) .columns = (array), .nr_columns = sizeof(array) / sizeof((array)[0])

/* The state of a view: a struct with a member `struct view_input input`, ... */
#define VIEW_STATE(type)                        \
	.state = {                              \
		.size = sizeof(type),           \
		.input = offsetof(type, input), \
	}
/* ... and perhaps one of `struct keyed_stats`. */
#define VIEW_KEYED_STATE(type, member)           \
	.state = {                               \
		.size = sizeof(type),            \
		.input = offsetof(type, input),  \
		.keyed = offsetof(type, member), \
		.is_keyed = true,                \
	}

/* Makes the states of views and hands them the events of all processes: one pass for all of them.
 */
void view_run(const struct view_input *input, const struct view_class *const *classes,
	size_t nr_classes, void **states);
/* The same, with other walks over operators in the same pass. */
void view_run_with(const struct view_input *input, const struct view_class *const *classes,
	size_t nr_classes, void **states, const struct op_walk *others, size_t nr_others);
/* After the scan, once: the table, which the caller destroys. */
struct table *view_table(const struct view_class *class, void *state);
/* The last view that shows the state frees it. */
void view_destroy(const struct view_class *class, void *state);

/* The view that gathers the state which this one shows; often itself. */
const struct view_class *view_owner(const struct view_class *class);

/* After the scan: the keyed rows of a view that has them, with medians. */
const struct keyed_stats *view_keyed(const struct view_class *class, void *state);

/* The column with that key, NULL if the view has none. */
const struct table_column *view_column(const struct view_class *class, const char *key);

/* Sources of the columns pid and rank: a member that points to a process, or NULL: unknown. */
void view_set_pid(const void *member, struct table_cell *cell);
void view_set_rank(const void *member, struct table_cell *cell);
#define VIEW_PID(row, process)	TABLE_SET(row, process, view_set_pid)
#define VIEW_RANK(row, process) TABLE_SET(row, process, view_set_rank)

/* Both columns as most views have them; more members of the rank's may follow. */
#define VIEW_PROCESS_COLUMNS(row, process, ...)                       \
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(row, process)), \
		TABLE_COLUMN("rank", "Rank", TABLE_ID, VIEW_RANK(row, process), __VA_ARGS__)

/*
 * The columns that tables by devices begin with. The device is a uint32_t, UINT32_MAX where the
 * stream does not have it.
 */
#define VIEW_DEVICE_COLUMNS(row, process, device)                                           \
	TABLE_COLUMN("pid", "PID", TABLE_ID, .help = "process ID", VIEW_PID(row, process)), \
		TABLE_COLUMN("rank", "Rank", TABLE_COUNT, .help = "rank in the job",        \
			VIEW_RANK(row, process)),                                           \
		TABLE_COLUMN("device", "GPU", TABLE_COUNT,                                  \
			.help = "CUDA device number in the process", TABLE_MEMBER(row, device))

/* Sets the process ID and the rank, in this order. */
void view_fill_process(const struct process *process, struct table_cell *cells);

/* Counts the processes without device records; why: the reason of the last of them. */
size_t view_without_devices(const struct view_input *input, const char **why);

/*
 * Notes which processes have no device records, if there are any, and then the sentence `instead`:
 * what the table has in place of them ("" for none).
 */
void view_note_devices(struct table *table, const struct view_input *input, const char *instead);
/* The same of processes that the view has counted itself. */
void view_note_without_devices(struct table *table, const struct view_input *input,
	size_t nr_without, const char *why, const char *instead);

/*
 * For views that count launches. Did that process lose so many activities that nobody knows when
 * its GPUs were idle?
 */
bool view_has_lost(const struct view_input *input, const struct process *process);
/* Warns of such processes (budget_warn_lost), and notes them below the table. */
void view_note_lost(struct table *table, const struct view_input *input);

/* Notes how exact times of several processes beside each other are. */
void view_note_clock(struct table *table, struct process *const *processes, size_t nr_processes);
/* The same of what compares ranks, but never by wall clocks: only how exact the clocks agree. */
void view_note_fit(struct table *table, struct process *const *processes, size_t nr_processes);

/* Notes how many of the operators have a Python stack, or how to record stacks if there are none.
 */
void view_note_stacks(struct table *table, const struct view_input *input, uint64_t nr_with_stack,
	uint64_t nr_ops);

/* Notes the ranks of which something is missing, and processes of another job (foreign_rank.c). */
void view_note_ranks(struct table *table, struct process *const *processes, size_t nr_processes);

/*
 * Notes how the recorder found the steps of the process by itself, and how sure it is; or why it
 * found none and what to do.
 */
void view_note_steps(struct table *table, const struct process *process);

/* Says that so many processes are not in the table, since they have no steps. */
void view_note_stepless(struct table *table, size_t nr_processes);

extern const struct view_class view_framework, view_headline, view_findings, view_memops,
	view_overview, view_what_if, view_operator_detail /* for --detail=op|all */;

/* Rows that the styles share; tallies are finished by view_kernel.table and so on, or by these. */
extern const struct view_class view_kernel, view_api, view_memcpy, view_memset, view_nvtx;

extern const struct view_class view_sync, view_device, view_threads, view_overhead, view_losses,
	view_notices, view_steps, view_windows;
extern const struct view_class view_kernel_operator, view_loader_stages, view_breakdown,
	view_budget, view_gpu_summary;

extern const struct view_class view_memory_categories, view_memory_peak, view_memory_blocks,
	view_memory_failed;
extern const struct view_class view_operator, view_model, view_user_ranges, view_benchmark,
	view_memory, view_memory_curve, view_memory_events, view_data_loading, view_utilization,
	view_python, view_gc, view_gil, view_module, view_os_runtime, view_wait_lines, view_imports,
	view_compilations;
extern const struct view_class view_operator_types, view_single_operators, view_step_stats,
	view_utilization_time, view_utilization_kernels, view_utilization_operators,
	view_utilization_phases, view_utilization_steps, view_data_loading_steps, view_advice;
extern const struct view_class view_gpu_trace, view_api_trace;
extern const struct view_class view_time_breakdown, view_distributed, view_stragglers,
	view_pipeline, view_moe_balance, view_collectives, view_communication, view_hang,
	view_missing_collectives, view_idle, view_idle_gaps, view_launch_latency, view_queue,
	view_bandwidth, view_critical_path, view_roofline;

#endif
