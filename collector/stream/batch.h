/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way into the stream, one batch per table. Rows of rings are only pointed at (they
 * stay in their chunk until the checkpoint); other rows are copied. Rows become columns in small
 * groups, while they are in the first-level cache, and full columns become a block. Batches of
 * definitions (strings, calls, shapes, places ...) precede each block, so that the stream defines
 * every id before it uses it. For the drain thread.
 */
#ifndef COLLECTOR_STREAM_BATCH_H
#define COLLECTOR_STREAM_BATCH_H

#include <stdbool.h>
#include <string.h>

#include "collector/format/format.h"
#include "collector/format/rows_to_columns.h"

/* Makes the batches; memory is touched as it is used. Returns 0 or -ENOMEM. */
int batch_init(void);

/* Drops everything that waits; for a forked child. */
void batch_forget(void);

/* The rows of a table that wait. */
struct batch {
	const void **rows;
	char *storage; /* for rows that are copied */
	uint32_t nr_rows;
	uint32_t max_rows;
	uint32_t row_bytes;
	uint64_t nr_written;	     /* and those before, in the stream or dropped */
	uint32_t nr_in_columns;	     /* rows before those, in `values` */
	union column_values *values; /* NULL for a table with texts, whose rows wait for the block
				      */
	bool is_definition;	     /* or a fact: not an event */
};

extern struct batch batches[GPROF_NR_TABLES] __attribute__((visibility("hidden")));

/* Gathers the rows, and writes the block if it is full. */
void batch_make_room_slow(unsigned int table);

static inline struct batch *batch_make_room(unsigned int table)
{
	struct batch *batch = &batches[table];

	if (__builtin_expect(batch->nr_rows == batch->max_rows, 0)) {
		batch_make_room_slow(table);
	}
	return batch;
}

/* Adds a row that stays valid until batch_write_all, and is as it is. */
static inline void batch_point(unsigned int table, const void *row)
{
	struct batch *batch = batch_make_room(table);

	batch->rows[batch->nr_rows++] = row;
}

/*
 * A row of `table` with whatever it held before, for those that fill in every column; it is written
 * with its batch. The pointer is good until the next call for the same table. Its TEXT fields must
 * point to bytes that stay.
 */
static inline void *batch_slot(unsigned int table)
{
	struct batch *batch = batch_make_room(table);
	char *row = batch->storage + (size_t)batch->nr_rows * batch->row_bytes;

	batch->rows[batch->nr_rows++] = row;
	return row;
}

/* The same, zeroed. */
static inline void *batch_add(unsigned int table)
{
	return memset(batch_slot(table), 0, batches[table].row_bytes);
}

/* Keeps a copy of bytes for a TEXT field, until the batches are written. */
struct gprof_text batch_text(const char *bytes, uint64_t nr_bytes);

/* Writes everything that waits. */
void batch_write_all(void);

/*
 * For a full stream: counts the events that wait, and steps, threads and the like, as lost to the
 * size limit. Drops definitions that only these need, and keeps the others and the facts.
 */
void batch_drop_all(void);

/* Rows of a table since the start, those that wait too. */
uint64_t batch_nr_rows(unsigned int table);

#endif
