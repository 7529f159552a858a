/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens streams: the index of blocks, the shared file, the schema. read_schema() maps the tables
 * and columns that the stream describes to those that this reader knows; whatever it does not know
 * keeps its name and is skipped. A stream without a schema, as after damage, gets the one of
 * version 1.0. All streams share one prefetcher.
 */
#include "report/stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/stream/prefetch.h"
#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/stream/ring_rows.h"
#include "report/stream/file.h"
#include "report/stream/block_index.h"

/* One for all streams: a job may have hundreds, and few blocks are in use at a time. */
static struct prefetch *shared;
static size_t nr_users;

static void use_shared(struct stream *stream)
{
	if (!nr_users++) {
		shared = prefetch_create();
	}
	stream->is_user = true;
}

static void release_shared(struct stream *stream)
{
	if (!stream->is_user) {
		return;
	}
	prefetch_expect(shared, NULL, 0);
	if (!--nr_users) {
		prefetch_destroy(shared);
		shared = NULL;
	}
}

/* ---- columns of a block ---- */

static void count_damage(struct stream *stream, size_t block)
{
	struct stream_block *b = &stream->blocks[block];

	if (!b->is_counted_damaged) {
		b->is_counted_damaged = true;
		stream->tables[b->table].rows_damaged += b->nr_rows;
	}
}

void stream_expect(const struct stream_request *requests, size_t nr_requests)
{
	prefetch_expect(shared, requests, nr_requests);
}

void stream_end_threads(void)
{
	if (shared) {
		prefetch_destroy(shared);
		shared = prefetch_create();
	}
}

uint32_t stream_load(struct stream *stream, size_t block, uint32_t mask, uint32_t small_mask,
	struct batch *batch)
{
	const struct stream_request request = {
		.stream = stream, .block = block, .mask = mask, .small_mask = small_mask};
	uint32_t bad = prefetch_load(shared, &request, batch);

	if (bad) {
		count_damage(stream, block);
	}
	return bad;
}

uint64_t stream_most(struct stream *stream, size_t block, unsigned int column)
{
	return reader_most(prefetch_reader(shared), stream, block, column);
}

unsigned int stream_verify(struct stream *stream, size_t block,
	void (*bad)(void *context, const char *column, uint64_t offset, enum decode_status status),
	void *context)
{
	unsigned int nr_bad = reader_verify(prefetch_reader(shared), stream, block, bad, context);

	if (nr_bad) {
		count_damage(stream, block);
	}
	return nr_bad;
}

/* ---- tables ---- */

static void set_known(struct stream_table *table, unsigned int known)
{
	const struct schema_table *ours = schema_table(known);

	table->known = (uint8_t)known;
	table->is_assumed = true;
	table->row_bytes = ours->row_bytes;
	free(table->name);
	table->name = mem_text(ours->name);
	table->nr_columns = ours->nr_columns;
	table->column_capacity = ours->nr_columns;
	table->columns =
		mem_resize(table->columns, table->column_capacity, sizeof(*table->columns));
	for (unsigned int c = 0; c < ours->nr_columns; c++) {
		table->columns[c] = (struct stream_column){.name = ours->columns[c].name,
			.kind = ours->columns[c].kind,
			.width = ours->columns[c].width,
			.offset = ours->columns[c].offset,
			.known = (int8_t)c};
		table->column_of[c] = (int16_t)c;
	}
}

/*
 * Columns of a table come in their order, so one that is not the next is a repetition. Names that
 * we know are not copied: stream_close() frees only those with known < 0.
 */
static void add_column(struct stream *stream, const struct batch *batch, uint32_t i)
{
	const struct decode_text *table_name = &batch->text[COL_schema_table_name][i];
	const struct decode_text *name = &batch->text[COL_schema_name][i];
	struct stream_table *table =
		stream_table_numbered(stream, (uint16_t)batch->col[COL_schema_table][i]);
	uint64_t column = batch->col[COL_schema_column][i];
	int known;

	if (table->number == GPROF_TABLE_schema || column != table->nr_columns ||
		column >= DECODE_COLUMNS) {
		return; /* fixed, repeated, or too many */
	}
	if (!table->name) {
		table->name = strndup(table_name->bytes, table_name->nr_bytes);
		table->known = (uint8_t)schema_find_table(table_name->bytes, table_name->nr_bytes);
		table->row_bytes = (uint16_t)batch->col[COL_schema_row_bytes][i];
	}
	known = schema_find_column(table->known, name->bytes, name->nr_bytes);
	if (!table->nr_columns && table->known) { /* mostly as many as we know */
		table->column_capacity = schema_table(table->known)->nr_columns;
		table->columns =
			mem_resize(table->columns, table->column_capacity, sizeof(*table->columns));
	}
	table->columns = array_grow(table->columns, table->nr_columns, &table->column_capacity,
		sizeof(*table->columns));
	table->columns[table->nr_columns++] = (struct stream_column){
		.name = known < 0 ? strndup(name->bytes, name->nr_bytes)
				  : schema_table(table->known)->columns[known].name,
		.kind = (uint8_t)batch->col[COL_schema_kind][i],
		.width = (uint8_t)batch->col[COL_schema_width][i],
		.offset = (uint16_t)batch->col[COL_schema_offset][i],
		.known = (int8_t)known};
	if (known >= 0) {
		table->column_of[known] = (int16_t)column;
	}
}

