/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one table, block by block, with just the columns that are asked for. Streams and
 * blocks that cannot have a row that is wanted are not read. Several scans may be open at once.
 */
#ifndef REPORT_SQL_EVENT_SCAN_H
#define REPORT_SQL_EVENT_SCAN_H

#include "report/sql/event_table.h"

/* What rows must be; a scan may hand out others besides. */
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
	struct ranges *ranges;
	struct event_cells cells; /* the rows of the block at hand */
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

#endif
