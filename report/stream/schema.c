/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables and columns that this reader knows, as data: expanded from the lists of format.h, so
 * that no name stands twice. stream.c maps the tables of a stream to these by name when it opens
 * it, which lets older and newer streams have other numbers, and names of version 1.x have a new
 * one here.
 */
#include "report/stream/types.h"
#include "report/util/text.h"

#include <stdbool.h>
#include <string.h>

#define COLUMN(table, type, column, column_kind)  \
	{.name = #column,                         \
		.kind = GPROF_KIND_##column_kind, \
		.width = sizeof(type),            \
		.offset = offsetof(struct gprof_row_##table, column)},

#define T(id, table, facts, what)                               \
	static const struct schema_column table##_columns[] = { \
		GPROF_COLUMNS_##table(COLUMN, table)};
GPROF_TABLES(T)
#undef T

static const struct schema_table tables[GPROF_NR_TABLES] = {
#define T(id, table, facts, text)                              \
	[id] = {.name = #table,                                \
		.what = text,                                  \
		.nr_columns = NR_COL_##table,                  \
		.row_bytes = sizeof(struct gprof_row_##table), \
		.columns = table##_columns},
	GPROF_TABLES(T)
#undef T
};

const struct schema_table *schema_table(unsigned int table)
{
	return table < GPROF_NR_TABLES && tables[table].name ? &tables[table] : NULL;
}

/* Tables and columns that 1.x streams have under another name. */
static const struct {
	const char *old, *name;
} renamed[] = {{"stall", "hang"}, {"door", "source"}};

static bool has_name(const char *known, const char *name, uint32_t nr_bytes)
{
	if (text_is(name, nr_bytes, known)) {
		return true;
	}
	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
		if (strcmp(known, renamed[i].name) == 0 &&
			text_is(name, nr_bytes, renamed[i].old)) {
			return true;
		}
	}
	return false;
}

unsigned int schema_find_table(const char *name, uint32_t nr_bytes)
{
	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		if (tables[table].name && has_name(tables[table].name, name, nr_bytes)) {
			return table;
		}
	}
	return 0;
}

int schema_find_column(unsigned int table, const char *name, uint32_t nr_bytes)
{
	const struct schema_table *known = schema_table(table);

	for (unsigned int i = 0; known && i < known->nr_columns; i++) {
		if (has_name(known->columns[i].name, name, nr_bytes)) {
			return (int)i;
		}
	}
	return -1;
}

unsigned int schema_column_of_kind(unsigned int table, unsigned int kind)
{
	for (unsigned int i = 0; i < tables[table].nr_columns; i++) {
		if (tables[table].columns[i].kind == kind) {
			return i;
		}
	}
	return 0;
}
