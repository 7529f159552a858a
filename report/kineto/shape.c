/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/shape.h"

#include <stdlib.h>
#include <sys/mman.h>

#define NR_KNOWN    16384u
#define ARENA_BYTES (16u << 20)

void kineto_shapes_init(struct kineto_shapes *shapes)
{
	*shapes = (struct kineto_shapes){0};
}

void kineto_shapes_fini(struct kineto_shapes *shapes)
{
	if (shapes->known.entries) {
		munmap(shapes->known.entries,
			shapes->known.nr_entries * sizeof(*shapes->known.entries));
	}
	if (shapes->known.arena) {
		munmap(shapes->known.arena, shapes->known.arena_bytes);
	}
	buf_fini(&shapes->key);
	buf_fini(&shapes->text);
	free(shapes->ids);
}

/* Kineto's words for types of elements, and the recorder's; of several the usual one comes first.
 */
static const char *const type_names[][2] = {{"float", "float32"}, {"double", "float64"},
	{"c10::Half", "float16"}, {"c10::BFloat16", "bfloat16"}, {"long int", "int64"},
	{"long", "int64"}, {"long long", "int64"}, {"int", "int32"}, {"short int", "int16"},
	{"short", "int16"}, {"signed char", "int8"}, {"char", "int8"}, {"unsigned char", "uint8"},
	{"bool", "bool"}, {"c10::complex<float>", "complex64"},
	{"c10::complex<double>", "complex128"}, {"c10::complex<c10::Half>", "complex32"},
	{"c10::Float8_e4m3fn", "float8_e4m3fn"}, {"c10::Float8_e5m2", "float8_e5m2"},
	{"c10::qint8", "qint8"}, {"c10::quint8", "quint8"}, {"c10::qint32", "qint32"},
	{"unsigned short", "uint16"}, {"unsigned int", "uint32"}, {"unsigned long", "uint64"}};

/* What the recorder calls a type of elements; NULL: no tensor. */
static const char *type_name(const struct kineto_json *json, int token)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
		if (kineto_json_is(json, token, type_names[i][0], strlen(type_names[i][0]))) {
			return type_names[i][1];
		}
	}
	return NULL;
}

const char *kineto_shape_type(const char *name, size_t nr_bytes)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
		if (strlen(type_names[i][1]) == nr_bytes &&
			!memcmp(type_names[i][1], name, nr_bytes)) {
			return type_names[i][0];
		}
	}
	return NULL;
}

/* Sizes of one input; false if there are lists in it. */
static bool add_sizes(struct buf *text, const struct kineto_json *json, int dims)
{
	int end = kineto_json_next(json, dims);
	size_t before = text->nr_bytes;

	buf_char(text, '[');
	for (int i = dims + 1; i < end; i++) {
		uint64_t size;

		if (json->tokens[i].type != JSMN_PRIMITIVE || !kineto_json_number(json, i, &size)) {
			text->nr_bytes = before;
			return false;
		}
		if (i > dims + 1) {
			buf_char(text, ',');
		}
		buf_uint(text, size);
	}
	buf_char(text, ']');
	return true;
}

/* Returns whether it is a tensor. */
static bool add_input(struct buf *text, const struct kineto_json *json, int dims, int type)
{
	const char *name = type ? type_name(json, type) : NULL;
	bool has_sizes = json->tokens[dims].type == JSMN_ARRAY && json->tokens[dims].size > 0;

	if (json->tokens[dims].type == JSMN_ARRAY && (name || has_sizes)) {
		size_t before = text->nr_bytes;

		buf_text(text, name ? name : "?");
		if (add_sizes(text, json, dims)) {
			return true;
		}
		text->nr_bytes = before;
	}
	buf_text(text, "scalar");
	return false;
}

static void make_text(struct buf *text, const struct kineto_json *json, int dims, int types)
{
	int end = kineto_json_next(json, dims);
	int type = types ? types + 1 : 0;
	int types_end = types ? kineto_json_next(json, types) : 0;
	size_t whole = 0; /* up to the last tensor */

	text->nr_bytes = 0;
	for (int i = dims + 1; i < end && text->nr_bytes < GPROF_TEXT_BYTES;
		i = kineto_json_next(json, i)) {
		if (text->nr_bytes) {
			buf_text(text, ", ");
		}
		type = type < types_end ? type : 0;
		if (add_input(text, json, i, type)) {
			whole = text->nr_bytes;
		}
		type = type ? kineto_json_next(json, type) : 0;
	}
	text->nr_bytes = whole;
}

uint32_t kineto_shapes_id(struct kineto_shapes *shapes, const struct kineto_json *json, int dims,
	int types, struct kineto_out *out)
{
	const struct intern_entry *entry;
	bool is_new;

	if (!shapes->known.entries && intern_init(&shapes->known, NR_KNOWN, ARENA_BYTES)) {
		return 0;
	}
	shapes->key.nr_bytes = 0;
	buf_add(&shapes->key, json->bytes + json->tokens[dims].start,
		kineto_json_length(json, dims));
	if (types) {
		buf_char(&shapes->key, '|');
		buf_add(&shapes->key, json->bytes + json->tokens[types].start,
			kineto_json_length(json, types));
	}
	entry = intern_find(&shapes->known, shapes->key.bytes, shapes->key.nr_bytes, &is_new);
	if (!entry) {
		return 0;
	}
	if (is_new) {
		uint32_t name = 0;

		while (shapes->capacity <= entry->id) {
			shapes->ids = array_grow(shapes->ids, shapes->capacity, &shapes->capacity,
				sizeof(*shapes->ids));
		}
		make_text(&shapes->text, json, dims, types);
		name = kineto_out_string(out, shapes->text.bytes, shapes->text.nr_bytes);
		shapes->ids[entry->id] = name ? ++shapes->nr_ids : 0;
		if (name) {
			struct gprof_row_op_shape *row = kineto_out_row(out, GPROF_TABLE_op_shape);

			row->id = shapes->nr_ids;
			row->name = name;
		}
	}
	return shapes->ids[entry->id];
}
