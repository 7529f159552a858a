/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the blocks of a file when a stream is opened: it reads headers only and jumps from block to
 * block. After damage it searches for the next header by its magic and checksum, at aligned
 * offsets. Numbers in the headers tell what is missing between two blocks: the sequence counts
 * blocks of the stream, rows_before counts rows of a table.
 *
 *   | header | block 0 | block 1 | ???????? | block 4 |     sequence 0, 1, 4: two are missing
 *                                ^ damage   ^ find_block()
 */
#include "report/stream/block_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/stream/file.h"
#include "report/stream/foreign_file.h"
#include "report/util/files.h"

#define HEAD_BYTES \
	(sizeof(struct gprof_block_header) + DECODE_COLUMNS * sizeof(struct gprof_column_entry))
#define WINDOW_BYTES (256u * 1024u)
/* Every block is smaller: unreadable bytes with this much data behind them are damage. */
#define MAX_BLOCK_BYTES (64u << 20)

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- tables ---- */

struct stream_table *stream_table_numbered(struct stream *stream, unsigned int number)
{
	struct stream_table *table;

	for (size_t i = stream->nr_tables; i-- > 0;) {
		if (stream->tables[i].number == number) {
			return &stream->tables[i];
		}
	}
	stream->tables = array_grow(stream->tables, stream->nr_tables, &stream->table_capacity,
		sizeof(*stream->tables));
	table = &stream->tables[stream->nr_tables++];
	memset(table, 0, sizeof(*table));
	table->number = (uint16_t)number;
	memset(table->column_of, -1, sizeof(table->column_of));
	return table;
}

/* ---- blocks ---- */

void stream_add_damage(struct stream *stream, uint64_t offset, uint64_t nr_bytes, const char *what)
{
	stream->damages = array_grow(stream->damages, stream->nr_damages, &stream->damage_capacity,
		sizeof(*stream->damages));
	stream->damages[stream->nr_damages++] = (struct stream_damage){
		.offset = offset, .nr_bytes = nr_bytes, .block = stream->nr_blocks, .what = what};
}

struct stream_block *stream_add_block(struct stream *stream)
{
	stream->blocks = array_grow(stream->blocks, stream->nr_blocks, &stream->block_capacity,
		sizeof(*stream->blocks));
	stream->blocks[stream->nr_blocks] = (struct stream_block){0};
	return &stream->blocks[stream->nr_blocks++];
}

/*
 * Derives what is missing before this block from the numbers of blocks and rows. Rows that are
 * missing although no block is were numbered by the recorder, but never written.
 */
static void note_missing(
	struct stream *stream, struct stream_table *table, const struct gprof_block_header *header)
{
	stream->blocks_missing =
		add_capped(stream->blocks_missing, header->sequence - stream->next_sequence);
	stream->next_sequence = header->sequence + 1;
	if (header->rows_before > table->next_row) {
		uint64_t rows = header->rows_before - table->next_row;
		uint64_t *counter = table->holes_seen != stream->blocks_missing
					    ? &table->rows_missing
					    : &table->rows_unwritten;

		*counter = add_capped(*counter, rows);
	}
	table->holes_seen = stream->blocks_missing;
	table->next_row = add_capped(header->rows_before, header->nr_rows);
}

static void add_block(
	struct stream *stream, uint64_t offset, const struct gprof_block_header *header)
{
	struct stream_table *table;
	struct stream_block *block;

	if (header->sequence < stream->next_sequence) {
		stream->blocks_repeated++;
		stream_add_damage(stream, offset, 0, "a repeated or out-of-order block");
		return;
	}
	table = stream_table_numbered(stream, header->table);
	note_missing(stream, table, header);
	block = stream_add_block(stream);
	*block = (struct stream_block){.offset = offset,
		.sequence = header->sequence,
		.time_min = header->time_min,
		.time_max = header->time_max,
		.nr_rows = header->nr_rows,
		.payload_bytes = header->payload_bytes,
		.table = (uint32_t)(table - stream->tables),
		.nr_columns = header->nr_columns};
}

