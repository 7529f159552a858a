/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every event of the input as rows of tables, for queries, databases and data frames. The tables
 * are those of the stream's format (FORMAT.md), derived from its lists, with ids replaced by what
 * they mean:
 *
 *     pid, rank, step   come first; step is the one that the row belongs to by the rules of
 *                       select.h, unknown outside of steps
 *     start_ns, time_ns on one axis for all processes (time_axis.h), dur_ns as measured
 *     tid               instead of the stream's number of a thread
 *     device, context, stream   instead of a place; grid_x ... instead of a launch's shape
 *     name, api         instead of the number of a call; texts instead of numbers of texts
 *
 * Tables that only define ids have no table here. Columns are converted one by one, so a reader
 * pays only for those that it selects.
 */
#ifndef REPORT_SQL_EVENT_H
#define REPORT_SQL_EVENT_H

#include "report/model/model.h"
#include "report/model/ranges.h"

/*
 * The most columns of a table: all of one's own, what a shape and a place become, and the hidden
 * ones. A set of them is a word of 64 bits.
 */
#define EVENT_COLUMNS 56u

enum event_column_type {
	EVENT_COLUMN_INTEGER,
	EVENT_COLUMN_TEXT,    /* a number of string_pool.h, to be shown as its text */
	EVENT_COLUMN_TEXT_ID, /* the number of the text as recorded; hidden */
};

struct event_column {
	const char *name;
	enum event_column_type type;
	uint8_t role;	/* what it is made of, see event_table.c */
	uint8_t source; /* the column of the stream */
	uint8_t part;	/* which of the columns that the stream's becomes */
};

/* The first columns of every table. */
enum {
	EVENT_PID,
	EVENT_RANK,
	EVENT_STEP,
	EVENT_NR_FIRST,
};

struct event_table {
	const char *name;
	const char *what;
	unsigned int number;	  /* GPROF_TABLE_...; GPROF_TABLE_NONE: whole NVTX ranges */
	unsigned int source;	  /* the table of the stream that its rows are made of */
	unsigned int time_column; /* when a row happened or began; 0 where it has no time */
	unsigned int nr_columns;
	/*
	 * Behind these, for queries that name them: the index of the process in the input, end_ns
	 * of what has a begin and a duration, and NAME_id for each column NAME of texts.
	 */
	unsigned int nr_hidden;
	struct event_column columns[EVENT_COLUMNS];
};

/* All of them, a bit each. */
static inline uint64_t event_table_all(const struct event_table *table)
{
	return (1ull << (table->nr_columns + table->nr_hidden)) - 1;
}

/* The tables, by index; NULL behind the last. They live as long as the program. */
const struct event_table *event_table_at(unsigned int place);

/* The columns of the stream that some columns of a table (a bit each) are made of. */
uint32_t event_table_mask(const struct event_table *table, uint64_t columns);

/*
 * Returns what a column of a table, or of a view by nsys's names, means; "" if that is not written
 * down.
 */
const char *event_column_meaning(const char *table, const char *column);

/* Rows of a table by column; columns that are not wanted are NULL. Starts with all zeros. */
struct event_cells {
	size_t nr;
	struct ranges *ranges; /* the caller's; for whole NVTX ranges, which pair over batches */
	int64_t *values[EVENT_COLUMNS];
	bool *known[EVENT_COLUMNS];
	size_t capacities[EVENT_COLUMNS];
};

void event_cells_fini(struct event_cells *rows);

/* Makes room for so many rows of some columns. */
void event_cells_reserve(struct event_cells *rows, uint64_t columns, size_t nr_rows);

/* State that the conversion of several processes shares; the processes must stay. */
struct event_reader;

struct event_reader *event_reader_create(struct process *const *processes, size_t nr_processes);
void event_reader_destroy(struct event_reader *reader);

/* Gives back what was kept of a process's steps: 8 bytes for each call that launches. */
void event_reader_forget(struct event_reader *reader, size_t process);

/* A time of a process, CLOCK_MONOTONIC, on the axis of all. */
int64_t event_reader_time(const struct event_reader *reader, size_t process, uint64_t ns);

/*
 * Reads what some columns of a table need beside its rows. Before the batch is loaded that is to be
 * converted, since a batch is good until the next one.
 */
void event_reader_prepare(struct event_reader *reader, size_t process,
	const struct event_table *table, uint64_t columns);

/*
 * Converts some columns of a batch of the table's source, which must have event_table_mask() of
 * them.
 */
