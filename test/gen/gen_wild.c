/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "collector/format/block.h"
#include "test/gen/gen.h"

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Mostly small numbers, so that ids hit something, and now and then the extremes. */
static uint64_t wild_number(uint64_t *state)
{
	static const uint64_t odd[] = {
		0, 1, UINT32_MAX, UINT64_MAX, 1ull << 63, 0x80000000u, UINT64_MAX - 1, 65536};
	uint64_t random = next_random(state);

	switch (random % 8) {
	case 0:
		return odd[(random >> 8) % 8];
	case 1:
		return next_random(state);
	case 2:
		return next_random(state) >> 32;
	default:
		return (random >> 16) % 12;
	}
}

static void fill_row(uint64_t *state, char *row, const struct block_table *table, const char *bytes)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct block_column *column = &table->columns[c];
		uint64_t value = wild_number(state);

		if (column->kind == GPROF_KIND_TEXT) {
			struct gprof_text text = {
				.bytes = bytes + value % 64, .nr_bytes = value % 32};

			memcpy(row + column->offset, &text, sizeof(text));
		} else {
			memcpy(row + column->offset, &value, column->width);
		}
	}
}

void gen_wild(struct gen *gen, uint64_t seed)
{
	static char bytes[96];
	uint64_t state = seed * 2 + 1;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (char)next_random(&state);
	}
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int table = 2; table < GPROF_NR_TABLES; table++) {
			unsigned int nr_rows = (unsigned int)(next_random(&state) % 40);

			for (unsigned int i = 0; block_table(table) && i < nr_rows; i++) {
				fill_row(&state, gen_row(gen, table), block_table(table), bytes);
			}
		}
		gen_flush(gen);
	}
}
