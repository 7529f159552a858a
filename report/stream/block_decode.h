/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the bytes of a block into arrays of values (FORMAT.md, "Codecs").
 *
 * It is pure: bytes in, values out, every length checked, no files and no globals. The fuzzer
 * drives it. A decoder serves one thread and reuses its memory for each column.
 */
#ifndef REPORT_STREAM_BLOCK_DECODE_H
#define REPORT_STREAM_BLOCK_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"

/* A block with more columns is unreadable; tables of version 1.0 have at most 17. */
#define DECODE_COLUMNS 64u

enum decode_status {
	DECODE_OK = 0,
	DECODE_BAD_MAGIC,  /* no block starts here */
	DECODE_BAD_CRC,	   /* header or directory damaged */
	DECODE_BAD_HEADER, /* intact, but its values are impossible */
	DECODE_SHORT,	   /* fewer bytes than it announces */
	DECODE_BAD_CODEC,  /* unknown codec or width */
	DECODE_BAD_FRAME,  /* the zstd frame is damaged (checksum) */
	DECODE_BAD_LENGTH, /* the frame is intact but has the wrong size */
	DECODE_NO_SPAN,	   /* GAP without its column of durations */
	DECODE_UNREADABLE, /* the file cannot be read: what it holds is not known */
};

/* In lower case, for messages. */
const char *decode_status_text(enum decode_status status);

struct decode_text {
	const char *bytes; /* not NUL-terminated */
	uint32_t nr_bytes;
};

/* The texts of a column. The content grows as needed. */
struct decoded_texts {
	char *content;
	size_t capacity;
	struct decode_text *texts; /* the caller's, as many as a block has rows */
};

struct decoder;

struct decoder *decoder_create(void);
void decoder_destroy(struct decoder *decoder);

uint32_t decode_crc32(const void *bytes, size_t nr_bytes);

/* Checks the first 64 bytes of a stream. Returns OK, SHORT, BAD_MAGIC or BAD_CRC. */
enum decode_status decode_file_header(
	const void *bytes, size_t nr_bytes, struct gprof_file_header *header);

/*
 * Checks the header and directory of a block at `bytes`. entries has room for DECODE_COLUMNS.
 * SHORT: header and directory take more than nr_bytes; the header is then filled in but not
 * checked.
 */
enum decode_status decode_block_header(const void *bytes, size_t nr_bytes,
	struct gprof_block_header *header, struct gprof_column_entry *entries);

/*
 * Decodes a column of numbers from its frame of entry->stored_bytes into values[nr_rows].
 *
 * span: the values of the column with the next id, needed for GAP only, else NULL.
 */
enum decode_status decode_numbers(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, const uint64_t *span, uint64_t *values);

/*
 * Decodes numbers below 2^32 (PLAIN or CONST, checked) into 32-bit values, twice as fast. Returns
 * BAD_CODEC for any other column; use decode_numbers then.
 */
enum decode_status decode_small(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, uint32_t *values);

/*
 * Decodes a TEXT column into texts[nr_rows], which point into *content. The caller owns *content;
 * the function enlarges it.
 */
enum decode_status decode_texts(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, struct decoded_texts *out);

#endif
