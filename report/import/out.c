/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An importer adds rows; they wait by table and become blocks, as the recorder writes them, in a
 * file in memory (memfd) that the reader then opens like any stream. Definitions are written before
 * every other block, since other rows name their ids. The header is written last: until then the
 * file has none.
 */
#include "report/import/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/format/block.h"
#include "collector/format/intern.h"
#include "report/stream/types.h"
#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/util/text.h"

#define NR_TEXTS   65536u
#define TEXT_ARENA (16u << 20)
#define NR_SHAPES  32768u
#define NR_PLACES  4096u
#define NR_CALLS   65536u

/* This process reads it back at once: speed matters, not size. */
#define LEVEL (-5)

/* Rows of a table that wait to become a block. */
struct waiting {
	char *rows;
	uint32_t nr_rows, capacity;
	uint64_t rows_before;
};

struct import_out {
	int fd;
	int error; /* the first one of writing */
	struct block_encoder *encoder;
	void *encoder_memory;
	char *block;
	size_t block_bytes;
	uint64_t nr_bytes; /* of the file */
	uint64_t sequence;
	struct waiting tables[GPROF_NR_TABLES];
	const void *pointers[BLOCK_ENCODE_ROWS];
	char *texts; /* of waiting rows */
	size_t nr_texts;
	uint64_t nr_broken; /* texts that are not UTF-8, each once */
	uint64_t nr_cut;    /* and those that are too long */
	struct intern strings, shapes, places, calls;
	uint32_t last_estimated;		      /* shape */
	uint64_t least_correlation, most_correlation; /* of those that rows have; 0: none yet */
};

/* Ticks are the trace's nanoseconds. */
static const struct block_ticks ticks = {.base = 0, .mult = 1ull << 32};

/* Written first, since other tables refer to them. All tables with texts are among them. */
static const uint8_t definitions[] = {GPROF_TABLE_schema, GPROF_TABLE_string, GPROF_TABLE_call,
	GPROF_TABLE_op_shape, GPROF_TABLE_shape, GPROF_TABLE_estimate, GPROF_TABLE_place,
	GPROF_TABLE_device, GPROF_TABLE_attribute, GPROF_TABLE_anchor, GPROF_TABLE_thread,
	GPROF_TABLE_py_file, GPROF_TABLE_py_code, GPROF_TABLE_py_stack, GPROF_TABLE_step,
	GPROF_TABLE_loss, GPROF_TABLE_notice, GPROF_TABLE_info};
#define NR_DEFINITIONS (sizeof(definitions) / sizeof(definitions[0]))

/* ---- blocks ---- */

static void write_bytes(struct import_out *out, const void *bytes, size_t nr_bytes, uint64_t at)
{
	const char *p = bytes;

	while (nr_bytes && !out->error) {
		ssize_t n = pwrite(out->fd, p, nr_bytes, (off_t)at);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			out->error = n ? errno : ENOSPC;
			return;
		}
		p += n;
		at += (uint64_t)n;
		nr_bytes -= (size_t)n;
	}
}

static void write_table(struct import_out *out, unsigned int table)
{
	struct waiting *waiting = &out->tables[table];
	const struct block_input input = {.table = table,
		.nr_rows = waiting->nr_rows,
		.rows = out->pointers,
		.ticks = &ticks,
		.newest_correlation =
			out->most_correlation > UINT32_MAX ? out->most_correlation : 0,
		.sequence = out->sequence,
		.rows_before = waiting->rows_before};
	size_t bytes, needed = block_bound(table, waiting->nr_rows, BLOCK_ENCODE_TEXT_BYTES);

	if (!waiting->nr_rows) {
		return;
	}
	for (uint32_t i = 0; i < waiting->nr_rows; i++) {
		out->pointers[i] = waiting->rows + (size_t)i * block_table(table)->row_bytes;
	}
	if (needed > out->block_bytes) {
		out->block = mem_resize(out->block, needed, 1);
		out->block_bytes = needed;
	}
	bytes = block_encode(out->encoder, &input, out->block, out->block_bytes);
	if (!bytes && !out->error) {
		out->error = EINVAL;
	}
	write_bytes(out, out->block, bytes, out->nr_bytes);
	out->nr_bytes += bytes;
	out->sequence++;
	waiting->rows_before += waiting->nr_rows;
	waiting->nr_rows = 0;
}

