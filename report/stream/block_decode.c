/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the bytes of a column into values, for reader.c: the inverse of the recorder's encoder. A
 * column of numbers is stored as byte planes, all lowest bytes first, since equal bytes beside each
 * other compress well. The width in the directory says how many planes there are. Joining is
 * written out for each width, so that the compiler makes vector code of each loop.
 *
 *   values   0x0102 0x0103 0x0205        planes   02 03 05 | 01 01 02
 *   codecs   PLAIN base + value, DELTA sum of differences, GAP difference to the end before, CONST
 */
#include "report/stream/block_decode.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "report/util/buf.h"

struct decoder {
	ZSTD_DCtx *zstd;
	unsigned char planes[sizeof(uint64_t) * GPROF_BLOCK_ROWS];
};

const char *decode_status_text(enum decode_status status)
{
	static const char *const texts[] = {
		[DECODE_OK] = "good",
		[DECODE_BAD_MAGIC] = "no block here",
		[DECODE_BAD_CRC] = "header checksum mismatch",
		[DECODE_BAD_HEADER] = "invalid header",
		[DECODE_SHORT] = "truncated",
		[DECODE_BAD_CODEC] = "unknown codec",
		[DECODE_BAD_FRAME] = "checksum mismatch",
		[DECODE_BAD_LENGTH] = "wrong length",
		[DECODE_NO_SPAN] = "its duration column is missing",
		[DECODE_UNREADABLE] = "the file cannot be read",
	};

	return texts[status];
}

struct decoder *decoder_create(void)
{
	struct decoder *decoder = mem_zeroed(1, sizeof(*decoder));

	decoder->zstd = ZSTD_createDCtx();
	if (!decoder->zstd) {
		abort(); /* out of memory at start-up */
	}
	return decoder;
}

void decoder_destroy(struct decoder *decoder)
{
	if (decoder) {
		ZSTD_freeDCtx(decoder->zstd);
		free(decoder);
	}
}

uint32_t decode_crc32(const void *bytes, size_t nr_bytes)
{
	return (uint32_t)crc32_z(0, bytes, nr_bytes);
}

enum decode_status decode_file_header(
	const void *bytes, size_t nr_bytes, struct gprof_file_header *header)
{
	if (nr_bytes < sizeof(header->magic) ||
		memcmp(bytes, GPROF_FILE_MAGIC, sizeof(header->magic)) != 0) {
		return DECODE_BAD_MAGIC;
	}
	if (nr_bytes < sizeof(*header)) {
		return DECODE_SHORT;
	}
	memcpy(header, bytes, sizeof(*header));
	if (decode_crc32(bytes, offsetof(struct gprof_file_header, crc)) != header->crc) {
		return DECODE_BAD_CRC;
	}
	return DECODE_OK;
}

static enum decode_status check_directory(
	const struct gprof_block_header *header, const struct gprof_column_entry *entries)
{
	uint64_t stored_bytes = 0;

	for (unsigned int i = 0; i < header->nr_columns; i++) {
		stored_bytes += entries[i].stored_bytes;
	}
	return stored_bytes == header->payload_bytes ? DECODE_OK : DECODE_BAD_HEADER;
}

/*
 * The checksum covers the header with its own field set to 0, and the directory. Values are looked
 * at only once it is right.
 */
enum decode_status decode_block_header(const void *bytes, size_t nr_bytes,
	struct gprof_block_header *header, struct gprof_column_entry *entries)
{
	unsigned char head[sizeof(*header) + DECODE_COLUMNS * sizeof(*entries)];
	size_t head_bytes;

