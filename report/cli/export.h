/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every event of the input as rows for other programs: databases, data frames. The tables are those
 * of the stream's format (FORMAT.md), derived from its lists, with ids put in plain text:
 *
 *     pid, rank, step   stand first; step is the one that the row belongs to by the rules of
 *                       select.h, unknown outside of steps
 *     start_ns, time_ns on one axis for all processes (axis.h), dur_ns as measured
 *     tid               in place of the stream's number of a thread
 *     device, context, stream   in place of a place; grid_x ... in place of a launch's shape
 *     name, api         in place of the number of a call; texts in place of numbers of texts
 *
 * Tables that only say what ids mean are not exported. One pass for the events and one before it
 * for the steps of what was launched; memory: 8 bytes for each call that launches.
 */
#ifndef REPORT_CLI_EXPORT_H
#define REPORT_CLI_EXPORT_H

#include "report/model/model.h"

/* The most columns of a table: all of one's own, and what a shape and a place become. */
#define EXPORT_COLUMNS 48u

enum export_type {
	EXPORT_INTEGER,
	EXPORT_TEXT, /* a number of names.h */
};

struct export_column {
	const char *name;
	enum export_type type;
};

struct export_cell {
	int64_t value;
	bool is_known;
};

/* The first columns of every table. */
enum {
	EXPORT_PID,
	EXPORT_RANK,
	EXPORT_STEP,
	EXPORT_NR_FIRST,
};

struct export_table {
	const char *name;
	unsigned int number; /* GPROF_TABLE_... */
	unsigned int nr_columns;
	struct export_column columns[EXPORT_COLUMNS];
};

/* Takes the rows; those of one process follow each other. False: it takes no more. */
struct export_sink {
	bool (*row)(void *context, const struct export_table *table, const struct process *process,
		const struct export_cell *cells);
	void *context;
};

/* The tables that are exported, by place; NULL behind the last. Lives as long as the command. */
const struct export_table *export_table_at(unsigned int place);

/* Writes all rows. False if the sink took no more. */
bool export_run(struct process **processes, size_t nr_processes, const struct export_sink *sink);

/* export_sqlite.c: a database; see there for its tables. NULL, or why it could not be written. */
const char *export_sqlite(const char *path, struct process **processes, size_t nr_processes);
bool export_has_sqlite(void);

enum export_format {
	EXPORT_SQLITE,
	EXPORT_CSV,
	EXPORT_JSONL,
};

/*
 * export_files.c: a folder with TABLE/rank=R/step=S/PID.csv or .jsonl, as engines read partitioned
 * data sets; rank and step are then not in the files, and __HIVE_DEFAULT_PARTITION__ stands for
 * what is unknown. NULL, or why it could not be written.
 */
const char *export_files(const char *path, enum export_format format, struct process **processes,
	size_t nr_processes);

#endif
