/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of Python's tables of lines; test/python compares them with what Python says. */
#include "preload/python/python_line.h"

#include <stdlib.h>
#include <string.h>

#include "preload/python/python_frame.h"
#include "test/unit/unit.h"

static uint32_t nr_readable; /* 0: all of them */

bool python_peek(void *to, uintptr_t from, uint32_t nr_bytes)
{
	static uint32_t nr_read;

	nr_read = nr_readable ? nr_read + nr_bytes : 0;
	if (nr_read > nr_readable) {
		nr_read = 0;
		return false;
	}
	memcpy(to, (const void *)from, nr_bytes);
	return true;
}

static uint32_t line(enum python_lines form, const char *table, size_t nr_bytes, uint32_t offset)
{
	unsigned char *exact = malloc(nr_bytes ? nr_bytes : 1); /* nothing may be read beyond it */
	uint32_t found;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, table, nr_bytes);
	found = python_line_find(form, (uintptr_t)exact, (uint32_t)nr_bytes, 10, offset);
	free(exact);
	return found;
}

/* 4 bytes on the first line, 2 one further, 6 two back, the rest 127 + 3 further. */
START_TEST(lnotab)
{
	static const char table[] = {4, 1, 2, -2, 6, 127, 0, 3};
	static const uint32_t expected[][2] = {
		{0, 10}, {3, 10}, {4, 11}, {6, 9}, {11, 9}, {12, 139}, {500, 139}};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_uint_eq(line(PYTHON_LINES_LNOTAB, table, sizeof(table), expected[i][0]),
			expected[i][1]);
	}
	ck_assert_uint_eq(line(PYTHON_LINES_LNOTAB, "", 0, 7), 10);
}
END_TEST

START_TEST(pairs)
{
	static const char table[] = {4, 0, 2, 1, 2, -128, 6, -3, 0, 100, 4, 27};
	static const uint32_t expected[][2] = {
		{0, 10}, {3, 10}, {4, 11}, {6, 0}, {8, 8}, {13, 8}, {14, 135}, {17, 135}, {18, 0}};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_uint_eq(line(PYTHON_LINES_PAIRS, table, sizeof(table), expected[i][0]),
			expected[i][1]);
	}
}
END_TEST

/* Same line with columns; one further; none; long, by 100; no columns, by -64. */
START_TEST(places)
{
	static const char table[] = {(char)0x81, 0x11, (char)(0x80 | 11 << 3), 1, 2,
		(char)(0x80 | 15 << 3 | 2), (char)(0x80 | 14 << 3), (char)(64 | (200 & 63)), 3, 0,
		1, 1, (char)(0x80 | 13 << 3 | 7), (char)(64 | (129 & 63)), 2};
	static const uint32_t expected[][2] = {{0, 10}, {3, 10}, {4, 11}, {5, 11}, {6, 0}, {11, 0},
		{12, 111}, {14, 47}, {29, 47}, {30, 0}};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_uint_eq(line(PYTHON_LINES_PLACES, table, sizeof(table), expected[i][0]),
			expected[i][1]);
	}
}
END_TEST

START_TEST(nonsense_is_read_within_its_bounds)
{
	char table[64];

	srand(1);
	for (unsigned int i = 0; i < 20000; i++) {
		size_t nr_bytes = (size_t)rand() % sizeof(table);

		for (size_t k = 0; k < nr_bytes; k++) {
			table[k] = (char)rand();
		}
		line((enum python_lines)(i % 3), table, nr_bytes, (uint32_t)rand() % 300);
	}
}
END_TEST

/* Two bytes of code a line; entries of all lengths lie across the ends of pieces. */
START_TEST(long_tables_are_read_to_their_end)
{
	enum { NR = 40000 };
	static char two_each[2 * NR], entries[4 * NR];

	for (unsigned int i = 0; i < NR; i++) {
		two_each[2 * i] = 2;
		two_each[2 * i + 1] = 1;
		memcpy(entries + 4 * i, (const char[]){(char)(0x80 | 14 << 3), 2, 0, 1}, 4);
		entries[4 * i] = (char)(0x80 | (i % 3 ? 14 : 13) << 3);
	}
	for (uint32_t i = 0; i < NR - 1; i += 101) {
		ck_assert_uint_eq(
			line(PYTHON_LINES_LNOTAB, two_each, sizeof(two_each), 2 * i), 10 + i);
		ck_assert_uint_eq(
			line(PYTHON_LINES_PAIRS, two_each, sizeof(two_each), 2 * i), 11 + i);
		ck_assert_uint_eq(
			line(PYTHON_LINES_PLACES, entries, sizeof(entries), 2 * i), 11 + i);
	}
	nr_readable = 2000;
	ck_assert_uint_eq(line(PYTHON_LINES_LNOTAB, two_each, sizeof(two_each), 2 * 500), 510);
	ck_assert_uint_eq(line(PYTHON_LINES_LNOTAB, two_each, sizeof(two_each), 2 * 1500), 0);
	nr_readable = 0;
}
END_TEST

UNIT_SUITE("python_line", lnotab, pairs, places, nonsense_is_read_within_its_bounds,
	long_tables_are_read_to_their_end)
