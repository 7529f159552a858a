/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the SQL of a report in a database of its own, with functions that only these reports have.
 * To sort, another query goes around the report's, since its table may be as long as the recording.
 */
#include "report/sql/nsys_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/model/api.h"
#include "report/sql/database.h"

#ifndef REPORT_HAS_SQLITE

struct table *nsys_query_table(const struct nsys_ask *ask, const char *sort,
	struct process **processes, size_t nr_processes)
{
	static const struct table_column columns[] = {TABLE_COLUMN("none", "", TABLE_TEXT)};

	(void)ask;
	(void)sort;
	(void)processes;
	(void)nr_processes;
	return table_create("rows", "", columns, 1);
}

#else

#include "report/sql/sql_file.h"
#include <sqlite3.h>

static const struct {
	const char *name, *sql;
} queries[] = {
	{"cuda_memcpy_async", sql_file_cuda_memcpy_async},
	{"cuda_memcpy_sync", sql_file_cuda_memcpy_sync},
	{"cuda_memset_sync", sql_file_cuda_memset_sync},
	{"cuda_api_sync", sql_file_cuda_api_sync},
	{"cuda_kern_exec_sum", sql_file_cuda_kern_exec_sum},
	{"cuda_kern_exec_trace", sql_file_cuda_kern_exec_trace},
	{"gpu_gaps", sql_file_gpu_gaps},
	{"gpu_time_util", sql_file_gpu_time_util},
};

static const char *query_of(const struct nsys_report *report)
{
	size_t i = 0;

	while (strcmp(queries[i].name, report->name) != 0) {
		i++;
	}
	return queries[i].sql;
}

/* ---- functions ---- */

struct input {
	struct process **processes;
	size_t nr_processes;
};

/* Returns a text as a blob, so that it comes through as it is, with any bytes. */
static void set_raw(sqlite3_context *context, uint32_t name)
{
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	sqlite3_result_blob(context, bytes, (int)nr_bytes, SQLITE_TRANSIENT);
}

static void raw(sqlite3_context *context, int argc, sqlite3_value **values)
{
	(void)argc;
	if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
		set_raw(context, (uint32_t)sqlite3_value_int64(values[0]));
	}
}

static void kernel_text(sqlite3_context *context, int argc, sqlite3_value **values)
{
	(void)argc;
	if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
		set_raw(context, nsys_kernel_name(sqlite3_user_data(context),
					 (uint32_t)sqlite3_value_int64(values[0])));
	}
}

static void memory_kind(sqlite3_context *context, int argc, sqlite3_value **values)
{
	(void)argc;
	sqlite3_result_text(context, api_memory_name((uint32_t)sqlite3_value_int64(values[0])), -1,
		SQLITE_TRANSIENT);
}

/* Returns the system's number of a thread; NULL for a number that is the recorder's own. */
static void known_tid(sqlite3_context *context, int argc, sqlite3_value **values)
{
	const struct input *input = sqlite3_user_data(context);
	size_t place = (size_t)sqlite3_value_int64(values[0]);
	sqlite3_int64 tid = sqlite3_value_int64(values[1]);

	(void)argc;
	if (place >= input->nr_processes || sqlite3_value_type(values[1]) != SQLITE_INTEGER) {
		return;
	}
	for (size_t i = 0; i < input->processes[place]->threads.nr; i++) {
		const struct model_thread *thread = idmap_at(&input->processes[place]->threads, i);

		if (thread->tid == tid) {
			sqlite3_result_int64(context, tid);
			return;
		}
	}
}

static void add_functions(sqlite3 *sqlite, const struct nsys_ask *ask, struct input *input)
{
	sqlite3_create_function(sqlite, "raw", 1, SQLITE_UTF8, NULL, raw, NULL, NULL);
	sqlite3_create_function(
		sqlite, "kernel_text", 1, SQLITE_UTF8, (void *)ask, kernel_text, NULL, NULL);
	sqlite3_create_function(
		sqlite, "memory_kind", 1, SQLITE_UTF8, NULL, memory_kind, NULL, NULL);
	sqlite3_create_function(sqlite, "known_tid", 2, SQLITE_UTF8, input, known_tid, NULL, NULL);
}

/* ---- columns ---- */

static enum table_type type_of(char letter)
{
	switch (letter) {
	case 'T':
		return TABLE_TIME;
	case 'M':
		return TABLE_MEAN_TIME;
	case 'S':
		return TABLE_SIZE;
	case 'P':
		return TABLE_PERCENT;
	case 'I':
		return TABLE_ID;
	case 'C':
		return TABLE_COUNT;
	default:
		return TABLE_TEXT;
	}
}

