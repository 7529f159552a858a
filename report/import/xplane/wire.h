/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of protocol buffers, read without copies and within bounds. */
#ifndef REPORT_IMPORT_XPLANE_WIRE_H
#define REPORT_IMPORT_XPLANE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rest of a message that is not read yet. */
struct wire {
	const unsigned char *at, *end;
	bool is_bad; /* it does not end with a whole field */
};

struct wire_field {
	uint32_t number;
	uint64_t value;	   /* of a varint or a fixed number; 0 for bytes */
	struct wire bytes; /* a text or a message; empty for numbers */
};

static inline struct wire wire_of(const void *bytes, size_t nr_bytes)
{
	const unsigned char *at = bytes;

	return (struct wire){.at = at, .end = at + nr_bytes};
}

static inline size_t wire_length(const struct wire *wire)
{
	return (size_t)(wire->end - wire->at);
}

/* Returns where the text first occurs in the bytes, NULL if nowhere. */
const unsigned char *wire_find(const struct wire *wire, const char *text);

/* Reads a number of up to ten bytes, seven bits in each. */
bool wire_varint(struct wire *wire, uint64_t *value);

/* Reads the next field; false at the end and where the bytes are damaged. */
bool wire_next(struct wire *wire, struct wire_field *field);

#endif
