/* SPDX-License-Identifier: Apache-2.0 */
/* The list of tables of format.h as data, for the encoder and for the schema in each stream. */
#include "collector/format/block.h"

#define IS_SIGNED(type) _Generic((type *)NULL, int32_t * : 1, int64_t * : 1, default : 0)

#define COLUMN(table, type, column, column_kind)                      \
	{.name = #column,                                             \
		.offset = offsetof(struct gprof_row_##table, column), \
		.kind = GPROF_KIND_##column_kind,                     \
		.width = sizeof(type),                                \
		.is_signed = IS_SIGNED(type)},

#define FITS(table, type, column, column_kind) \
	_Static_assert(sizeof(#column) <= BLOCK_NAME_BYTES, #column);
#define T(id, table, facts, what) GPROF_COLUMNS_##table(FITS, table)
GPROF_TABLES(T)
#undef T

#define T(id, table, facts, what) \
	static const struct block_column table##_columns[] = {GPROF_COLUMNS_##table(COLUMN, table)};
GPROF_TABLES(T)
#undef T

static const struct block_table tables[GPROF_NR_TABLES] = {
#define T(id, table, facts, what)                                                   \
	[id] = {.name = #table,                                                     \
		.columns = table##_columns,                                         \
		.nr_columns = sizeof(table##_columns) / sizeof(table##_columns[0]), \
		.row_bytes = sizeof(struct gprof_row_##table)},
	GPROF_TABLES(T)
#undef T
};

const struct block_table *block_table(unsigned int table)
{
	if (table >= GPROF_NR_TABLES || !tables[table].name) {
		return NULL;
	}
	return &tables[table];
}
