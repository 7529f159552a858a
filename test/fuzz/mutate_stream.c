/* SPDX-License-Identifier: Apache-2.0 */
/* A stream is taken apart into blocks and columns, changed, and put together again. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "report/util/buf.h"
#include "report/stream/block_decode.h"
#include "test/fuzz/mutate.h"

#define MOST_BLOCKS	   128u
#define MOST_ROWS	   2048u
#define MOST_CONTENT_BYTES (1u << 18)

struct column {
	struct gprof_column_entry entry;
	struct buf content; /* unpacked: byte planes, or lengths and texts */
	bool is_stored;	    /* what could not be unpacked, as it is */
};

struct allocation {
	struct gprof_block_header header;
	struct column columns[DECODE_COLUMNS];
};

struct parts {
	struct gprof_file_header header;
	bool has_header;
	struct allocation *blocks;
	size_t nr_blocks;
};

uint64_t mutate_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1du;
}

uint64_t mutate_below(uint64_t *state, uint64_t end)
{
	return (mutate_random(state) >> 16) % end;
}

uint64_t mutate_number(uint64_t *state)
{
	static const uint64_t numbers[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,
		UINT32_MAX, UINT32_MAX + 1ull, INT32_MAX, (uint64_t)INT32_MIN, UINT16_MAX,
		1ull << 48, 1ull << 62, 1000000000};
	uint64_t number =
		mutate_below(state, 2)
			? mutate_below(state, 300)
			: numbers[mutate_below(state, sizeof(numbers) / sizeof(*numbers))];

	return mutate_below(state, 4) ? number : number + mutate_below(state, 5) - 2;
}

/* ---- apart ---- */

static void unpack(struct column *column, const uint8_t *frame)
{
	unsigned long long nr_bytes = ZSTD_getFrameContentSize(frame, column->entry.stored_bytes);
	struct buf *content = &column->content;

	if (column->entry.stored_bytes && nr_bytes <= MOST_CONTENT_BYTES) {
		buf_reserve(content, (size_t)nr_bytes + 1);
		column->is_stored = ZSTD_decompress(content->bytes, (size_t)nr_bytes, frame,
					    column->entry.stored_bytes) != nr_bytes;
		content->nr_bytes = column->is_stored ? 0 : (size_t)nr_bytes;
	} else {
		column->is_stored = column->entry.stored_bytes != 0;
	}
	if (column->is_stored) {
		buf_add(content, (const char *)frame, column->entry.stored_bytes);
	}
}

/* Takes a block from there; its bytes with the padding, 0 if there is none. */
static size_t take_block(struct parts *parts, const uint8_t *bytes, size_t nr_bytes)
{
	struct gprof_column_entry entries[DECODE_COLUMNS];
	struct gprof_block_header header;
	struct allocation *block = &parts->blocks[parts->nr_blocks];
	size_t at;

	if (decode_block_header(bytes, nr_bytes, &header, entries) != DECODE_OK) {
		return 0;
	}
	at = sizeof(header) + header.nr_columns * sizeof(entries[0]);
	if (header.payload_bytes > nr_bytes - at) {
		return 0;
	}
	*block = (struct allocation){.header = header};
	for (unsigned int i = 0; i < header.nr_columns; i++) {
		block->columns[i].entry = entries[i];
		unpack(&block->columns[i], bytes + at);
		at += entries[i].stored_bytes;
	}
	parts->nr_blocks++;
	return (at + GPROF_ALIGN - 1) / GPROF_ALIGN * GPROF_ALIGN;
}

static void take_apart(struct parts *parts, const uint8_t *bytes, size_t nr_bytes)
{
	size_t at = 0, used;

	*parts = (struct parts){.blocks = mem_zeroed(MOST_BLOCKS, sizeof(struct allocation))};
	if (nr_bytes >= sizeof(parts->header) &&
		!memcmp(bytes, GPROF_FILE_MAGIC, sizeof(parts->header.magic))) {
		memcpy(&parts->header, bytes, sizeof(parts->header));
		parts->has_header = true;
		at = sizeof(parts->header);
	}
	while (at < nr_bytes && parts->nr_blocks < MOST_BLOCKS) {
		used = take_block(parts, bytes + at, nr_bytes - at);
		at += used ? used : GPROF_ALIGN;
	}
}

