/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads wanted columns of one block: reads the directory, fetches the frames of these columns, and
 * decodes each once. prefetch.c has one for each slot. Columns of a stream are found by name
 * (schema), so entries of a block and our columns have different numbers: `place` here is the index
 * of an entry in the block's directory.
 *
 *   our column c --column_of--> the stream's column --find_entry--> place in the directory
 */
#include "report/stream/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/stream/file.h"
#include "report/stream/ring_rows.h"

#define FEW_ROWS 256u

/* Arrays are by index in the directory of the open block. */
struct reader {
	struct decoder *decoder;
	const struct stream *stream; /* of that block */
	struct gprof_block_header header;
	struct gprof_column_entry entries[DECODE_COLUMNS];
	uint64_t payload[DECODE_COLUMNS]; /* offset of each column's frame in the file */
	uint64_t *values[DECODE_COLUMNS];
	const uint64_t *numbers[DECODE_COLUMNS]; /* decoded: `values` or `zeros` */
	uint32_t *small[DECODE_COLUMNS];
	struct decoded_texts texts[DECODE_COLUMNS];
	int8_t status[DECODE_COLUMNS]; /* enum decode_status, -1: not decoded yet */
	bool is_small[DECODE_COLUMNS]; /* decoded into `small` instead of `values` */
	char *bytes;		       /* of the file, from `bytes_from` to `bytes_to` */
	size_t bytes_capacity;
	uint64_t bytes_from, bytes_to;
	uint64_t *zeros;
	struct decode_text *empty;
	uint32_t nr_room; /* rows that each array of rows has room for */
};

struct reader *reader_create(void)
{
	struct reader *reader = mem_zeroed(1, sizeof(*reader));

	reader->decoder = decoder_create();
	return reader;
}

static void free_rows(struct reader *reader)
{
	for (unsigned int i = 0; i < DECODE_COLUMNS; i++) {
		free(reader->values[i]);
		free(reader->small[i]);
		free(reader->texts[i].texts);
		reader->values[i] = NULL;
		reader->small[i] = NULL;
		reader->texts[i].texts = NULL;
	}
	free(reader->zeros);
	free(reader->empty);
	reader->zeros = NULL;
	reader->empty = NULL;
}

void reader_destroy(struct reader *reader)
{
	if (!reader) {
		return;
	}
	free_rows(reader);
	for (unsigned int i = 0; i < DECODE_COLUMNS; i++) {
		free(reader->texts[i].content);
	}
	decoder_destroy(reader->decoder);
	free(reader->bytes);
	free(reader);
}

/*
 * Most streams of a job are short, and a full block has 65,536 rows: arrays are as long as blocks
 * need. Nobody uses an earlier batch any more, so what is too short is made anew.
 */
static void make_room(struct reader *reader, uint32_t nr_rows)
{
	uint32_t nr_room = reader->nr_room ? reader->nr_room : FEW_ROWS;

	while (nr_room < nr_rows) {
		nr_room *= 2;
	}
	if (nr_room != reader->nr_room) {
		free_rows(reader);
		reader->nr_room = nr_room;
	}
}

/* The status of a failed read: the file may have become shorter. */
static enum decode_status status_of(int rc)
{
	return rc == -ENODATA ? DECODE_SHORT : DECODE_UNREADABLE;
}

static enum decode_status open_block(
	struct reader *reader, const struct stream *stream, const struct stream_block *block)
{
	size_t head_bytes = sizeof(reader->header) + block->nr_columns * sizeof(reader->entries[0]);
	char head[sizeof(reader->header) + sizeof(reader->entries)];
	uint64_t payload = block->offset + head_bytes;
	enum decode_status status;
	int rc;

	reader->stream = stream;
	reader->bytes_from = reader->bytes_to = 0;
	/* The index checked this already, but the file may have changed since. */
	rc = stream_file_read(stream, block->offset, head, head_bytes);
	if (rc) {
		return status_of(rc);
	}
	status = decode_block_header(head, head_bytes, &reader->header, reader->entries);
	if (status || reader->header.nr_rows != block->nr_rows) {
		return status ? status : DECODE_BAD_HEADER;
	}
	for (unsigned int i = 0; i < reader->header.nr_columns; i++) {
		reader->payload[i] = payload;
		payload += reader->entries[i].stored_bytes;
	}
	memset(reader->status, -1, sizeof(reader->status));
	memset(reader->is_small, 0, sizeof(reader->is_small));
	make_room(reader, reader->header.nr_rows);
	return DECODE_OK;
}

static int find_entry(const struct reader *reader, int column)
{
	for (int i = 0; i < reader->header.nr_columns; i++) {
		if (reader->entries[i].column == column) {
			return i;
		}
	}
	return -1;
}

