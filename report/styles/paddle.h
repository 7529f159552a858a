/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that paddle.c prints, made of the cells of our own views; a cell that is not
 * known is a dash. Texts belong to the caller.
 */
#ifndef REPORT_STYLES_PADDLE_H
#define REPORT_STYLES_PADDLE_H

#include "report/session/summary.h"
#include "report/table/table.h"
#include "report/util/buf.h"

/*
 * The table of the view framework as Paddle's old profiler (paddle.fluid.profiler) printed it:
 * Profiling Report with its Overhead, GpuMemCpy and Event Summary.
 */

struct paddle_old_options {
	const char *unit; /* of times: "ms" */
	double unit_ns;
	const char *sort;      /* the user's key, NULL: by total time */
	enum view_times times; /* CPU if nothing of a GPU was recorded */
	bool is_per_thread;
	size_t top; /* events that lie in none, 0 all */
};

void style_paddle_old_print(
	const struct table *table, const struct paddle_old_options *options, struct buf *out);

/*
 * Tables as Paddle's profiler prints them: columns of fixed widths two blanks apart, rules of
 * dashes, titles in the middle of a rule. Cells are text; their width is that on a terminal.
 */

#define PADDLE_COLUMNS 7u

struct paddle_row {
	char *cells[PADDLE_COLUMNS]; /* NULL: empty */
	bool is_title;		     /* the first one, in the middle of a rule */
	bool is_head;		     /* between two rules */
};

/* Starts with title, unit (NULL: none), titles and nr_columns set, the rest zeros. */
struct paddle_grid {
	const char *title, *unit, *note;
	const char *lines; /* below the title, NULL: none */
	const char *titles[PADDLE_COLUMNS];
	size_t widths[PADDLE_COLUMNS]; /* at least; a column is as wide as its widest cell */
	unsigned int nr_columns;
	struct paddle_row *rows;
	size_t nr_rows, capacity;
};

/* A row without cells. Fill by paddle_grid_set, which takes over `text`. */
struct paddle_row *paddle_grid_add(struct paddle_grid *grid);

/* printf into memory that the caller frees. */
char *paddle_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints it with its note and what follows a table, and frees the rows. */
void paddle_grid_print(struct paddle_grid *grid, struct buf *out);

/* The views whose tables are needed. */
enum paddle_view {
	PADDLE_OVERVIEW,
	PADDLE_UTILIZATION,
	PADDLE_MODEL,
	PADDLE_OPERATOR,
	PADDLE_KERNEL,
	PADDLE_MANIPULATION,
	PADDLE_USERDEFINED,
	PADDLE_MEMORY,
	PADDLE_BENCHMARK,
	PADDLE_FRAMEWORK,
	NR_PADDLE_VIEWS,
};

struct paddle_report {
	const struct summary *summary;
	struct table *tables[NR_PADDLE_VIEWS]; /* NULL: not needed */
	const char *unit;
	double unit_ns;
	enum view_times times; /* of the framework's report */

	double kernels_ns; /* of all kernels, also those that are cut */
	struct buf *out;
};

extern const struct view_class view_paddle_memory;

/* ---- cells ---- */

/* Returns the cell of a row with the key; one that is not known where there is no such column. */
const struct table_cell *paddle_cell(const struct table *table, size_t row, const char *key);
bool paddle_has(const struct table *table, size_t row, const char *key, const char *text);

void paddle_add_time(
	const struct paddle_report *report, struct buf *text, const struct table_cell *time);
char *paddle_time(const struct paddle_report *report, const struct table_cell *time);
char *paddle_percent(const struct table_cell *percent);
char *paddle_count(const struct table_cell *count);

/* Returns a name cut to the rest of the column, indented by its level; and that of a row. */
char *paddle_name_text(const struct paddle_report *report, const char *bytes, size_t nr_bytes,
	unsigned int level, size_t width);
char *paddle_name(
	const struct paddle_report *report, const struct table *table, size_t row, size_t width);

/* Returns what the view's table counts, and its notes: lines for a grid's note. */
char *paddle_note(const struct view_class *class, const struct table *table);

/* ---- tables: nothing is printed of those without rows ---- */

void paddle_print_device(struct paddle_report *report);
void paddle_print_overview(struct paddle_report *report);
void paddle_print_distribution(struct paddle_report *report);
void paddle_print_model(struct paddle_report *report);
void paddle_print_operator(struct paddle_report *report);
void paddle_print_kernel(struct paddle_report *report);
void paddle_print_manipulation(struct paddle_report *report);
void paddle_print_userdefined(struct paddle_report *report);
void paddle_print_memory(struct paddle_report *report);
void paddle_print_benchmark(struct paddle_report *report);

#endif
