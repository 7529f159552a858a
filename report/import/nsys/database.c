/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens an export through a VFS of its own: SQLite reads from the descriptor alone, finds no file
 * beside it and takes no lock. A hostile schema stays harmless: an authorizer allows reads only,
 * secure() sets limits, virtual tables are not queried, and all queries together have a budget of
 * steps. Queries are put together here from names of tables and columns, so that a column that a
 * version lacks reads as NULL. Without SQLite the functions above #else do nothing.
 */
#include "report/import/nsys/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/util/string_pool.h"

#define MAGIC "SQLite format 3" /* with the NUL behind it */

bool nsys_database_is_one(const unsigned char *bytes, size_t nr_bytes)
{
	return nr_bytes >= sizeof(MAGIC) && memcmp(bytes, MAGIC, sizeof(MAGIC)) == 0;
}

#ifndef REPORT_HAS_SQLITE

struct nsys_database *nsys_database_open(int fd, uint64_t nr_bytes)
{
	(void)fd;
	(void)nr_bytes;
	err_set(-ENOTSUP, "it is a database, and gprof-report was built without SQLite");
	return NULL;
}

void nsys_database_close(struct nsys_database *database)
{
	(void)database;
}

uint64_t nsys_database_read_bytes(struct nsys_database *database)
{
	(void)database;
	return 0;
}

void nsys_database_tables(
	struct nsys_database *database, void (*add)(void *context, const char *name), void *context)
{
	(void)database;
	(void)add;
	(void)context;
}

const char *nsys_database_string(struct nsys_database *database, int64_t id, size_t *nr_bytes)
{
	(void)database;
	(void)id;
	*nr_bytes = 0;
	return NULL;
}

struct nsys_query *nsys_query_open(
	struct nsys_database *database, const struct nsys_query_want *want)
{
	(void)database;
	(void)want;
	return NULL;
}

void nsys_query_close(struct nsys_query *query)
{
	(void)query;
}

bool nsys_query_next(struct nsys_query *query)
{
	(void)query;
	return false;
}

const char *nsys_query_problem(const struct nsys_query *query)
{
	(void)query;
	return NULL;
}

bool nsys_query_has(const struct nsys_query *query, unsigned int column)
{
	(void)query;
	(void)column;
	return false;
}

bool nsys_query_integer(const struct nsys_query *query, unsigned int column, int64_t *value)
{
	(void)query;
	(void)column;
	(void)value;
	return false;
}

bool nsys_query_real(const struct nsys_query *query, unsigned int column, double *value)
{
	(void)query;
	(void)column;
	(void)value;
	return false;
}

const char *nsys_query_text(const struct nsys_query *query, unsigned int column, size_t *nr_bytes)
{
	(void)query;
	(void)column;
	*nr_bytes = 0;
	return NULL;
}

#else

#include <sqlite3.h>

/* No text or blob of an export is near this; it also bounds what a view may put together. */
#define MAX_BYTES      (16 << 20)
/*
 * The work of all queries in steps of SQLite's machine: to read tables of N bytes a few times takes
 * some steps a byte. A view that never ends takes more.
 */
#define MAX_STEPS      (1u << 24)
#define STEPS_PER_BYTE 64u
#define STEPS_AT_ONCE  (1u << 16)
#define MAX_COLUMNS    40u

struct nsys_database {
	sqlite3 *sqlite;
	sqlite3_vfs vfs;
	char vfs_name[32];
	int fd;
	uint64_t size, nr_read;
	uint64_t steps_left;
	sqlite3_stmt *string;
};

struct nsys_query {
	struct nsys_database *database;
	sqlite3_stmt *statement;
	bool has[MAX_COLUMNS];
	const char *problem;
};

/* ---- reading through a descriptor ---- */

/*
 * A VFS for one file. A path would not do: the file may have none any more (it was removed),
 * SQLite would look for a journal beside it, and it would lock it.
 */

struct file {
	sqlite3_file base;
	struct nsys_database *database;
};

