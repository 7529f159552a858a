/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the wire format of protocol buffers field by field: each read shortens the span at its
 * front, and none goes beyond its end. A field that does not fit ends the message with is_bad.
 * Groups, an old kind of field, count as damage.
 */
#include "report/import/xplane/wire.h"

#include <string.h>

enum {
	TYPE_VARINT = 0,
	TYPE_FIXED64 = 1,
	TYPE_BYTES = 2,
	TYPE_FIXED32 = 5,
};

const unsigned char *wire_find(const struct wire *wire, const char *text)
{
	return wire->at < wire->end ? memmem(wire->at, wire_length(wire), text, strlen(text))
				    : NULL;
}

bool wire_varint(struct wire *wire, uint64_t *value)
{
	uint64_t result = 0;

	for (unsigned int shift = 0; shift < 70 && wire->at < wire->end; shift += 7) {
		unsigned char byte = *wire->at++;

		result |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (byte < 0x80) {
			*value = result;
			return true;
		}
	}
	return false;
}

static bool read_fixed(struct wire *wire, size_t nr_bytes, uint64_t *value)
{
	if (wire_length(wire) < nr_bytes) {
		return false;
	}
	*value = 0;
	memcpy(value, wire->at, nr_bytes);
	wire->at += nr_bytes;
	return true;
}

static bool read_bytes(struct wire *wire, struct wire *bytes)
{
	uint64_t nr_bytes;

	if (!wire_varint(wire, &nr_bytes) || nr_bytes > wire_length(wire)) {
		return false;
	}
	*bytes = wire_of(wire->at, (size_t)nr_bytes);
	wire->at += nr_bytes;
	return true;
}

static bool read_field(struct wire *wire, struct wire_field *field)
{
	uint64_t tag;

	*field = (struct wire_field){0};
	if (!wire_varint(wire, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX) {
		return false;
	}
	field->number = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case TYPE_VARINT:
		return wire_varint(wire, &field->value);
	case TYPE_FIXED64:
		return read_fixed(wire, 8, &field->value);
	case TYPE_FIXED32:
		return read_fixed(wire, 4, &field->value);
	case TYPE_BYTES:
		return read_bytes(wire, &field->bytes);
	default:
		return false;
	}
}

bool wire_next(struct wire *wire, struct wire_field *field)
{
	if (wire->at == wire->end || wire->is_bad) {
		return false;
	}
	wire->is_bad = !read_field(wire, field);
	return !wire->is_bad;
}