static enum decode_status read_bytes(struct reader *reader, uint64_t from, uint64_t to)
{
	size_t nr_bytes = (size_t)(to - from);
	int rc;

	reader->bytes_from = reader->bytes_to = 0;
	if (to > reader->stream->size) {
		return DECODE_SHORT;
	}
	if (reader->bytes_capacity < nr_bytes) {
		free(reader->bytes);
		reader->bytes = mem_zeroed(nr_bytes, 1);
		reader->bytes_capacity = nr_bytes;
	}
	rc = stream_file_read(reader->stream, from, reader->bytes, nr_bytes);
	if (rc) {
		return status_of(rc);
	}
	reader->bytes_from = from;
	reader->bytes_to = to;
	return DECODE_OK;
}

/* The frame of a column. A constant has none. */
static enum decode_status fetch(struct reader *reader, int place, const char **frame)
{
	uint64_t from = reader->payload[place], to = from + reader->entries[place].stored_bytes;
	enum decode_status status = DECODE_OK;

	*frame = "";
	if (from == to) {
		return DECODE_OK;
	}
	if (from < reader->bytes_from || to > reader->bytes_to) {
		status = read_bytes(reader, from, to);
	}
	if (!status) {
		*frame = reader->bytes + (from - reader->bytes_from);
	}
	return status;
}

/* Reads columns at once if at least half of the bytes between the first and the last are wanted. */
static void fetch_together(struct reader *reader, const struct stream_table *table, uint32_t mask)
{
	uint64_t from = UINT64_MAX, to = 0, nr_wanted = 0;

	for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
		int place = (mask & COL_BIT(c)) && table->column_of[c] >= 0
				    ? find_entry(reader, table->column_of[c])
				    : -1;

		if (place >= 0) {
			uint64_t begin = reader->payload[place];
			uint64_t end = begin + reader->entries[place].stored_bytes;

			from = begin < from ? begin : from;
			to = end > to ? end : to;
			nr_wanted += end - begin;
		}
	}
	if (nr_wanted && to - from <= 2 * nr_wanted) {
		(void)read_bytes(reader, from, to); /* on failure, columns are read one by one */
	}
}

static void *room(const struct reader *reader, void *array, size_t bytes)
{
	return array ? array : mem_resize(NULL, reader->nr_room, bytes);
}

static enum decode_status decode_entry_now(struct reader *reader, int place, bool small);

/* Decodes the column at an index of the directory, once. */
static enum decode_status decode_entry(struct reader *reader, int place, bool small)
{
	if (reader->status[place] < 0) {
		reader->status[place] = (int8_t)decode_entry_now(reader, place, small);
	}
	return (enum decode_status)reader->status[place];
}

/* The durations for a GAP column: the column with the next id, which may be a GAP itself. */
static const uint64_t *find_span(struct reader *reader, int place)
{
	int span = find_entry(reader, reader->entries[place].column + 1);

	if (span < 0 || reader->entries[span].codec == GPROF_CODEC_TEXT ||
		decode_entry(reader, span, false) || reader->is_small[span]) {
		return NULL;
	}
	return reader->numbers[span];
}

static const uint64_t *zeros(struct reader *reader)
{
	if (!reader->zeros) {
		reader->zeros = mem_zeroed(reader->nr_room, sizeof(uint64_t));
	}
	return reader->zeros;
}

/* A column of zeros, of which many tables have some, costs nothing: all share one array. */
static enum decode_status decode_entry_now(struct reader *reader, int place, bool small)
{
	const struct gprof_column_entry *entry = &reader->entries[place];
	uint32_t nr_rows = reader->header.nr_rows;
	const uint64_t *span = entry->codec == GPROF_CODEC_GAP ? find_span(reader, place) : NULL;
	const char *frame;
	enum decode_status status = fetch(reader, place, &frame);

	if (status) {
		return status;
	}
	if (entry->codec == GPROF_CODEC_TEXT) {
		struct decoded_texts *texts = &reader->texts[place];

		texts->texts = room(reader, texts->texts, sizeof(struct decode_text));
		return decode_texts(reader->decoder, entry, frame, nr_rows, texts);
	}
	if (small) {
		reader->small[place] = room(reader, reader->small[place], sizeof(uint32_t));
		status = decode_small(reader->decoder, entry, frame, nr_rows, reader->small[place]);
		if (status != DECODE_BAD_CODEC) {
			reader->is_small[place] = true;
			return status;
		}
	}
	if (entry->codec == GPROF_CODEC_CONST && !entry->base) {
		reader->numbers[place] = zeros(reader);
		return DECODE_OK;
	}
	reader->numbers[place] = reader->values[place] =
		room(reader, reader->values[place], sizeof(uint64_t));
	return decode_numbers(reader->decoder, entry, frame, nr_rows, span, reader->values[place]);
}

