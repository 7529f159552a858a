/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stream_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/buf.h"
#include "report/err.h"
#include "report/ring_in.h"
#include "report/stream_index.h"

/*
 * What loads reuse: one for all streams, since a job may have hundreds and only one block is in
 * hand. Arrays by place in the directory of that block.
 */
struct stream_reader {
	unsigned int nr_users;
	struct decoder *decoder;
	struct gprof_block_header header;
	struct gprof_column_entry entries[DECODE_COLUMNS];
	uint64_t payload[DECODE_COLUMNS]; /* offset of each column's frame in the file */
	uint64_t *values[DECODE_COLUMNS];
	uint32_t *small[DECODE_COLUMNS];
	struct decode_text *texts[DECODE_COLUMNS];
	char *content[DECODE_COLUMNS];
	size_t content_capacity[DECODE_COLUMNS];
	int8_t status[DECODE_COLUMNS]; /* enum decode_status, -1 not decoded yet */
	bool is_small[DECODE_COLUMNS]; /* decoded into `small`, not into `values` */
	char *frame;
	size_t frame_capacity;
	uint64_t *zeros;
	struct decode_text *empty;
};

static struct stream_reader *shared;

static struct stream_reader *take_reader(void)
{
	if (!shared) {
		shared = mem_zeroed(1, sizeof(*shared));
		shared->decoder = decoder_create();
	}
	shared->nr_users++;
	return shared;
}

int stream_in_read(const struct stream_in *stream, uint64_t offset, void *bytes, size_t nr_bytes)
{
	char *to = bytes;

	while (nr_bytes) {
		ssize_t n = pread(stream->fd, to, nr_bytes, (off_t)offset);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n ? -errno : -ENODATA;
		}
		to += n;
		offset += (uint64_t)n;
		nr_bytes -= (size_t)n;
	}
	return 0;
}

int stream_in_open(struct stream_in **stream, const char *path)
{
	struct stream_in *s = mem_zeroed(1, sizeof(*s));
	size_t length = strlen(path);
	int rc;

	s->fd = -1;
	s->path = mem_text(path);
	s->is_part = length > 5 && strcmp(path + length - 5, ".part") == 0;
	rc = stream_index_open(s);
	if (rc) {
		stream_in_close(s);
		return rc;
	}
	s->reader = take_reader();
	stream_index_schema(s);
	*stream = s;
	return 0;
}

static void give_reader(struct stream_reader *reader)
{
	if (!reader || --reader->nr_users) {
		return;
	}
	shared = NULL;
	for (unsigned int i = 0; i < DECODE_COLUMNS; i++) {
		free(reader->values[i]);
		free(reader->small[i]);
		free(reader->texts[i]);
		free(reader->content[i]);
	}
	decoder_destroy(reader->decoder);
	free(reader->frame);
	free(reader->zeros);
	free(reader->empty);
	free(reader);
}

void stream_in_close(struct stream_in *stream)
{
	if (!stream) {
		return;
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		ring_batch_destroy(stream->blocks[i].ring);
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		for (unsigned int c = 0; c < stream->tables[i].nr_columns; c++) {
			free(stream->tables[i].columns[c].name);
		}
		free(stream->tables[i].name);
	}
	give_reader(stream->reader);
	if (stream->fd >= 0) {
		close(stream->fd);
	}
	free(stream->tables);
	free(stream->blocks);
	free(stream->damages);
	free(stream->rings_path);
	free(stream->path);
	free(stream);
}

unsigned int stream_in_block_table(const struct stream_in *stream, size_t block)
{
	return stream->tables[stream->blocks[block].table].known;
}

struct stream_table *stream_in_table(const struct stream_in *stream, unsigned int known)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].known == known) {
			return &stream->tables[i];
		}
	}
	return NULL;
}

unsigned int stream_in_known(const struct stream_in *stream, uint64_t number)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].number == number) {
			return stream->tables[i].known;
		}
	}
	return 0;
}