/* Afterwards no waiting row has a text, so the memory of texts is free again. */
static void write_definitions(struct import_out *out)
{
	for (size_t i = 0; i < NR_DEFINITIONS; i++) {
		write_table(out, definitions[i]);
	}
	out->nr_texts = 0;
}

static void write_all(struct import_out *out)
{
	write_definitions(out);
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		write_table(out, table);
	}
}

/* All definitions go first, as a row of the full table may need any of them. */
static void make_room(struct import_out *out, unsigned int table)
{
	if (out->tables[table].nr_rows == BLOCK_ENCODE_ROWS) {
		write_definitions(out);
		write_table(out, table);
	}
}

void *import_out_row(struct import_out *out, unsigned int table)
{
	struct waiting *waiting = &out->tables[table];
	size_t row_bytes = block_table(table)->row_bytes;
	char *row;

	make_room(out, table);
	if (waiting->nr_rows == waiting->capacity) {
		waiting->capacity = waiting->capacity ? 2 * waiting->capacity : 64;
		waiting->rows = mem_resize(waiting->rows, waiting->capacity, row_bytes);
	}
	row = waiting->rows + waiting->nr_rows++ * row_bytes;
	return memset(row, 0, row_bytes);
}

static struct gprof_text keep_bytes(struct import_out *out, const char *bytes, size_t nr_bytes)
{
	struct gprof_text text = {
		.nr_bytes = nr_bytes < GPROF_TEXT_BYTES ? nr_bytes : GPROF_TEXT_BYTES};

	if (out->nr_texts + text.nr_bytes > BLOCK_ENCODE_TEXT_BYTES) {
		write_definitions(out);
	}
	text.bytes = out->texts + out->nr_texts;
	memcpy(out->texts + out->nr_texts, bytes, text.nr_bytes);
	out->nr_texts += text.nr_bytes;
	return text;
}

static struct gprof_text keep_text(struct import_out *out, const char *bytes, size_t nr_bytes)
{
	/* Checks all of it, as the cut may split a character. */
	out->nr_broken += !text_is_utf8(bytes, nr_bytes);
	out->nr_cut += nr_bytes > GPROF_TEXT_BYTES;
	return keep_bytes(out, bytes, nr_bytes);
}

/* ---- ids ---- */

/* Texts are cut here and in keep_text(), which also counts the cut. */
uint32_t import_out_string(struct import_out *out, const char *bytes, size_t nr_bytes)
{
	const struct intern_entry *entry;
	bool is_new;

	if (!nr_bytes) {
		return 0;
	}
	entry = intern_find(&out->strings, bytes,
		nr_bytes < GPROF_TEXT_BYTES ? nr_bytes : GPROF_TEXT_BYTES, &is_new);
	if (is_new) {
		struct gprof_row_string *row;
		struct gprof_text text;

		make_room(out,
			GPROF_TABLE_string); /* else the text would be written with the others */
		text = keep_text(out, bytes, nr_bytes);
		row = import_out_row(out, GPROF_TABLE_string);
		row->id = entry->id;
		row->text = text;
	}
	return entry->id;
}

uint32_t import_out_call(struct import_out *out, uint32_t name, uint8_t api)
{
	const uint32_t key[2] = {name, api};
	const struct intern_entry *entry;
	bool is_new;

	if (out->calls.last_id >= UINT16_MAX - 1) { /* no more fit the column */
		return UINT16_MAX;
	}
	entry = intern_find(&out->calls, key, sizeof(key), &is_new);
	if (is_new) {
		struct gprof_row_call *row = import_out_row(out, GPROF_TABLE_call);

		row->id = entry->id;
		row->name = name;
		row->api = api;
	}
	return entry->id;
}

uint32_t import_out_correlation(struct import_out *out, uint64_t id)
{
	uint64_t least =
		out->least_correlation && out->least_correlation < id ? out->least_correlation : id;
	uint64_t most = out->most_correlation > id ? out->most_correlation : id;

	if (!id || (most > UINT32_MAX && most - least >= 1u << 31)) {
		return 0;
	}
	out->least_correlation = least;
	out->most_correlation = most;
	return (uint32_t)id;
}

uint32_t import_out_place(
	struct import_out *out, uint32_t device, uint32_t context, uint32_t stream)
{
	const uint32_t key[3] = {device, context, stream};
	bool is_new;
	const struct intern_entry *entry = intern_find(&out->places, key, sizeof(key), &is_new);

