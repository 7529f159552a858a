/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_open() fills the tables and then locks the connection: authorize() lets only queries
 * pass, and set_limits() bounds what they may take. An error names its line and column, and the
 * closest table or column.
 */
#include "report/sql/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/util/closest_name.h"
#include "report/util/text.h"

#ifndef REPORT_HAS_SQLITE

bool database_is_available(void)
{
	return false;
}

struct database *database_open(struct process **processes, size_t nr_processes, char **why)
{
	(void)processes;
	(void)nr_processes;
	*why = mem_text("gprof-report was built without SQLite");
	return NULL;
}

void database_close(struct database *database)
{
	(void)database;
}

struct sqlite3 *database_sqlite(struct database *database)
{
	(void)database;
	return NULL;
}

struct result *database_run(struct database *database, const char *sql, size_t *at, char **why)
{
	(void)database;
	(void)sql;
	(void)at;
	*why = mem_text("gprof-report was built without SQLite");
	return NULL;
}

struct table *database_schema(struct database *database, const char *name, char **why)
{
	(void)database;
	(void)name;
	*why = mem_text("gprof-report was built without SQLite");
	return NULL;
}

#else

#include "report/sql/frame_table.h"
#include "report/sql/sql_file.h"
#include "report/sql/virtual_table.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

/* ---- functions beside SQLite's ---- */

#define SAFE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

static void string_of(sqlite3_context *context, int argc, sqlite3_value **values)
{
	int64_t id = sqlite3_value_int64(values[0]);

	(void)argc;
	if (sqlite3_value_type(values[0]) == SQLITE_TEXT) {
		sqlite3_result_value(context, values[0]);
	} else if (sqlite3_value_type(values[0]) == SQLITE_INTEGER && id >= 0 &&
		   id < string_pool_nr()) {
		virtual_table_set_text(context, (uint32_t)id);
	}
}

/* ---- ranks ---- */

struct values {
	double *items;
	size_t nr, capacity;
	double percent;
};

static bool is_number(sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void add_value(sqlite3_context *context, int argc, sqlite3_value **arguments)
{
	struct values *values = sqlite3_aggregate_context(context, sizeof(*values));

	if (!values || !is_number(arguments[0])) {
		return;
	}
	values->percent = argc > 1 ? sqlite3_value_double(arguments[1]) : 50;
	values->items =
		array_grow(values->items, values->nr, &values->capacity, sizeof(*values->items));
	values->items[values->nr++] = sqlite3_value_double(arguments[0]);
}

/* Sorts what was added. Returns NULL if there is nothing. */
static struct values *sorted_values(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);

	if (!values || !values->nr) {
		return NULL;
	}
	qsort(values->items, values->nr, sizeof(*values->items), by_double);
	return values;
}

static void free_values(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);

	if (values) {
		free(values->items);
	}
}

static void median(sqlite3_context *context)
{
	const struct values *values = sorted_values(context);

	if (values) {
		double low = values->items[(values->nr - 1) / 2];
		double high = values->items[values->nr / 2];

		sqlite3_result_double(context, low + (high - low) / 2);
	}
	free_values(context);
}

static void percentile(sqlite3_context *context)
{
	const struct values *values = sorted_values(context);

	if (values && !(values->percent >= 0 && values->percent <= 100)) {
		sqlite3_result_error(context, "percentile(x, p): p must be from 0 to 100", -1);
	} else if (values) {
		double rank = ceil(values->percent / 100 * (double)values->nr);

		sqlite3_result_double(context, values->items[rank > 1 ? (size_t)rank - 1 : 0]);
	}
	free_values(context);
}

/* ---- deviation ---- */

/*
 * Integers are summed up as integers: with doubles, values close together and far from zero would
 * cancel.
 */
struct sums {
	uint64_t nr;
	bool is_real, is_beyond; /* the integers' sums do not hold */
	__int128 sum, squares;
	long double mean, deviation; /* Welford's */
};

