/* SPDX-License-Identifier: Apache-2.0 */
/* The data of an open stream: its tables, blocks, damage, and the batches that it is read in. */
#ifndef REPORT_STREAM_TYPES_H
#define REPORT_STREAM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"
#include "report/stream/block_decode.h"

/*
 * The tables and columns that the reporter knows, derived from the lists of format.h:
 * GPROF_TABLE_name and COL_table_column. A stream maps its own numbers to these by name; see
 * stream.h.
 */

/* The most columns of a known table. */
#define SCHEMA_COLUMNS 24u

#define SCHEMA_ENUM(t, type, column, kind) COL_##t##_##column,
#define T(id, table, facts, what)                                                   \
	enum col_##table{GPROF_COLUMNS_##table(SCHEMA_ENUM, table) NR_COL_##table}; \
	_Static_assert((unsigned int)NR_COL_##table <= SCHEMA_COLUMNS, "raise SCHEMA_COLUMNS");
GPROF_TABLES(T)
#undef T
#undef SCHEMA_ENUM

/* The mask of a column by its number, and of all columns of a table. */
#define COL_BIT(column)	    (1u << (column))
#define COL_ALL(nr_columns) ((1u << (nr_columns)) - 1u)

/* The mask of columns of a table, as COLS(api, begin, dur). */
#define COLS_1(t, c)						     COL_BIT(COL_##t##_##c)
#define COLS_2(t, c, ...)					     COLS_1(t, c) | COLS_1(t, __VA_ARGS__)
#define COLS_3(t, c, ...)					     COLS_1(t, c) | COLS_2(t, __VA_ARGS__)
#define COLS_4(t, c, ...)					     COLS_1(t, c) | COLS_3(t, __VA_ARGS__)
#define COLS_5(t, c, ...)					     COLS_1(t, c) | COLS_4(t, __VA_ARGS__)
#define COLS_6(t, c, ...)					     COLS_1(t, c) | COLS_5(t, __VA_ARGS__)
#define COLS_7(t, c, ...)					     COLS_1(t, c) | COLS_6(t, __VA_ARGS__)
#define COLS_8(t, c, ...)					     COLS_1(t, c) | COLS_7(t, __VA_ARGS__)
#define COLS_9(t, c, ...)					     COLS_1(t, c) | COLS_8(t, __VA_ARGS__)
#define COLS_10(t, c, ...)					     COLS_1(t, c) | COLS_9(t, __VA_ARGS__)
#define COLS_OF(c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, macro, ...) macro
#define COLS(t, ...)                                                                           \
	(COLS_OF(__VA_ARGS__, COLS_10, COLS_9, COLS_8, COLS_7, COLS_6, COLS_5, COLS_4, COLS_3, \
		COLS_2, COLS_1, )(t, __VA_ARGS__))

/* A set of tables, a bit each. */
__extension__ typedef unsigned __int128 table_set;

_Static_assert(GPROF_NR_TABLES <= 128, "table_set");

static inline table_set table_bit(unsigned int table)
{
	return (table_set)1 << table;
}

/* The tables with one of these facts: GPROF_IS_..., GPROF_ON_... and the like of format.h. */
static inline table_set table_set_with(unsigned int facts)
{
	table_set tables = 0;

	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		tables |= gprof_table_is(table, facts) ? table_bit(table) : 0;
	}
	return tables;
}

struct schema_column {
	const char *name;
	uint8_t kind; /* enum gprof_kind */
	uint8_t width;
	uint16_t offset;
};

struct schema_table {
	const char *name; /* NULL: no such table */
	const char *what;
	unsigned int nr_columns;
	uint16_t row_bytes;
	const struct schema_column *columns;
};

/* The table with our number, NULL if there is none. */
const struct schema_table *schema_table(unsigned int table);

/* Our numbers by name; 0 and -1 if unknown. The text need not end with NUL. */
unsigned int schema_find_table(const char *name, uint32_t nr_bytes);
int schema_find_column(unsigned int table, const char *name, uint32_t nr_bytes);

/* The first column of that kind (enum gprof_kind); 0 if there is none. */
unsigned int schema_column_of_kind(unsigned int table, unsigned int kind);

/* A column as the stream's schema describes it. */
struct stream_column {
	const char *name; /* of the schema if we know it, else its own memory */
	uint8_t kind;
	uint8_t width;
	uint16_t offset;
	int8_t known; /* COL_..., -1 if unknown */
};

