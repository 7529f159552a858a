/* SPDX-License-Identifier: Apache-2.0 */
/* The data of an open stream: its tables, blocks, damage, and the batches that it is read in. */
#ifndef REPORT_STREAM_TYPES_H
#define REPORT_STREAM_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "report/stream/decode.h"
#include "report/stream/schema.h"

/* A column as the stream's schema describes it. */
struct stream_column {
	const char *name; /* of schema.h if we know it, else its own memory */
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

struct stream {
	char *path;
	int fd;			  /* -1: use `file` */
	struct stream_file *file; /* shared, see file.h; NULL while fd is open */
	uint64_t size;
	uint64_t grown; /* where the next block will be, see stream_index_grow */
	bool is_part;	/* the name ends in .part */
	bool is_trace;	/* imported; offsets of damages are in the original file */
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
	uint64_t text_cut;
	bool is_user; /* uses the shared prefetcher */
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