static void drop_content(struct allocation *block)
{
	for (unsigned int i = 0; i < DECODE_COLUMNS; i++) {
		buf_fini(&block->columns[i].content);
	}
}

static void drop(struct parts *parts)
{
	for (size_t i = 0; i < parts->nr_blocks; i++) {
		drop_content(&parts->blocks[i]);
	}
	free(parts->blocks);
}

/* ---- together ---- */

static void add_column(struct column *column, struct buf *payload)
{
	static ZSTD_CCtx *zstd;
	size_t before = payload->nr_bytes, bound = ZSTD_compressBound(column->content.nr_bytes);

	if (!zstd) {
		zstd = ZSTD_createCCtx();
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	}
	if (column->is_stored) {
		buf_add(payload, column->content.bytes, column->content.nr_bytes);
	} else if (column->content.nr_bytes && column->entry.codec != GPROF_CODEC_CONST) {
		buf_reserve(payload, bound);
		payload->nr_bytes += ZSTD_compress2(zstd, payload->bytes + payload->nr_bytes, bound,
			column->content.bytes, column->content.nr_bytes);
	}
	column->entry.stored_bytes = (uint32_t)(payload->nr_bytes - before);
}

static void add_block(struct allocation *block, struct buf *out)
{
	struct buf payload = {0};
	size_t at = out->nr_bytes;
	uint32_t crc;

	for (unsigned int i = 0; i < block->header.nr_columns; i++) {
		add_column(&block->columns[i], &payload);
	}
	block->header.payload_bytes = (uint32_t)payload.nr_bytes;
	block->header.crc = 0;
	buf_add(out, (const char *)&block->header, sizeof(block->header));
	for (unsigned int i = 0; i < block->header.nr_columns; i++) {
		buf_add(out, (const char *)&block->columns[i].entry,
			sizeof(block->columns[i].entry));
	}
	crc = decode_crc32(out->bytes + at, out->nr_bytes - at);
	memcpy(out->bytes + at + offsetof(struct gprof_block_header, crc), &crc, sizeof(crc));
	buf_add(out, payload.bytes, payload.nr_bytes);
	buf_pad(out, 0, -out->nr_bytes % GPROF_ALIGN);
	buf_fini(&payload);
}

/* As whoever wrote these blocks would have counted them. */
static void number(struct parts *parts)
{
	uint64_t nr_rows[64] = {0};

	for (size_t i = 0; i < parts->nr_blocks; i++) {
		struct gprof_block_header *header = &parts->blocks[i].header;

		header->sequence = i;
		header->rows_before = nr_rows[header->table % 64];
		nr_rows[header->table % 64] += header->nr_rows;
	}
}

static void put_together(struct parts *parts, struct buf *out)
{
	if (parts->has_header) {
		parts->header.crc =
			decode_crc32(&parts->header, offsetof(struct gprof_file_header, crc));
		buf_add(out, (const char *)&parts->header, sizeof(parts->header));
	}
	for (size_t i = 0; i < parts->nr_blocks; i++) {
		add_block(&parts->blocks[i], out);
	}
}

/* ---- rows of a column ---- */

/* Copies rows of byte planes, or texts, to as many as are wanted, from the first one on again. */
static void set_rows(struct column *column, uint32_t before, uint32_t nr_rows)
{
	const uint8_t *old = (const uint8_t *)column->content.bytes;
	size_t width = column->entry.width, at = (size_t)before * sizeof(uint32_t);
	struct buf content = {0};

	if (column->is_stored || column->entry.codec == GPROF_CODEC_CONST) {
		return;
	}
	if (column->entry.codec != GPROF_CODEC_TEXT) {
		if (column->content.nr_bytes < width * before) {
			return;
		}
		for (size_t i = 0; i < width * nr_rows; i++) {
			buf_char(&content, (char)old[i / nr_rows * before + i % nr_rows % before]);
		}
	} else if (column->content.nr_bytes >= at) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < nr_rows; i++) {
			uint32_t length = 0;

			memcpy(&length, old + i % before * sizeof(length), sizeof(length));
			length = i < before ? length : 0;
			sum += length;
			buf_add(&content, (const char *)&length, sizeof(length));
		}
		sum = sum < column->content.nr_bytes - at ? sum : column->content.nr_bytes - at;
		buf_add(&content, (const char *)old + at, (size_t)sum);
		column->entry.base = sum;
	}
	buf_fini(&column->content);
	column->content = content;
}

