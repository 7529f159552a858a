/* SPDX-License-Identifier: Apache-2.0 */
/* The request of the command `summary`, and the printers of its styles. */
#ifndef REPORT_SESSION_SUMMARY_H
#define REPORT_SESSION_SUMMARY_H

#include "report/analysis/view.h"
#include "report/comm/rank_waits.h"
#include "report/session/common_options.h"

#define SUMMARY_VIEWS 128u

struct summary;

/*
 * The tool whose layout the tables have. To add one, write styles/NAME.c with a `const struct
 * summary_style style_NAME` and list it in style.c.
 */
struct summary_style {
	const char *name;
	const char *help;
	/* The formats that it has, bits 1 << enum table_format. */
	unsigned int formats;
	/* Returns what is wrong with the options, or NULL. */
	const char *(*print)(
		const struct summary *summary, const struct cmd_input *input, struct buf *out);
};

extern const struct summary_style style_paddle;

/* All styles, our own first; ends with NULL. */
extern const struct summary_style *const summary_styles[];
extern const struct summary_style style_gprof, style_nvprof, style_nsys, style_torch,
	style_tensorboard;

/* A report of nsys's that --report names, see nsys_reports.h. */
enum nsys_names {
	NSYS_SHOWN,
	NSYS_BASE,
	NSYS_MANGLED,
};

struct nsys_ask {
	const struct nsys_report *report;
	enum nsys_names names;
	bool has_ranges; /* :nvtx-name */
};

struct summary {
	struct common_options asked;
	const struct view_class *views[SUMMARY_VIEWS];
	size_t nr_views;
	bool is_default; /* no --view was given */
	const struct summary_style *style;
	const char *sort; /* NULL: each view's own order */
	bool is_per_thread, is_detailed;
	bool is_all;		 /* all views, and all that they have */
	bool is_across_ranks;	 /* views as rank_spread.c makes them */
	struct what_if *what_if; /* of view_input */
	bool has_detail;	 /* a level was given */
	enum view_detail detail;
	enum view_times times;
	struct view_at at;
	struct nsys_ask *reports; /* for the style nsys */
	size_t nr_reports, report_capacity;
	/* The table of a report that is a query, see sql/nsys_query.h; NULL without such reports.
	 */
	struct table *(*query)(const struct nsys_ask *ask, const char *sort,
		struct process **processes, size_t nr_processes);
};

/*
 * `summary` of files of `reduce`, all of which must be such: prints those of the wanted tables that
 * they have, and says on stderr what they lack. Returns an exit status.
 */
int summary_of_reduced(struct summary *summary, char *const *paths, int nr_paths);

/*
 * Reads what the paths name, prints the wanted tables and warns of losses; finishes `summary`.
 * Returns an exit status.
 */
int summary_run(struct summary *summary, char *const *paths, int nr_paths);

/* The table of the processes; made after the scan, since damage in columns is found by reading. */
/* Is one view printed as CSV? Then nothing else is, so that other programs read it as it is. */
bool summary_is_plain(const struct summary *summary);

/* Prints a view's table; if it is plain, its notes go to stderr. */
void summary_print_table(const struct summary *summary, const struct table *table, struct buf *out);

struct table *summary_processes(const struct cmd_input *input);

/*
 * Sorts a table as --sort says: by a column, or by one of Paddle's keys (CPUTotal ... GPUMin, ave),
 * of which the minima rise as there. False if there is no such column.
 */
bool summary_sort(struct table *table, const char *key);

/*
 * The words that --sort takes for these views: the keys of their columns without units, in order,
 * each once; NULL behind the last.
 */
char **summary_sort_keys(const struct view_class *const *views, size_t nr_views);
void summary_free_sort_keys(char **keys);

/* The same of a list that ends with NULL, for struct command's `values`. */
void summary_add_sort_keys(const struct view_class *const *views,
	void (*add)(void *context, const char *word), void *context);

/*
 * Any view over ranks: it is made of each rank by itself, and of one of its columns each row has
 * the least value, the median, the largest, and whose these are. Rows are the same if their names,
 * texts and numbers of steps are, and those of what they lie in.
 *
 * Memory: the rows of all ranks, some 100 bytes each.
 */

/*
 * waits: of all the processes, as rank_waits_read has them. column: its key; NULL: the first that
 * is a time, or else the first number. Returns NULL with the reason in *wrong if that cannot be
 * made; else the table, which the caller destroys.
 */
struct table *rank_spread_table(const struct view_class *class, const struct view_input *input,
	struct rank_waits *waits, const char *column, const char **wrong);

#endif
