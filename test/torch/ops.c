/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was recorded of frameworks, a line of JSON each: operators, allocations, notices. Times are
 * ticks. usage: ops STREAM...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/session/importers.h"
#include "report/util/err.h"
#include "report/stream/ring_rows.h"
#include "report/stream/rings.h"
#include "report/stream/stream.h"

/* Texts by id: of table string, and ids of such texts by those of op_name and op_shape. */
struct texts {
	char **items;
	size_t capacity;
};

static struct texts strings, ring_strings, names, shapes;
static FILE *out;

static void put(struct texts *texts, uint64_t id, char *text)
{
	while (id >= texts->capacity) {
		size_t capacity = texts->capacity ? 2 * texts->capacity : 1024;

		texts->items = realloc(texts->items, capacity * sizeof(char *));
		if (!texts->items || id > 1u << 24) {
			abort();
		}
		memset(texts->items + texts->capacity, 0,
			(capacity - texts->capacity) * sizeof(char *));
		texts->capacity = capacity;
	}
	texts->items[id] = text;
}

static char *get(const struct texts *texts, uint64_t id)
{
	return id < texts->capacity ? texts->items[id] : NULL;
}

/* Those out of rings are numbered apart. */
static struct texts *strings_of(uint64_t *id)
{
	bool is_ring = *id >= RINGS_FIRST_ID;

	*id -= is_ring ? RINGS_FIRST_ID : 0;
	return is_ring ? &ring_strings : &strings;
}

static char *get_string(uint64_t id)
{
	const struct texts *texts = strings_of(&id);

	return get(texts, id);
}

static void print_text(const char *key, const char *text)
{
	if (!text) {
		return;
	}
	fprintf(out, ", \"%s\": \"", key);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c < 0x20 || *c >= 0x7f || *c == '"' || *c == '\\') {
			fprintf(out, "\\u%04x", *c);
		} else {
			fputc(*c, out);
		}
	}
	fputc('"', out);
}

static void define(const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct decode_text *text;
		struct texts *texts;
		uint64_t id;

		switch (b->table) {
		case GPROF_TABLE_string:
			text = &b->text[COL_string_text][i];
			id = b->col[COL_string_id][i];
			texts = strings_of(&id);
			put(texts, id, strndup(text->bytes, text->nr_bytes));
			break;
		case GPROF_TABLE_op_name:
			put(&names, b->col[COL_op_name_id][i],
				get_string(b->col[COL_op_name_name][i]));
			break;
		default:
			put(&shapes, b->col[COL_op_shape_id][i],
				get_string(b->col[COL_op_shape_name][i]));
			break;
		}
	}
}

static void print_op(const struct batch *b, uint32_t i)
{
	const char *name;

#define OP(column) b->col[COL_op_##column][i]
	fprintf(out,
		"\"begin\": %" PRIu64 ", \"end\": %" PRIu64 ", \"sequence\": %" PRId64
		", \"thread\": %" PRIu64 ", \"framework_thread\": %" PRIu64
		", \"forward_thread\": %" PRIu64 ", \"end_thread\": %" PRIu64
		", \"depth\": %" PRIu64 ", \"framework\": %" PRIu64 ", \"scope\": %" PRIu64,
		OP(begin), OP(begin) + OP(dur), (int64_t)OP(sequence) - 1, OP(thread),
		OP(framework_thread), OP(forward_thread), OP(end_thread), OP(depth), OP(framework),
		OP(scope));
	name = OP(op_name) ? get(&names, OP(op_name)) : get_string(OP(name));
	print_text("name", name ? name : "");
	print_text("shape", get(&shapes, OP(op_shape)));
#undef OP
}

static void print_alloc(const struct batch *b, uint32_t i)
{
#define ALLOC(column) b->col[COL_alloc_##column][i]
	fprintf(out,
		"\"time\": %" PRIu64 ", \"address\": %" PRIu64 ", \"bytes\": %" PRId64
		", \"allocated_bytes\": %" PRIu64 ", \"reserved_bytes\": %" PRIu64
		", \"thread\": %" PRIu64 ", \"device_type\": %" PRIu64 ", \"device\": %" PRIu64,
		ALLOC(time), ALLOC(address), (int64_t)ALLOC(bytes), ALLOC(allocated_bytes),
		ALLOC(reserved_bytes), ALLOC(thread), ALLOC(device_type), ALLOC(device));
#undef ALLOC
}

static void print_rows(const struct stream *stream, const struct batch *b)
{
	static const char *const kinds[GPROF_NR_TABLES] = {[GPROF_TABLE_op] = "op",
		[GPROF_TABLE_alloc] = "alloc",
		[GPROF_TABLE_notice] = "notice",
		[GPROF_TABLE_loss] = "loss"};

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		fprintf(out, "{\"kind\": \"%s\", \"pid\": %u, ", kinds[b->table],
			stream->header.pid);
		switch (b->table) {
		case GPROF_TABLE_op:
			print_op(b, i);
			break;
		case GPROF_TABLE_alloc:
			print_alloc(b, i);
			break;
		case GPROF_TABLE_loss:
			fprintf(out, "\"count\": %" PRIu64, b->col[COL_loss_count][i]);
			print_text("cause", get_string(b->col[COL_loss_cause][i]));
			break;
		default:
			fprintf(out, "\"code\": %" PRId64, (int64_t)b->col[COL_notice_code][i]);
			print_text("cause", get_string(b->col[COL_notice_cause][i]));
			print_text("text", get_string(b->col[COL_notice_text][i]));
			break;
		}
		fputs("}\n", out);
	}
}

/* The tables of one pass over the stream. */
static int pass(struct stream *stream, const unsigned int *tables, size_t nr_tables,
	void (*take)(const struct stream *stream, const struct batch *batch))
{
	for (size_t block = 0; block < stream->nr_blocks; block++) {
		unsigned int table = stream_block_table(stream, block);

		for (size_t k = 0; k < nr_tables; k++) {
			uint32_t mask = COL_ALL(schema_table(tables[k])->nr_columns);
			struct batch batch;

			if (tables[k] == table) {
				if (stream_load(stream, block, mask, 0, &batch)) {
					return 1;
				}
				take(stream, &batch);
			}
		}
	}
	return 0;
}

static void take_definition(const struct stream *stream, const struct batch *batch)
{
	(void)stream;
	define(batch);
}

int main(int argc, char **argv)
{
	static const unsigned int definitions[] = {
		GPROF_TABLE_string, GPROF_TABLE_op_name, GPROF_TABLE_op_shape};
	static const unsigned int events[] = {
		GPROF_TABLE_op, GPROF_TABLE_alloc, GPROF_TABLE_notice, GPROF_TABLE_loss};

	out = stdout;
	for (int i = 1; i < argc; i++) {
		struct stream *stream;

		strings = ring_strings = names = shapes = (struct texts){0};
		if (stream_open(&stream, argv[i], stream_importers)) {
			fprintf(stderr, "ops: %s\n", err_text());
			return 1;
		}
		if (rings_attach_shared(stream)) {
			rings_attach_beside(stream);
		}
		if (pass(stream, definitions, 3, take_definition) ||
			pass(stream, events, 4, print_rows)) {
			fprintf(stderr, "ops: %s: damaged\n", argv[i]);
			return 1;
		}
		stream_close(stream);
	}
	return 0;
}
