/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a table without texts take two steps, so that each step's data fit a cache:
 *
 *   batch_point(), batch_add()      gather()                 write_batch()
 *   rows[]: 256 pointers      ----> values[]: columns  ----> stream_write_columns(): a block
 *   rows[]: 1,024, with texts -----------------------------> stream_write():         a block
 *
 * Writing any batch writes the definitions first.
 */
#include "collector/stream/batch.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collector/format/format.h"
#include "collector/format/rows_to_columns.h"
#include "collector/stream/stream.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"

/* This many rows of any table fit the first-level cache. */
#define GROUP_ROWS 256u
#define TEXT_ROWS  1024u
_Static_assert(BLOCK_ENCODE_ROWS % GROUP_ROWS == 0, "blocks are whole groups");
/* A text stays where it is while three blocks' worth of others come after it. */
#define TEXT_BYTES (BLOCK_ENCODE_TEXT_BYTES * 4)

/*
 * Written first, in this order: the schema's reader needs strings before what names them, and the
 * fact that a stream was ended comes last, so that the losses of that stream are all in it.
 */
static const uint8_t definitions[] = {GPROF_TABLE_schema, GPROF_TABLE_string, GPROF_TABLE_call,
	GPROF_TABLE_function, GPROF_TABLE_op_name, GPROF_TABLE_op_shape, GPROF_TABLE_shape,
	GPROF_TABLE_place, GPROF_TABLE_device, GPROF_TABLE_attribute, GPROF_TABLE_context,
	GPROF_TABLE_stream, GPROF_TABLE_code_file, GPROF_TABLE_native_stack,
	GPROF_TABLE_compiled_call, GPROF_TABLE_anchor, GPROF_TABLE_loss, GPROF_TABLE_notice,
	GPROF_TABLE_info};
#define NR_DEFINITIONS (sizeof(definitions) / sizeof(definitions[0]))

/* No events either; a checkpoint must not come before the rows that it speaks of. */
static const uint8_t facts[] = {GPROF_TABLE_checkpoint, GPROF_TABLE_thread, GPROF_TABLE_step,
	GPROF_TABLE_window, GPROF_TABLE_sample, GPROF_TABLE_hang, GPROF_TABLE_api_count,
	GPROF_TABLE_graph_node, GPROF_TABLE_os_count, GPROF_TABLE_thread_cpu};

struct batch batches[GPROF_NR_TABLES];

static struct batch_state {
	char *text;
	size_t text_at;
	size_t text_waiting; /* bytes of it in rows that wait */
	bool is_ready;
} state;

static bool has_text(const struct block_table *table)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (table->columns[c].kind == GPROF_KIND_TEXT) {
			return true;
		}
	}
	return false;
}

/* Cuts a piece off the memory at *at; pieces share no cache line. memory: NULL: only counts. */
static void *cut(char *memory, size_t *at, size_t nr_bytes)
{
	void *piece = memory ? memory + *at : NULL;

	*at += (nr_bytes + 63) / 64 * 64;
	return piece;
}

/* Gives the batches their parts of the memory, and returns how much they need together. */
static size_t divide(char *memory)
{
	size_t at = 0;

	for (unsigned int t = 1; t < GPROF_NR_TABLES; t++) {
		const struct block_table *table = block_table(t);
		struct batch *batch = &batches[t];

		if (!table) {
			continue; /* no table has that number */
		}
		batch->max_rows = has_text(table) ? TEXT_ROWS : GROUP_ROWS;
		batch->row_bytes = table->row_bytes;
		batch->values =
			has_text(table)
				? NULL
				: cut(memory, &at, table->nr_columns * sizeof(*batch->values));
		batch->rows = cut(memory, &at, batch->max_rows * sizeof(*batch->rows));
		batch->storage = cut(memory, &at, (size_t)batch->max_rows * table->row_bytes);
	}
	state.text = cut(memory, &at, TEXT_BYTES);
	return at;
}

