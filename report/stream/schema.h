/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables and columns that the reporter knows, derived from the lists of format.h:
 * GPROF_TABLE_name and COL_table_column. A stream maps its own numbers to these by name; see
 * stream.h.
 */
#ifndef REPORT_STREAM_SCHEMA_H
#define REPORT_STREAM_SCHEMA_H

#include <stdint.h>

#include "collector/format/format.h"

/* The most columns of a known table. */
#define SCHEMA_COLUMNS 24u

#define SCHEMA_ENUM(t, type, column, kind) COL_##t##_##column,
#define T(id, table, what)                                                          \
	enum col_##table{GPROF_COLUMNS_##table(SCHEMA_ENUM, table) NR_COL_##table}; \
	_Static_assert((unsigned int)NR_COL_##table <= SCHEMA_COLUMNS, "raise SCHEMA_COLUMNS");
GPROF_TABLES(T)
#undef T
#undef SCHEMA_ENUM

/* The mask of one column, and of all columns of a table. */
#define COL_BIT(column)	    (1u << (column))
#define COL_ALL(nr_columns) ((1u << (nr_columns)) - 1u)

struct schema_column {
	const char *name;
	uint8_t kind; /* enum gprof_kind */
	uint8_t width;
	uint16_t offset;
};

struct schema_table {
	const char *name; /* NULL: no such table */
	const char *what;
	unsigned int nr_columns;
	uint16_t row_bytes;
	const struct schema_column *columns;
};

/* The table with our number, NULL if there is none. */
const struct schema_table *schema_table(unsigned int table);

/* Our numbers by name; 0 and -1 if unknown. The text need not end with NUL. */
unsigned int schema_find_table(const char *name, uint32_t nr_bytes);
int schema_find_column(unsigned int table, const char *name, uint32_t nr_bytes);

#endif