/* Tables without a schema get the one that version 1.0 had for their number. */
static void assume_tables(struct stream *stream)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		struct stream_table *table = &stream->tables[i];

		if (table->name) {
			continue;
		}
		if (schema_table(table->number) && !stream_table(stream, table->number)) {
			set_known(table, table->number);
		} else {
			char name[32];

			snprintf(name, sizeof(name), "table %u", table->number);
			table->name = mem_text(name);
		}
		stream->is_schema_assumed = true;
	}
}

void stream_count_tables(struct stream *stream)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		stream->tables[i].nr_blocks = 0;
		stream->tables[i].nr_rows = 0;
		stream->tables[i].nr_ring_rows = 0;
		stream->tables[i].bytes = 0;
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		const struct stream_block *block = &stream->blocks[i];
		struct stream_table *table = &stream->tables[block->table];

		table->nr_rows += block->nr_rows;
		if (block->ring) {
			table->nr_ring_rows += block->nr_rows;
			continue;
		}
		table->nr_blocks++;
		table->bytes += sizeof(struct gprof_block_header) + block->payload_bytes +
				block->nr_columns * sizeof(struct gprof_column_entry);
	}
}

static void read_schema(struct stream *stream)
{
	struct stream_table *schema = stream_table_numbered(stream, GPROF_TABLE_schema);
	uint32_t mask = COL_ALL(NR_COL_schema);

	set_known(schema, GPROF_TABLE_schema);
	schema->is_assumed = false;
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream->tables[stream->blocks[i].table].number != GPROF_TABLE_schema ||
			stream_load(stream, i, mask, 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			add_column(stream, &batch, row);
		}
	}
	assume_tables(stream);
	stream_count_tables(stream);
}

/* ---- a stream ---- */

static char *make_label(const struct stream *stream)
{
	struct buf label = {0};

	buf_printf(&label, "'%s'", stream->path);
	if (stream->nr_parts > 1) {
		buf_printf(&label, ", process %u", stream->header.pid);
	}
	buf_char(&label, '\0');
	return label.bytes;
}

/* first: NULL, or where the list of parts is known. */
static int open_part(struct stream **stream, const char *path, stream_importer *const *importers,
	const struct stream *first, size_t part)
{
	struct stream *s = mem_zeroed(1, sizeof(*s));
	size_t length = strlen(path);
	int rc;

	s->fd = -1;
	s->path = mem_text(path);
	s->importers = importers;
	if (first) {
		s->parts = mem_resize(NULL, first->nr_parts, sizeof(*s->parts));
		memcpy(s->parts, first->parts, first->nr_parts * sizeof(*s->parts));
		s->nr_parts = first->nr_parts;
		s->part = part;
	}
	s->is_part = length > 5 && strcmp(path + length - 5, ".part") == 0;
	rc = stream_index_open(s);
	if (rc) {
		stream_close(s);
		return rc;
	}
	s->label = make_label(s);
	if (!s->is_trace) { /* a stream in memory could not be opened again */
		stream_file_share(s);
	}
	use_shared(s);
	read_schema(s);
	*stream = s;
	return 0;
}

int stream_open(struct stream **stream, const char *path, stream_importer *const *importers)
{
	return open_part(stream, path, importers, NULL, 0);
}

int stream_open_part(struct stream **stream, const struct stream *first, size_t part)
{
	return open_part(stream, first->path, first->importers, first, part);
}

/* Threads may still decode blocks of it, so its requests are dropped first. */
void stream_close(struct stream *stream)
{
	if (!stream) {
		return;
	}
	release_shared(stream); /* no thread reads it any more */
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		ring_batch_destroy(stream->blocks[i].ring);
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		for (unsigned int c = 0; c < stream->tables[i].nr_columns; c++) {
			if (stream->tables[i].columns[c].known < 0) {
				free((char *)stream->tables[i].columns[c].name);
			}
		}
		free(stream->tables[i].columns);
		free(stream->tables[i].name);
	}
	stream_file_close(stream);
	free(stream->tables);
	free(stream->blocks);
	free(stream->damages);
	free(stream->parts);
	free(stream->rings_path);
	free(stream->label);
	free(stream->path);
	free(stream);
}

unsigned int stream_known(const struct stream *stream, uint64_t number)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].number == number) {
			return stream->tables[i].known;
		}
	}
	return 0;
}

bool stream_is_damaged(const struct stream *stream)
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

bool stream_has_rows(const struct stream *stream, table_set tables)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (tables >> stream->tables[i].known & 1 && stream->tables[i].nr_rows) {
			return true;
		}
	}
	return false;
}

uint64_t *stream_later_begins(const struct stream *stream, table_set tables)
{
	uint64_t *later = mem_zeroed(stream->nr_blocks + 1, sizeof(*later)), min = UINT64_MAX;

	for (size_t i = stream->nr_blocks; i-- > 0;) {
		later[i] = min;
		if (tables >> stream_block_table(stream, i) & 1 &&
			stream->blocks[i].time_min < min) {
			min = stream->blocks[i].time_min;
		}
	}
	return later;
}