static int close_file(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *bytes, int nr_bytes, sqlite3_int64 offset)
{
	struct nsys_database *database = ((struct file *)base)->database;
	char *to = bytes;
	int nr = 0;

	while (nr < nr_bytes) {
		ssize_t n =
			pread(database->fd, to + nr, (size_t)(nr_bytes - nr), (off_t)offset + nr);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return SQLITE_IOERR_READ;
		}
		if (n == 0) {
			break;
		}
		nr += (int)n;
	}
	database->nr_read += (uint64_t)nr;
	/*
	 * Bytes 18 and 19 are 2 where writers use a write-ahead log, which SQLite would open; there
	 * is none here.
	 */
	for (int i = 18; i < 20; i++) {
		if (offset <= i && offset + nr > i && to[i - offset] == 2) {
			to[i - offset] = 1;
		}
	}
	if (nr < nr_bytes) {
		memset(to + nr, 0, (size_t)(nr_bytes - nr));
		return SQLITE_IOERR_SHORT_READ;
	}
	return SQLITE_OK;
}

static int write_file(sqlite3_file *file, const void *bytes, int nr_bytes, sqlite3_int64 offset)
{
	(void)file;
	(void)bytes;
	(void)nr_bytes;
	(void)offset;
	return SQLITE_READONLY;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file;
	(void)size;
	return SQLITE_READONLY;
}

static int flag_file(sqlite3_file *file, int flag) /* xSync, xLock, xUnlock */
{
	(void)file;
	(void)flag;
	return SQLITE_OK;
}

static int size_file(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)((struct file *)base)->database->size;
	return SQLITE_OK;
}

static int is_reserved(sqlite3_file *file, int *result)
{
	(void)file;
	*result = 0;
	return SQLITE_OK;
}

static int control_file(sqlite3_file *file, int operation, void *argument)
{
	(void)file;
	(void)operation;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int sector_bytes(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int characteristics(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = close_file,
	.xRead = read_file,
	.xWrite = write_file,
	.xTruncate = truncate_file,
	.xSync = flag_file,
	.xFileSize = size_file,
	.xLock = flag_file,
	.xUnlock = flag_file,
	.xCheckReservedLock = is_reserved,
	.xFileControl = control_file,
	.xSectorSize = sector_bytes,
	.xDeviceCharacteristics = characteristics,
};

/* Temporary files, of sorts that do not fit in memory, are the system's. */
static int open_file(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags)
{
	sqlite3_vfs *system = sqlite3_vfs_find(NULL);
	struct file *file = (struct file *)base;

	if (!(flags & SQLITE_OPEN_MAIN_DB)) {
		return system->xOpen(system, name, base, flags, out_flags);
	}
	*file = (struct file){.base.pMethods = &methods, .database = vfs->pAppData};
	if (out_flags) {
		*out_flags = SQLITE_OPEN_READONLY;
	}
	return SQLITE_OK;
}

/* Says that no other file exists: no journal, no log. */
static int has_file(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*result = 0;
	return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int nr_bytes, char *full)
{
	(void)vfs;
	snprintf(full, (size_t)nr_bytes, "%s", name);
	return SQLITE_OK;
}

static void make_vfs(struct nsys_database *database)
{
	sqlite3_vfs *system = sqlite3_vfs_find(NULL);
	size_t most = sizeof(struct file);

	database->vfs = *system;
	database->vfs.pNext = NULL;
	database->vfs.szOsFile = system->szOsFile > (int)most ? system->szOsFile : (int)most;
	snprintf(database->vfs_name, sizeof(database->vfs_name), "gprof-%p", (void *)database);
	database->vfs.zName = database->vfs_name;
	database->vfs.pAppData = database;
	database->vfs.xOpen = open_file;
	database->vfs.xAccess = has_file;
	database->vfs.xFullPathname = full_name;
}

/* ---- a database ---- */

/* Stops a query that does more than any table of this size needs. */
static int count_steps(void *context)
{
	struct nsys_database *database = context;
	bool is_over = database->steps_left < STEPS_AT_ONCE;

	database->steps_left -= is_over ? database->steps_left : STEPS_AT_ONCE;
	return is_over;
}

/* Allows SELECT, reads and functions, and refuses all else, such as ATTACH and PRAGMA. */
static int allow(void *context, int action, const char *first, const char *second,
	const char *database, const char *view)
{
	(void)context;
	(void)first;
	(void)second;
	(void)database;
	(void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
		return SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

/* The PRAGMAs come before the authorizer, which refuses them from then on. */
static void secure(struct nsys_database *database)
{
	static const struct {
		int limit, most;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, MAX_BYTES},
		{SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
		{SQLITE_LIMIT_COLUMN, 500},
		{SQLITE_LIMIT_EXPR_DEPTH, 100},
		{SQLITE_LIMIT_COMPOUND_SELECT, 50},
		{SQLITE_LIMIT_VDBE_OP, 100000},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};
	sqlite3 *sqlite = database->sqlite;

	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		sqlite3_limit(sqlite, limits[i].limit, limits[i].most);
	}
	sqlite3_exec(sqlite, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", NULL, NULL, NULL);
	sqlite3_set_authorizer(sqlite, allow, NULL);
	sqlite3_progress_handler(sqlite, (int)STEPS_AT_ONCE, count_steps, database);
}

struct nsys_database *nsys_database_open(int fd, uint64_t nr_bytes)
{
	struct nsys_database *database = mem_zeroed(1, sizeof(*database));

	sqlite3_initialize();
	database->fd = fd;
	database->size = nr_bytes;
	database->steps_left = MAX_STEPS + STEPS_PER_BYTE * nr_bytes;
	make_vfs(database);
	sqlite3_vfs_register(&database->vfs, 0);
	if (sqlite3_open_v2("trace", &database->sqlite, SQLITE_OPEN_READONLY, database->vfs_name) !=
		SQLITE_OK) {
		err_set(-EIO, "SQLite cannot open it: %s", sqlite3_errmsg(database->sqlite));
		nsys_database_close(database);
		return NULL;
	}
	secure(database);
	if (sqlite3_exec(database->sqlite, "SELECT count(*) FROM sqlite_master", NULL, NULL,
		    NULL) != SQLITE_OK) {
		err_set(-EINVAL, "the database is damaged: %s", sqlite3_errmsg(database->sqlite));
		nsys_database_close(database);
		return NULL;
	}
	return database;
}

void nsys_database_close(struct nsys_database *database)
{
	sqlite3_finalize(database->string);
	sqlite3_close(database->sqlite);
	sqlite3_vfs_unregister(&database->vfs);
	free(database);
}

uint64_t nsys_database_read_bytes(struct nsys_database *database)
{
	uint64_t nr_read = database->nr_read;

	database->nr_read = 0;
	return nr_read;
}

/* Virtual tables, which run code of their own, have no root page. */
#define REAL_TABLES    "FROM sqlite_master WHERE (type = 'table' AND rootpage > 0 OR type = 'view')"

void nsys_database_tables(
	struct nsys_database *database, void (*add)(void *context, const char *name), void *context)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(database->sqlite, "SELECT name " REAL_TABLES " ORDER BY name", -1,
		    &statement, NULL) == SQLITE_OK) {
		while (sqlite3_step(statement) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(statement, 0);

			if (name) {
				add(context, name);
			}
		}
	}
	sqlite3_finalize(statement);
}

/* ---- queries ---- */

static sqlite3_stmt *prepare(struct nsys_database *database, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, NULL) != SQLITE_OK) {
		sqlite3_finalize(statement);
		return NULL;
	}
	return statement;
}