/* Reads the header at an offset; near the end of the file fewer bytes may be there. */
static enum decode_status read_block_header(
	struct stream *stream, uint64_t offset, struct gprof_block_header *header)
{
	struct gprof_column_entry entries[DECODE_COLUMNS];
	char head[HEAD_BYTES];
	uint64_t left = stream->size - offset;
	size_t nr_bytes = left < sizeof(head) ? (size_t)left : sizeof(head);

	if (stream_file_read(stream, offset, head, nr_bytes)) {
		return DECODE_UNREADABLE;
	}
	return decode_block_header(head, nr_bytes, header, entries);
}

/* The first good block at or behind an offset, or the end of the file. */
static uint64_t find_block(struct stream *stream, uint64_t offset)
{
	static char window[WINDOW_BYTES];
	const uint32_t magic = GPROF_BLOCK_MAGIC;

	offset = (offset + GPROF_ALIGN - 1) / GPROF_ALIGN * GPROF_ALIGN;
	for (; offset < stream->size; offset += sizeof(window)) {
		uint64_t left = stream->size - offset;
		size_t nr_bytes = left < sizeof(window) ? (size_t)left : sizeof(window);

		if (stream_file_read(stream, offset, window, nr_bytes)) {
			break;
		}
		for (size_t i = 0; i + sizeof(magic) <= nr_bytes; i += GPROF_ALIGN) {
			struct gprof_block_header header;

			if (memcmp(window + i, &magic, sizeof(magic)) == 0 &&
				read_block_header(stream, offset + i, &header) == DECODE_OK) {
				return offset + i;
			}
		}
	}
	return stream->size;
}

static uint64_t head_end(uint64_t offset, const struct gprof_block_header *header)
{
	return offset + sizeof(*header) + header->nr_columns * sizeof(struct gprof_column_entry);
}

/*
 * A truncated block stays in the index, as its first columns may be readable; the search goes on
 * right behind its directory, not behind the end that it claims.
 */
static void index_blocks(struct stream *stream, uint64_t offset)
{
	uint64_t resume = offset; /* after damage: the block before may claim more than it has */

	while (offset < stream->size) {
		struct gprof_block_header header;
		enum decode_status status = read_block_header(stream, offset, &header);
		uint64_t end;

		if (status) {
			uint64_t next = find_block(stream, resume);
			uint64_t lost = next > offset ? next - offset : 0;

			stream_add_damage(stream, offset, lost,
				next == stream->size && status == DECODE_BAD_MAGIC
					? "no complete block here"
					: decode_status_text(status));
			offset = next;
			resume = next;
			continue;
		}
		add_block(stream, offset, &header);
		resume = head_end(offset, &header);
		end = resume + header.payload_bytes;
		if (end > stream->size) {
			stream_add_damage(stream, offset, stream->size - offset, "truncated");
			offset = find_block(stream, resume);
			continue;
		}
		offset = (end + GPROF_ALIGN - 1) / GPROF_ALIGN * GPROF_ALIGN;
	}
}

/* ---- a stream that grows ---- */

static uint64_t block_end(const struct stream_block *block)
{
	uint64_t end = block->offset + sizeof(struct gprof_block_header) + block->payload_bytes +
		       block->nr_columns * sizeof(struct gprof_column_entry);

	return (end + GPROF_ALIGN - 1) / GPROF_ALIGN * GPROF_ALIGN;
}

void stream_index_follow(struct stream *stream)
{
	const struct stream_block *last =
		stream->nr_blocks ? &stream->blocks[stream->nr_blocks - 1] : NULL;

	stream->grown = last ? block_end(last) : sizeof(struct gprof_file_header);
	if (last && stream->grown > stream->size) {
		stream->grown = last->offset;
		stream->next_sequence = last->sequence;
		stream->nr_blocks--;
	}
}

