/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite database that nobody trusts: it is opened read-only through its descriptor, its schema
 * may call no functions with side effects, and all queries together have a limit of work.
 */
#ifndef REPORT_IMPORT_NSYS_DATABASE_H
#define REPORT_IMPORT_NSYS_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nsys_database;

/* Does a file begin like a database? */
bool nsys_database_is_one(const unsigned char *bytes, size_t nr_bytes);

/*
 * Opens the database in `fd`, which must stay open, and whose position is not used. NULL with
 * err_set if this program was built without SQLite, or the file is damaged.
 */
struct nsys_database *nsys_database_open(int fd, uint64_t nr_bytes);
void nsys_database_close(struct nsys_database *database);

/* Bytes that were read since the last call. */
uint64_t nsys_database_read_bytes(struct nsys_database *database);

/* Calls `add` for each table and view that can be queried. */
void nsys_database_tables(struct nsys_database *database,
	void (*add)(void *context, const char *name), void *context);

/* The text with that id of table StringIds, valid until the next call; NULL: there is none. */
const char *nsys_database_string(struct nsys_database *database, int64_t id, size_t *nr_bytes);

/* ---- queries ---- */

struct nsys_query_want {
	const char *table;
	const char *const *columns; /* those that the table lacks are NULL in each row */
	unsigned int nr_columns;
	unsigned int nr_needed; /* without the first ones the table is of no use */
	const char *key;	/* a globalPid or globalTid; NULL: rows of all processes */
	bool is_key_needed;	/* else a table without it has rows of one process only */
	uint64_t process;	/* the process, as in the upper bits of the key */
	const char *where, *order;
	bool is_distinct;
};

struct nsys_query;

/* NULL: there is no such table, it lacks a column that is needed, or the query is not possible. */
struct nsys_query *nsys_query_open(
	struct nsys_database *database, const struct nsys_query_want *want);
void nsys_query_close(struct nsys_query *query);

/* Moves to the next row; false behind the last one, or where the table is damaged. */
bool nsys_query_next(struct nsys_query *query);

/* Why nsys_query_next ended before the last row, NULL if it did not. Lives as long as the program.
 */
const char *nsys_query_problem(const struct nsys_query *query);

bool nsys_query_has(const struct nsys_query *query, unsigned int column);

/* False if the value is no integer. */
bool nsys_query_integer(const struct nsys_query *query, unsigned int column, int64_t *value);

/* The same for a floating-point number. */
bool nsys_query_real(const struct nsys_query *query, unsigned int column, double *value);

/* A text or blob, valid until the next row; NULL for other values. */
const char *nsys_query_text(const struct nsys_query *query, unsigned int column, size_t *nr_bytes);

/* The integer if there is one and it fits, else `otherwise`. */
static inline uint32_t nsys_query_u32(
	const struct nsys_query *query, unsigned int column, uint32_t otherwise)
{
	int64_t value;

	return nsys_query_integer(query, column, &value) && value >= 0 && value <= UINT32_MAX
		       ? (uint32_t)value
		       : otherwise;
}

static inline uint64_t nsys_query_u64(
	const struct nsys_query *query, unsigned int column, uint64_t otherwise)
{
	int64_t value;

	return nsys_query_integer(query, column, &value) ? (uint64_t)value : otherwise;
}

/* The bits of a globalPid or globalTid above the thread: the machine and the process. */
#define NSYS_PROCESS_SHIFT 24u
#define NSYS_ID_MASK	   0xffffffu

#endif
