/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/python/python_line.h"

/* Pairs: bytes of code, lines to advance. The last line extends to the end. */
static uint32_t find_lnotab(
	const unsigned char *table, uint32_t nr_bytes, uint32_t line, uint32_t offset)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i + 1 < nr_bytes; i += 2) {
		at += table[i];
		if (at > offset) {
			break;
		}
		line += (uint32_t)(int8_t)table[i + 1];
	}
	return line;
}

/* Pairs: lines to advance, bytes of code on that line; -128: no line. */
static uint32_t find_pairs(
	const unsigned char *table, uint32_t nr_bytes, uint32_t line, uint32_t offset)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i + 1 < nr_bytes; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		end += table[i];
		line += delta == -128 ? 0 : (uint32_t)delta;
		if (offset < end) {
			return delta == -128 ? 0 : line;
		}
	}
	return 0;
}

/*
 * Six bits a byte, least significant first; bit 6 says that more follow. The sign is in the lowest
 * bit.
 */
static uint32_t signed_varint(const unsigned char *at, const unsigned char *end)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; at < end && shift < 32; at++, shift += 6) {
		value |= (*at & 63u) << shift;
		if (!(*at & 64u)) {
			break;
		}
	}
	return value & 1 ? 0 - (value >> 1) : value >> 1;
}

/* Kinds of entries of the table of places. */
enum { PLACE_SAME_LINE_1 = 11, PLACE_SAME_LINE_2, PLACE_NO_COLUMNS, PLACE_LONG, PLACE_NONE };

/* Entries: a byte 1kkkknnn, for n + 1 units of 2 bytes of code, and what its kind k wants. */
static uint32_t find_places(
	const unsigned char *table, uint32_t nr_bytes, uint32_t line, uint32_t offset)
{
	const unsigned char *at = table, *end = table + nr_bytes;
	uint32_t code_end = 0;

	while (at < end) {
		unsigned int kind = *at >> 3 & 15u;

		code_end += ((*at & 7u) + 1) * 2;
		if (kind == PLACE_NO_COLUMNS || kind == PLACE_LONG) {
			line += signed_varint(at + 1, end);
		} else if (kind == PLACE_SAME_LINE_1 || kind == PLACE_SAME_LINE_2) {
			line += kind - PLACE_SAME_LINE_1 + 1;
		}
		if (offset < code_end) {
			return kind == PLACE_NONE ? 0 : line;
		}
		do {
			at++;
		} while (at < end && !(*at & 128u));
	}
	return 0;
}

uint32_t python_line_find(enum python_lines form, const unsigned char *table, uint32_t nr_bytes,
	uint32_t first_line, uint32_t offset)
{
	switch (form) {
	case PYTHON_LINES_LNOTAB:
		return find_lnotab(table, nr_bytes, first_line, offset);
	case PYTHON_LINES_PAIRS:
		return find_pairs(table, nr_bytes, first_line, offset);
	default:
		return find_places(table, nr_bytes, first_line, offset);
	}
}
