/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in, the bytes of one block out (FORMAT.md). Pure: no files, no clocks, no globals, and after
 * block_encoder_init no allocation. The drain thread owns the one encoder of a process.
 */
#ifndef COLLECTOR_FORMAT_BLOCK_H
#define COLLECTOR_FORMAT_BLOCK_H

#include "collector/format/format.h"
#include "collector/format/rows_to_columns.h"

/* Bytes of text that one call takes, over all rows. */
#define BLOCK_ENCODE_TEXT_BYTES 65536u

#define BLOCK_NAME_BYTES 22u

struct block_encoder;

/* A table as the encoder and the schema see it; derived from format.h. */
struct block_column {
	char name[BLOCK_NAME_BYTES]; /* no pointer, which each start of a process would relocate */
	uint16_t offset;
	uint8_t kind;  /* enum gprof_kind */
	uint8_t width; /* of the struct's field, bytes */
	uint8_t is_signed;
};

struct block_table {
	const char *name;
	const struct block_column *columns;
	uint16_t nr_columns;
	uint16_t row_bytes;
};

/* The table of that number, NULL if there is none. */
const struct block_table *block_table(unsigned int table);

/* Converts a value of clock_raw to ticks; see struct gprof_file_header. */
struct block_ticks {
	uint64_t base;
	uint64_t mult;
};

static inline uint64_t block_tick(const struct block_ticks *ticks, uint64_t raw)
{
	return (uint64_t)(((unsigned __int128)(raw - ticks->base) * ticks->mult) >> 32);
}

/* Bytes of memory that an encoder takes. */
size_t block_encoder_bytes(void);

/*
 * Makes an encoder in `memory` (block_encoder_bytes, 64-byte aligned, the caller's for as long as
 * the encoder lives). level is zstd's. Returns NULL if zstd does not like it.
 */
struct block_encoder *block_encoder_init(void *memory, int level);

/* The events since the last call whose end was before their begin: their durations are 0. */
uint64_t block_encoder_take_reversed(struct block_encoder *encoder);

/* Bytes that a block of nr_rows rows with text_bytes of text can take at most. */
size_t block_bound(unsigned int table, uint32_t nr_rows, size_t text_bytes);

/*
 * The content of a block: rows, each a struct gprof_row_*, or, for a table without texts, columns
 * made from them before. TICK and SPAN columns of CPU time hold raw clock values.
 */
struct block_input {
	unsigned int table;
	uint32_t nr_rows;	     /* 1 to BLOCK_ENCODE_ROWS */
	const void *const *rows;     /* with at most BLOCK_ENCODE_TEXT_BYTES of text */
	union column_values *values; /* if not NULL instead of rows; overwritten */
	const struct block_ticks *ticks;
	uint64_t newest_correlation; /* all IDs are near it; 0: they have not wrapped */
	uint64_t sequence;
	uint64_t rows_before;
	void (*between)(void); /* if not NULL, called between columns */
};

/*
 * Encodes a block into out (capacity bytes, at least block_bound). Returns the bytes written (a
 * multiple of GPROF_ALIGN), or 0 if zstd failed or the input is none.
 */
size_t block_encode(
	struct block_encoder *encoder, const struct block_input *input, void *out, size_t capacity);

/* CRC-32 as gzip has it. */
uint32_t block_crc32(const void *bytes, size_t nr_bytes);

#endif