	if (nr_bytes < sizeof(*header)) {
		return DECODE_SHORT;
	}
	memcpy(header, bytes, sizeof(*header));
	if (header->magic != GPROF_BLOCK_MAGIC) {
		return DECODE_BAD_MAGIC;
	}
	if (header->nr_columns > DECODE_COLUMNS) {
		return DECODE_BAD_HEADER;
	}
	head_bytes = sizeof(*header) + header->nr_columns * sizeof(*entries);
	if (nr_bytes < head_bytes) {
		return DECODE_SHORT;
	}
	memcpy(head, bytes, head_bytes);
	memset(head + offsetof(struct gprof_block_header, crc), 0, sizeof(header->crc));
	if (decode_crc32(head, head_bytes) != header->crc) {
		return DECODE_BAD_CRC;
	}
	memcpy(entries, head + sizeof(*header), head_bytes - sizeof(*header));
	if (!header->nr_rows || header->nr_rows > GPROF_BLOCK_ROWS) {
		return DECODE_BAD_HEADER;
	}
	return check_directory(header, entries);
}

/* Decompresses a frame that must hold exactly nr_bytes. */
static enum decode_status unpack(struct decoder *decoder, const void *frame, size_t stored_bytes,
	void *content, size_t nr_bytes)
{
	size_t got = ZSTD_decompressDCtx(decoder->zstd, content, nr_bytes, frame, stored_bytes);

	if (ZSTD_isError(got)) {
		return ZSTD_getErrorCode(got) == ZSTD_error_dstSize_tooSmall ? DECODE_BAD_LENGTH
									     : DECODE_BAD_FRAME;
	}
	return got == nr_bytes ? DECODE_OK : DECODE_BAD_LENGTH;
}

/* ---- planes to numbers ---- */

#define JOIN(nr_planes, type, expression)             \
	case nr_planes:                               \
		for (uint32_t i = 0; i < n; i++) {    \
			out[i] = base + (expression); \
		}                                     \
		break

#define P(k, type) ((type)p[(size_t)(k)*n + i] << (8 * (k)))

static void join_small(const unsigned char *p, uint32_t n, unsigned int width, uint32_t base,
	uint32_t *restrict out)
{
	switch (width) {
		JOIN(1, uint32_t, P(0, uint32_t));
		JOIN(2, uint32_t, P(0, uint32_t) | P(1, uint32_t));
		JOIN(3, uint32_t, P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t));
		JOIN(4, uint32_t,
			P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t) | P(3, uint32_t));
	default:
		break;
	}
}

static void join(const unsigned char *p, uint32_t n, unsigned int width, uint64_t base,
	uint64_t *restrict out)
{
	switch (width) {
	case 0:
		for (uint32_t i = 0; i < n; i++) {
			out[i] = base;
		}
		break;
		JOIN(1, uint64_t, P(0, uint64_t));
		JOIN(2, uint64_t, P(0, uint32_t) | P(1, uint32_t));
		JOIN(3, uint64_t, P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t));
		JOIN(4, uint64_t,
			P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t) | P(3, uint32_t));
		JOIN(5, uint64_t,
			(P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t) | P(3, uint32_t)) |
				P(4, uint64_t));
		JOIN(6, uint64_t,
			(P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t) | P(3, uint32_t)) |
				P(4, uint64_t) | P(5, uint64_t));
		JOIN(7, uint64_t,
			(P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t) | P(3, uint32_t)) |
				P(4, uint64_t) | P(5, uint64_t) | P(6, uint64_t));
		JOIN(8, uint64_t,
			(P(0, uint32_t) | P(1, uint32_t) | P(2, uint32_t) | P(3, uint32_t)) |
				P(4, uint64_t) | P(5, uint64_t) | P(6, uint64_t) | P(7, uint64_t));
	default:
		break;
	}
}

static uint64_t unzigzag(uint64_t s)
{
	return (s >> 1) ^ -(s & 1);
}

static void undo_delta(uint64_t *values, uint32_t n, uint64_t base)
{
	uint64_t value = base;

	for (uint32_t i = 0; i < n; i++) {
		value += unzigzag(values[i]);
		values[i] = value;
	}
}

static void undo_gap(uint64_t *values, uint32_t n, uint64_t base, const uint64_t *span)
{
	uint64_t end = base;

	for (uint32_t i = 0; i < n; i++) {
		values[i] = end + unzigzag(values[i]);
		end = values[i] + span[i];
	}
}

