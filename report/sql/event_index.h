/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a table by the values of some of its columns, so that a join reads the table once and
 * not once for each row of the other one: SQLite makes no indexes of virtual tables itself. Memory:
 * 9 bytes for each cell of the columns that the query uses, and 8 for each row.
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
	uint32_t *heads, *nexts; /* 1 + a row; 0: none */
	size_t nr_heads;	 /* a power of two */
	struct event_index *next;
};

struct event_indexes {
	struct event_index *first;
};

/* The index of that table, columns and keys; made if there is none yet. */
const struct event_index *event_index_find(struct event_indexes *indexes, struct event_input *input,
	const struct event_table *table, uint64_t columns, const unsigned int *keys,
	unsigned int nr_keys);

void event_indexes_fini(struct event_indexes *indexes);

/* 1 + the first row with these values, or the next one behind such a row; 0: none. In the order of
 * the table. */
uint32_t event_index_first(const struct event_index *index, const int64_t *values);
uint32_t event_index_next(const struct event_index *index, const int64_t *values, uint32_t row);

/* The number of a row that it has in every scan. */
int64_t event_index_rowid(const struct event_index *index, uint32_t row);

#endif
