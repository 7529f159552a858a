/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as Paddle's profiler prints them: columns of fixed widths two blanks apart, rules of
 * dashes, titles in the middle of a rule. Cells are text; their width is that on a terminal.
 */
#ifndef REPORT_STYLES_PADDLE_GRID_H
#define REPORT_STYLES_PADDLE_GRID_H

#include "report/util/buf.h"

#define PADDLE_COLUMNS 4u

struct paddle_row {
	char *cells[PADDLE_COLUMNS]; /* NULL: empty */
	bool is_title;		     /* the first one, in the middle of a rule */
	bool is_head;		     /* between two rules */
};

/* Starts with title, unit (NULL: none), titles and nr_columns set, the rest zeros. */
struct paddle_grid {
	const char *title, *unit, *note;
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

#endif
