/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that can be made of what `reduce` keeps; named as those of `summary`, where they show
 * the same. */
#ifndef REPORT_REDUCE_REDUCED_VIEW_H
#define REPORT_REDUCE_REDUCED_VIEW_H

#include "report/analysis/view.h"
#include "report/reduce/reduced.h"
#include "report/table/table.h"

/*
 * The views whose states are kept, in the order of files: those of keyed rows, by enum
 * reduced_view; of steps; of facts of the process, by enum reduced_fact.
 */
#define NR_REDUCED_CLASSES (NR_REDUCED_VIEWS + 4u)
extern const struct view_class *const reduced_classes[NR_REDUCED_CLASSES];

/* Which time of a step is which column of which view's table. */
struct reduced_time_column {
	const struct view_class *view;
	const char *key;
	bool is_wide_only;
	const char *shown_key, *shown_title; /* in tables of summaries; NULL: as in the view */
};
extern const struct reduced_time_column reduced_times[NR_REDUCED_TIMES];

/* A table of a summary; its name is that of the view. */
struct reduced_view_class {
	const struct view_class *view;
	struct table *(*table)(struct reduced *reduced, unsigned int argument);
	unsigned int argument;
	/* What is compared over processes, of argument 1: a row for each, in their order, the last
	 * columns of one type. NULL: rows of all together, whose view is the argument. */
	struct table *(*each)(struct reduced *reduced, unsigned int argument);
	const char *over_key; /* of the table over processes, beside the other one; NULL: none */
};

/* In the order in which they are shown; ends with one without a view. */
extern const struct reduced_view_class reduced_views[];

/* NULL if there is none. */
const struct reduced_view_class *reduced_view_find(const struct view_class *view);

/* The table over processes that stands beside the view's other one; NULL: there is none. */
struct table *reduced_view_aside(struct reduced *reduced, const struct reduced_view_class *class);

/* reduced_over.c: one over processes, under that key. */
struct table *reduced_over_table(
	struct reduced *reduced, const struct reduced_view_class *class, const char *key);

/* Those below are for reduced_views. Rows of all processes together; argument: enum reduced_view.
 */
struct table *reduced_rows_table(struct reduced *reduced, unsigned int argument);

/* Steps over all processes; sums of steps of each process, and means; each step of each process. */
struct table *reduced_steps_table(struct reduced *reduced, unsigned int argument);
struct table *reduced_distributed_table(struct reduced *reduced, unsigned int argument);
struct table *reduced_distributed_each(struct reduced *reduced, unsigned int argument);
struct table *reduced_every_step_table(struct reduced *reduced, unsigned int argument);

/* A row for each process; without values for those with fewer steps, 0: all. */
struct table *reduced_breakdown_table(struct reduced *reduced, unsigned int least_steps);
struct table *reduced_memory_table(struct reduced *reduced, unsigned int argument);

/* Who was profiled. The sequence must be that of ranks (reduced_sort). */
struct table *reduced_processes_table(const struct reduced *reduced);

/* "3", or "host:pid" where there is no rank. */
void reduced_who_cell(struct table_cell *cell, const struct reduced_who *who);

/* The columns that tables of processes begin with. */
#define REDUCED_WHO                                                                   \
	TABLE_COLUMN("rank", "Rank", TABLE_ID), TABLE_COLUMN("pid", "PID", TABLE_ID), \
		TABLE_COLUMN("host", "Host", TABLE_TEXT, .is_wide_only = true)
#define REDUCED_WHO_COLUMNS 3u
void reduced_who_fill(const struct reduced_process *process, struct table_cell *cells);

/* What the rows of a view are: "Kernels". */
const char *reduced_name_title(enum reduced_view view);

/* The columns that say what a row is: as many as returned, at most VIEW_MERGE_KEYS. */
unsigned int reduced_name_columns(enum reduced_view view, struct table_column *columns);
void reduced_name_fill(const struct reduced_key *key, struct table_cell *cells);

/* How many processes have a row, and which spent least and most in it. */
#define REDUCED_SPREAD                                                                         \
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT),                                   \
		TABLE_COLUMN("least_ns", "Least", TABLE_TIME, .is_wide_only = true),           \
		TABLE_COLUMN("least_rank", "Least by rank", TABLE_TEXT, .is_wide_only = true), \
		TABLE_COLUMN("most_ns", "Most", TABLE_TIME),                                   \
		TABLE_COLUMN("most_rank", "Most by rank", TABLE_TEXT)
#define REDUCED_SPREAD_COLUMNS 5u
void reduced_spread_fill(const struct reduced_row *row, struct table_cell *cells);

#endif
