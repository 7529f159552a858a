/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop for each table of format.h, made from its list of columns: a row is found once and all
 * its fields are taken, which is half the work of taking the columns one after the other.
 */
#include "collector/format/rows_to_columns.h"

#include <string.h>

/* Rows of rings were written last by another core: their way here is long. */
#define AHEAD 64u

/* nr_bytes is constant where this is inlined, so only one case is left there. */
static inline __attribute__((always_inline)) void store(
	union column_values *values, uint32_t at, const void *field, size_t nr_bytes)
{
	union {
		uint8_t one;
		uint16_t two;
		uint32_t four;
		uint64_t eight;
	} value;

	if (nr_bytes <= sizeof(value)) {
		memcpy(&value, field, nr_bytes);
	}
	switch (nr_bytes) {
	case 1:
		values->narrow[at] = value.one;
		break;
	case 2:
		values->narrow[at] = value.two;
		break;
	case 4:
		values->narrow[at] = value.four;
		break;
	case 8:
		values->wide[at] = value.eight;
		break;
	default:
		break; /* a text */
	}
}

#define FIELD(table, type, name, kind) store(column++, at + i, &row->name, sizeof(type));
#define T(id, table, facts, what)                                                      \
	static void from_##table(const void *const *rows, uint32_t nr_rows,            \
		union column_values *values, uint32_t at)                              \
	{                                                                              \
		for (uint32_t i = 0; i < nr_rows; i++) {                               \
			const struct gprof_row_##table *row = rows[i];                 \
			union column_values *column = values;                          \
                                                                                       \
			__builtin_prefetch(rows[i + AHEAD < nr_rows ? i + AHEAD : i]); \
			GPROF_COLUMNS_##table(FIELD, table)                            \
		}                                                                      \
	}
GPROF_TABLES(T)
#undef T

typedef void (*table_gather_fn)(
	const void *const *rows, uint32_t nr_rows, union column_values *values, uint32_t at);

static const table_gather_fn functions[GPROF_NR_TABLES] = {
#define T(id, table, facts, what) [id] = from_##table,
	GPROF_TABLES(T)
#undef T
};

void rows_to_columns(unsigned int table, const void *const *rows, uint32_t nr_rows,
	union column_values *values, uint32_t at)
{
	functions[table](rows, nr_rows, values, at);
}
