/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table has had three forms: up to 3.9, in 3.10, and from 3.11 on. Each find_ function walks it
 * from the start and sums up lines until it reaches the instruction.
 */
#include "preload/python/python_line.h"

#include <stdbool.h>

#include "preload/python/python_frame.h"

#define PIECE_BYTES 1024u

/* Reads a table from start to end. */
struct table {
	uintptr_t at; /* address of the part after the piece */
	uint32_t nr_left;
	bool is_unreadable;
	uint32_t nr_read, nr_used; /* bytes of the piece */
	unsigned char piece[PIECE_BYTES];
};

/* Returns the next byte; -1 at the end. */
static int next(struct table *table)
{
	if (table->nr_used == table->nr_read) {
		uint32_t nr_bytes = table->nr_left < PIECE_BYTES ? table->nr_left : PIECE_BYTES;

		if (!nr_bytes) {
			return -1;
		}
		if (!python_peek(table->piece, table->at, nr_bytes)) {
			table->is_unreadable = true;
			table->nr_left = 0;
			return -1;
		}
		table->at += nr_bytes;
		table->nr_left -= nr_bytes;
		table->nr_read = nr_bytes;
		table->nr_used = 0;
	}
	return table->piece[table->nr_used++];
}

/* Pairs: bytes of code, lines to advance. The last line extends to the end. */
static uint32_t find_lnotab(struct table *table, uint32_t line, uint32_t offset)
{
	uint32_t at = 0;
	int bytes, lines;

	while ((bytes = next(table)) >= 0 && (lines = next(table)) >= 0) {
		at += (uint32_t)bytes;
		if (at > offset) {
			break;
		}
		line += (uint32_t)(int8_t)lines;
	}
	return line;
}

/* Pairs: lines to advance, bytes of code on that line; -128: no line. */
static uint32_t find_pairs(struct table *table, uint32_t line, uint32_t offset)
{
	uint32_t end = 0;
	int bytes, lines;

	while ((bytes = next(table)) >= 0 && (lines = next(table)) >= 0) {
		int8_t delta = (int8_t)lines;

		end += (uint32_t)bytes;
		line += delta == -128 ? 0 : (uint32_t)delta;
		if (offset < end) {
			return delta == -128 ? 0 : line;
		}
	}
	return 0;
}

/*
 * Reads a number of six bits a byte, least significant first; bit 6 says that more follow. The
 * lowest bit of the value is its sign. *byte holds the first byte, and afterwards the one after the
 * last.
 */
static uint32_t signed_varint(struct table *table, int *byte)
{
	uint32_t value = 0;
	bool has_more = true;

	for (unsigned int shift = 0; has_more && *byte >= 0 && shift < 32; shift += 6) {
		value |= ((uint32_t)*byte & 63u) << shift;
		has_more = *byte & 64;
		*byte = next(table);
	}
	return value & 1 ? 0 - (value >> 1) : value >> 1;
}

/* Kinds of entries of the third form. */
enum { PLACE_SAME_LINE_1 = 11, PLACE_SAME_LINE_2, PLACE_NO_COLUMNS, PLACE_LONG, PLACE_NONE };

/* Entries: a byte 1kkkknnn, for n + 1 units of 2 bytes of code, and what its kind k wants. */
static uint32_t find_places(struct table *table, uint32_t line, uint32_t offset)
{
	uint32_t code_end = 0;
	int byte = next(table);

	while (byte >= 0) {
		unsigned int kind = (unsigned int)byte >> 3 & 15u;

		code_end += (((uint32_t)byte & 7u) + 1) * 2;
		byte = next(table);
		if (kind == PLACE_NO_COLUMNS || kind == PLACE_LONG) {
			line += signed_varint(table, &byte);
		} else if (kind == PLACE_SAME_LINE_1 || kind == PLACE_SAME_LINE_2) {
			line += kind - PLACE_SAME_LINE_1 + 1;
		}
		if (offset < code_end) {
			return kind == PLACE_NONE ? 0 : line;
		}
		while (byte >= 0 && !(byte & 128)) {
			byte = next(table);
		}
	}
	return 0;
}

uint32_t python_line_find(enum python_lines form, uintptr_t at, uint32_t nr_bytes,
	uint32_t first_line, uint32_t offset)
{
	uint32_t (*const find[])(struct table *, uint32_t, uint32_t) = {
		[PYTHON_LINES_LNOTAB] = find_lnotab,
		[PYTHON_LINES_PAIRS] = find_pairs,
		[PYTHON_LINES_PLACES] = find_places};
	struct table table;
	uint32_t line;

	table.at = at;
	table.nr_left = nr_bytes;
	table.is_unreadable = false;
	table.nr_read = table.nr_used = 0;
	line = find[form](&table, first_line, offset);
	return table.is_unreadable ? 0 : line;
}
