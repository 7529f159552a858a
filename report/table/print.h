/* SPDX-License-Identifier: Apache-2.0 */
/* For table.c: the printers, and what they share. */
#ifndef REPORT_TABLE_PRINT_H
#define REPORT_TABLE_PRINT_H

#include "report/table/table.h"

/* A power of ten that a column is printed in. */
struct table_unit {
	const char *name;
	double factor;
};

/* Is it a column of words? These are at the left, numbers at the right. */
bool table_is_text(const struct table_column *column);

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

/* The bytes of a NAME or TEXT cell. */
const char *table_cell_text(
	const struct table_column *column, const struct table_cell *cell, size_t *nr_bytes);

/* Text or Markdown, as the style says. */
void table_print_text(const struct table *table, const struct table_style *style, struct buf *out);
void table_print_csv(const struct table *table, const struct table_style *style, struct buf *out);
void table_print_json(const struct table *table, struct buf *out);

#endif