static bool is_table(struct nsys_database *database, const char *table)
{
	sqlite3_stmt *statement = prepare(database, "SELECT 1 " REAL_TABLES " AND name = ?1");
	bool is_one = false;

	if (statement) {
		sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
		is_one = sqlite3_step(statement) == SQLITE_ROW;
	}
	sqlite3_finalize(statement);
	return is_one;
}

/* Marks the columns that the table has; false if one is missing that is needed. */
static bool find_columns(
	struct nsys_query *query, const struct nsys_query_want *want, bool *has_key)
{
	sqlite3_stmt *statement;
	struct buf sql = {0};
	bool is_good;

	buf_printf(&sql, "SELECT * FROM \"%s\" LIMIT 0", want->table);
	buf_char(&sql, '\0');
	statement = prepare(query->database, sql.bytes);
	buf_fini(&sql);
	is_good = statement != NULL;
	*has_key = false;
	for (int i = 0; statement && i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);

		for (unsigned int c = 0; name && c < want->nr_columns; c++) {
			query->has[c] |= strcasecmp(name, want->columns[c]) == 0;
		}
		*has_key |= name && want->key && strcasecmp(name, want->key) == 0;
	}
	sqlite3_finalize(statement);
	for (unsigned int c = 0; c < want->nr_needed; c++) {
		is_good &= query->has[c];
	}
	return is_good && (*has_key || !want->is_key_needed);
}

