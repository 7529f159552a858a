/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/report_tables.h"

#include <string.h>

#include "report/model/time_axis.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

struct table *tables_with(const struct view_class *class, const struct view_input *input)
{
	struct table *table;
	void *view;

	view_run(input, &class, 1, &view);
	table = view_table(class, view);
	view_destroy(class, view);
	return table;
}

struct table *tables_make(
	const struct view_class *class, struct process **processes, size_t nr, bool is_split)
{
	const struct view_input input = {.processes = processes,
		.nr_processes = nr,
		.is_all = true,
		.is_per_thread = is_split,
		.is_detailed = is_split};

	time_axis_set(processes, nr);
	return tables_with(class, &input);
}

struct table *tables_detailed(const struct view_class *class, const char *path,
	enum view_detail detail, bool is_per_thread)
{
	struct process *process = streams_process(path);
	const struct view_input input = {.processes = &process,
		.nr_processes = 1,
		.is_per_thread = is_per_thread,
		.detail = detail};
	struct table *table = tables_with(class, &input);

	process_destroy(process);
	return table;
}

struct table *tables_of(const struct view_class *class, const char *path, bool is_split)
{
	struct process *process = streams_process(path);
	struct table *table = tables_make(class, &process, 1, is_split);

	process_destroy(process);
	return table;
}

void tables_of_nonsense(const struct view_class *class, bool is_split)
{
	for (uint64_t seed = 1; seed < 8; seed++) {
		const char *path = streams_path("wild");
		struct gen *gen = gen_open(path);

		gen_wild(gen, seed);
		gen_close(gen, NULL);
		table_destroy(tables_of(class, path, is_split));
	}
}

const struct table_cell *tables_cell(const struct table *table, size_t row, const char *key)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (strcmp(table->columns[c].key, key) == 0) {
			ck_assert_uint_lt(row, table->nr_rows);
			return &table->cells[row * table->nr_columns + c];
		}
	}
	ck_abort_msg("no column %s", key);
	return NULL;
}

uint64_t tables_number(const struct table *table, size_t row, const char *key)
{
	ck_assert(tables_cell(table, row, key)->is_known);
	return tables_cell(table, row, key)->integer;
}

const char *tables_name(const struct table *table, size_t row)
{
	return string_pool_demangled((uint32_t)tables_number(table, row, "name"), NULL);
}

size_t tables_find(const struct table *table, const char *key, const char *text, size_t n)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct table_cell *found = tables_cell(table, i, key);
		const char *have = found->text ? found->text
					       : string_pool_text((uint32_t)found->integer, NULL);

		if (strcmp(have, text) == 0 && !n--) {
			return i;
		}
	}
	ck_abort_msg("no row %s", text);
	return 0;
}