/* A table as the stream describes it, and what became of its rows. */
struct stream_table {
	uint16_t number;
	uint8_t known;	 /* GPROF_TABLE_..., 0 if unknown */
	bool is_assumed; /* the schema is missing; assumes that of version 1.0 */
	char *name;
	uint16_t row_bytes;
	unsigned int nr_columns;
	struct stream_column *columns;
	size_t column_capacity;
	int16_t column_of[SCHEMA_COLUMNS]; /* COL_... -> the stream's column, -1: none */
	uint64_t nr_blocks;
	uint64_t nr_rows;
	uint64_t nr_ring_rows;
	uint64_t bytes;		 /* of its blocks */
	uint64_t rows_missing;	 /* in lost blocks */
	uint64_t rows_unwritten; /* numbered but never written */
	uint64_t rows_damaged;	 /* in blocks with a damaged column that was wanted */
	uint64_t next_row;	 /* while indexing: rows_before expected of the next block */
	uint64_t holes_seen;
};

struct stream_block {
	uint64_t offset; /* in the file */
	uint64_t sequence;
	uint64_t time_min, time_max;
	uint32_t nr_rows;
	uint32_t payload_bytes;
	uint32_t table; /* index into tables */
	uint16_t nr_columns;
	bool is_counted_damaged;
	struct ring_batch *ring; /* the rows come from a ring instead */
};

/* Unusable bytes of the file. */
struct stream_damage {
	uint64_t offset;
	uint64_t nr_bytes;
	uint64_t block;	  /* how many blocks come before it */
	const char *what; /* static text */
};

struct batch {
	unsigned int table; /* GPROF_TABLE_... */
	uint32_t nr_rows;
	size_t block; /* index in stream.blocks */
	uint64_t time_min, time_max;
	/* By COL_...; NULL unless wanted. A column that the stream does not have is all zeros. */
	const uint64_t *col[SCHEMA_COLUMNS];
	const uint32_t *small[SCHEMA_COLUMNS]; /* instead of col if wanted and possible */
	const struct decode_text *text[SCHEMA_COLUMNS];
};

struct stream;

/*
 * Reads a file of another format: if the file of stream->fd is one, replaces fd and size by those
 * of a stream that holds the same data, and sets is_trace. If not, changes nothing. Returns 0, or
 * a negative code with err_set if the file is of that format and cannot be read.
 *
 * Where the file has several processes, it reads the one with the number stream->part, and sets
 * `parts` unless they are known.
 */
typedef int stream_importer(struct stream *stream);

struct stream {
	char *path;
	char *label;		  /* for messages: the path in quotes, and which process of it */
	int fd;			  /* -1: use `file` */
	struct stream_file *file; /* shared, see file.h; NULL while fd is open */
	uint64_t size;
	uint64_t grown; /* where the next block will be, see stream_index_grow */
	bool is_part;	/* the name ends in .part */
	bool is_trace;	/* imported; offsets of damages are in the original file */
	/* A trace without the results of calls, the static shared memory of kernels, and whether
	 * copies are asynchronous. */
	bool is_bare;
	/* A trace of several processes becomes a stream for each; the importer numbers them. */
	stream_importer *const *importers; /* ends with NULL; NULL: none */
	uint64_t *parts; /* what the importer finds them by; NULL: there is only one */
	size_t nr_parts, part;
	bool is_header_damaged;
	bool is_schema_assumed;
	struct gprof_file_header header;
	struct stream_table *tables;
	size_t nr_tables, table_capacity;
	struct stream_block *blocks; /* batches of rings come last */
	size_t nr_blocks, block_capacity;
	size_t nr_ignored; /* blocks after the last checkpoint that the rings repeat */
	struct stream_damage *damages;
	size_t nr_damages, damage_capacity;
	uint64_t blocks_missing;  /* gaps in the sequence */
	uint64_t blocks_repeated; /* their sequence number came before; left out */
	uint64_t next_sequence;
	/* of the rings */
	bool has_rings;
	char *rings_path;
	uint64_t ring_rows;
	uint64_t ring_rows_damaged;
	uint64_t ring_rows_lost;
	uint32_t end_kind, end_code; /* of the ring file's header; enum gprof_end_kind */
	bool is_user;		     /* uses the shared prefetcher */
};

/* A future stream_load; see stream_expect. */
struct stream_request {
	const struct stream *stream;
	size_t block;
	uint32_t mask, small_mask;
};

/* GPROF_TABLE_... of a block or batch; 0 if this reader does not know the table. */
static inline unsigned int stream_block_table(const struct stream *stream, size_t block)
{
	return stream->tables[stream->blocks[block].table].known;
}

/* The stream's table with our number, NULL if it has none. */
static inline struct stream_table *stream_table(const struct stream *stream, unsigned int known)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].known == known) {
			return &stream->tables[i];
		}
	}
	return NULL;
}

#endif