	if (is_new) {
		struct gprof_row_place *row = import_out_row(out, GPROF_TABLE_place);

		row->id = entry->id;
		row->device = device;
		row->context = context;
		row->stream = stream;
	}
	return entry->id;
}

uint32_t import_out_shape(struct import_out *out, const struct gprof_row_shape *shape)
{
	bool is_new;
	const struct intern_entry *entry =
		intern_find(&out->shapes, shape, sizeof(*shape), &is_new);

	if (is_new) {
		struct gprof_row_shape *row = import_out_row(out, GPROF_TABLE_shape);

		*row = *shape;
		row->id = entry->id;
	}
	return entry->id;
}

/* Ids of shapes rise, so a shape above the last one is new. */
void import_out_estimate(
	struct import_out *out, uint32_t shape, uint32_t blocks_per_sm_milli, uint32_t percent)
{
	struct gprof_row_estimate *row;

	if (shape > out->last_estimated) {
		out->last_estimated = shape;
		row = import_out_row(out, GPROF_TABLE_estimate);
		row->shape = shape;
		row->blocks_per_sm_milli = blocks_per_sm_milli;
		row->occupancy_pct = percent;
	}
}

void import_out_fact(struct import_out *out, const char *key, const char *value, size_t nr_bytes)
{
	struct gprof_row_info *row;
	struct gprof_text text;

	make_room(out, GPROF_TABLE_info);
	text = keep_text(out, value, nr_bytes);
	row = import_out_row(out, GPROF_TABLE_info);
	row->key = (struct gprof_text){key, strlen(key)};
	row->value = text;
}

void import_out_fact_number(struct import_out *out, const char *key, uint64_t value)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	import_out_fact(out, key, text, (size_t)length);
}

void import_out_device(struct import_out *out, uint32_t device, const char *name, size_t nr_name,
	const unsigned char *uuid)
{
	uint32_t string = import_out_string(out, name, nr_name);
	struct gprof_text text = {0};
	struct gprof_row_device *row;

	make_room(out, GPROF_TABLE_device);
	if (uuid) {
		text = keep_bytes(out, (const char *)uuid, 16);
	}
	row = import_out_row(out, GPROF_TABLE_device);
	row->id = device;
	row->name = string;
	row->uuid = text;
}

void import_out_attribute(struct import_out *out, uint32_t device, const char *name, uint64_t value)
{
	uint32_t text = import_out_string(out, name, strlen(name));
	struct gprof_row_attribute *row = import_out_row(out, GPROF_TABLE_attribute);

	row->device = device;
	row->name = text;
	row->value = value;
}

void import_out_loss(struct import_out *out, uint64_t tick, uint64_t count, const char *cause)
{
	struct gprof_row_loss *row;
	uint32_t text;

	if (count) {
		text = import_out_string(out, cause, strlen(cause));
		row = import_out_row(out, GPROF_TABLE_loss);
		row->tick = tick;
		row->count = count;
		row->cause = text;
	}
}

void import_out_notice(
	struct import_out *out, uint64_t tick, const char *cause, const char *text, size_t nr_bytes)
{
	uint32_t why = import_out_string(out, cause, strlen(cause));
	uint32_t what = import_out_string(out, text, nr_bytes);
	struct gprof_row_notice *row = import_out_row(out, GPROF_TABLE_notice);

	row->tick = tick;
	row->cause = why;
	row->text = what;
}

void import_out_close_group(struct import_out *out, uint64_t tick)
{
	struct gprof_row_checkpoint *row;

	write_all(out);
	row = import_out_row(out, GPROF_TABLE_checkpoint);
	row->tick = tick;
	write_table(out, GPROF_TABLE_checkpoint);
}

/* ---- begin and end ---- */

static void write_schema(struct import_out *out)
{
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		const struct block_table *t = block_table(table);

		for (unsigned int c = 0; t && c < t->nr_columns; c++) {
			struct gprof_row_schema *row = import_out_row(out, GPROF_TABLE_schema);
			const struct block_column *column = &t->columns[c];

			row->table = (uint16_t)table;
			row->column = (uint16_t)c;
			row->kind = column->kind;
			row->width = column->width;
			row->offset = column->offset;
			row->row_bytes = t->row_bytes;
			row->table_name = (struct gprof_text){t->name, strlen(t->name)};
			row->name = (struct gprof_text){column->name, strlen(column->name)};
		}
	}
	write_table(out, GPROF_TABLE_schema);
}