/*
 * The last block may be half written, so bytes without a whole block are damage only when more
 * follow than any block has.
 */
void stream_index_grow(struct stream *stream, uint64_t size)
{
	stream->size = size;
	stream->nr_blocks = 0;
	stream->nr_damages = 0;
	while (stream->grown < size) {
		struct gprof_block_header header;
		enum decode_status status = read_block_header(stream, stream->grown, &header);
		uint64_t end = status ? 0 : head_end(stream->grown, &header) + header.payload_bytes;

		if (!status && end <= size) {
			add_block(stream, stream->grown, &header);
			stream->grown = (end + GPROF_ALIGN - 1) / GPROF_ALIGN * GPROF_ALIGN;
		} else if (size - stream->grown < MAX_BLOCK_BYTES) {
			return; /* still being written */
		} else {
			stream->grown = find_block(stream, stream->grown + GPROF_ALIGN);
		}
	}
}

/* ---- the file ---- */

static int check_version(const struct stream *stream)
{
	if (stream->header.major > GPROF_FORMAT_MAJOR) {
		return err_set(-ENOTSUP,
			"format version %u.%u is newer than this gprof-report reads (up to %u); "
			"use a newer gprof-report",
			stream->header.major, stream->header.minor, GPROF_FORMAT_MAJOR);
	}
	if (stream->header.major < GPROF_FORMAT_OLDEST_MAJOR) {
		return err_set(-ENOTSUP,
			"format version %u.%u is older than this gprof-report reads (from %u on)",
			stream->header.major, stream->header.minor, GPROF_FORMAT_OLDEST_MAJOR);
	}
	return 0;
}

/* first: where the first block should be; a damaged header does not say. */
static int read_header(struct stream *stream, uint64_t *first)
{
	char bytes[sizeof(struct gprof_file_header)];
	size_t nr_bytes = stream->size < sizeof(bytes) ? (size_t)stream->size : sizeof(bytes);
	struct gprof_block_header block;
	enum decode_status status;

	*first = sizeof(bytes);
	if (stream_file_read(stream, 0, bytes, nr_bytes)) {
		return err_set(-EIO, "cannot read the header: %s", strerror(errno));
	}
	status = decode_file_header(bytes, nr_bytes, &stream->header);
	if (status == DECODE_OK) {
		uint32_t header_bytes = stream->header.header_bytes;

		if (header_bytes >= sizeof(bytes) && header_bytes % GPROF_ALIGN == 0) {
			*first = header_bytes;
		}
		return check_version(stream);
	}
	if (status == DECODE_SHORT) {
		return err_set(-ENODATA, "truncated within the header");
	}
	if (stream->size <= sizeof(bytes) || read_block_header(stream, sizeof(bytes), &block)) {
		return err_set(-EINVAL, "%s",
			status == DECODE_BAD_MAGIC
				? foreign_file_text(stream->path, bytes, nr_bytes)
				: "the header is damaged");
	}
	stream->is_header_damaged = true;
	memset(&stream->header, 0, sizeof(stream->header));
	stream_add_damage(stream, 0, sizeof(bytes), "file header checksum mismatch");
	return 0;
}

/*
 * Importers come first: each looks at the first bytes, and replaces the file by a stream in memory
 * if it is of its format.
 */
int stream_index_open(struct stream *stream)
{
	uint64_t first;
	int rc;

	stream->fd = plain_file_open(stream->path, &stream->size);
	if (stream->fd < 0) {
		return stream->fd;
	}
	if (!stream->size) {
		return err_set(-ENODATA, "the file is empty");
	}
	for (size_t i = 0; stream->importers && stream->importers[i] && !stream->is_trace; i++) {
		rc = stream->importers[i](stream);
		if (rc) {
			return rc;
		}
	}
	rc = read_header(stream, &first);
	if (rc) {
		return rc;
	}
	if (first < stream->size) {
		index_blocks(stream, first);
	}
	return 0;
}
