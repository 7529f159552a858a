/* SPDX-License-Identifier: Apache-2.0 */
/* Imports by the Python stacks of samples. t129 compares them with the modules' own clocks. */
#include <string.h>

#include "report/util/string_pool.h"
#include "test/unit/report_made.h"

#define MS	 1000000ull
#define PACKAGES "/opt/lib/python3.12/site-packages"
#define IMPORTS	 "<frozen importlib._bootstrap>"

/* Files. */
enum { NO_FILE, TRAIN, DATA, LIST, NUMERIC, CORE, JSON, PARSER, FROZEN, EXTERNAL, LIBRARY };
/* Functions, in that order of files and names. */
static const struct code {
	uint32_t file;
	const char *name;
} codes[] = {
	{NO_FILE, ""}, {TRAIN, "<module>"}, /* 1 */
	{FROZEN, "_find_and_load"},	    /* 2 */
	{FROZEN, "_load_unlocked"},	    /* 3 */
	{NUMERIC, "<module>"},		    /* 4 */
	{CORE, "<module>"},		    /* 5 */
	{CORE, "build_tables"},		    /* 6 */
	{EXTERNAL, "get_data"},		    /* 7 */
	{LIBRARY, "import_module"},	    /* 8 */
	{TRAIN, "step"},		    /* 9 */
	{JSON, "<module>"},		    /* 10 */
	{DATA, "<module>"},		    /* 11 */
};
static const char *const files[] = {[TRAIN] = "/home/me/train.py",
	[DATA] = "/home/me/data/__init__.py",
	[LIST] = "/home/me/data/list.py",
	[NUMERIC] = PACKAGES "/numeric/__init__.py",
	[CORE] = PACKAGES "/numeric/core.py",
	[JSON] = "/usr/lib/python3.12/json/__init__.py",
	[PARSER] = "/usr/lib/python3.12/json/parser.py",
	[FROZEN] = IMPORTS,
	[EXTERNAL] = "<frozen importlib._bootstrap_external>",
	[LIBRARY] = "/usr/lib/python3.12/importlib/__init__.py"};

/* By numbers from 1 on: parent, function, line. */
static const uint32_t stacks[][3] = {
	{0, 0, 0}, {0, 1, 3}, /* 1: train.py(3) */
	{1, 2, 9},	      /* 2: imports */
	{2, 7, 1},	      /* 3: and reads it */
	{2, 3, 5},	      /* 4 */
	{4, 4, 12},	      /* 5: numeric runs */
	{5, 2, 9},	      /* 6: and imports */
	{6, 5, 40},	      /* 7: its core, */
	{7, 6, 50},	      /* 8: which calls */
	{0, 9, 70},	      /* 9: train.py(70): step */
	{9, 8, 90},	      /* 10: calls import_module */
	{10, 2, 9},	      /* 11 */
	{11, 10, 1},	      /* 12: of json */
	{0, 2, 9},	      /* 13: the interpreter imports */
	{13, 11, 1},	      /* 14: data */
};

static const char *recorded(void)
{
	struct made made = made_open("imports.gprof");
	struct gen *gen = made.gen;

	for (uint32_t i = 1; i < sizeof(files) / sizeof(files[0]); i++) {
		gen_py_file(gen, i, files[i]);
	}
	for (uint32_t i = 1; i < sizeof(codes) / sizeof(codes[0]); i++) {
		gen_py_code(gen, i, codes[i].file, 1, codes[i].name);
	}
	for (uint32_t i = 1; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		gen_py_stack(gen, i, stacks[i][0], stacks[i][1], stacks[i][2]);
	}
	for (uint32_t i = 1; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		struct gprof_row_cpu_sample *row = gen_row(gen, GPROF_TABLE_cpu_sample);

		row->time = 1000 + i;
		row->ns = 10 * MS;
		row->task = 77;
		row->py_stack = i;
	}
	{
		uint32_t call = gen_string(gen, "read");
		struct gprof_row_wait_sample *row = gen_row(gen, GPROF_TABLE_wait_sample);

		row->time = 2000;
		row->ns = 100 * MS;
		row->task = 77;
		row->kind = GPROF_OS_READ;
		row->syscall = call;
		row->py_stack = 8;
	}
	gen_close(gen, "exit");
	return made.path;
}

static const char *name_of(const struct table *table, size_t row, const char *key)
{
	return string_pool_text((uint32_t)tables_number(table, row, key), NULL);
}

START_TEST(imports_count_where_the_program_has_them)
{
	struct table *table = tables_of(&view_imports, recorded(), false);

	ck_assert_uint_eq(table->nr_rows, 3);
	/* With what numeric imports itself, and before its name is known. */
	ck_assert_str_eq(name_of(table, 0, "statement"), "train.py(3): <module>");
	ck_assert_str_eq(name_of(table, 0, "package"), "numeric");
	ck_assert_str_eq(name_of(table, 0, "module"), "numeric/core.py(40): <module>");
	ck_assert_uint_eq(tables_number(table, 0, "cpu_ns"), 70 * MS);
	ck_assert_uint_eq(tables_number(table, 0, "wait_ns"), 100 * MS);
	ck_assert_uint_eq(tables_number(table, 0, "samples"), 8);
	table_destroy(table);
}
END_TEST

START_TEST(an_import_in_a_function_is_one_of_its_line)
{
	struct table *table = tables_of(&view_imports, recorded(), false);
	size_t row = tables_find(table, "package", "json", 0);

	ck_assert_str_eq(name_of(table, row, "statement"), "train.py(70): step");
	ck_assert_uint_eq(tables_number(table, row, "total_ns"), 20 * MS);
	row = tables_find(table, "package", "data", 0);
	ck_assert(!tables_cell(table, row, "statement")->is_known);
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/imports", imports_count_where_the_program_has_them,
	an_import_in_a_function_is_one_of_its_line)
