/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns rows of rings into batches, as if the recorder had written them: rings.c hands it each row
 * that a killed process left. It does what the recorder's drain does: raw clock to ticks, end to
 * duration, 32-bit IDs to 64 bits, inline texts to rows of table string. Batches live in memory of
 * their own and are appended to the stream as blocks without an offset in the file.
 */
#include "report/stream/ring_rows.h"

#include <stdlib.h>
#include <string.h>

#include "collector/format/correlation.h"
#include "report/util/buf.h"
#include "report/stream/block_index.h"
#include "report/stream/ticks.h"

#define FIRST_ROWS 64u

/* A batch in its own memory, with columns by COL_... of a known table. */
struct ring_batch {
	unsigned int table;
	uint32_t nr_rows, capacity;
	uint64_t time_min, time_max;
	uint64_t *col[SCHEMA_COLUMNS];
	struct decode_text *text[SCHEMA_COLUMNS]; /* owns the bytes */
};

struct ring_rows {
	struct stream *stream;
	struct ring_batch *open[GPROF_NR_TABLES];
	uint64_t newest_correlation;
	uint32_t next_id;
};

void ring_batch_destroy(struct ring_batch *batch)
{
	if (!batch) {
		return;
	}
	for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
		for (uint32_t i = 0; batch->text[c] && i < batch->nr_rows; i++) {
			free((char *)batch->text[c][i].bytes);
		}
		free(batch->text[c]);
		free(batch->col[c]);
	}
	free(batch);
}

void ring_batch_load(const struct ring_batch *ring, uint32_t mask, struct batch *batch)
{
	for (unsigned int c = 0; c < SCHEMA_COLUMNS; c++) {
		if (mask & COL_BIT(c)) {
			batch->col[c] = ring->col[c];
			batch->text[c] = ring->text[c];
		}
	}
}

struct ring_rows *ring_rows_create(struct stream *stream, uint64_t newest_correlation)
{
	struct ring_rows *rows = mem_zeroed(1, sizeof(*rows));

	rows->stream = stream;
	rows->next_id = RINGS_FIRST_ID;
	rows->newest_correlation = newest_correlation;
	return rows;
}

/* ---- batches ---- */

static void close_batch(struct ring_rows *rows, unsigned int table)
{
	struct ring_batch *batch = rows->open[table];
	struct stream *stream = rows->stream;
	struct stream_table *known = stream_table(stream, table);
	struct stream_block *block;

	rows->open[table] = NULL;
	if (!known) {
		/* The stream has no such table yet: the number is free, or the reader's own. */
		known = stream_table_numbered(stream, table);
		known->known = (uint8_t)table;
		known->name = known->name ? known->name : mem_text(schema_table(table)->name);
	}
	block = stream_add_block(stream);
	block->table = (uint32_t)(known - stream->tables);
	block->nr_rows = batch->nr_rows;
	block->time_min = batch->time_min;
	block->time_max = batch->time_max;
	block->ring = batch;
	stream->ring_rows += batch->nr_rows;
}

static void grow_batch(struct ring_batch *batch)
{
	const struct schema_table *table = schema_table(batch->table);

	batch->capacity = batch->capacity ? batch->capacity * 2 : FIRST_ROWS;
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (table->columns[c].kind == GPROF_KIND_TEXT) {
			batch->text[c] = mem_resize(
				batch->text[c], batch->capacity, sizeof(*batch->text[c]));
		} else {
			batch->col[c] =
				mem_resize(batch->col[c], batch->capacity, sizeof(*batch->col[c]));
		}
	}
}

/* Appends a zeroed row and returns its batch. */
static struct ring_batch *new_row(struct ring_rows *rows, unsigned int table)
{
	const struct schema_table *schema = schema_table(table);
	struct ring_batch *batch = rows->open[table];

