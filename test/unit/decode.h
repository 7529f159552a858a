/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second reading of FORMAT.md, for tests only: small and slow, and independent of both the
 * recorder's encoder and the reporter's decoder.
 */
#ifndef TEST_UNIT_DECODE_H
#define TEST_UNIT_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"

#define DECODE_COLUMNS 32

struct decode_block {
	struct gprof_block_header header;
	size_t bytes; /* of the whole block with its padding */
	struct {
		struct gprof_column_entry entry;
		uint64_t *values; /* header.nr_rows of them; for TEXT the lengths */
		char *text;	  /* all texts, one behind the other */
		size_t text_bytes;
	} columns[DECODE_COLUMNS];
};

/* Reads the block at `bytes`; fails the running test where it breaks the format. */
void decode_block(struct decode_block *block, const void *bytes, size_t nr_bytes);

void decode_free(struct decode_block *block);

/* All blocks of a stream file, after its header; *nr_blocks of them, to be freed by the caller. */
struct decode_block *decode_file(
	const char *path, struct gprof_file_header *header, size_t *nr_blocks);

/* The position of a column of `table` by its name. */
unsigned int decode_column(unsigned int table, const char *name);

/* Rows of `table` in all blocks, and the value of a column in the n-th of them. */
size_t decode_rows(const struct decode_block *blocks, size_t nr_blocks, unsigned int table);
uint64_t decode_value(const struct decode_block *blocks, size_t nr_blocks, unsigned int table,
	const char *column, size_t n);

/* The text in the n-th row of a TEXT column; as a string in a buffer that the next call reuses. */
const char *decode_text(const struct decode_block *blocks, size_t nr_blocks, unsigned int table,
	const char *column, size_t n);

/* The text of table string with that id. */
const char *decode_string(const struct decode_block *blocks, size_t nr_blocks, uint64_t id);

#endif
