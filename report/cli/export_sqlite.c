/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database: StringIds(id, value), the tables of export.h whose texts are ids of it, `process`
 * with a row for each, `thread` with those that have names, `session` with the UTC time that is 0
 * on the axis, and views by the names and columns of nsys's databases (sql/nsys_views.sql), so that
 * what was written for those runs here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/model/time_axis.h"
#include "report/cli/export.h"
#include "report/sql/native_frames.h"
#include "report/sql/sql_file.h"
#include "report/util/text.h"

#ifndef REPORT_HAS_SQLITE

bool export_has_sqlite(void)
{
	return false;
}

const char *export_sqlite(const char *path, struct process **processes, size_t nr_processes)
{
	(void)path;
	(void)processes;
	(void)nr_processes;
	return "gprof-report was built without SQLite";
}

#else

#include <sqlite3.h>

struct database {
	sqlite3 *sqlite;
	sqlite3_stmt *inserts[GPROF_NR_TABLES]; /* by GPROF_TABLE_... */
	sqlite3_stmt *insert_text;
	uint8_t *has_text; /* by the number of a name */
	size_t nr_texts;
	bool is_bad;
};

static void run(struct database *database, const char *sql)
{
	if (!database->is_bad &&
		sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK) {
		database->is_bad = true;
	}
}

static sqlite3_stmt *prepare(struct database *database, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (!database->is_bad &&
		sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, NULL) != SQLITE_OK) {
		database->is_bad = true;
	}
	return statement;
}

static void step(struct database *database, sqlite3_stmt *statement)
{
	if (sqlite3_step(statement) != SQLITE_DONE) {
		database->is_bad = true;
	}
	sqlite3_reset(statement);
}

/* Writes the text, if that has not been done. */
static void add_text(struct database *database, uint32_t name)
{
	struct buf shown = {0};
	const char *text;
	size_t nr_bytes;

	if (name >= database->nr_texts) {
		size_t nr = (size_t)name * 2 + 1024;

		database->has_text = mem_resize(database->has_text, nr, 1);
		memset(database->has_text + database->nr_texts, 0, nr - database->nr_texts);
		database->nr_texts = nr;
	}
	if (database->has_text[name]) {
		return;
	}
	database->has_text[name] = 1;
	text = string_pool_text(name, &nr_bytes);
	text_add_shown(&shown, text, nr_bytes, 0);
	sqlite3_bind_int64(database->insert_text, 1, name);
	sqlite3_bind_text(database->insert_text, 2, shown.nr_bytes ? shown.bytes : "",
		(int)shown.nr_bytes, SQLITE_TRANSIENT);
	step(database, database->insert_text);
	buf_fini(&shown);
}

static void create_table(struct database *database, const struct event_table *table)
{
	struct buf create = {0}, insert = {0};

	buf_printf(&create, "CREATE TABLE %s(", table->name);
	buf_printf(&insert, "INSERT INTO %s VALUES(", table->name);
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_printf(&create, "%s\"%s\" INTEGER%s", c ? ", " : "", table->columns[c].name,
			table->columns[c].type == EVENT_COLUMN_TEXT ? " REFERENCES StringIds(id)"
								    : "");
		buf_text(&insert, c ? ", ?" : "?");
	}
	buf_add(&create, ")", 2);
	buf_add(&insert, ")", 2);
	run(database, create.bytes);
	database->inserts[table->number] = prepare(database, insert.bytes);
	buf_fini(&create);
	buf_fini(&insert);
}

static bool take_row(void *context, const struct event_table *table, const struct process *process,
	const struct export_cell *cells)
{
	struct database *database = context;
	sqlite3_stmt *insert = database->inserts[table->number];

	(void)process;
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (!cells[c].is_known) {
			sqlite3_bind_null(insert, (int)c + 1);
			continue;
		}
		if (table->columns[c].type == EVENT_COLUMN_TEXT) {
			add_text(database, (uint32_t)cells[c].value);
		}
		sqlite3_bind_int64(insert, (int)c + 1, cells[c].value);
	}
	step(database, insert);
	return !database->is_bad;
}

static void add_process(
	struct database *database, sqlite3_stmt *insert, const struct process *process)
{
	const char *host = process_host(process), *command = process_command(process);

