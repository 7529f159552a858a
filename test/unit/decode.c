/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/decode.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "collector/format/block.h"

static uint64_t unzigzag(uint64_t value)
{
	return (value >> 1) ^ -(value & 1);
}

/* CRC-32 by its definition, bit by bit. */
static uint32_t crc32(const unsigned char *bytes, size_t nr_bytes)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < nr_bytes * 8; i++) {
		uint32_t bit = (bytes[i / 8] >> (i % 8)) & 1;

		crc = ((crc ^ bit) & 1) ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
	}
	return crc ^ UINT32_MAX;
}

static unsigned char *unpack(const void *frame, size_t frame_bytes, size_t content_bytes)
{
	unsigned char *content = malloc(content_bytes + 1);

	ck_assert_ptr_nonnull(content);
	ck_assert_uint_eq(ZSTD_findFrameCompressedSize(frame, frame_bytes), frame_bytes);
	/* Bit 2 of the frame header's descriptor: a checksum follows. */
	ck_assert(((const unsigned char *)frame)[4] & 4);
	ck_assert_uint_eq(
		ZSTD_decompress(content, content_bytes, frame, frame_bytes), content_bytes);
	return content;
}

static void decode_text_column(
	struct decode_block *block, unsigned int c, const unsigned char *payload)
{
	uint32_t n = block->header.nr_rows;
	const struct gprof_column_entry *entry = &block->columns[c].entry;
	size_t content_bytes = n * sizeof(uint32_t) + entry->base;
	unsigned char *content = unpack(payload, entry->stored_bytes, content_bytes);
	size_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t length;

		memcpy(&length, content + i * sizeof(length), sizeof(length));
		block->columns[c].values[i] = length;
		sum += length;
	}
	ck_assert_uint_eq(sum, entry->base);
	block->columns[c].text = malloc(sum + 1);
	memcpy(block->columns[c].text, content + n * sizeof(uint32_t), sum);
	block->columns[c].text_bytes = sum;
	free(content);
}

static void decode_number_column(
	struct decode_block *block, unsigned int c, const unsigned char *payload)
{
	uint32_t n = block->header.nr_rows;
	const struct gprof_column_entry *entry = &block->columns[c].entry;
	unsigned char *planes = NULL;
	uint64_t before = entry->base;

	ck_assert_uint_le(entry->width, 8);
	ck_assert_int_eq(entry->width == 0, entry->stored_bytes == 0);
	if (entry->width) {
		planes = unpack(payload, entry->stored_bytes, (size_t)entry->width * n);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t stored = 0;

		for (unsigned int p = 0; planes && p < entry->width; p++) {
			stored |= (uint64_t)planes[(size_t)p * n + i] << (8 * p);
		}
		switch (entry->codec) {
		case GPROF_CODEC_CONST:
			block->columns[c].values[i] = entry->base;
			break;
		case GPROF_CODEC_PLAIN:
			block->columns[c].values[i] = entry->base + stored;
			break;
		case GPROF_CODEC_DELTA:
			before += unzigzag(stored);
			block->columns[c].values[i] = before;
			break;
		case GPROF_CODEC_GAP:
			/* The next column stands in values[] already: columns go from last to
			 * first. */
			before += unzigzag(stored);
			block->columns[c].values[i] = before;
			before += block->columns[c + 1].values[i];
			break;
		default:
			ck_abort_msg("codec %u", entry->codec);
		}
	}
	free(planes);
}

void decode_block(struct decode_block *block, const void *bytes, size_t nr_bytes)
{
	const unsigned char *start = bytes;
	size_t directory_bytes, payload = 0, offsets[DECODE_COLUMNS];
	unsigned char *head;

	memset(block, 0, sizeof(*block));
	ck_assert_uint_ge(nr_bytes, sizeof(block->header));
	memcpy(&block->header, start, sizeof(block->header));
	ck_assert_uint_eq(block->header.magic, GPROF_BLOCK_MAGIC);
	ck_assert_uint_le(block->header.nr_columns, DECODE_COLUMNS);
	directory_bytes = block->header.nr_columns * sizeof(struct gprof_column_entry);
	head = malloc(sizeof(block->header) + directory_bytes);
	memcpy(head, start, sizeof(block->header) + directory_bytes);
	memset(head + offsetof(struct gprof_block_header, crc), 0, sizeof(uint32_t));
	ck_assert_uint_eq(block->header.crc, crc32(head, sizeof(block->header) + directory_bytes));
	free(head);
	for (unsigned int c = 0; c < block->header.nr_columns; c++) {
		memcpy(&block->columns[c].entry,
			start + sizeof(block->header) + c * sizeof(struct gprof_column_entry),
			sizeof(struct gprof_column_entry));
		ck_assert_uint_eq(block->columns[c].entry.column, c);
		offsets[c] = sizeof(block->header) + directory_bytes + payload;
		payload += block->columns[c].entry.stored_bytes;
		block->columns[c].values = calloc(block->header.nr_rows + 1, sizeof(uint64_t));
	}
	ck_assert_uint_eq(payload, block->header.payload_bytes);
	block->bytes = sizeof(block->header) + directory_bytes + payload;
	block->bytes = (block->bytes + GPROF_ALIGN - 1) / GPROF_ALIGN * GPROF_ALIGN;
	ck_assert_uint_le(block->bytes, nr_bytes);
	for (unsigned int c = block->header.nr_columns; c-- > 0;) {
		if (block->columns[c].entry.codec == GPROF_CODEC_TEXT) {
			decode_text_column(block, c, start + offsets[c]);
		} else {
			decode_number_column(block, c, start + offsets[c]);
		}
	}
}

