/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to SQLite over what was recorded: tables of events (event.h) and of texts as
 * virtual tables, `process` and `session`, and views by nsys's names (nsys_views.sql). It only
 * reads: other databases, extensions, pragmas and everything that writes are refused.
 *
 * Functions beside SQLite's: string(id) is the text with that id, and string(text) that text;
 * median(x), stddev(x) (of a sample) and percentile(x, p) (nearest rank) are aggregates. The two
 * with ranks keep 8 bytes for each value.
 */
#ifndef REPORT_SQL_DATABASE_H
#define REPORT_SQL_DATABASE_H

#include "report/model/model.h"
#include "report/table/table.h"

/*
 * The rows of a query, kept until they are printed: a table needs its widths before its first line.
 * What does not fit into RESULT_BYTES lies in a file without a name.
 */

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

struct database;

/* Was this program built with SQLite? */
bool database_is_available(void);

/* NULL with *why set where that fails; why is to be freed. */
struct database *database_open(struct process **processes, size_t nr_processes, char **why);
void database_close(struct database *database);

/* The connection, for functions of the caller's; NULL without SQLite. */
struct sqlite3 *database_sqlite(struct database *database);

/*
 * Runs the first statement of `sql` and moves *at behind it. Returns its rows; NULL with *why set
 * where it fails, or NULL without where there is none. why is a sentence with the position in the
 * text, to be freed.
 */
struct result *database_run(struct database *database, const char *sql, size_t *at, char **why);

/* All tables and views with their columns: table, column, type, meaning. name: one alone, or NULL.
 * NULL with *why set if there is no such table. */
struct table *database_schema(struct database *database, const char *name, char **why);

#endif
