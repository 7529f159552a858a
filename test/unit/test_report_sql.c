/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/sql/database.h"
#include "report/sql/event.h"
#include "report/util/closest_name.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

START_TEST(every_column_has_a_meaning)
{
	const struct event_table *table;

	for (unsigned int i = 0; (table = event_table_at(i)); i++) {
		for (unsigned int c = 0; event_table_all(table) >> c; c++) {
			/* One sentence says what they are. */
			ck_assert_msg(
				table->columns[c].type == EVENT_COLUMN_TEXT_ID ||
					*event_column_meaning(table->name, table->columns[c].name),
				"%s.%s", table->name, table->columns[c].name);
		}
	}
}
END_TEST

START_TEST(the_closest_name_is_found)
{
	static const char *const words[] = {"kernel", "memcpy", "memset", NULL};

	ck_assert_str_eq(closest_name("kernels", words), "kernel");
	ck_assert_str_eq(closest_name("KERNEL", words), "kernel");
	ck_assert_str_eq(closest_name("memcopy", words), "memcpy");
	ck_assert_ptr_null(closest_name("step", words));
	ck_assert_ptr_null(closest_name("", words));
}
END_TEST

static const struct event_table *find_table(const char *name)
{
	const struct event_table *table;

	for (unsigned int i = 0; (table = event_table_at(i)); i++) {
		if (strcmp(table->name, name) == 0) {
			return table;
		}
	}
	ck_abort_msg("no table %s", name);
}

static unsigned int find_column(const struct event_table *table, const char *name)
{
	unsigned int c = 0;

	while (strcmp(table->columns[c].name, name) != 0) {
		c++;
	}
	return c;
}

/* An index finds for each key and time what a look at every row finds. */
START_TEST(an_index_finds_what_a_scan_finds)
{
	struct process *process = streams_process(streams_ops("ops.gprof"));
	struct event_input input = {.processes = &process, .nr_processes = 1};
	struct event_indexes indexes = {NULL};
	const struct event_table *table = find_table("kernel");
	unsigned int key = find_column(table, "step");
	const struct event_index_of of = {.table = table,
		.columns = 1ull << key | 1ull << table->time_column,
		.keys = {key},
		.nr_keys = 1,
		.has_time = true};
	const struct event_index *index;
	size_t nr_found = 0;

	input.reader = event_reader_create(&process, 1);
	index = event_index_find(&indexes, &input, &of);
	ck_assert_ptr_eq(index, event_index_find(&indexes, &input, &of));
	for (int64_t step = -1; step < 5; step++) {
		for (int64_t ns = 0; ns < 3000000; ns += 250000) {
			const struct event_bounds bounds = {.first_ns = ns, .last_ns = ns + 249999};
			size_t begin, end, expected = 0;

			for (size_t row = 0; row < index->cells.nr; row++) {
				int64_t time = index->cells.values[table->time_column][row];

				expected += index->cells.known[key][row] &&
					    index->cells.values[key][row] == step && time >= ns &&
					    time <= bounds.last_ns;
			}
			event_index_look_up(index, &step, &bounds, &begin, &end);
			ck_assert_uint_eq(end - begin, expected);
			nr_found += expected;
		}
	}
	ck_assert_uint_eq(nr_found, 12);
	event_indexes_fini(&indexes);
	event_reader_destroy(input.reader);
	process_destroy(process);
}
END_TEST