	if (batch && batch->nr_rows == GPROF_BLOCK_ROWS) {
		close_batch(rows, table);
		batch = NULL;
	}
	if (!batch) {
		batch = mem_zeroed(1, sizeof(*batch));
		batch->table = table;
		batch->time_min = UINT64_MAX;
		rows->open[table] = batch;
	}
	if (batch->nr_rows == batch->capacity) {
		grow_batch(batch);
	}
	for (unsigned int c = 0; c < schema->nr_columns; c++) {
		if (batch->text[c]) {
			batch->text[c][batch->nr_rows] =
				(struct decode_text){.bytes = mem_zeroed(1, 1), .nr_bytes = 0};
		} else {
			batch->col[c][batch->nr_rows] = 0;
		}
	}
	batch->nr_rows++;
	return batch;
}

static void set(struct ring_batch *batch, unsigned int c, uint64_t value)
{
	batch->col[c][batch->nr_rows - 1] = value;
}

/* ---- values ---- */

static uint32_t add_string(struct ring_rows *rows, const char *bytes, uint32_t nr_bytes)
{
	struct ring_batch *batch = new_row(rows, GPROF_TABLE_string);
	char *copy = mem_zeroed(nr_bytes + 1u, 1);

	memcpy(copy, bytes, nr_bytes);
	free((char *)batch->text[COL_string_text][batch->nr_rows - 1].bytes);
	batch->text[COL_string_text][batch->nr_rows - 1] =
		(struct decode_text){.bytes = copy, .nr_bytes = nr_bytes};
	set(batch, COL_string_id, rows->next_id);
	return rows->next_id++;
}

static uint64_t field(const char *row, const struct stream_column *column)
{
	uint64_t value = 0;

	memcpy(&value, row + column->offset, column->width);
	if (column->kind == GPROF_KIND_INT && column->width == 4) {
		value = (uint64_t)(int64_t)(int32_t)value;
	}
	return value;
}

/* Unwraps an ID as the recorder would have done. */
static uint64_t to_correlation(struct ring_rows *rows, uint64_t value)
{
	uint64_t id = correlation_unwrap(rows->newest_correlation, (uint32_t)value);

	rows->newest_correlation = id > rows->newest_correlation ? id : rows->newest_correlation;
	return id;
}

/*
 * Converts a row into numbers by our columns. The stream's schema says where each column lies in a
 * row; a version of the recorder with further columns needs no other code.
 */
static void read_values(struct ring_rows *rows, const struct stream_table *table, const char *row,
	uint32_t text_bytes, uint64_t *values)
{
	const struct stream_column *before = NULL;
	bool is_text_used = false;

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct stream_column *column = &table->columns[c];
		uint64_t value = 0;

		if (column->kind == GPROF_KIND_STRING) {
			/* A row has one text, which belongs to its first STRING column. */
			if (text_bytes && !is_text_used) {
				value = add_string(rows, row + table->row_bytes, text_bytes);
				is_text_used = true;
			}
		} else if (column->kind != GPROF_KIND_TEXT && column->width <= sizeof(value) &&
			   column->offset + column->width <= table->row_bytes) {
			value = field(row, column);
		}
		if (value & GPROF_STACK_OF_COPY && !strcmp(column->name, "native_stack")) {
			value = 0; /* the recorder had no time to give it an id */
		}
		if (column->kind == GPROF_KIND_CORRELATION) {
			value = to_correlation(rows, value);
		}
		if (column->kind == GPROF_KIND_TICK || (column->kind == GPROF_KIND_SPAN && before &&
							       before->kind == GPROF_KIND_TICK)) {
			value = ticks_of_raw(&rows->stream->header, value);
		}
		if (column->kind == GPROF_KIND_SPAN && before && before->known >= 0) {
			/* As the recorder writes it; see block.c. */
			value = (int64_t)(value - values[before->known]) < 0
					? 0
					: value - values[before->known];
		}
		if (column->known >= 0) {
			values[column->known] = value;
		}
		before = column;
	}
}

