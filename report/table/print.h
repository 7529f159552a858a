/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a table as text, Markdown, CSV, JSON or OpenMetrics. */
#ifndef REPORT_TABLE_PRINT_H
#define REPORT_TABLE_PRINT_H

#include "report/table/table.h"

enum table_format {
	TABLE_TEXT_FORMAT,
	TABLE_CSV,
	TABLE_JSON,
	TABLE_MARKDOWN,
	TABLE_OPENMETRICS, /* only of `summary`, which writes the last line */
};

struct table_style {
	enum table_format format;
	const char *unit; /* of times: "s", "ms", "us", "ns"; NULL: by size */
	bool is_wide;	  /* all columns, uncut, however long lines become */
	bool is_plain;	  /* of CSV: a header and rows, without title, notes and blank line */
	/* For text; see terminal_set. */
	unsigned int width; /* of lines, in columns of the terminal; 0: 80 */
	bool has_color, has_bars, is_utf8;
};

/* A power of ten in which a column is printed. */
struct table_unit {
	const char *name;
	double factor;
};

/* The time unit with that name, ns for NULL. */
const struct table_unit *table_time_unit(const char *name);

/* The unit and the decimals of a column of numbers. */
struct table_scale {
	const struct table_unit *unit; /* NULL: it has none */
	unsigned int decimals;
};

/*
 * Sets the scale of each column. Times, sizes and rates of a text each have one unit in the whole
 * table, but for columns whose numbers would be too long in it. CSV has base units unless the style
 * names one.
 */
void table_find_scales(
	const struct table *table, const struct table_style *style, struct table_scale *scales);

/* The longest line that fits, in columns of the terminal; 0: no limit. */
size_t table_line_width(const struct table_style *style);

/* Appends a number without quotes or padding; nothing if it is unknown. */
void table_add_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_scale *scale, bool separate);

/* Appends the title with its unit. */
void table_add_title(
	struct buf *out, const struct table_column *column, const struct table_unit *unit);

/* Prints one table. In JSON this is a member `"key": {"rows": [...]}` without a comma. */
void table_print(const struct table *table, const struct table_style *style, struct buf *out);

/* The same as text or Markdown. */
void table_print_text(const struct table *table, const struct table_style *style, struct buf *out);

/* The same as OpenMetrics: all families of the table. */
void table_print_openmetrics(const struct table *table, struct buf *out);

/* Appends a time with five digits and a unit that fits, as nvprof prints it: "12.345us". */
void table_add_auto_time(struct buf *out, double ns);

/* The abilities of the output: width, colors, bars. */

enum terminal_color {
	TERMINAL_AUTO, /* on a terminal, unless NO_COLOR is set or TERM is dumb */
	TERMINAL_ALWAYS,
	TERMINAL_NEVER,
};

/* "auto", "always", "never", NULL */
extern const char *const terminal_colors[];

/*
 * Sets the style for stdout. Output into a file (path is neither NULL nor "-") is no terminal. The
 * width of text is COLUMNS if set, else the terminal's, else unknown. NEVER removes bars, too;
 * NO_COLOR removes only colors.
 */
void terminal_set(struct table_style *style, const char *path, enum terminal_color color);

#endif