/* Empty texts point to "", because functions of the C library must not get NULL. */
static struct decode_text *empty_texts(struct reader *reader)
{
	if (!reader->empty) {
		reader->empty = mem_zeroed(reader->nr_room, sizeof(struct decode_text));
		for (uint32_t i = 0; i < reader->nr_room; i++) {
			reader->empty[i].bytes = "";
		}
	}
	return reader->empty;
}

/* A column that the stream does not have is zero or empty. */
static void set_unknown(struct reader *reader, unsigned int c, bool is_text, struct batch *batch)
{
	if (is_text) {
		batch->text[c] = empty_texts(reader);
	} else {
		batch->col[c] = zeros(reader);
	}
}

/* Puts our column c into the batch. False if it is damaged. */
static bool load_column(struct reader *reader, const struct stream_table *table, unsigned int c,
	bool small, struct batch *batch)
{
	bool is_text = schema_table(table->known)->columns[c].kind == GPROF_KIND_TEXT;
	int place = table->column_of[c] < 0 ? -1 : find_entry(reader, table->column_of[c]);

	if (place < 0) {
		set_unknown(reader, c, is_text, batch);
		return true;
	}
	if (is_text != (reader->entries[place].codec == GPROF_CODEC_TEXT) ||
		decode_entry(reader, place, small)) {
		return false;
	}
	if (is_text) {
		batch->text[c] = reader->texts[place].texts;
	} else if (reader->is_small[place]) {
		batch->small[c] = reader->small[place];
	} else {
		batch->col[c] = reader->numbers[place];
	}
	return true;
}

/*
 * Rows of rings are in memory already. A block whose header cannot be read is bad in all
 * columns.
 */
uint32_t reader_load(struct reader *reader, const struct stream *stream, size_t block,
	uint32_t mask, uint32_t small_mask, struct batch *batch)
{
	const struct stream_block *b = &stream->blocks[block];
	const struct stream_table *table = &stream->tables[b->table];
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
	if (open_block(reader, stream, b)) {
		bad = mask;
		mask = 0;
	}
	fetch_together(reader, table, mask);
	/* Wide columns come first, so that a column which is also a duration is decoded wide. */
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
			bool small = (small_mask & COL_BIT(c)) != 0;

			if ((mask & COL_BIT(c)) && small == (pass == 1) &&
				!load_column(reader, table, c, small, batch)) {
				bad |= COL_BIT(c);
			}
		}
	}
	return bad;
}

/* A plain column is its base and numbers of so many bytes; of others the directory says nothing. */
static uint64_t most_of(const struct gprof_column_entry *entry)
{
	uint64_t most = entry->width < sizeof(most) ? (1ull << 8 * entry->width) - 1 : UINT64_MAX;

	switch (entry->codec) {
	case GPROF_CODEC_CONST:
		return entry->base;
	case GPROF_CODEC_PLAIN:
		return entry->base > UINT64_MAX - most ? UINT64_MAX : entry->base + most;
	default:
		return UINT64_MAX;
	}
}

uint64_t reader_most(
	struct reader *reader, const struct stream *stream, size_t block, unsigned int column)
{
	const struct stream_block *b = &stream->blocks[block];
	int place = stream->tables[b->table].column_of[column];

	if (b->ring || open_block(reader, stream, b)) {
		return UINT64_MAX;
	}
	place = place < 0 ? -1 : find_entry(reader, place);
	return place < 0 ? 0 : most_of(&reader->entries[place]);
}

/* Goes on behind a damaged column, so that `bad` gets all of them. */
unsigned int reader_verify(struct reader *reader, const struct stream *stream, size_t block,
	void (*bad)(void *context, const char *column, uint64_t offset, enum decode_status status),
	void *context)
{
	const struct stream_block *b = &stream->blocks[block];
	const struct stream_table *table = &stream->tables[b->table];
	unsigned int nr_bad = 0;
	enum decode_status opened;

	if (b->ring) {
		return 0;
	}
	opened = open_block(reader, stream, b);
	if (opened) {
		bad(context, "", b->offset, opened);
		nr_bad = 1;
	}
	for (int i = 0; !opened && i < reader->header.nr_columns; i++) {
		enum decode_status status = decode_entry(reader, i, false);
		unsigned int column = reader->entries[i].column;

		if (status) {
			bad(context, column < table->nr_columns ? table->columns[column].name : "?",
				reader->payload[i], status);
			nr_bad++;
		}
	}
	return nr_bad;
}
