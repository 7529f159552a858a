/* SPDX-License-Identifier: Apache-2.0 */
/* For table.c: the printers. */
#ifndef REPORT_TABLE_PRINT_H
#define REPORT_TABLE_PRINT_H

#include "report/table.h"

/* The bytes of a NAME or TEXT cell. */
const char *table_cell_text(
	const struct table_column *column, const struct table_cell *cell, size_t *nr_bytes);

/* Text or Markdown, as the style says. */
void table_print_text(const struct table *table, const struct table_style *style, struct buf *out);
void table_print_csv(const struct table *table, const struct table_style *style, struct buf *out);
void table_print_json(const struct table *table, struct buf *out);

#endif
