/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one table of some streams, as lines of columns with tabs between, for the checks of
 * this folder; rings of killed processes are read too.
 *
 *	rows TABLE PATH...
 *
 * The first line names the columns. Names stand in place of the ids of texts, calls, shapes and
 * operators, and device.context.stream in place of the id of a place; times are as in the stream.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/stream/dumpdir.h"
#include "report/util/err.h"
#include "report/model/model.h"

/* The names of operators, by their ids in the process that is printed. */
static struct idmap op_names;

static void put_text(const char *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		putchar((unsigned char)bytes[i] < ' ' ? ' ' : bytes[i]);
	}
}

static void put_name(uint32_t name)
{
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	put_text(bytes, nr_bytes);
}

static void put_place(const struct process *process, uint64_t id)
{
	struct model_place place = process_place(process, id);

	printf("%" PRId32 ".%" PRId32 ".%" PRId32, (int32_t)place.device, (int32_t)place.context,
		(int32_t)place.stream);
}

static void put_number(
	const struct process *process, const struct schema_column *column, uint64_t value)
{
	uint8_t api;

	if (column->kind == GPROF_KIND_STRING) {
		put_name(value ? process_string(process, value) : 0);
	} else if (!strcmp(column->name, "call")) {
		put_name(process_call_name(process, value, &api));
	} else if (!strcmp(column->name, "shape")) {
		put_name(value ? process_shape_name(process, value) : 0);
	} else if (!strcmp(column->name, "op_name")) {
		const uint32_t *name = idmap_get(&op_names, (uint32_t)value);

		put_name(name ? *name : 0);
	} else if (!strcmp(column->name, "place")) {
		put_place(process, value);
	} else if (column->kind == GPROF_KIND_INT) {
		printf("%" PRId64, (int64_t)value);
	} else {
		printf("%" PRIu64, value);
	}
}

static void put_row(const struct process *process, const struct schema_table *schema,
	const struct batch *batch, uint32_t row)
{
	printf("%u", process->pid);
	for (unsigned int c = 0; c < schema->nr_columns; c++) {
		putchar('\t');
		if (batch->text[c]) {
			put_text(batch->text[c][row].bytes, batch->text[c][row].nr_bytes);
		} else if (batch->col[c]) {
			put_number(process, &schema->columns[c], batch->col[c][row]);
		}
	}
	putchar('\n');
}

/* Hands every batch of a table to take(). */
static void each_batch(struct process *process, unsigned int table,
	void (*take)(const struct process *process, const struct batch *batch))
{
	uint32_t mask = COL_ALL(schema_table(table)->nr_columns);
	struct batch batch;

	for (size_t block = 0; block < process->stream->nr_blocks; block++) {
		if (stream_block_table(process->stream, block) == table &&
			!stream_load(process->stream, block, mask, 0, &batch)) {
			take(process, &batch);
		}
	}
}

static void take_op_names(const struct process *process, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint32_t *name = idmap_put(&op_names, (uint32_t)batch->col[COL_op_name_id][i]);

		*name = process_string(process, batch->col[COL_op_name_name][i]);
	}
}

static void take_rows(const struct process *process, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		put_row(process, schema_table(batch->table), batch, i);
	}
}

static int print_stream(const char *path, unsigned int table)
{
	struct stream *stream;
	struct process *process;

	if (stream_open(&stream, path, NULL)) {
		fprintf(stderr, "rows: %s\n", err_text());
		return 1;
	}
	process = process_create(stream);
	idmap_init(&op_names, sizeof(uint32_t));
	each_batch(process, GPROF_TABLE_op_name, take_op_names);
	each_batch(process, table, take_rows);
	idmap_fini(&op_names);
	process_destroy(process);
	return 0;
}

int main(int argc, char **argv)
{
	const struct schema_table *schema;
	struct dumpdir dumpdir = {0};
	unsigned int table;
	int rc = 0;

	table = argc > 2 ? schema_find_table(argv[1], (uint32_t)strlen(argv[1])) : 0;
	if (!table) {
		fprintf(stderr, "usage: rows TABLE PATH...\n");
		return 2;
	}
	schema = schema_table(table);
	printf("pid");
	for (unsigned int c = 0; c < schema->nr_columns; c++) {
		printf("\t%s", schema->columns[c].name);
	}
	putchar('\n');
	for (int i = 2; i < argc && !rc; i++) {
		if (dumpdir_add(&dumpdir, argv[i])) {
			fprintf(stderr, "rows: %s\n", err_text());
			rc = 1;
		}
	}
	for (size_t i = 0; i < dumpdir.nr_paths && !rc; i++) {
		rc = print_stream(dumpdir.paths[i], table);
	}
	dumpdir_fini(&dumpdir);
	return rc;
}