bool stream_in_is_damaged(const struct stream_in *stream)
{
	if (stream->is_header_damaged || stream->is_schema_assumed || stream->nr_damages ||
		stream->blocks_missing || stream->blocks_repeated || stream->ring_rows_damaged) {
		return true;
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].rows_missing || stream->tables[i].rows_damaged) {
			return true;
		}
	}
	return false;
}

/* ---- columns of a block ---- */

static int open_block(struct stream_in *stream, const struct stream_block *block)
{
	struct stream_reader *reader = stream->reader;
	size_t head_bytes = sizeof(reader->header) + block->nr_columns * sizeof(reader->entries[0]);
	char head[sizeof(reader->header) + sizeof(reader->entries)];
	uint64_t payload = block->offset + head_bytes;

	/* Checked when the block was found; once more, since files may change under us. */
	if (stream_in_read(stream, block->offset, head, head_bytes) ||
		decode_block_header(head, head_bytes, &reader->header, reader->entries) ||
		reader->header.nr_rows != block->nr_rows) {
		return -EIO;
	}
	for (unsigned int i = 0; i < reader->header.nr_columns; i++) {
		reader->payload[i] = payload;
		payload += reader->entries[i].stored_bytes;
	}
	memset(reader->status, -1, sizeof(reader->status));
	memset(reader->is_small, 0, sizeof(reader->is_small));
	return 0;
}

static int find_entry(const struct stream_reader *reader, int column)
{
	for (int i = 0; i < reader->header.nr_columns; i++) {
		if (reader->entries[i].column == column) {
			return i;
		}
	}
	return -1;
}

static enum decode_status fetch(struct stream_in *stream, int place)
{
	struct stream_reader *reader = stream->reader;
	size_t nr_bytes = reader->entries[place].stored_bytes;

	if (reader->payload[place] + nr_bytes > stream->size) {
		return DECODE_SHORT;
	}
	if (reader->frame_capacity < nr_bytes) {
		reader->frame = mem_resize(reader->frame, nr_bytes, 1);
		reader->frame_capacity = nr_bytes;
	}
	return stream_in_read(stream, reader->payload[place], reader->frame, nr_bytes)
		       ? DECODE_SHORT
		       : DECODE_OK;
}

static void *room(void *array, size_t bytes)
{
	return array ? array : mem_zeroed(GPROF_BLOCK_ROWS, bytes);
}

static enum decode_status decode_entry_now(struct stream_in *stream, int place, bool small);

/* Decodes the column at a place of the directory unless it is done. */
static enum decode_status decode_entry(struct stream_in *stream, int place, bool small)
{
	struct stream_reader *reader = stream->reader;

	if (reader->status[place] < 0) {
		reader->status[place] = (int8_t)decode_entry_now(stream, place, small);
	}
	return (enum decode_status)reader->status[place];
}

/* The durations that a GAP column needs: the column with the next id, which may need one itself. */
static const uint64_t *find_span(struct stream_in *stream, int place)
{
	struct stream_reader *reader = stream->reader;
	int span = find_entry(reader, reader->entries[place].column + 1);

	if (span < 0 || reader->entries[span].codec == GPROF_CODEC_TEXT ||
		decode_entry(stream, span, false) || reader->is_small[span]) {
		return NULL;
	}
	return reader->values[span];
}

static enum decode_status decode_entry_now(struct stream_in *stream, int place, bool small)
{
	struct stream_reader *reader = stream->reader;
	const struct gprof_column_entry *entry = &reader->entries[place];
	uint32_t nr_rows = reader->header.nr_rows;
	const uint64_t *span = entry->codec == GPROF_CODEC_GAP ? find_span(stream, place) : NULL;
	enum decode_status status = fetch(stream, place);

	if (status) {
		return status;
	}
	if (entry->codec == GPROF_CODEC_TEXT) {
		reader->texts[place] = room(reader->texts[place], sizeof(struct decode_text));
		return decode_texts(reader->decoder, entry, reader->frame, nr_rows,
			&reader->content[place], &reader->content_capacity[place],
			reader->texts[place]);
	}
	if (small) {
		reader->small[place] = room(reader->small[place], sizeof(uint32_t));
		status = decode_small(
			reader->decoder, entry, reader->frame, nr_rows, reader->small[place]);
		if (status != DECODE_BAD_CODEC) {
			reader->is_small[place] = true;
			return status;
		}
	}
	reader->values[place] = room(reader->values[place], sizeof(uint64_t));
	return decode_numbers(
		reader->decoder, entry, reader->frame, nr_rows, span, reader->values[place]);
}

