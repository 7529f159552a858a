/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers: changes what one field at some depth contains, and mends the lengths of all
 * that contain it, so that the change reaches the reader of that field.
 */
#include "test/fuzz/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "report/import/xplane/wire.h"

#define MOST_DEPTH   6
#define LENGTH_BYTES 10u

static size_t write_varint(uint8_t *bytes, uint64_t value)
{
	size_t nr = 0;

	while (value > 127) {
		bytes[nr++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[nr++] = (uint8_t)value;
	return nr;
}

/* The nth field that holds bytes, counting from 0; how many there are if there is none. */
static uint32_t find_field(struct wire message, uint32_t nth, struct wire_field *found)
{
	struct wire_field field;
	uint32_t nr = 0;

	found->bytes = (struct wire){0};
	while (wire_next(&message, &field)) {
		if (field.bytes.at && nr++ == nth) {
			*found = field;
			return nr;
		}
	}
	return message.is_bad ? 0 : nr;
}

/* A random number from 0 to `most` - 1. */
static uint32_t draw(unsigned int *seed, uint32_t most)
{
	return (uint32_t)rand_r(seed) % most;
}

static size_t change(
	uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int *seed, int depth)
{
	struct wire_field field;
	uint32_t nr = find_field(wire_of(bytes, nr_bytes), UINT32_MAX, &field);
	size_t begin, end, nr_length, room, nr_part, nr_rest;
	uint8_t *part, length[LENGTH_BYTES];

	if (!nr || depth == MOST_DEPTH || !draw(seed, 4)) {
		return LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
	}
	find_field(wire_of(bytes, nr_bytes), draw(seed, nr), &field);
	begin = (size_t)(field.bytes.at - bytes);
	nr_part = wire_length(&field.bytes);
	end = begin + nr_part;
	nr_rest = nr_bytes - end;
	nr_length = write_varint(length, nr_part);
	begin -= nr_length;
	if (memcmp(bytes + begin, length, nr_length) != 0 || /* written in more bytes than needed */
		max_bytes < nr_bytes + LENGTH_BYTES) {
		return LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
	}
	room = max_bytes - nr_bytes - LENGTH_BYTES + nr_part;
	part = malloc(room + nr_rest + 1);
	if (!part) {
		return nr_bytes;
	}
	memcpy(part, field.bytes.at, nr_part);
	nr_part = change(part, nr_part, room, seed, depth + 1);
	memcpy(part + nr_part, bytes + end, nr_rest);
	nr_length = write_varint(bytes + begin, nr_part);
	memcpy(bytes + begin + nr_length, part, nr_part + nr_rest);
	free(part);
	return begin + nr_length + nr_part + nr_rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int seed)
{
	return change(bytes, nr_bytes, max_bytes, &seed, 0);
}
