/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stream/table_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

static void take_known(struct stream_table *table, unsigned int known)
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

static void take_column(struct stream *stream, const struct batch *batch, uint32_t i)
{
	const struct decode_text *table_name = &batch->text[COL_schema_table_name][i];
	const struct decode_text *name = &batch->text[COL_schema_name][i];
	struct stream_table *table =
		stream_table_numbered(stream, (uint16_t)batch->col[COL_schema_table][i]);
	uint64_t column = batch->col[COL_schema_column][i];
	int known;

	if (table->number == GPROF_TABLE_schema || column != table->nr_columns ||
		column >= DECODE_COLUMNS) {
		return; /* fixed, or said before, or more than we can hold */
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

/* Tables without a schema: what version 1.0 had under that number. */
static void assume_tables(struct stream *stream)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		struct stream_table *table = &stream->tables[i];

		if (table->name) {
			continue;
		}
		if (schema_table(table->number) && !stream_table(stream, table->number)) {
			take_known(table, table->number);
		} else {
			char name[32];

			snprintf(name, sizeof(name), "table %u", table->number);
			table->name = mem_text(name);
		}
		stream->is_schema_assumed = true;
	}
}

void table_schema_count(struct stream *stream)
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

void table_schema_read(struct stream *stream)
{
	struct stream_table *schema = stream_table_numbered(stream, GPROF_TABLE_schema);
	uint32_t mask = COL_ALL(NR_COL_schema);

	take_known(schema, GPROF_TABLE_schema);
	schema->is_assumed = false;
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream->tables[stream->blocks[i].table].number != GPROF_TABLE_schema ||
			stream_load(stream, i, mask, 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			take_column(stream, &batch, row);
		}
	}
	assume_tables(stream);
	table_schema_count(stream);
}