/* What a stream does not have is zero or empty. */
static void set_unknown(
	struct stream_reader *reader, unsigned int c, bool is_text, struct batch *batch)
{
	if (is_text) {
		reader->empty = room(reader->empty, sizeof(struct decode_text));
		batch->text[c] = reader->empty;
	} else {
		reader->zeros = room(reader->zeros, sizeof(uint64_t));
		batch->col[c] = reader->zeros;
	}
}

/* Puts our column c into the batch. Returns false if it is damaged. */
static bool load_column(struct stream_in *stream, const struct stream_table *table, unsigned int c,
	bool small, struct batch *batch)
{
	struct stream_reader *reader = stream->reader;
	bool is_text = schema_table(table->known)->columns[c].kind == GPROF_KIND_TEXT;
	int place = table->column_of[c] < 0 ? -1 : find_entry(reader, table->column_of[c]);

	if (place < 0) {
		set_unknown(reader, c, is_text, batch);
		return true;
	}
	if (is_text != (reader->entries[place].codec == GPROF_CODEC_TEXT) ||
		decode_entry(stream, place, small)) {
		return false;
	}
	if (is_text) {
		batch->text[c] = reader->texts[place];
	} else if (reader->is_small[place]) {
		batch->small[c] = reader->small[place];
	} else {
		batch->col[c] = reader->values[place];
	}
	return true;
}

uint32_t stream_in_load(struct stream_in *stream, size_t block, uint32_t mask, uint32_t small_mask,
	struct batch *batch)
{
	struct stream_block *b = &stream->blocks[block];
	struct stream_table *table = &stream->tables[b->table];
	uint32_t bad = 0;

	*batch = (struct batch){.table = table->known,
		.nr_rows = b->nr_rows,
		.block = block,
		.time_min = b->time_min,
		.time_max = b->time_max};
	if (b->ring) {
		ring_batch_load(b->ring, mask, batch);
		return 0;
	}
	if (open_block(stream, b)) {
		bad = mask;
		mask = 0;
	}
	/* Wide columns first, so that one that is also somebody's duration is decoded wide. */
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
			bool small = (small_mask & COL_BIT(c)) != 0;

			if ((mask & COL_BIT(c)) && small == (pass == 1) &&
				!load_column(stream, table, c, small, batch)) {
				bad |= COL_BIT(c);
			}
		}
	}
	if (bad && !b->is_counted_damaged) {
		b->is_counted_damaged = true;
		table->rows_damaged += b->nr_rows;
	}
	return bad;
}

unsigned int stream_in_verify(struct stream_in *stream, size_t block,
	void (*bad)(void *context, const char *column, uint64_t offset, enum decode_status status),
	void *context)
{
	struct stream_block *b = &stream->blocks[block];
	struct stream_table *table = &stream->tables[b->table];
	struct stream_reader *reader = stream->reader;
	unsigned int nr_bad = 0;
	bool is_open;

	if (b->ring) {
		return 0;
	}
	is_open = !open_block(stream, b);
	if (!is_open) {
		bad(context, "", b->offset, DECODE_BAD_CRC);
		nr_bad = 1;
	}
	for (int i = 0; is_open && i < reader->header.nr_columns; i++) {
		enum decode_status status = decode_entry(stream, i, false);
		unsigned int column = reader->entries[i].column;

		if (status) {
			bad(context, column < table->nr_columns ? table->columns[column].name : "?",
				reader->payload[i], status);
			nr_bad++;
		}
	}
	if (nr_bad && !b->is_counted_damaged) {
		b->is_counted_damaged = true;
		table->rows_damaged += b->nr_rows;
	}
	return nr_bad;
}