static void add_select(
	struct buf *sql, const struct nsys_query *query, const struct nsys_query_want *want)
{
	buf_text(sql, want->is_distinct ? "SELECT DISTINCT " : "SELECT ");
	for (unsigned int c = 0; c < want->nr_columns; c++) {
		buf_text(sql, c ? ", " : "");
		if (query->has[c]) {
			buf_printf(sql, "\"%s\"", want->columns[c]);
		} else {
			buf_text(sql, "NULL");
		}
	}
	buf_printf(sql, " FROM \"%s\" WHERE %s", want->table, want->where ? want->where : "1");
}

/*
 * A table with the key of processes gives the rows of one process; one without it gives all its
 * rows, if the caller allows that.
 */
struct nsys_query *nsys_query_open(
	struct nsys_database *database, const struct nsys_query_want *want)
{
	struct nsys_query *query = mem_zeroed(1, sizeof(*query));
	struct buf sql = {0};
	bool has_key;

	query->database = database;
	if (!is_table(database, want->table) || !find_columns(query, want, &has_key)) {
		free(query);
		return NULL;
	}
	add_select(&sql, query, want);
	if (has_key) {
		buf_printf(&sql, " AND \"%s\" >> %u = %llu", want->key, NSYS_PROCESS_SHIFT,
			(unsigned long long)want->process);
	}
	if (want->order) {
		buf_printf(&sql, " ORDER BY %s", want->order);
	}
	buf_char(&sql, '\0');
	query->statement = prepare(database, sql.bytes);
	buf_fini(&sql);
	if (!query->statement) {
		free(query);
		return NULL;
	}
	return query;
}

void nsys_query_close(struct nsys_query *query)
{
	if (query) {
		sqlite3_finalize(query->statement);
		free(query);
	}
}

bool nsys_query_next(struct nsys_query *query)
{
	const char *text;
	struct buf why = {0};
	int rc;

	if (query->problem) {
		return false;
	}
	rc = sqlite3_step(query->statement);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		return rc == SQLITE_ROW;
	}
	text = rc == SQLITE_INTERRUPT ? "its queries take far more work than its size explains"
				      : sqlite3_errmsg(query->database->sqlite);
	buf_printf(&why, "the database cannot be read to its end: %s", text);
	query->problem = string_pool_text(string_pool_intern(why.bytes, why.nr_bytes), NULL);
	buf_fini(&why);
	return false;
}

const char *nsys_query_problem(const struct nsys_query *query)
{
	return query->problem;
}

bool nsys_query_has(const struct nsys_query *query, unsigned int column)
{
	return query->has[column];
}

bool nsys_query_integer(const struct nsys_query *query, unsigned int column, int64_t *value)
{
	if (sqlite3_column_type(query->statement, (int)column) != SQLITE_INTEGER) {
		return false;
	}
	*value = sqlite3_column_int64(query->statement, (int)column);
	return true;
}

bool nsys_query_real(const struct nsys_query *query, unsigned int column, double *value)
{
	if (sqlite3_column_type(query->statement, (int)column) != SQLITE_FLOAT) {
		return false;
	}
	*value = sqlite3_column_double(query->statement, (int)column);
	return true;
}

/* sqlite3_column_text makes UTF-8 of UTF-16; bytes that are not UTF-8 stay as they are. */
static const char *text_of(sqlite3_stmt *statement, int column, size_t *nr_bytes)
{
	int type = sqlite3_column_type(statement, column);
	const char *bytes;

	*nr_bytes = 0;
	if (type != SQLITE_TEXT && type != SQLITE_BLOB) {
		return NULL;
	}
	bytes = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(statement, column)
				    : sqlite3_column_blob(statement, column);
	*nr_bytes = bytes ? (size_t)sqlite3_column_bytes(statement, column) : 0;
	return bytes ? bytes : "";
}

const char *nsys_query_text(const struct nsys_query *query, unsigned int column, size_t *nr_bytes)
{
	return text_of(query->statement, (int)column, nr_bytes);
}

const char *nsys_database_string(struct nsys_database *database, int64_t id, size_t *nr_bytes)
{
	const char *text = NULL;

	*nr_bytes = 0;
	if (!database->string && is_table(database, "StringIds")) {
		database->string = prepare(database, "SELECT value FROM StringIds WHERE id = ?1");
	}
	if (database->string) {
		sqlite3_reset(database->string);
		sqlite3_bind_int64(database->string, 1, id);
		text = sqlite3_step(database->string) == SQLITE_ROW
			       ? text_of(database->string, 0, nr_bytes)
			       : NULL;
	}
	return text;
}

#endif
