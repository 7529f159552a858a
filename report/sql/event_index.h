/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a table in the order of some of its columns and of time, so that a join reads the
 * table once and not once for each row of the other one: SQLite makes no indexes of virtual tables
 * itself. Memory: 9 bytes for each cell of the columns that the query uses, and 4 for each row.
 */
#ifndef REPORT_SQL_EVENT_INDEX_H
#define REPORT_SQL_EVENT_INDEX_H

#include "report/sql/event_scan.h"

#define EVENT_INDEX_KEYS 4u

/* Rows of one block. */
struct event_index_part {
	size_t first;
	int64_t first_rowid;
};

struct event_index {
	const struct event_table *table;
	uint64_t columns;
	unsigned int keys[EVENT_INDEX_KEYS]; /* columns */
	unsigned int nr_keys;
	struct event_cells cells;
	size_t capacity;
	struct event_index_part *parts;
	size_t nr_parts, part_capacity;
	bool has_time;	 /* rows of equal keys are in the order of the time column */
	uint32_t *order; /* rows */
	size_t nr_rows;	 /* of these; without those with a key that is not known */
	struct event_index *next;
};

struct event_indexes {
	struct event_index *first;
};

/*
 * The index of that table, columns and keys, which are among the columns, as the time column is if
 * has_time; made if there is none yet. NULL where the table has more rows than 32 bits count.
 */
const struct event_index *event_index_find(struct event_indexes *indexes, struct event_input *input,
	const struct event_table *table, uint64_t columns, const unsigned int *keys,
	unsigned int nr_keys, bool has_time);

void event_indexes_fini(struct event_indexes *indexes);

/* The places in `order` of the rows with these keys within that time (any, without has_time). */
void event_index_look_up(const struct event_index *index, const int64_t *values,
	const struct event_bounds *bounds, size_t *begin, size_t *end);

/* The number of a row that it has in every scan. */
int64_t event_index_rowid(const struct event_index *index, size_t row);

#endif