static void destroy(struct import_out *out)
{
	struct intern *interns[] = {&out->strings, &out->shapes, &out->places, &out->calls};

	for (size_t i = 0; i < sizeof(interns) / sizeof(interns[0]); i++) {
		intern_fini(interns[i]);
	}
	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		free(out->tables[table].rows);
	}
	if (out->fd >= 0) {
		close(out->fd);
	}
	free(out->encoder_memory);
	free(out->block);
	free(out->texts);
	free(out);
}

struct import_out *import_out_create(void)
{
	struct import_out *out = mem_zeroed(1, sizeof(*out));
	size_t bytes = (block_encoder_bytes() + 63u) & ~(size_t)63u;

	out->texts = mem_resize(NULL, BLOCK_ENCODE_TEXT_BYTES, 1);
	out->encoder_memory = aligned_alloc(64, bytes);
	if (out->encoder_memory) {
		out->encoder = block_encoder_init(out->encoder_memory, LEVEL);
	}
	out->fd = memfd_create("gprof-trace", MFD_CLOEXEC);
	if (out->fd < 0 || !out->encoder || intern_init(&out->strings, NR_TEXTS, TEXT_ARENA, 0) ||
		intern_init(
			&out->shapes, NR_SHAPES, NR_SHAPES * sizeof(struct gprof_row_shape), 0) ||
		intern_init(&out->places, NR_PLACES, NR_PLACES * 3 * sizeof(uint32_t), 0) ||
		intern_init(&out->calls, NR_CALLS, NR_CALLS * 2 * sizeof(uint32_t), 0)) {
		err_set(-ENOMEM, "no memory for its events: %s",
			strerror(out->fd < 0 ? errno : ENOMEM));
		destroy(out);
		return NULL;
	}
	out->nr_bytes = sizeof(struct gprof_file_header);
	write_schema(out);
	return out;
}

static void write_end(struct import_out *out, const struct import_out_end *end)
{
	struct gprof_row_anchor *row = import_out_row(out, GPROF_TABLE_anchor);

	row->tick = row->cupti_ns = end->first_tick;
	row->monotonic_ns = row->realtime_ns = end->first_tick + end->base_ns;
	import_out_loss(
		out, end->last_tick, out->nr_cut, "name cut to 4096 bytes (" GPROF_LOSS_KEPT ")");
	import_out_fact(out, "trace.format", end->format, strlen(end->format));
	if (end->pid) {
		import_out_fact_number(out, "process.pid", end->pid);
	}
	if (end->nr_early) {
		import_out_fact_number(out, "trace.early_work", end->nr_early);
	}
	if (out->nr_broken) {
		import_out_fact_number(out, "trace.broken_names", out->nr_broken);
	}
	import_out_fact(out, "end.how", "trace", 5);
}

/* On success the descriptor leaves `out` before destroy() would close it. */
int import_out_finish(struct import_out *out, const struct import_out_end *end)
{
	struct gprof_file_header header = {.major = GPROF_FORMAT_MAJOR,
		.minor = GPROF_FORMAT_MINOR,
		.header_bytes = sizeof(header),
		.pid = end->pid,
		.start_realtime_ns = end->has_no_date ? 0 : end->first_tick + end->base_ns,
		.tick_base = ticks.base,
		.tick_mult = ticks.mult};
	int fd, error;

	write_end(out, end);
	write_all(out);
	memcpy(header.magic, GPROF_FILE_MAGIC, sizeof(header.magic));
	header.crc = block_crc32(&header, offsetof(struct gprof_file_header, crc));
	write_bytes(out, &header, sizeof(header), 0);
	fd = out->fd;
	error = out->error;
	out->fd = error ? fd : -1;
	destroy(out);
	return error ? err_set(-error, "no room in memory for its events: %s", strerror(error))
		     : fd;
}

void import_out_replace(struct stream *stream, int fd)
{
	struct stat status;

	close(stream->fd);
	stream->fd = fd;
	stream->size = fstat(fd, &status) ? 0 : (uint64_t)status.st_size;
	stream->is_trace = true;
}