static void add_to_sums(sqlite3_context *context, int argc, sqlite3_value **arguments)
{
	/* SQLite's memory is aligned for 8 bytes, and these want 16. */
	struct sums **place = sqlite3_aggregate_context(context, sizeof(*place));
	struct sums *sums;
	long double value, before;
	int64_t integer;

	(void)argc;
	if (!place || !is_number(arguments[0])) {
		return;
	}
	sums = *place = *place ? *place : mem_zeroed(1, sizeof(**place));
	sums->is_real |= sqlite3_value_numeric_type(arguments[0]) == SQLITE_FLOAT;
	integer = sqlite3_value_int64(arguments[0]);
	sums->is_beyond |=
		__builtin_add_overflow(sums->sum, integer, &sums->sum) ||
		__builtin_add_overflow(sums->squares, (__int128)integer * integer, &sums->squares);
	value = sums->is_real ? (long double)sqlite3_value_double(arguments[0])
			      : (long double)integer;
	sums->nr++;
	before = value - sums->mean;
	sums->mean += before / (long double)sums->nr;
	sums->deviation += before * (value - sums->mean);
}

static void deviation(sqlite3_context *context)
{
	struct sums **place = sqlite3_aggregate_context(context, 0);
	struct sums *sums = place ? *place : NULL;
	long double n, variance;
	__int128 squares, square;

	if (!sums) {
		return;
	}
	n = (long double)sums->nr;
	if (sums->nr < 2) {
		variance = 0;
	} else if (!sums->is_real && !sums->is_beyond &&
		   !__builtin_mul_overflow(sums->squares, (__int128)sums->nr, &squares) &&
		   !__builtin_mul_overflow(sums->sum, sums->sum, &square)) {
		variance = squares > square ? (long double)(squares - square) / n / (n - 1) : 0;
	} else {
		variance = sums->deviation / (n - 1);
	}
	sqlite3_result_double(context, variance > 0 ? (double)sqrtl(variance) : 0);
	free(sums);
}

static int add_functions(sqlite3 *sqlite)
{
	int rc = sqlite3_create_function(
		sqlite, "string", 1, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, string_of, NULL, NULL);

	if (rc == SQLITE_OK) {
		rc = sqlite3_create_function(
			sqlite, "median", 1, SAFE, NULL, NULL, add_value, median);
	}
	if (rc == SQLITE_OK) {
		rc = sqlite3_create_function(
			sqlite, "percentile", 2, SAFE, NULL, NULL, add_value, percentile);
	}
	if (rc == SQLITE_OK) {
		rc = sqlite3_create_function(
			sqlite, "stddev", 1, SAFE, NULL, NULL, add_to_sums, deviation);
	}
	return rc;
}

/* ---- the connection ---- */

#define NO_QUERY "a statement that is not a query"

struct database {
	sqlite3 *sqlite;
	struct virtual_tables tables;
	bool is_locked;	     /* only reads from now on */
	const char *refused; /* what a statement wanted */
};

/* Tables of our own, and views by nsys's names, beside the tables of events. */
static const struct {
	const char *name, *what;
} other_tables[] = {
	{"process", "a recorded process"},
	{"thread", "threads that have names"},
	{"session", "the UTC time of time 0"},
	{"StringIds", "texts by their ids"},
	{"native_frame", "frames of native stacks: a row for each of the column stack of others"},
	{"CUPTI_ACTIVITY_KIND_KERNEL", "kernels, as nsys has them"},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", "copies, as nsys has them"},
	{"CUPTI_ACTIVITY_KIND_MEMSET", "memsets, as nsys has them"},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronisations, as nsys has them"},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", "API calls, as nsys has them"},
	{"OSRT_API", "calls of the system, as nsys has them"},
	{"COMPOSITE_EVENTS", "CPU samples, as nsys has them"},
	{"SCHED_EVENTS", "context switches, as nsys has them"},
	{"GPROF_THREAD_STATES", "states of threads, for gprof-report to read again"},
	{"CUDA_CALLCHAINS", "native stacks of API calls, as nsys has them"},
	{"OSRT_CALLCHAINS", "native stacks of calls of the system, as nsys has them"},
	{"SAMPLING_CALLCHAINS", "native stacks of CPU samples, as nsys has them"},
	{"NVTX_EVENTS", "NVTX ranges and marks, as nsys has them"},
	{"GPROF_OPERATORS", "operators, for gprof-report to read again"},
	{"PROFILER_OVERHEAD", "profiling overhead, as nsys has it"},
	{"DIAGNOSTIC_EVENT", "notices of the recorder, as nsys has them"},
	{"TARGET_INFO_GPU", "GPUs, as nsys has them"},
	{"TARGET_INFO_SESSION_START_TIME", "start of the session, as nsys has it"},
	{"PROCESSES", "processes, as nsys has them"},
	{"ThreadNames", "names of threads, as nsys has them"},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA graphs traced as a whole, as nsys has them"},
	{"CUPTI_ACTIVITY_KIND_CUDA_EVENT", "recorded CUDA events, as nsys has them"},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", "allocations and releases, as nsys has them"},
	{"ENUM_CUDA_MEM_KIND",
		"meaning of the values of srcKind, dstKind and memKind, as nsys has them"},
	{"ENUM_CUDA_MEMCPY_OPER", "meaning of the values of copyKind, as nsys has them"},
};

