/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes rows into columns, the first half of encoding a block. For the drain thread. */
#ifndef COLLECTOR_FORMAT_ROWS_TO_COLUMNS_H
#define COLLECTOR_FORMAT_ROWS_TO_COLUMNS_H

#include "collector/format/format.h"

/* Rows of a block: a quarter of what the format allows costs 2 % in size, and fits L2. */
#define BLOCK_ENCODE_ROWS 16384u

/*
 * The values of one column. Most columns are narrow, which halves the memory traffic; times and
 * other 8-byte fields are wide. The odd size keeps the columns of a table, which are written side
 * by side, out of the same sets of the first-level cache.
 */
union column_values {
	uint64_t wide[BLOCK_ENCODE_ROWS + 40];
	uint32_t narrow[2 * (BLOCK_ENCODE_ROWS + 40)];
};

/*
 * Fills values[c][at..] for each column c of `table` except texts; signed values keep their bits.
 * at + nr_rows is at most BLOCK_ENCODE_ROWS.
 */
void rows_to_columns(unsigned int table, const void *const *rows, uint32_t nr_rows,
	union column_values *values, uint32_t at);

#endif
