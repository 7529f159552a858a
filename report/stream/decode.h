/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a block to arrays of values (FORMAT.md, "Codecs"). Pure: bytes in, values out, every
 * length checked, no files and no globals, so it is what the fuzzer drives. One decoder serves one
 * thread; its memory is reused from column to column.
 */
#ifndef REPORT_STREAM_DECODE_H
#define REPORT_STREAM_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"

/* More columns than this make a block unreadable; tables of version 1.0 have at most 17. */
#define DECODE_COLUMNS 64u

enum decode_status {
	DECODE_OK = 0,
	DECODE_BAD_MAGIC,  /* no block starts here */
	DECODE_BAD_CRC,	   /* header or directory damaged */
	DECODE_BAD_HEADER, /* whole, but what it says cannot be */
	DECODE_SHORT,	   /* fewer bytes than it says */
	DECODE_BAD_CODEC,  /* unknown codec or width */
	DECODE_BAD_FRAME,  /* the zstd frame is damaged (checksum) */
	DECODE_BAD_LENGTH, /* the frame is whole but not of the size it must have */
	DECODE_NO_SPAN,	   /* GAP without its duration column */
};

/* Lower case, for messages. */
const char *decode_status_text(enum decode_status status);

struct decode_text {
	const char *bytes; /* not NUL-terminated */
	uint32_t nr_bytes;
};

struct decoder;

struct decoder *decoder_create(void);
void decoder_destroy(struct decoder *decoder);

uint32_t decode_crc32(const void *bytes, size_t nr_bytes);

/* Checks the first 64 bytes of a stream. Returns OK, SHORT, BAD_MAGIC or BAD_CRC. */
enum decode_status decode_file_header(
	const void *bytes, size_t nr_bytes, struct gprof_file_header *header);

/*
 * Checks a block's header and directory at `bytes`. entries: DECODE_COLUMNS of them. SHORT:
 * nr_bytes is less than header and directory take (header is valid up to nr_columns then, but
 * unchecked).
 */
enum decode_status decode_block_header(const void *bytes, size_t nr_bytes,
	struct gprof_block_header *header, struct gprof_column_entry *entries);

/*
 * Decodes a column of numbers from its frame (entry->stored_bytes long) into values[nr_rows].
 * span: the values of the column with the next id, only needed for GAP, else NULL.
 */
enum decode_status decode_numbers(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, const uint64_t *span, uint64_t *values);

/*
 * The same for a column of numbers all below 2^32 (PLAIN or CONST, checked), into 32-bit values,
 * which is twice as fast. Returns BAD_CODEC if the column is not of that kind; use the other then.
 */
enum decode_status decode_small(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, uint32_t *values);

/* Decodes a TEXT column into texts[nr_rows], which point into *content (grown, the caller's). */
enum decode_status decode_texts(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, char **content, size_t *capacity,
	struct decode_text *texts);

#endif