void event_reader_convert(struct event_reader *reader, size_t process,
	const struct event_table *table, uint64_t columns, const struct batch *batch,
	struct event_cells *rows);

/*
 * Returns the number of a text as queries see it: without control characters and invalid UTF-8, as
 * text_add_shown() writes it. Texts that look alike have one number.
 */
uint32_t event_reader_shown(struct event_reader *reader, uint32_t name);

/* Makes every text that a column may have known to string_pool.h. */
void event_reader_intern_all(struct event_reader *reader);

/*
 * The rows of one table, block by block, with just the wanted columns, texts as queries see them.
 * Streams and blocks that cannot have a row that is wanted are not read. Several scans may be open
 * at once.
 */

/* Conditions on rows; a scan may hand out others besides. */
struct event_bounds {
	bool has_pid, has_rank;
	int64_t pid, rank;
	int64_t first_ns, last_ns; /* of the table's time column, both included */
};

struct event_input {
	struct process *const *processes;
	size_t nr_processes;
	struct event_reader *reader;
	unsigned int nr_scans; /* open ones; the outermost shows its progress */
};

struct event_scan {
	struct event_input *input;
	const struct event_table *table;
	uint64_t columns;
	struct event_bounds bounds;
	uint32_t mask; /* of the stream's columns */
	size_t process, block;
	struct event_cells cells; /* the rows of the current block */
	int64_t first_rowid;	  /* of these: a number that is a row's own, whatever the scan */
	bool has_progress;
};

/* Rows of a table in all processes, whatever is selected of them. */
uint64_t event_scan_nr_rows(const struct event_input *input, const struct event_table *table);

void event_scan_begin(struct event_scan *scan, struct event_input *input,
	const struct event_table *table, uint64_t columns, const struct event_bounds *bounds);

/* The next rows, in `cells`, at least one; false behind the last. */
bool event_scan_next(struct event_scan *scan);

/* Also for one with all zeros. */
void event_scan_end(struct event_scan *scan);

/*
 * The rows of a table in the order of some of its columns and of time, so that a join reads the
 * table once and not once for each row of the other one: SQLite makes no indexes of virtual tables
 * itself. Memory: 9 bytes for each cell of the columns that the query uses, and 4 for each row.
 */

#define EVENT_INDEX_KEYS 4u

/* Rows of one block. */
struct event_index_part {
	size_t first;
	int64_t first_rowid;
};

/* Names an index. `columns` includes the keys, and the time column if has_time. */
struct event_index_of {
	const struct event_table *table;
	uint64_t columns;
	unsigned int keys[EVENT_INDEX_KEYS]; /* columns */
	unsigned int nr_keys;
	bool has_time; /* rows of equal keys are in the order of the time column */
};

struct event_index {
	struct event_index_of of;
	struct event_cells cells;
	size_t capacity;
	struct event_index_part *parts;
	size_t nr_parts, part_capacity;
	uint32_t *order; /* rows */
	size_t nr_rows;	 /* of these; without those with a key that is not known */
	struct event_index *next;
};

struct event_indexes {
	struct event_index *first;
};

/*
 * The index, made if there is none yet. NULL where the table has more rows than 32 bits count.
 */
const struct event_index *event_index_find(
	struct event_indexes *indexes, struct event_input *input, const struct event_index_of *of);

void event_indexes_fini(struct event_indexes *indexes);

/*
 * Finds the range in `order` of the rows with these keys within that time (any, without has_time).
 */
void event_index_look_up(const struct event_index *index, const int64_t *values,
	const struct event_bounds *bounds, size_t *begin, size_t *end);

/* The number of a row that it has in every scan. */
int64_t event_index_rowid(const struct event_index *index, size_t row);

/*
 * The step of each row of a process, by the rules of select.h: that of the time when the host did
 * it, or of the call that launched it. What lies in a step that was not seen to end is in none.
 */

struct event_steps;

struct event_steps *event_steps_create(struct process *process);

/*
 * Must come before the steps of a table's rows are looked up: reads what launched, once, if the
 * table goes by that and the process has steps. 8 bytes for each call that launches.
 */
void event_steps_prepare(struct event_steps *steps, unsigned int table);
void event_steps_destroy(struct event_steps *steps);

/* The number of the step of a row; false if it is in none, or nobody knows. */
bool event_steps_find(
	struct event_steps *steps, const struct batch *batch, uint32_t row, uint64_t *step);

/* The same for a time of the host's. */
bool event_steps_at(struct event_steps *steps, uint64_t tick, uint64_t *step);

#endif