void decode_free(struct decode_block *block)
{
	for (unsigned int c = 0; c < block->header.nr_columns; c++) {
		free(block->columns[c].values);
		free(block->columns[c].text);
	}
}

struct decode_block *decode_file(
	const char *path, struct gprof_file_header *header, size_t *nr_blocks)
{
	struct decode_block *blocks = NULL;
	FILE *file = fopen(path, "rb");
	size_t nr_bytes, at;
	char *bytes;

	ck_assert_msg(file != NULL, "%s", path);
	fseek(file, 0, SEEK_END);
	nr_bytes = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(nr_bytes + 1);
	ck_assert_uint_eq(fread(bytes, 1, nr_bytes, file), nr_bytes);
	fclose(file);
	ck_assert_uint_ge(nr_bytes, sizeof(*header));
	memcpy(header, bytes, sizeof(*header));
	ck_assert_mem_eq(header->magic, GPROF_FILE_MAGIC, sizeof(header->magic));
	ck_assert_uint_eq(header->crc,
		crc32((unsigned char *)bytes, offsetof(struct gprof_file_header, crc)));
	*nr_blocks = 0;
	for (at = header->header_bytes; at < nr_bytes; (*nr_blocks)++) {
		blocks = realloc(blocks, (*nr_blocks + 1) * sizeof(*blocks));
		decode_block(&blocks[*nr_blocks], bytes + at, nr_bytes - at);
		at += blocks[*nr_blocks].bytes;
	}
	free(bytes);
	return blocks;
}

unsigned int decode_column(unsigned int table, const char *name)
{
	const struct block_table *t = block_table(table);

	for (unsigned int c = 0; c < t->nr_columns; c++) {
		if (!strcmp(t->columns[c].name, name)) {
			return c;
		}
	}
	ck_abort_msg("%s has no column %s", t->name, name);
}

size_t decode_rows(const struct decode_block *blocks, size_t nr_blocks, unsigned int table)
{
	size_t n = 0;

	for (size_t b = 0; b < nr_blocks; b++) {
		n += blocks[b].header.table == table ? blocks[b].header.nr_rows : 0;
	}
	return n;
}

/* The block with the n-th row of a table; *n becomes its row in there. */
static const struct decode_block *find_row(
	const struct decode_block *blocks, size_t nr_blocks, unsigned int table, size_t *n)
{
	for (size_t b = 0; b < nr_blocks; b++) {
		if (blocks[b].header.table != table) {
			continue;
		}
		if (*n < blocks[b].header.nr_rows) {
			return &blocks[b];
		}
		*n -= blocks[b].header.nr_rows;
	}
	ck_abort_msg("table %u has no such row", table);
}

uint64_t decode_value(const struct decode_block *blocks, size_t nr_blocks, unsigned int table,
	const char *column, size_t n)
{
	const struct decode_block *block = find_row(blocks, nr_blocks, table, &n);

	return block->columns[decode_column(table, column)].values[n];
}

const char *decode_text(const struct decode_block *blocks, size_t nr_blocks, unsigned int table,
	const char *column, size_t n)
{
	static char text[GPROF_TEXT_BYTES + 1];
	const struct decode_block *block = find_row(blocks, nr_blocks, table, &n);
	unsigned int c = decode_column(table, column);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		at += block->columns[c].values[i];
	}
	memcpy(text, block->columns[c].text + at, block->columns[c].values[n]);
	text[block->columns[c].values[n]] = 0;
	return text;
}

const char *decode_string(const struct decode_block *blocks, size_t nr_blocks, uint64_t id)
{
	size_t nr_rows = decode_rows(blocks, nr_blocks, GPROF_TABLE_string);

	for (size_t n = 0; id && n < nr_rows; n++) {
		if (decode_value(blocks, nr_blocks, GPROF_TABLE_string, "id", n) == id) {
			return decode_text(blocks, nr_blocks, GPROF_TABLE_string, "text", n);
		}
	}
	return "";
}