#define OTHER_TABLES (sizeof(other_tables) / sizeof(other_tables[0]))

bool database_is_available(void)
{
	return true;
}

/* ---- a connection ---- */

/* Called while a statement is compiled. */
static int authorize(void *context, int action, const char *first, const char *second,
	const char *schema, const char *trigger)
{
	struct database *database = context;

	(void)schema;
	(void)trigger;
	if (!database->is_locked || database->tables.is_declaring) {
		return SQLITE_OK;
	}
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		if (second && strcmp(second, "load_extension") != 0) {
			return SQLITE_OK;
		}
		database->refused = "load_extension()";
		break;
	case SQLITE_ATTACH:
		database->refused = "ATTACH";
		break;
	case SQLITE_DETACH:
		database->refused = "DETACH";
		break;
	case SQLITE_PRAGMA:
		database->refused = "PRAGMA";
		break;
	default:
		(void)first;
		database->refused = NO_QUERY;
		break;
	}
	return SQLITE_DENY;
}

static void set_limits(sqlite3 *sqlite)
{
	static const struct {
		int what, most;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 64 << 20},
		{SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
		{SQLITE_LIMIT_COLUMN, 256},
		{SQLITE_LIMIT_EXPR_DEPTH, 500},
		{SQLITE_LIMIT_COMPOUND_SELECT, 100},
		{SQLITE_LIMIT_VDBE_OP, 1 << 20},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
		{SQLITE_LIMIT_VARIABLE_NUMBER, 1},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		sqlite3_limit(sqlite, limits[i].what, limits[i].most);
	}
}

static int add_process(sqlite3_stmt *insert, const struct process *process, sqlite3_int64 place)
{
	sqlite3_bind_int64(insert, 1, process->pid);
	sqlite3_bind_null(insert, 2);
	if (process->rank >= 0) {
		sqlite3_bind_int64(insert, 2, process->rank);
	}
	sqlite3_bind_text(insert, 3, process_host(process), -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(insert, 4, process_command(process), -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(insert, 5, (int64_t)process_missing(process));
	sqlite3_bind_null(insert, 6);
	if (process->world > 0) {
		sqlite3_bind_int64(insert, 6, process->world);
	}
	sqlite3_bind_int64(insert, 7, place);
	sqlite3_bind_int64(insert, 8, process->stream->is_trace);
	sqlite3_step(insert);
	return sqlite3_reset(insert);
}

static int add_threads(sqlite3 *sqlite, const struct process *process)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < process->threads.nr; i++) {
		const struct model_thread *thread = idmap_at(&process->threads, i);
		char sql[128];

		snprintf(sql, sizeof(sql),
			"INSERT INTO thread VALUES(%lld, %lld, string(%u), nullif(%lld, -1), %u)",
			(long long)process->pid, (long long)thread->tid, thread->name,
			(long long)(process->rank < 0 ? -1 : process->rank), thread->name);
		rc = thread->tid && thread->name ? sqlite3_exec(sqlite, sql, NULL, NULL, NULL) : rc;
	}
	return rc;
}

static int add_processes(sqlite3 *sqlite, struct process **processes, size_t nr_processes)
{
	static const char sql[] = "INSERT INTO process VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
	sqlite3_stmt *insert;
	int rc = sqlite3_prepare_v2(sqlite, sql, -1, &insert, NULL);

	for (size_t i = 0; rc == SQLITE_OK && i < nr_processes; i++) {
		rc = add_process(insert, processes[i], (sqlite3_int64)i);
		rc = rc == SQLITE_OK ? add_threads(sqlite, processes[i]) : rc;
	}
	sqlite3_finalize(insert);
	return rc;
}

static int add_session(struct database *database, const struct process *process)
{
	char sql[64];
	/* Anchors of a damaged stream may have any value: unsigned, they wrap around. */
	uint64_t origin_ns = process->origin_ns + (uint64_t)process->realtime_offset_ns;

	snprintf(sql, sizeof(sql), "INSERT INTO session VALUES(%lld)", (long long)origin_ns);
	return process->has_anchors ? sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL)
				    : SQLITE_OK;
}