static enum decode_status unpack_planes(struct decoder *decoder,
	const struct gprof_column_entry *entry, const void *frame, uint32_t nr_rows)
{
	if (entry->width > sizeof(uint64_t) || nr_rows > GPROF_BLOCK_ROWS) {
		return DECODE_BAD_CODEC;
	}
	if (!entry->width) {
		return entry->stored_bytes ? DECODE_BAD_LENGTH : DECODE_OK;
	}
	return unpack(decoder, frame, entry->stored_bytes, decoder->planes,
		(size_t)nr_rows * entry->width);
}

/* DELTA and GAP add their base while they sum up, so their planes are joined with 0. */
enum decode_status decode_numbers(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, const uint64_t *span, uint64_t *values)
{
	enum decode_status status;

	if (entry->codec == GPROF_CODEC_CONST) {
		join(NULL, nr_rows, 0, entry->base, values);
		return DECODE_OK;
	}
	if (entry->codec > GPROF_CODEC_GAP) {
		return DECODE_BAD_CODEC;
	}
	if (entry->codec == GPROF_CODEC_GAP && !span) {
		return DECODE_NO_SPAN;
	}
	status = unpack_planes(decoder, entry, frame, nr_rows);
	if (status) {
		return status;
	}
	join(decoder->planes, nr_rows, entry->width,
		entry->codec == GPROF_CODEC_PLAIN ? entry->base : 0, values);
	if (entry->codec == GPROF_CODEC_DELTA) {
		undo_delta(values, nr_rows, entry->base);
	} else if (entry->codec == GPROF_CODEC_GAP) {
		undo_gap(values, nr_rows, entry->base, span);
	}
	return DECODE_OK;
}

/*
 * Base and the largest possible value must fit in 32 bits together; else the caller decodes
 * wide.
 */
enum decode_status decode_small(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, uint32_t *values)
{
	bool is_const = entry->codec == GPROF_CODEC_CONST;
	unsigned int width = is_const ? 0 : entry->width;
	uint64_t most = width < 4 ? (1ull << (8 * width)) - 1 : UINT32_MAX;
	enum decode_status status;

	if ((!is_const && entry->codec != GPROF_CODEC_PLAIN) || width > 4 ||
		entry->base > UINT32_MAX - most) {
		return DECODE_BAD_CODEC;
	}
	if (!width) {
		for (uint32_t i = 0; i < nr_rows; i++) {
			values[i] = (uint32_t)entry->base;
		}
		return DECODE_OK;
	}
	status = unpack_planes(decoder, entry, frame, nr_rows);
	if (!status) {
		join_small(decoder->planes, nr_rows, width, (uint32_t)entry->base, values);
	}
	return status;
}

/*
 * The frame has all lengths first, then all bytes. Lengths are of a file, so each is checked
 * against what is left.
 */
enum decode_status decode_texts(struct decoder *decoder, const struct gprof_column_entry *entry,
	const void *frame, uint32_t nr_rows, struct decoded_texts *out)
{
	size_t lengths_bytes = (size_t)nr_rows * sizeof(uint32_t);
	size_t nr_bytes, at = lengths_bytes;
	enum decode_status status;

	if (entry->codec != GPROF_CODEC_TEXT) {
		return DECODE_BAD_CODEC;
	}
	if (entry->base > (uint64_t)nr_rows * GPROF_TEXT_BYTES) {
		return DECODE_BAD_LENGTH;
	}
	nr_bytes = lengths_bytes + (size_t)entry->base;
	if (out->capacity < nr_bytes) {
		out->content = mem_resize(out->content, nr_bytes, 1);
		out->capacity = nr_bytes;
	}
	status = unpack(decoder, frame, entry->stored_bytes, out->content, nr_bytes);
	for (uint32_t i = 0; !status && i < nr_rows; i++) {
		uint32_t length;

		memcpy(&length, out->content + (size_t)i * sizeof(length), sizeof(length));
		if (length > nr_bytes - at) {
			return DECODE_BAD_LENGTH;
		}
		out->texts[i] =
			(struct decode_text){.bytes = out->content + at, .nr_bytes = length};
		at += length;
	}
	return status;
}
