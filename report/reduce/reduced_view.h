/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of summaries, with the names of the views of `summary`. */
#ifndef REPORT_REDUCE_REDUCED_VIEW_H
#define REPORT_REDUCE_REDUCED_VIEW_H

#include "report/analysis/view.h"
#include "report/reduce/reduced.h"
#include "report/table/table.h"

/*
 * The views whose states `reduce` keeps, in the order of files: first those with keyed rows, by
 * enum reduced_view; then those with steps; last those with facts, by enum reduced_fact.
 */
#define NR_REDUCED_CLASSES (NR_REDUCED_VIEWS + 5u)
extern const struct view_class *const reduced_classes[NR_REDUCED_CLASSES];

/* Each time of a step is a column of a view whose rows are steps, or steps of devices. */
struct reduced_time_column {
	const struct view_class *view;
	const char *key;
	bool is_wide_only;
	const char *shown_key, *shown_title; /* in tables of summaries; NULL: as in the view */
};
extern const struct reduced_time_column reduced_times[NR_REDUCED_TIMES];

/* A table of a summary. Its name is that of the view. */
struct reduced_view_class {
	const struct view_class *view;
	struct table *(*table)(struct reduced *reduced, unsigned int argument);
	unsigned int argument;
	/*
	 * Makes the table with a row for each process, in their order, for comparing them; called
	 * with argument 1. All columns with the type of the last one are compared. NULL: `argument`
	 * is the view whose rows are compared.
	 */
	struct table *(*each)(struct reduced *reduced, unsigned int argument);
	const char *over_key; /* of a second table that compares processes; NULL: none */
};

/* In the order in which they are shown, the headline first; ends with one without a view. */
extern const struct reduced_view_class reduced_views[];
extern const size_t reduced_nr_views;

/* NULL if there is none. */
const struct reduced_view_class *reduced_view_find(const struct view_class *view);

/* The second table, which compares processes; NULL: there is none. */
struct table *reduced_view_aside(struct reduced *reduced, const struct reduced_view_class *class);

/* reduced_over.c: a table that compares processes. */
struct table *reduced_over_table(
	struct reduced *reduced, const struct reduced_view_class *class, const char *key);

/* ---- for reduced_views ---- */

/* Rows of all processes together; argument: enum reduced_view. */
struct table *reduced_rows_table(struct reduced *reduced, unsigned int argument);

/*
 * Each step over all processes; the sums, and the means, of the steps of each process; each step of
 * each process.
 */
struct table *reduced_steps_table(struct reduced *reduced, unsigned int argument);
struct table *reduced_distributed_table(struct reduced *reduced, unsigned int argument);
struct table *reduced_distributed_each(struct reduced *reduced, unsigned int argument);
struct table *reduced_every_step_table(struct reduced *reduced, unsigned int argument);

/* One row for the whole job, and the lines of the first screen that a summary can answer. */
struct table *reduced_headline_table(struct reduced *reduced, unsigned int line_width);

/* Rows of processes with fewer steps have no values. */
struct table *reduced_breakdown_table(struct reduced *reduced, unsigned int least_steps);
struct table *reduced_memory_table(struct reduced *reduced, unsigned int argument);

/* ---- for all tables ---- */

/* The processes, which must be sorted. */
struct table *reduced_processes_table(const struct reduced *reduced);

/* Sets a cell to "3", or "host:pid" where there is no rank; of a struct reduced_who. */
void reduced_set_who(const void *who, struct table_cell *cell);

/* The columns that tables of processes begin with, of a struct reduced_process. */
#define REDUCED_WHO                                                                       \
	TABLE_COLUMN("rank", "Rank", TABLE_ID, TABLE_MEMBER(reduced_process, rank)),      \
		TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(reduced_process, pid)), \
		TABLE_COLUMN("host", "Host", TABLE_TEXT, .is_wide_only = true,            \
			TABLE_MEMBER(reduced_process, host))
#define REDUCED_WHO_COLUMNS 3u
void reduced_who_fill(const struct reduced_process *process, struct table_cell *cells);

/* The title of the names in a view's rows: "Kernels". */
const char *reduced_name_title(enum reduced_view view);

/* The columns that say what a row is: as many as returned, at most VIEW_MERGE_KEYS. */
unsigned int reduced_name_columns(enum reduced_view view, struct table_column *columns);
void reduced_name_fill(const struct reduced_key *key, struct table_cell *cells);

/*
 * Columns of a struct reduced_row: the processes that have it, and those that spent least and most
 * in it.
 */
#define REDUCED_SPREAD                                                                           \
	TABLE_COLUMN(                                                                            \
		"processes", "Processes", TABLE_COUNT, TABLE_MEMBER(reduced_row, nr_processes)), \
		TABLE_COLUMN("least_ns", "Least", TABLE_TIME, .is_wide_only = true,              \
			TABLE_IF(reduced_row, least.ns, times.group.count)),                     \
		TABLE_COLUMN("least_rank", "Least by rank", TABLE_TEXT, .is_wide_only = true,    \
			TABLE_IF(reduced_row, least.who, times.group.count),                     \
			.set = reduced_set_who),                                                 \
		TABLE_COLUMN("most_ns", "Most", TABLE_TIME,                                      \
			TABLE_IF(reduced_row, most.ns, times.group.count)),                      \
		TABLE_COLUMN("most_rank", "Most by rank", TABLE_TEXT,                            \
			TABLE_IF(reduced_row, most.who, times.group.count),                      \
			.set = reduced_set_who)
#define REDUCED_SPREAD_COLUMNS 5u

#endif