/* The columns that a query's names stand for. They are the report's, so they stay. */
static const struct table_column *columns_of(
	const struct nsys_report *report, const struct result *result)
{
	unsigned int nr_columns = result_nr_columns(result);
	static struct {
		const struct nsys_report *report;
		struct table_column *columns;
	} made[sizeof(queries) / sizeof(queries[0])];
	size_t i = 0;

	while (made[i].report && made[i].report != report) {
		i++;
	}
	if (made[i].report) {
		return made[i].columns;
	}
	made[i].report = report;
	made[i].columns = mem_zeroed(nr_columns, sizeof(*made[i].columns));
	for (unsigned int c = 0; c < nr_columns; c++) {
		char *key = mem_text(result_name(result, c));
		char *letter = strchr(key, '|') + 1;

		letter[-1] = '\0';
		made[i].columns[c] = (struct table_column){
			.key = key, .title = letter + 2, .type = type_of(*letter)};
	}
	return made[i].columns;
}

/* ---- the table ---- */

static void fail(const char *report, const char *why)
{
	fprintf(stderr, "gprof-report: %s: %s\n", report, why);
	exit(1);
}

static struct result *run(
	struct database *database, const struct nsys_report *report, const char *sql)
{
	struct result *result;
	size_t at = 0;
	char *why;

	result = database_run(database, sql, &at, &why);
	if (!result) {
		fail(report->name, why ? why : "the query has no statement");
	}
	return result;
}

/* Returns the index of the column with that key, or key without its unit; -1: there is none. */
static int find_column(const struct table_column *columns, unsigned int nr_columns, const char *key)
{
	struct table *keys = table_create("", "", columns, nr_columns);
	int found = key ? table_find_column(keys, key) : -1;

	table_destroy(keys);
	return found;
}

static uint64_t count_rows(
	struct database *database, const struct nsys_report *report, const char *sql)
{
	struct buf text = {0};
	struct table *table;
	uint64_t nr_rows;

	buf_printf(&text, "SELECT count(*) FROM (%s)", sql);
	buf_char(&text, '\0');
	table = result_table(run(database, report, text.bytes), "rows", "");
	nr_rows = strtoull(table_row(table, 0)->text, NULL, 10);
	table_destroy(table);
	buf_fini(&text);
	return nr_rows;
}

/* Names rising, numbers falling, unknown ones last, as table_sort does; of the rows that matter. */
static struct result *run_sorted(struct database *database, const struct nsys_report *report,
	const char *sql, const struct result *head, unsigned int column)
{
	const char *name = result_name(head, column);
	struct buf text = {0};
	struct result *result;

	for (unsigned int c = 0; c < result_nr_columns(head); c++) {
		buf_printf(&text, "%s\"%s\"", c ? ", " : "SELECT ", result_name(head, c));
	}
	buf_printf(&text,
		" FROM (SELECT *, row_number() OVER () AS place FROM (SELECT * FROM (%s) LIMIT "
		"%d)) "
		"ORDER BY CASE WHEN typeof(\"%s\") IN ('text', 'blob') THEN \"%s\" END, \"%s\" "
		"DESC NULLS LAST, place",
		sql, report->most ? (int)report->most : -1, name, name, name);
	buf_char(&text, '\0');
	result = run(database, report, text.bytes);
	buf_fini(&text);
	return result;
}

/* Returns no rows, but the names of their columns. */
static struct result *run_head(
	struct database *database, const struct nsys_report *report, const char *sql)
{
	struct buf text = {0};
	struct result *result;

	buf_printf(&text, "SELECT * FROM (%s) LIMIT 0", sql);
	buf_char(&text, '\0');
	result = run(database, report, text.bytes);
	buf_fini(&text);
	return result;
}

/*
 * Runs the query for its columns first, then for its rows: SQLite sorts them if the user sorts by
 * one of the columns.
 */
struct table *nsys_query_table(const struct nsys_ask *ask, const char *sort,
	struct process **processes, size_t nr_processes)
{
	const struct nsys_report *report = ask->report;
	const char *sql = query_of(report);
	struct input input = {processes, nr_processes};
	char *why;
	struct database *database = database_open(processes, nr_processes, &why);
	const struct table_column *columns;
	struct result *head;
	struct table *table;
	int column;

	if (!database) {
		fail(report->name, why);
	}
	add_functions(database_sqlite(database), ask, &input);
	head = run_head(database, report, sql);
	columns = columns_of(report, head);
	column = find_column(columns, result_nr_columns(head), sort);
	table = result_table_of(
		column < 0 ? run(database, report, sql)
			   : run_sorted(database, report, sql, head, (unsigned int)column),
		"rows", "", columns);
	if (column >= 0 && report->most) {
		table->nr_cut = count_rows(database, report, sql) - table->nr_rows;
	}
	table_cut(table, report->most);
	if (report->has_clock_note) {
		view_note_clock(table, processes, nr_processes);
	}
	result_destroy(head);
	database_close(database);
	return table;
}

#endif