static void note_times(struct ring_batch *batch, const uint64_t *values)
{
	const struct schema_table *table = schema_table(batch->table);

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const uint8_t kind = table->columns[c].kind;
		uint64_t end = values[c];

		if (kind != GPROF_KIND_TICK && kind != GPROF_KIND_DEVTIME) {
			continue;
		}
		if (c + 1 < table->nr_columns && table->columns[c + 1].kind == GPROF_KIND_SPAN) {
			end += values[c + 1];
		}
		batch->time_min = values[c] < batch->time_min ? values[c] : batch->time_min;
		batch->time_max = end > batch->time_max ? end : batch->time_max;
		return;
	}
}

static void add_row(struct ring_rows *rows, unsigned int table, const uint64_t *values)
{
	struct ring_batch *batch = new_row(rows, table);

	for (unsigned int c = 0; c < schema_table(table)->nr_columns; c++) {
		if (batch->col[c]) {
			set(batch, c, values[c]);
		}
	}
	note_times(batch, values);
}

/* Splits a ring_launch row into a shape and a row of api_launch. */
static void add_launch(struct ring_rows *rows, const uint64_t *launch)
{
	static const uint8_t shape_of[][2] = {
		{COL_shape_function, COL_ring_launch_function},
		{COL_shape_grid_x, COL_ring_launch_grid_x},
		{COL_shape_grid_y, COL_ring_launch_grid_y},
		{COL_shape_grid_z, COL_ring_launch_grid_z},
		{COL_shape_block_x, COL_ring_launch_block_x},
		{COL_shape_block_y, COL_ring_launch_block_y},
		{COL_shape_block_z, COL_ring_launch_block_z},
		{COL_shape_dynamic_shared_bytes, COL_ring_launch_shared_bytes},
	};
	uint64_t values[SCHEMA_COLUMNS] = {0};
	uint32_t shape = 0;

	if (launch[COL_ring_launch_function]) {
		shape = rows->next_id++;
		values[COL_shape_id] = shape;
		for (size_t i = 0; i < sizeof(shape_of) / sizeof(shape_of[0]); i++) {
			values[shape_of[i][0]] = launch[shape_of[i][1]];
		}
		add_row(rows, GPROF_TABLE_shape, values);
	}
	/* Both tables begin with the columns common to all api_* tables. */
	memset(values, 0, sizeof(values));
	memcpy(values, launch, GPROF_NR_API_COLUMNS * sizeof(values[0]));
	values[COL_api_launch_shape] = shape;
	values[COL_api_launch_stream] = launch[COL_ring_launch_stream];
	values[COL_api_launch_py_stack] = launch[COL_ring_launch_py_stack];
	values[COL_api_launch_native_stack] = launch[COL_ring_launch_native_stack];
	add_row(rows, GPROF_TABLE_api_launch, values);
}

/* A row is checked before any of it is used: its size, its table, and that its text lies in it. */
uint32_t ring_rows_add(struct ring_rows *rows, const char *bytes, uint32_t left_bytes)
{
	uint64_t values[SCHEMA_COLUMNS] = {0};
	const struct stream_table *table = NULL;
	struct gprof_row_head head;
	uint8_t known;

	if (left_bytes < sizeof(head)) {
		return 0;
	}
	memcpy(&head, bytes, sizeof(head));
	for (size_t i = 0; i < rows->stream->nr_tables && !table; i++) {
		if (rows->stream->tables[i].number == head.table) {
			table = &rows->stream->tables[i];
		}
	}
	if (head.bytes < sizeof(head) || head.bytes % GPROF_ALIGN || head.bytes > left_bytes ||
		!table || table->row_bytes > head.bytes ||
		head.text_bytes > (uint32_t)head.bytes - table->row_bytes) {
		return 0;
	}
	known = table->known;
	if (known && known != GPROF_TABLE_schema) {
		read_values(rows, table, bytes, head.text_bytes, values);
		if (known == GPROF_TABLE_ring_launch) {
			add_launch(rows, values);
		} else {
			add_row(rows, known, values);
		}
	}
	return head.bytes;
}

void ring_rows_finish(struct ring_rows *rows)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		if (rows->open[table]) {
			close_batch(rows, table);
		}
	}
	free(rows);
}