	sqlite3_bind_int64(insert, 1, process->pid);
	sqlite3_bind_null(insert, 2);
	if (process->rank >= 0) {
		sqlite3_bind_int64(insert, 2, process->rank);
	}
	sqlite3_bind_text(insert, 3, host, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(insert, 4, command, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(insert, 5, (int64_t)process_missing(process));
	sqlite3_bind_null(insert, 6);
	if (process->world > 0) {
		sqlite3_bind_int64(insert, 6, process->world);
	}
	step(database, insert);
}

static void add_threads(struct database *database, const struct process *process)
{
	sqlite3_stmt *insert = prepare(database, "INSERT INTO thread VALUES(?, ?, ?, ?)");

	for (size_t i = 0; i < process->threads.nr && !database->is_bad; i++) {
		const struct model_thread *thread = idmap_at(&process->threads, i);

		if (thread->tid && thread->name) {
			add_text(database, thread->name);
			sqlite3_bind_int64(insert, 1, process->pid);
			sqlite3_bind_int64(insert, 2, thread->tid);
			sqlite3_bind_int64(insert, 3, thread->name);
			if (process->rank >= 0) {
				sqlite3_bind_int64(insert, 4, process->rank);
			}
			step(database, insert);
		}
	}
	sqlite3_finalize(insert);
}

static void add_processes(
	struct database *database, struct process **processes, size_t nr_processes)
{
	sqlite3_stmt *insert;

	run(database, "CREATE TABLE process(pid INTEGER, rank INTEGER, host TEXT, command TEXT, "
		      "events_missing INTEGER, ranks INTEGER)");
	run(database, "CREATE TABLE thread(pid INTEGER, tid INTEGER, name INTEGER REFERENCES "
		      "StringIds(id), rank INTEGER)");
	run(database, "CREATE TABLE session(utc_ns INTEGER)");
	insert = prepare(database, "INSERT INTO process VALUES(?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < nr_processes && !database->is_bad; i++) {
		add_process(database, insert, processes[i]);
		add_threads(database, processes[i]);
	}
	sqlite3_finalize(insert);
	insert = prepare(database, "INSERT INTO session VALUES(?)");
	if (nr_processes && processes[0]->has_anchors && !database->is_bad) {
		/* Anchors of a damaged stream may have any value: unsigned, they wrap around. */
		sqlite3_bind_int64(insert, 1,
			(int64_t)(processes[0]->origin_ns +
				  (uint64_t)processes[0]->realtime_offset_ns));
		step(database, insert);
	}
	sqlite3_finalize(insert);
}

static void add_frames(struct database *database, struct process **processes, size_t nr_processes)
{
	struct native_frames frames = native_frames_make(processes, nr_processes);
	sqlite3_stmt *insert;

	run(database, "CREATE TABLE " NATIVE_FRAMES_TABLE
		      "(stack INTEGER REFERENCES StringIds(id), depth INTEGER, function INTEGER "
		      "REFERENCES StringIds(id), file INTEGER REFERENCES StringIds(id), address "
		      "INTEGER)");
	insert = prepare(
		database, "INSERT INTO " NATIVE_FRAMES_TABLE " VALUES(?, ?, ?, nullif(?, 0), ?)");
	for (size_t i = 0; i < frames.nr && !database->is_bad; i++) {
		const struct native_frames_row *row = &frames.rows[i];

		add_text(database, row->stack);
		add_text(database, row->function);
		add_text(database, row->file);
		sqlite3_bind_int64(insert, 1, row->stack);
		sqlite3_bind_int64(insert, 2, row->depth);
		sqlite3_bind_int64(insert, 3, row->function);
		sqlite3_bind_int64(insert, 4, row->file);
		sqlite3_bind_int64(insert, 5, (int64_t)row->address);
		step(database, insert);
	}
	sqlite3_finalize(insert);
	native_frames_fini(&frames);
}

static void write_all(struct database *database, struct process **processes, size_t nr_processes)
{
	struct export_sink sink = {take_row, database};
	char *views;

	/* A database that is cut short is worth nothing, so it need not survive us. */
	run(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
	run(database, "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)");
	database->insert_text = prepare(database, "INSERT INTO StringIds VALUES(?, ?)");
	for (unsigned int i = 0; event_table_at(i); i++) {
		create_table(database, event_table_at(i));
	}
	if (!database->is_bad) {
		export_run(processes, nr_processes, &sink);
	}
	add_processes(database, processes, nr_processes);
	add_frames(database, processes, nr_processes);
	views = nsys_views_sql("");
	run(database, views);
	free(views);
	run(database, "COMMIT");
}

bool export_has_sqlite(void)
{
	return true;
}

const char *export_sqlite(const char *path, struct process **processes, size_t nr_processes)
{
	static char why[256];
	struct database database = {0};

	if (unlink(path) && errno != ENOENT) {
		return strerror(errno);
	}
	database.is_bad = sqlite3_open(path, &database.sqlite) != SQLITE_OK;
	if (!database.is_bad) {
		write_all(&database, processes, nr_processes);
	}
	snprintf(why, sizeof(why), "%s", sqlite3_errmsg(database.sqlite));
	for (unsigned int i = 0; i < GPROF_NR_TABLES; i++) {
		sqlite3_finalize(database.inserts[i]);
	}
	sqlite3_finalize(database.insert_text);
	if (sqlite3_close(database.sqlite) != SQLITE_OK) {
		database.is_bad = true;
	}
	free(database.has_text);
	return database.is_bad ? why : NULL;
}

#endif