static void change_number_of_rows(struct allocation *block, uint64_t *state)
{
	uint32_t before = block->header.nr_rows;
	uint32_t nr_rows =
		1 + (uint32_t)mutate_below(state, mutate_below(state, 4) ? 8 : 2 * before);

	nr_rows = nr_rows < MOST_ROWS ? nr_rows : MOST_ROWS;
	for (unsigned int i = 0; i < block->header.nr_columns; i++) {
		set_rows(&block->columns[i], before, nr_rows);
	}
	block->header.nr_rows = nr_rows;
}

/* ---- values ---- */

static uint64_t get_value(const struct column *column, uint32_t nr_rows, uint32_t row)
{
	uint64_t value = 0;

	for (unsigned int k = 0; k < column->entry.width; k++) {
		value |= (uint64_t)(uint8_t)column->content.bytes[(size_t)k * nr_rows + row]
			 << 8 * k;
	}
	return value;
}

static void set_value(struct column *column, uint32_t nr_rows, uint32_t row, uint64_t value)
{
	for (unsigned int k = 0; k < column->entry.width; k++) {
		column->content.bytes[(size_t)k * nr_rows + row] = (char)(value >> 8 * k);
	}
}

/* All values from 0 on, of that width. */
static void set_width(struct column *column, uint32_t nr_rows, unsigned int width)
{
	struct buf content = {0};

	for (size_t i = 0; i < (size_t)width * nr_rows; i++) {
		buf_char(&content, i < column->content.nr_bytes ? column->content.bytes[i] : 0);
	}
	buf_fini(&column->content);
	column->content = content;
	column->entry.width = (uint8_t)width;
}

static void change_values(struct column *column, uint32_t nr_rows, uint64_t *state)
{
	uint32_t row = (uint32_t)mutate_below(state, nr_rows);
	bool is_whole = column->content.nr_bytes == (size_t)column->entry.width * nr_rows;
	size_t left;

	if (column->entry.codec == GPROF_CODEC_CONST || !column->entry.width || !is_whole) {
		column->entry.base = mutate_number(state);
		if (!mutate_below(state, 4)) {
			column->entry.codec = (uint8_t)(1 + mutate_below(state, 3));
			set_width(column, nr_rows, (unsigned int)mutate_below(state, 9));
		}
		return;
	}
	switch (mutate_below(state, 8)) {
	case 0:
		column->entry.base = mutate_number(state);
		break;
	case 1:
		column->entry.codec = (uint8_t)mutate_below(state, 5);
		break;
	case 2:
		set_width(column, nr_rows, (unsigned int)mutate_below(state, 9));
		break;
	case 3:
		left = LLVMFuzzerMutate((uint8_t *)column->content.bytes, column->content.nr_bytes,
			column->content.nr_bytes);
		memset(column->content.bytes + left, 0, column->content.nr_bytes - left);
		break;
	case 4: /* the same twice, as ids that join */
		set_value(column, nr_rows, row,
			get_value(column, nr_rows, (uint32_t)mutate_below(state, nr_rows)));
		break;
	default:
		set_value(column, nr_rows, row, mutate_number(state));
		break;
	}
}

static void change_text(struct column *column, uint32_t nr_rows, uint64_t *state)
{
	uint32_t row = (uint32_t)mutate_below(state, nr_rows), length;
	size_t at = (size_t)nr_rows * sizeof(length), room = 256;
	struct buf content = {0};
	uint8_t text[4096];

	if (column->content.nr_bytes < at) {
		return;
	}
	for (uint32_t i = 0; i < row; i++) {
		memcpy(&length, column->content.bytes + i * sizeof(length), sizeof(length));
		at += length;
	}
	memcpy(&length, column->content.bytes + row * sizeof(length), sizeof(length));
	if (at > column->content.nr_bytes || length > column->content.nr_bytes - at ||
		length > sizeof(text)) {
		return;
	}
	memcpy(text, column->content.bytes + at, length);
	room = length + 64 < sizeof(text) ? length + 64 : sizeof(text);
	buf_add(&content, column->content.bytes, at);
	at += length;
	length = (uint32_t)LLVMFuzzerMutate(text, length, room);
	buf_add(&content, (const char *)text, length);
	buf_add(&content, column->content.bytes + at, column->content.nr_bytes - at);
	memcpy(content.bytes + row * sizeof(length), &length, sizeof(length));
	column->entry.base = content.nr_bytes - (size_t)nr_rows * sizeof(length);
	buf_fini(&column->content);
	column->content = content;
}

