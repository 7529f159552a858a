/* SPDX-License-Identifier: Apache-2.0 */
/* For table.c: the printers, and what they share. */
#ifndef REPORT_TABLE_PRINT_H
#define REPORT_TABLE_PRINT_H

#include "report/table/table.h"

enum table_format {
	TABLE_TEXT_FORMAT,
	TABLE_CSV,
	TABLE_JSON,
	TABLE_MARKDOWN,
};

struct table_style {
	enum table_format format;
	const char *unit; /* of times in text, Markdown and CSV: "s", "ms", "us", "ns", or NULL: by
			     size */
	bool is_wide;	  /* do not cut names */
	/* Of text on a terminal, see terminal.h; all 0 elsewhere. */
	unsigned int width; /* in columns; 0 unknown */
	bool has_color, has_bars, is_utf8;
};

/* A power of ten that a column is printed in. */
struct table_unit {
	const char *name;
	double factor;
};

/* The unit of times that is called so, ns for NULL. */
const struct table_unit *table_time_unit(const char *name);

/* The unit of a column in text; NULL for what has none. CSV has base units unless told otherwise.
 */
const struct table_unit *table_unit(
	const struct table *table, unsigned int c, const struct table_style *style);

/* A number without quotes or padding; nothing for an unknown one. */
void table_add_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit, bool separate);

/* The title with the unit. */
void table_add_title(
	struct buf *out, const struct table_column *column, const struct table_unit *unit);

/* Prints one table; for JSON a member `"key": {"rows": [...]}` without comma. */
void table_print(const struct table *table, const struct table_style *style, struct buf *out);

/* A time with a unit that fits, as nvprof prints it: 5 digits, "12.345us". */
void table_add_auto_time(struct buf *out, double ns);

#endif