/* Rows have one number each, by whatever way they are found: SQLite goes by it. */
START_TEST(rows_keep_their_numbers)
{
	struct process *process = streams_process(streams_ops("ops.gprof"));
	struct event_input input = {.processes = &process, .nr_processes = 1};
	static const struct event_bounds any = {.first_ns = INT64_MIN, .last_ns = INT64_MAX};
	const struct event_table *table = find_table("api_launch");
	unsigned int key = find_column(table, "correlation");
	struct event_indexes indexes = {NULL};
	struct event_scan scan = {0};
	const struct event_index *index;
	size_t row = 0;

	input.reader = event_reader_create(&process, 1);
	index = event_index_find(&indexes, &input,
		&(struct event_index_of){
			.table = table, .columns = 1ull << key, .keys = {key}, .nr_keys = 1});
	event_scan_begin(&scan, &input, table, 1ull << key, &any);
	while (event_scan_next(&scan)) {
		for (size_t i = 0; i < scan.cells.nr; i++, row++) {
			ck_assert_int_eq(
				event_index_rowid(index, row), scan.first_rowid + (int64_t)i);
			ck_assert_int_eq(index->cells.values[key][row], scan.cells.values[key][i]);
		}
	}
	ck_assert_uint_eq(row, index->cells.nr);
	event_scan_end(&scan);
	ck_assert_uint_eq(input.nr_scans, 0);
	event_indexes_fini(&indexes);
	event_reader_destroy(input.reader);
	process_destroy(process);
}
END_TEST

static struct process *make_rank(const char *name, const char *rank, const char *thread_name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);

	gen_info(gen, "rank.world", rank);
	gen_thread(gen, 1, GEN_PID, thread_name);
	gen_close(gen, "exit");
	return streams_process(path);
}

/* Processes of several hosts may have the same pid. */
START_TEST(threads_of_equal_pids_differ_by_rank)
{
	struct process *processes[] = {
		make_rank("host0.gprof", "0", "reader"), make_rank("host1.gprof", "1", "writer")};
	static const char sql[] = "SELECT value AS name FROM thread JOIN StringIds ON "
				  "thread.name = id WHERE pid = 4242 AND rank = 1";
	struct database *database;
	struct table *table;
	size_t at = 0;
	char *why;

	if (database_is_available()) {
		database = database_open(processes, 2, &why);
		table = result_table(database_run(database, sql, &at, &why), "rows", "");
		ck_assert_uint_eq(table->nr_rows, 1);
		ck_assert_str_eq(table_row(table, 0)->text, "writer");
		table_destroy(table);
		database_close(database);
	}
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

/* The one cell of a query's one row. */
static uint64_t ask(struct database *database, const char *sql)
{
	struct table *table;
	size_t at = 0;
	uint64_t value;
	char *why;

	table = result_table(database_run(database, sql, &at, &why), "rows", "");
	value = strtoull(table_row(table, 0)->text, NULL, 10);
	table_destroy(table);
	return value;
}

/* One has a byte that is shown as the four characters that the other one has. */
START_TEST(texts_that_look_alike_are_equal)
{
	const char *path = streams_path("alike.gprof");
	struct gen *gen = gen_open(path);
	struct process *process;
	struct database *database;
	char *why;

	gen_info_bytes(gen, "a.one", "same\x01", 5);
	gen_info(gen, "a.two", "same\\x01");
	gen_info_bytes(gen, "a.three", "same\x02", 5);
	gen_info(gen, "a.four", "other");
	gen_close(gen, "exit");
	process = streams_process(path);
	if (database_is_available()) {
		static const char *const conditions[] = {"a.value = b.value",
			"a.value || '' = b.value || ''", "a.value = b.value COLLATE NOCASE"};
		char sql[256];

		database = database_open(&process, 1, &why);
		for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
			snprintf(sql, sizeof(sql),
				"SELECT count(*) FROM info a JOIN info b ON %s "
				"WHERE a.key LIKE 'a.%%' AND b.key LIKE 'a.%%'",
				conditions[i]);
			ck_assert_uint_eq(ask(database, sql), 6);
		}
		ck_assert_uint_eq(
			ask(database, "SELECT count(*) FROM info WHERE value = 'same\\x01'"), 2);
		/* Their numbers are those of the texts as recorded. */
		ck_assert_uint_eq(ask(database, "SELECT count(DISTINCT value_id) FROM info WHERE "
						"value = 'same\\x01'"),
			2);
		database_close(database);
	}
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/sql", every_column_has_a_meaning, the_closest_name_is_found,
	an_index_finds_what_a_scan_finds, rows_keep_their_numbers,
	threads_of_equal_pids_differ_by_rank, texts_that_look_alike_are_equal)
