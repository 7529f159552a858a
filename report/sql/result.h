/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a query, kept until they are printed: a table needs its widths before its first line.
 * What does not fit into RESULT_BYTES lies in a file without a name.
 */
#ifndef REPORT_SQL_RESULT_H
#define REPORT_SQL_RESULT_H

#include "report/table/table.h"

#define RESULT_BYTES (8u << 20)

struct result;

/* names: of the columns, copied. */
struct result *result_create(unsigned int nr_columns, const char *const *names);
void result_destroy(struct result *result);

/* The cells of a row, one after the other; one that gets none of these is unknown. */
void result_begin_row(struct result *result);
void result_integer(struct result *result, int64_t value);
void result_number(struct result *result, double value);
void result_text(struct result *result, const char *bytes, size_t nr_bytes);
void result_null(struct result *result);

/* False where the file could not be written. */
bool result_end_row(struct result *result);

unsigned int result_nr_columns(const struct result *result);
const char *result_name(const struct result *result, unsigned int column);

/*
 * A table of the rows, which takes the result over. Columns have the names of the query's; numbers
 * are printed as SQLite prints them.
 */
struct table *result_table(struct result *result, const char *key, const char *title);

/* The same with columns that the caller has, which must stay. */
struct table *result_table_of(struct result *result, const char *key, const char *title,
	const struct table_column *columns);

#endif