int batch_init(void)
{
	char *memory;

	if (state.is_ready) {
		return 0;
	}
	memory = memory_map(divide(NULL));
	if (!memory) {
		return -ENOMEM;
	}
	divide(memory);
	for (size_t i = 0; i < NR_DEFINITIONS; i++) {
		batches[definitions[i]].is_definition = true;
	}
	for (size_t i = 0; i < sizeof(facts); i++) {
		batches[facts[i]].is_definition = true;
	}
	state.is_ready = true;
	return 0;
}

void batch_forget(void)
{
	for (unsigned int t = 1; t < GPROF_NR_TABLES; t++) {
		batches[t].nr_rows = batches[t].nr_in_columns = 0;
		batches[t].nr_written = 0;
	}
	state.text_waiting = 0;
}

static void gather(unsigned int table)
{
	struct batch *batch = &batches[table];

	rows_to_columns(table, batch->rows, batch->nr_rows, batch->values, batch->nr_in_columns);
	batch->nr_in_columns += batch->nr_rows;
	batch->nr_rows = 0;
}

static uint32_t nr_waiting(const struct batch *batch)
{
	return batch->nr_in_columns + batch->nr_rows;
}

static void write_batch(unsigned int table)
{
	struct batch *batch = &batches[table];
	bool is_event = !batch->is_definition;

	if (!nr_waiting(batch)) {
		return;
	}
	if (batch->values) {
		gather(table);
		stream_write_columns(table, batch->values, batch->nr_in_columns, is_event);
	} else {
		stream_write(table, batch->rows, batch->nr_rows, is_event);
	}
	batch->nr_written += nr_waiting(batch);
	batch->nr_rows = batch->nr_in_columns = 0;
}

static void write_definitions(void)
{
	for (size_t i = 0; i < NR_DEFINITIONS; i++) {
		write_batch(definitions[i]);
	}
	state.text_waiting = 0;
}

void batch_make_room_slow(unsigned int table)
{
	struct batch *batch = &batches[table];

	if (batch->values && nr_waiting(batch) < BLOCK_ENCODE_ROWS) {
		gather(table);
		return;
	}
	write_definitions();
	write_batch(table);
}

struct gprof_text batch_text(const char *bytes, uint64_t nr_bytes)
{
	char *copy;

	nr_bytes = nr_bytes < GPROF_TEXT_BYTES ? nr_bytes : GPROF_TEXT_BYTES;
	if (state.text_waiting + nr_bytes > BLOCK_ENCODE_TEXT_BYTES) {
		write_definitions();
	}
	if (state.text_at + nr_bytes > TEXT_BYTES) {
		state.text_at = 0;
	}
	copy = state.text + state.text_at;
	memcpy(copy, bytes, nr_bytes);
	state.text_at += nr_bytes;
	state.text_waiting += nr_bytes;
	return (struct gprof_text){.bytes = copy, .nr_bytes = nr_bytes};
}

void batch_write_all(void)
{
	write_definitions();
	for (unsigned int t = 1; t < GPROF_NR_TABLES; t++) {
		write_batch(t);
	}
}

static void drop(struct batch *batch)
{
	batch->nr_written += nr_waiting(batch);
	batch->nr_rows = batch->nr_in_columns = 0;
}

void batch_drop_all(void)
{
	static const uint8_t counted[] = {
		GPROF_TABLE_thread, GPROF_TABLE_step, GPROF_TABLE_window, GPROF_TABLE_sample};
	static const uint8_t useless[] = {GPROF_TABLE_function, GPROF_TABLE_op_name,
		GPROF_TABLE_op_shape, GPROF_TABLE_shape, GPROF_TABLE_code_file,
		GPROF_TABLE_native_stack};

	for (unsigned int t = 1; t < GPROF_NR_TABLES; t++) {
		if (!batches[t].is_definition) {
			loss_add(LOSS_LIMIT, nr_waiting(&batches[t]));
			drop(&batches[t]);
		}
	}
	for (size_t i = 0; i < sizeof(counted); i++) {
		loss_add(LOSS_LIMIT_STEP, nr_waiting(&batches[counted[i]]));
		drop(&batches[counted[i]]);
	}
	for (size_t i = 0; i < sizeof(useless); i++) {
		drop(&batches[useless[i]]);
	}
}

uint64_t batch_nr_rows(unsigned int table)
{
	return batches[table].nr_written + nr_waiting(&batches[table]);
}
