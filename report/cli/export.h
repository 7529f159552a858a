/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every event of the input as rows for other programs: databases, data frames. The tables are those
 * of sql/event.h. One pass for the events and one before it for the steps of what was
 * launched; memory: 8 bytes for each call that launches.
 */
#ifndef REPORT_CLI_EXPORT_H
#define REPORT_CLI_EXPORT_H

#include "report/session/session.h"
#include "report/sql/event.h"

struct export_cell {
	int64_t value;
	bool is_known;
};

/* Takes the rows; those of one process follow each other. False: it takes no more. */
struct export_sink {
	bool (*row)(void *context, const struct event_table *table, const struct process *process,
		const struct export_cell *cells);
	void *context;
};

/* Writes all rows. False if the sink took no more. */
bool export_run(struct process **processes, size_t nr_processes, const struct export_sink *sink);

/* export_sqlite.c: a database; see there for its tables. NULL, or why it could not be written. */
const char *export_sqlite(const char *path, struct process **processes, size_t nr_processes);
bool export_has_sqlite(void);

enum export_format {
	EXPORT_SQLITE,
	EXPORT_CSV,
	EXPORT_JSONL,
	EXPORT_MEMORY_VIZ,
};

/*
 * export_files.c: a folder with TABLE/rank=R/step=S/PID.csv or .jsonl, as engines read partitioned
 * data sets; rank and step are then not in the files, and __HIVE_DEFAULT_PARTITION__ stands for
 * what is unknown. NULL, or why it could not be written.
 */
const char *export_files(const char *path, enum export_format format, struct process **processes,
	size_t nr_processes);

/*
 * export_memory_viz.c: a snapshot of the memory of the one process that uses GPUs, for PyTorch's
 * memory viewer. Says what it wrote, or why it could not.
 */
enum cmd_exit export_memory_viz(const char *path, const struct cmd_input *input);

#endif