static int fill(struct database *database, struct process **processes, size_t nr_processes)
{
	sqlite3 *sqlite = database->sqlite;
	int rc = add_functions(sqlite);

	if (rc == SQLITE_OK) {
		rc = virtual_tables_add(sqlite, &database->tables);
	}
	if (rc == SQLITE_OK) {
		rc = frame_table_add(sqlite, &database->tables);
	}
	if (rc == SQLITE_OK) {
		rc = sqlite3_exec(sqlite, sql_file_tables, NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK) {
		rc = add_processes(sqlite, processes, nr_processes);
	}
	if (rc == SQLITE_OK && nr_processes) {
		rc = add_session(database, processes[0]);
	}
	if (rc == SQLITE_OK) {
		char *views = nsys_views_sql("_id");

		rc = sqlite3_exec(sqlite, views, NULL, NULL, NULL);
		free(views);
	}
	return rc;
}

static void lock(struct database *database)
{
	sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	set_limits(database->sqlite);
	sqlite3_set_authorizer(database->sqlite, authorize, database);
	database->is_locked = true;
}

struct database *database_open(struct process **processes, size_t nr_processes, char **why)
{
	struct database *database = mem_zeroed(1, sizeof(*database));
	int rc = sqlite3_open(":memory:", &database->sqlite);

	database->tables.input = (struct event_input){.processes = processes,
		.nr_processes = nr_processes,
		.reader = event_reader_create(processes, nr_processes)};
	if (rc == SQLITE_OK) {
		rc = fill(database, processes, nr_processes);
	}
	if (rc != SQLITE_OK) {
		*why = mem_text(sqlite3_errmsg(database->sqlite));
		database_close(database);
		return NULL;
	}
	lock(database);
	return database;
}

sqlite3 *database_sqlite(struct database *database)
{
	return database->sqlite;
}

void database_close(struct database *database)
{
	sqlite3_close(database->sqlite);
	event_indexes_fini(&database->tables.indexes);
	event_reader_destroy(database->tables.input.reader);
	free(database);
}

/* ---- errors ---- */

static const char **table_names(void)
{
	size_t nr = 0;
	const char **names;

	while (event_table_at((unsigned int)nr)) {
		nr++;
	}
	names = mem_zeroed(nr + OTHER_TABLES + 1, sizeof(*names));
	for (size_t i = 0; i < nr; i++) {
		names[i] = event_table_at((unsigned int)i)->name;
	}
	for (size_t i = 0; i < OTHER_TABLES; i++) {
		names[nr + i] = other_tables[i].name;
	}
	return names;
}

/* Returns the names of all columns, some more than once. */
static const char **column_names(void)
{
	size_t nr = 0, capacity = 0;
	const char **names = array_grow(NULL, 0, &capacity, sizeof(*names));
	const struct event_table *table;

	for (unsigned int i = 0; (table = event_table_at(i)); i++) {
		for (unsigned int c = 0; c < table->nr_columns; c++) {
			names[nr++] = table->columns[c].name;
			names = array_grow(names, nr, &capacity, sizeof(*names));
		}
	}
	names[nr] = NULL;
	return names;
}

/*
 * Returns the name behind the colon of a message, without what precedes a point; NULL: there is
 * none.
 */
static const char *wrong_name(const char *message)
{
	const char *colon = strstr(message, ": ");
	const char *point = colon ? strrchr(colon, '.') : NULL;

	return point ? point + 1 : colon ? colon + 2 : NULL;
}

static void add_suggestion(struct buf *text, const char *message)
{
	static const char no_table[] = "no such table: ", no_column[] = "no such column: ";
	bool is_table = strncmp(message, no_table, sizeof(no_table) - 1) == 0;
	bool is_column = strncmp(message, no_column, sizeof(no_column) - 1) == 0;
	const char **names = is_table ? table_names() : is_column ? column_names() : NULL;
	const char *closest;

	if (!names) {
		return;
	}
	closest = closest_name(wrong_name(message), names);
	/* A column of that very name belongs to another table. */
	if (closest && strcasecmp(closest, wrong_name(message)) != 0) {
		buf_printf(text, "; did you mean %s?", closest);
	} else {
		buf_text(text, "; gprof-report sql --schema lists tables and columns");
	}
	free(names);
}

/* Returns where the statement has that name, as a word; -1: nowhere. */
static int find_name(const char *sql, const char *name)
{
	static const char word[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t nr_bytes = strlen(name);

	for (const char *at = strstr(sql, name); at && *name; at = strstr(at + 1, name)) {
		if ((at == sql || !strchr(word, at[-1])) &&
			(!at[nr_bytes] || !strchr(word, at[nr_bytes]))) {
			return (int)(at - sql);
		}
	}
	return -1;
}

/* Returns a sentence with the position, in lines and columns of the whole text. */
static char *explain(struct database *database, const char *sql, size_t begin)
{
	const char *message = sqlite3_errmsg(database->sqlite);
	struct buf text = {0};
	int offset = -1;

#if SQLITE_VERSION_NUMBER >= 3038000
	offset = sqlite3_error_offset(database->sqlite);
#endif
	if (offset < 0 && wrong_name(message)) {
		offset = find_name(sql + begin, wrong_name(message));
	}
	if (database->refused) {
		buf_printf(
			&text, "SQL: %s is not allowed; queries can only read", database->refused);
		buf_char(&text, '\0');
		return text.bytes;
	}
	buf_text(&text, "SQL");
	if (offset >= 0) {
		size_t line = 1, column = 1;

		for (size_t i = 0; i < begin + (size_t)offset && sql[i]; i++) {
			column = sql[i] == '\n' ? 1 : column + 1;
			line += sql[i] == '\n';
		}
		buf_printf(&text, ", line %zu, column %zu", line, column);
	}
	buf_printf(&text, ": %s", message);
	add_suggestion(&text, message);
	buf_char(&text, '\0');
	return text.bytes;
}

/* ---- statements ---- */

static void add_text(struct result *result, uint32_t id)
{
	struct buf shown = {0};
	const char *text;
	size_t nr_bytes;

	text = string_pool_text(id, &nr_bytes);
	text_add_shown(&shown, text, nr_bytes, 0);
	result_text(result, shown.nr_bytes ? shown.bytes : "", shown.nr_bytes);
	buf_fini(&shown);
}

/* Is it a column of a table as it stands there, whose numbers are ids of texts? */
static bool is_text_id(sqlite3_stmt *statement, int c)
{
	const char *type = sqlite3_column_decltype(statement, c);

	return type && strcmp(type, VIRTUAL_TABLE_TEXT_ID) == 0;
}

static void add_cell(struct result *result, sqlite3_stmt *statement, int c)
{
	switch (sqlite3_column_type(statement, c)) {
	case SQLITE_INTEGER: {
		int64_t value = sqlite3_column_int64(statement, c);

		if (is_text_id(statement, c) && value >= 0 && value < string_pool_nr()) {
			add_text(result, (uint32_t)value);
		} else {
			result_integer(result, value);
		}
		break;
	}
	case SQLITE_FLOAT:
		result_number(result, sqlite3_column_double(statement, c));
		break;
	case SQLITE_NULL:
		result_null(result);
		break;
	default: {
		const void *bytes = sqlite3_column_blob(statement, c);

		result_text(result, bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, c));
		break;
	}
	}
}

static struct result *create_result(sqlite3_stmt *statement)
{
	int nr_columns = sqlite3_column_count(statement);
	const char **names = mem_zeroed((size_t)nr_columns, sizeof(*names));
	struct result *result;

	for (int c = 0; c < nr_columns; c++) {
		const char *name = sqlite3_column_name(statement, c);

		names[c] = name ? name : "";
	}
	result = result_create((unsigned int)nr_columns, names);
	free(names);
	return result;
}

static struct result *read_rows(struct database *database, sqlite3_stmt *statement, const char *sql,
	size_t begin, char **why)
{
	struct result *result = create_result(statement);
	bool is_kept = true;
	int rc;

	while (is_kept && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
		result_begin_row(result);
		for (int c = 0; c < sqlite3_column_count(statement); c++) {
			add_cell(result, statement, c);
		}
		is_kept = result_end_row(result);
	}
	if (is_kept && rc == SQLITE_DONE) {
		return result;
	}
	*why = is_kept ? explain(database, sql, begin)
		       : mem_text("no room for the rows: $TMPDIR (or /tmp) is full");
	result_destroy(result);
	return NULL;
}

/* Passes over statements without text, such as a comment. */
struct result *database_run(struct database *database, const char *sql, size_t *at, char **why)
{
	sqlite3_stmt *statement = NULL;
	struct result *result = NULL;
	size_t begin = *at;

	*why = NULL;
	database->refused = NULL;
	while (!statement && sql[*at]) {
		const char *tail = NULL;

		begin = *at;
		if (sqlite3_prepare_v2(database->sqlite, sql + begin, -1, &statement, &tail) !=
			SQLITE_OK) {
			*why = explain(database, sql, begin);
			return NULL;
		}
		*at = (size_t)(tail - sql);
	}
	if (!statement) {
		return NULL;
	}
	if (!sqlite3_stmt_readonly(statement) || !sqlite3_column_count(statement)) {
		database->refused = NO_QUERY;
		*why = explain(database, sql, begin);
	} else {
		result = read_rows(database, statement, sql, begin, why);
	}
	sqlite3_finalize(statement);
	event_indexes_fini(&database->tables.indexes);
	return result;
}

/* ---- what there is ---- */

struct schema_line {
	const char *table, *column, *type, *meaning;
};

static const struct table_column schema_columns[] = {
	TABLE_COLUMN("table", "Table", TABLE_TEXT, TABLE_MEMBER(schema_line, table)),
	TABLE_COLUMN("column", "Column", TABLE_TEXT, TABLE_MEMBER(schema_line, column)),
	TABLE_COLUMN("type", "Type", TABLE_TEXT, .is_minor = true, TABLE_MEMBER(schema_line, type)),
	TABLE_COLUMN("meaning", "Meaning", TABLE_TEXT, .is_sentence = true,
		TABLE_MEMBER(schema_line, meaning)),
};

static void add_line(struct table *schema, const char *table, const char *column, const char *type,
	const char *meaning)
{
	table_add(schema, &(struct schema_line){table, column, type, meaning});
}

static void add_event_table(struct table *schema, const struct event_table *table)
{
	add_line(schema, table->name, "", "", table->what);
	for (unsigned int c = 0; event_table_all(table) >> c; c++) {
		if (table->columns[c].type != EVENT_COLUMN_TEXT_ID) { /* a note has these */
			add_line(schema, table->name, table->columns[c].name,
				table->columns[c].type == EVENT_COLUMN_TEXT ? "text"
				: c < table->nr_columns			    ? "integer"
									    : "hidden",
				event_column_meaning(table->name, table->columns[c].name));
		}
	}
}

static void add_other_table(
	struct database *database, struct table *schema, const char *name, const char *what)
{
	struct buf sql = {0};
	sqlite3_stmt *statement = NULL;

	buf_printf(&sql, "SELECT * FROM %s", name);
	buf_char(&sql, '\0');
	add_line(schema, name, "", "", what);
	if (sqlite3_prepare_v2(database->sqlite, sql.bytes, -1, &statement, NULL) == SQLITE_OK) {
		for (int c = 0; c < sqlite3_column_count(statement); c++) {
			const char *column = sqlite3_column_name(statement, c);
			const char *type = sqlite3_column_decltype(statement, c);

			add_line(schema, name, column,
				type && strcmp(type, "TEXT") == 0 ? "text" : "integer",
				event_column_meaning(name, column));
		}
	}
	sqlite3_finalize(statement);
	buf_fini(&sql);
}

struct table *database_schema(struct database *database, const char *name, char **why)
{
	struct table *schema = table_create("schema", "Tables and columns", schema_columns, 4);
	const struct event_table *table;
	const char **names;
	const char *closest;

	for (unsigned int i = 0; (table = event_table_at(i)); i++) {
		if (!name || strcmp(name, table->name) == 0) {
			add_event_table(schema, table);
		}
	}
	if (schema->nr_rows) {
		table_note(schema, "The number of a text in column NAME of these tables, its id in "
				   "StringIds, is in the hidden column NAME_id.");
	}
	for (size_t i = 0; i < OTHER_TABLES; i++) {
		if (!name || strcmp(name, other_tables[i].name) == 0) {
			add_other_table(
				database, schema, other_tables[i].name, other_tables[i].what);
		}
	}
	if (!schema->nr_rows) {
		struct buf text = {0};

		names = table_names();
		closest = closest_name(name, names);
		buf_printf(&text, "no such table: %s%s%s%s", name, closest ? "; did you mean " : "",
			closest ? closest : "", closest ? "?" : "");
		buf_char(&text, '\0');
		*why = text.bytes;
		free(names);
		table_destroy(schema);
		return NULL;
	}
	return schema;
}

#endif
