/* SPDX-License-Identifier: Apache-2.0 */
/* A stream with rings: either is changed, and the heads of file, chunks and rows are mended. */
#include <stdbool.h>
#include <string.h>

#include "collector/format/format.h"
#include "test/fuzz/mutate.h"

struct rings {
	uint8_t *bytes;
	size_t nr_bytes;
	struct gprof_rings_header header;
};

/* The whole rows of a chunk, one of which is picked; their number is returned. */
static size_t walk(const uint8_t *rows, size_t nr_bytes, size_t wanted, size_t *place)
{
	struct gprof_row_head head;
	size_t nr = 0;

	for (size_t at = 0; at + sizeof(head) <= nr_bytes; at += head.bytes, nr++) {
		memcpy(&head, rows + at, sizeof(head));
		if (head.bytes < sizeof(head) || head.bytes % GPROF_ALIGN ||
			head.bytes > nr_bytes - at) {
			break;
		}
		if (nr == wanted) {
			*place = at;
		}
	}
	return nr;
}

static void change_row(uint8_t *row, uint64_t *state)
{
	struct gprof_row_head head;
	uint64_t value = mutate_number(state);
	size_t word;

	memcpy(&head, row, sizeof(head));
	word = head.bytes / sizeof(value) > 1 ? mutate_below(state, head.bytes / sizeof(value)) : 0;
	switch (mutate_below(state, 8)) {
	case 0:
		head.table = (uint8_t)mutate_below(state, GPROF_NR_TABLES + 2);
		break;
	case 1:
		head.text_bytes = (uint32_t)value;
		break;
	case 2:
		LLVMFuzzerMutate(
			row + sizeof(head), head.bytes - sizeof(head), head.bytes - sizeof(head));
		break;
	default:
		memcpy(row + (word ? word : 1) * sizeof(value), &value, sizeof(value));
		break;
	}
	memcpy(row, &head, sizeof(head));
}

static void change_chunk(
	uint8_t *bytes, size_t nr_bytes, uint64_t *state, struct gprof_chunk_header *chunk)
{
	size_t nr_rows, place = 0, room = nr_bytes - sizeof(*chunk);

	nr_rows = walk(bytes + sizeof(*chunk), room, 0, &place);
	switch (mutate_below(state, 12)) {
	case 0:
		chunk->thread = (uint32_t)mutate_below(state, 4);
		break;
	case 1:
		chunk->chunk_seq = (uint32_t)mutate_below(state, 4);
		break;
	case 2:
		chunk->committed = (uint32_t)mutate_number(state);
		break;
	case 3:
		chunk->lost = mutate_number(state);
		break;
	default:
		if (nr_rows) {
			walk(bytes + sizeof(*chunk), room, mutate_below(state, nr_rows), &place);
			if (room - place > 2 * sizeof(struct gprof_row_head)) {
				change_row(bytes + sizeof(*chunk) + place, state);
			}
		} else if (room) {
			LLVMFuzzerMutate(bytes + sizeof(*chunk), room, room);
		}
		break;
	}
}

static void change_rings(struct rings *rings, uint64_t *state)
{
	size_t chunk_bytes = rings->header.chunk_bytes,
	       left = rings->nr_bytes - sizeof(rings->header);
	struct gprof_chunk_header chunk;
	uint8_t *at;

	if (!mutate_below(state, 16)) {
		rings->header.end_kind = (uint32_t)mutate_below(state, 6);
		rings->header.end_code = (uint32_t)mutate_number(state);
	}
	if (chunk_bytes < sizeof(chunk) + sizeof(struct gprof_row_head) || left < chunk_bytes) {
		return;
	}
	at = rings->bytes + sizeof(rings->header) +
	     mutate_below(state, left / chunk_bytes) * chunk_bytes;
	memcpy(&chunk, at, sizeof(chunk));
	change_chunk(at, chunk_bytes, state, &chunk);
	chunk.magic = GPROF_CHUNK_MAGIC;
	memcpy(at, &chunk, sizeof(chunk));
}

/* The file that belongs to this stream, and has the chunks that are there. */
static void mend(struct rings *rings, const uint8_t *stream, size_t stream_bytes)
{
	struct gprof_rings_header *header = &rings->header;

	memcpy(header->magic, GPROF_RINGS_MAGIC, sizeof(header->magic));
	header->major = GPROF_FORMAT_MAJOR;
	header->header_bytes = sizeof(*header);
	if (stream_bytes >= sizeof(struct gprof_file_header)) {
		memcpy(&header->stream_id, stream + offsetof(struct gprof_file_header, stream_id),
			sizeof(header->stream_id));
	}
	memcpy(rings->bytes, header, sizeof(*header));
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nr_bytes, size_t max_bytes, unsigned int seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull;
	uint32_t length = 0;
	uint8_t *stream = bytes + sizeof(length);
	struct rings rings;
	bool is_whole;

	if (nr_bytes >= sizeof(length)) {
		memcpy(&length, bytes, sizeof(length));
	}
	is_whole = nr_bytes >= sizeof(length) + sizeof(rings.header) &&
		   length <= nr_bytes - sizeof(length) - sizeof(rings.header);
	if (!is_whole || !mutate_below(&state, 64)) {
		return LLVMFuzzerMutate(bytes, nr_bytes, max_bytes);
	}
	if (!mutate_below(&state, 4)) {
		/* The rings move to where the stream may end at most, and back behind its end. */
		size_t rest = nr_bytes - sizeof(length) - length, most = max_bytes - rest;
		size_t now;

		memmove(bytes + most, stream + length, rest);
		now = mutate_stream(stream, length, most - sizeof(length), &state);
		memmove(stream + now, bytes + most, rest);
		length = (uint32_t)now;
		memcpy(bytes, &length, sizeof(length));
		nr_bytes = sizeof(length) + now + rest;
	}
	rings = (struct rings){
		.bytes = stream + length, .nr_bytes = nr_bytes - sizeof(length) - length};
	memcpy(&rings.header, rings.bytes, sizeof(rings.header));
	for (uint64_t times = 1 + mutate_below(&state, 4); times; times--) {
		change_rings(&rings, &state);
	}
	if (mutate_below(&state, 16)) {
		mend(&rings, stream, length);
	}
	return nr_bytes;
}