static void change_column(struct allocation *block, uint64_t *state)
{
	struct column *column;

	if (!block->header.nr_columns) {
		return;
	}
	column = &block->columns[mutate_below(state, block->header.nr_columns)];
	if (!mutate_below(state, 32)) {
		column->entry.column = (uint16_t)mutate_below(state, 20);
	} else if (column->is_stored) {
		column->content.nr_bytes = LLVMFuzzerMutate((uint8_t *)column->content.bytes,
			column->content.nr_bytes, column->content.nr_bytes);
	} else if (column->entry.codec == GPROF_CODEC_TEXT) {
		change_text(column, block->header.nr_rows, state);
	} else {
		change_values(column, block->header.nr_rows, state);
	}
}

/* ---- blocks ---- */

static void copy_block(struct allocation *to, const struct allocation *from)
{
	*to = *from;
	for (unsigned int i = 0; i < DECODE_COLUMNS; i++) {
		to->columns[i].content = (struct buf){0};
		buf_add(&to->columns[i].content, from->columns[i].content.bytes,
			from->columns[i].content.nr_bytes);
	}
}

static void change_order(struct parts *parts, struct allocation *block, uint64_t *state)
{
	struct allocation *other = &parts->blocks[mutate_below(state, parts->nr_blocks)],
			  copy = *block;

	switch (mutate_below(state, 3)) {
	case 0:
		*block = *other;
		*other = copy;
		break;
	case 1:
		if (parts->nr_blocks > 1) {
			drop_content(block);
			*block = parts->blocks[--parts->nr_blocks];
		}
		break;
	default:
		if (parts->nr_blocks < MOST_BLOCKS) {
			copy_block(&parts->blocks[parts->nr_blocks++], block);
		}
		break;
	}
}

static void change_header(struct parts *parts, struct allocation *block, uint64_t *state)
{
	uint64_t value = mutate_number(state);

	switch (mutate_below(state, 6)) {
	case 0:
		block->header.table = (uint16_t)mutate_below(state, 50);
		break;
	case 1:
		block->header.time_min = value;
		break;
	case 2:
		block->header.time_max = value;
		break;
	case 3:
		parts->header.tick_base = value;
		break;
	case 4:
		parts->header.tick_mult = value;
		break;
	default:
		parts->header.start_realtime_ns = value;
		break;
	}
}

static void change(struct parts *parts, uint64_t *state)
{
	struct allocation *block = &parts->blocks[mutate_below(state, parts->nr_blocks)];

	switch (mutate_below(state, 16)) {
	case 0:
		change_order(parts, block, state);
		break;
	case 1:
		change_header(parts, block, state);
		break;
	case 2:
	case 3:
		change_number_of_rows(block, state);
		break;
	default:
		change_column(block, state);
		break;
	}
}

size_t mutate_stream(uint8_t *bytes, size_t nr_bytes, size_t max_bytes, uint64_t *state)
{
	struct parts parts;
	struct buf out = {0};

	take_apart(&parts, bytes, nr_bytes);
	if (!parts.nr_blocks || !mutate_below(state, 64)) {
		drop(&parts);
		return LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
	}
	for (uint64_t times = 1 + mutate_below(state, 4); times; times--) {
		change(&parts, state);
	}
	/* Now and then blocks are missing, or came in another order. */
	if (mutate_below(state, 8)) {
		number(&parts);
	}
	put_together(&parts, &out);
	if (out.nr_bytes <= max_bytes) {
		nr_bytes = out.nr_bytes;
		memcpy(bytes, out.bytes, nr_bytes);
	}
	buf_fini(&out);
	drop(&parts);
	return nr_bytes;
}

__attribute__((weak)) size_t LLVMFuzzerCustomMutator(
	uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull;

	return mutate_stream(bytes, nr_bytes, max_bytes, &state);
}
