/* SPDX-License-Identifier: Apache-2.0 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/util/err.h"
#include "report/util/string_pool.h"
#include "report/reduce/reduced_view.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

enum { NR_STREAMS = 6, HEAD_BYTES = 20, TAIL_BYTES = 4 };

/* Ranks of a framework's run, two of NCCL, one without a rank. */
static const char *stream_of(unsigned int i)
{
	char name[32], rank[16];
	const char *path;
	struct gen *gen;

	snprintf(name, sizeof(name), "%u.gprof", i);
	path = streams_path(name);
	gen = gen_open(path);
	if (i < 2) {
		gen_nccl(gen, i, false);
	} else if (i == 2) {
		gen_ops(gen);
	} else {
		snprintf(rank, sizeof(rank), "%u", i);
		gen_info(gen, "rank.world", rank);
		gen_info(gen, "rank.world_size", "6");
		gen_model(gen, 9000, i);
	}
	gen_close(gen, "exit");
	return path;
}

static struct buf bytes_of(struct reduced *reduced)
{
	struct buf bytes = {0};

	reduced_write(reduced, &bytes);
	return bytes;
}

static struct reduced read_back(const struct buf *bytes)
{
	struct reduced reduced;

	ck_assert_int_eq(reduced_read_bytes(&reduced, bytes->bytes, bytes->nr_bytes), 0);
	return reduced;
}

static void add(struct reduced *into, const struct buf *bytes)
{
	struct reduced one = read_back(bytes);

	ck_assert_msg(!reduced_merge(into, &one), "%s", err_text());
}

/* As in files of version 1. */
static void forget_each(struct reduced *reduced)
{
	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		sketch_fini(&row->of_processes);
	}
}

/* The last one knows of no process what it spent. */
static void make_all(struct buf *parts, struct buf *whole)
{
	struct reduced all = {0};

	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		struct reduced one = streams_reduced(stream_of(i));

		if (i + 1 == NR_STREAMS) {
			forget_each(&one);
		}
		parts[i] = bytes_of(&one);
		reduced_fini(&one);
		add(&all, &parts[i]);
	}
	*whole = bytes_of(&all);
	reduced_fini(&all);
}

static void free_all(struct buf *parts, struct buf *whole)
{
	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		buf_fini(&parts[i]);
	}
	buf_fini(whole);
}

START_TEST(any_tree_of_merges_in_any_order_gives_the_same_bytes)
{
	struct buf parts[NR_STREAMS], whole, sum;
	struct reduced trees[NR_STREAMS];
	uint64_t seed = 9;

	make_all(parts, &whole);
	for (unsigned int round = 0; round < 40; round++) {
		for (unsigned int i = 0; i < NR_STREAMS; i++) {
			trees[i] = read_back(&parts[i]);
		}
		for (size_t nr = NR_STREAMS; nr > 1; nr--) {
			size_t from = unit_below(&seed, nr), into = unit_below(&seed, nr - 1);
			struct reduced one = trees[from];

			trees[from] = trees[nr - 1];
			ck_assert_int_eq(reduced_merge(&trees[into], &one), 0);
		}
		sum = bytes_of(&trees[0]);
		ck_assert_uint_eq(sum.nr_bytes, whole.nr_bytes);
		ck_assert_mem_eq(sum.bytes, whole.bytes, whole.nr_bytes);
		buf_fini(&sum);
		reduced_fini(&trees[0]);
	}
	free_all(parts, &whole);
}
END_TEST

/* The row of the same thing; rows that share a name are told apart by calls and total. */
static size_t same_row(const struct table *table, const struct table *of, size_t row)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		if (tables_number(table, i, "calls") == tables_number(of, row, "calls") &&
			tables_number(table, i, "total_ns") == tables_number(of, row, "total_ns") &&
			strcmp(tables_name(table, i), tables_name(of, row)) == 0) {
			return i;
		}
	}
	ck_abort_msg("%s is not there with the same calls and total", tables_name(of, row));
	return 0;
}

static void check_row(const struct table *table, size_t row, const struct table *of, size_t of_row,
	const char *more)
{
	static const char *const keys[] = {"min_ns", "max_ns"};
	const struct table_cell *median = table_find_cell(of, of_row, "median_ns");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ck_assert_uint_eq(
			tables_number(table, row, keys[i]), tables_number(of, of_row, keys[i]));
	}
	if (more) {
		ck_assert_uint_eq(tables_number(table, row, more), tables_number(of, of_row, more));
	}
	if (median && tables_number(of, of_row, "calls") > 500) {
		ck_assert_double_eq_tol(tables_cell(table, row, "median_ns")->number,
			median->number, median->number * 0.017);
	}
}

START_TEST(rows_are_those_of_the_views)
{
	static const struct {
		const struct view_class *class;
		enum reduced_view view;
		const char *more;
	} views[] = {{&view_kernel, REDUCED_KERNEL, "untimed"},
		{&view_operator, REDUCED_OPERATOR, "self_ns"},
		{&view_collectives, REDUCED_COLLECTIVE, "overlap_ns"},
		{&view_memcpy, REDUCED_MEMCPY, "total_bytes"}, {&view_api, REDUCED_API, "failed"},
		{&view_nvtx, REDUCED_NVTX, NULL}};
	struct process *processes[NR_STREAMS];
	struct buf parts[NR_STREAMS], whole;
	struct reduced reduced;

	make_all(parts, &whole);
	reduced = read_back(&whole);
	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%u.gprof", i);
		processes[i] = streams_process(streams_path(name));
	}
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct table *of = tables_make(views[i].class, processes, NR_STREAMS, false);
		struct table *table = reduced_rows_table(&reduced, views[i].view);

		ck_assert_uint_gt(of->nr_rows, 0);
		ck_assert_uint_eq(table->nr_rows, of->nr_rows);
		for (size_t row = 0; row < of->nr_rows; row++) {
			check_row(table, same_row(table, of, row), of, row, views[i].more);
		}
		table_destroy(of);
		table_destroy(table);
	}
	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		process_destroy(processes[i]);
	}
	reduced_fini(&reduced);
	free_all(parts, &whole);
}
END_TEST

/* The kernel of NCCL took rank 0 longer, as it waited there. */
START_TEST(extremes_are_of_the_process_that_spent_most_and_least)
{
	struct reduced one = streams_reduced(stream_of(1)), zero = streams_reduced(stream_of(0));
	struct table *table;

	ck_assert_int_eq(reduced_merge(&one, &zero), 0);
	table = reduced_rows_table(&one, REDUCED_KERNEL);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "processes"), 2);
	ck_assert_str_eq(tables_cell(table, 0, "most_rank")->text, "0");
	ck_assert_str_eq(tables_cell(table, 0, "least_rank")->text, "1");
	ck_assert_uint_eq(tables_number(table, 0, "most_ns") + tables_number(table, 0, "least_ns"),
		tables_number(table, 0, "total_ns"));
	table_destroy(table);
	reduced_fini(&one);
}
END_TEST

/* Each step with its own duration, computation and communication, as the views have them. */
START_TEST(steps_are_those_of_the_views)
{
	const char *path = stream_of(4);
	struct table *steps = tables_of(&view_steps, path, false);
	struct table *devices = tables_of(&view_distributed, path, true);
	struct reduced reduced = streams_reduced(path);
	struct table *table = reduced_every_step_table(&reduced, 0);

	ck_assert_uint_gt(steps->nr_rows, 2);
	ck_assert_uint_eq(table->nr_rows, steps->nr_rows);
	ck_assert_uint_eq(devices->nr_rows + 1, steps->nr_rows);
	for (size_t i = 0; i < devices->nr_rows; i++) {
		ck_assert_uint_eq(tables_number(table, i, "step"), tables_number(steps, i, "step"));
		ck_assert_uint_eq(tables_number(table, i, "duration_ns"),
			tables_number(steps, i, "duration_ns"));
		ck_assert_uint_eq(tables_number(table, i, "forward_ns"),
			tables_number(steps, i, "forward_ns"));
		ck_assert_uint_eq(tables_number(table, i, "computation_ns"),
			tables_number(devices, i, "computation_ns"));
		ck_assert_uint_eq(tables_number(table, i, "communication_ns"),
			tables_number(devices, i, "communication_ns"));
		ck_assert_uint_eq(
			tables_number(table, i, "idle_ns"), tables_number(devices, i, "other_ns"));
	}
	table_destroy(steps);
	table_destroy(devices);
	table_destroy(table);
	reduced_fini(&reduced);
}
END_TEST

/* Over the ranks 3, 4 and 5: the longest of each step, and who had it. */
START_TEST(the_slowest_rank_of_a_step_is_named)
{
	struct buf parts[NR_STREAMS], whole;
	struct reduced reduced;
	struct table *steps, *every;

	make_all(parts, &whole);
	reduced = read_back(&whole);
	steps = reduced_steps_table(&reduced, 0);
	every = reduced_every_step_table(&reduced, 0);
	for (size_t i = 0; i < 2; i++) {
		uint64_t number = tables_number(steps, i, "step"), longest = 0, rank = 0;

		for (size_t k = 0; k < every->nr_rows; k++) {
			const struct table_cell *cell = tables_cell(every, k, "duration_ns");

			if (tables_number(every, k, "step") == number && cell->is_known &&
				cell->integer > longest) {
				longest = cell->integer;
				rank = tables_cell(every, k, "rank")->integer;
			}
		}
		ck_assert_uint_ge(tables_number(steps, i, "processes"), 3);
		ck_assert_uint_eq(tables_number(steps, i, "max_ns"), longest);
		ck_assert_uint_eq(
			strtoull(tables_cell(steps, i, "slowest_rank")->text, NULL, 10), rank);
	}
	table_destroy(steps);
	table_destroy(every);
	reduced_fini(&reduced);
	free_all(parts, &whole);
}
END_TEST

START_TEST(a_process_that_is_there_twice_is_refused)
{
	struct reduced a = streams_reduced(stream_of(3)), b = streams_reduced(stream_of(3));
	struct reduced other = streams_reduced(stream_of(4)), lone = streams_reduced(stream_of(2));
	struct reduced again = streams_reduced(stream_of(2));
	struct buf before = bytes_of(&a), after;

	ck_assert_int_lt(reduced_merge(&a, &b), 0);
	ck_assert_ptr_nonnull(strstr(err_text(), "(rank 3) is there twice"));
	ck_assert_int_lt(reduced_merge(&lone, &again), 0);
	ck_assert_ptr_nonnull(strstr(err_text(), "is there twice"));
	ck_assert_ptr_null(strstr(err_text(), "rank"));
	reduced_fini(&lone);
	reduced_fini(&again);
	after = bytes_of(&a);
	ck_assert_uint_eq(before.nr_bytes, after.nr_bytes);
	ck_assert_mem_eq(before.bytes, after.bytes, after.nr_bytes);
	ck_assert_int_eq(reduced_merge(&a, &other), 0);
	reduced_fini(&a);
	reduced_fini(&b);
	buf_fini(&before);
	buf_fini(&after);
}
END_TEST

/* Copies of exact length, so that ASan sees a byte too many. */
static int read_copy(const char *bytes, size_t nr_bytes, struct reduced *reduced)
{
	char *copy = malloc(nr_bytes ? nr_bytes : 1);
	int error;

	memcpy(copy, bytes, nr_bytes);
	error = reduced_read_bytes(reduced, copy, nr_bytes);
	free(copy);
	return error;
}

START_TEST(a_file_that_is_cut_or_changed_is_refused)
{
	struct reduced reduced = streams_reduced(stream_of(0)), back;
	struct buf bytes = bytes_of(&reduced);

	for (size_t nr = 0; nr < bytes.nr_bytes; nr++) {
		ck_assert_int_lt(read_copy(bytes.bytes, nr, &back), 0);
		ck_assert_str_ne(err_text(), "");
		bytes.bytes[nr] ^= 0x10;
		ck_assert_int_lt(read_copy(bytes.bytes, bytes.nr_bytes, &back), 0);
		bytes.bytes[nr] ^= 0x10;
	}
	bytes.bytes[8]++;
	ck_assert_int_lt(read_copy(bytes.bytes, bytes.nr_bytes, &back), 0);
	ck_assert_ptr_nonnull(strstr(err_text(), "of version 8"));
	reduced_fini(&reduced);
	buf_fini(&bytes);
}
END_TEST

static void set_checksum(char *bytes, size_t nr_bytes)
{
	uint32_t crc = (uint32_t)crc32_z(0, (const unsigned char *)bytes, nr_bytes - TAIL_BYTES);

	for (unsigned int i = 0; i < TAIL_BYTES; i++) {
		bytes[nr_bytes - TAIL_BYTES + i] = (char)(crc >> 8 * i);
	}
}

/* Is it refused, though its checksum fits? */
static void must_refuse(struct buf *bytes)
{
	struct reduced back;

	set_checksum(bytes->bytes, bytes->nr_bytes);
	ck_assert_int_lt(read_copy(bytes->bytes, bytes->nr_bytes, &back), 0);
	ck_assert_ptr_nonnull(strstr(err_text(), "is corrupt"));
	buf_fini(bytes);
}

START_TEST(a_file_with_a_row_or_a_process_twice_is_refused)
{
	const struct reduced_process process = {.rank = 1, .world = -1};
	struct reduced reduced = {0}, back;
	struct buf bytes;

	reduced_row(&reduced, REDUCED_KERNEL, 0, string_pool_intern("one", 3));
	reduced_row(&reduced, REDUCED_KERNEL, 0, string_pool_intern("two", 3));
	reduced_add_process(&reduced, &process);
	bytes = bytes_of(&reduced);
	back = read_back(&bytes);
	ck_assert_uint_eq(HASH_COUNT(back.rows), 2);
	reduced_fini(&back);
	for (size_t i = 0; i + 3 < bytes.nr_bytes; i++) {
		if (!memcmp(bytes.bytes + i, "two", 3)) {
			memcpy(bytes.bytes + i, "one", 3);
		}
	}
	must_refuse(&bytes);
	reduced_add_process(&reduced, &process);
	bytes = bytes_of(&reduced);
	must_refuse(&bytes);
	reduced_fini(&reduced);
}
END_TEST

static void show_all(struct reduced *reduced)
{
	struct table *tables[] = {
		reduced_processes_table(reduced), reduced_every_step_table(reduced, 0)};

	for (const struct reduced_view_class *class = reduced_views; class->view; class ++) {
		table_destroy(class->table(reduced, class->argument));
		table_destroy(reduced_over_table(reduced, class, class->view->name));
	}
	table_destroy(tables[0]);
	table_destroy(tables[1]);
}

/* With a checksum that fits whatever nonsense it is. */
START_TEST(a_body_of_nonsense_is_refused_or_shown_and_nothing_breaks)
{
	struct reduced reduced = streams_reduced(stream_of(2)), back;
	struct buf bytes = bytes_of(&reduced);
	uint64_t seed = (uint64_t)_i + 1;
	size_t nr_shown = 0;

	for (unsigned int round = 0; round < 400; round++) {
		char *copy = memcpy(malloc(bytes.nr_bytes), bytes.bytes, bytes.nr_bytes);
		uint64_t nr_changes = 1 + unit_below(&seed, 4);

		while (nr_changes--) {
			size_t body = bytes.nr_bytes - HEAD_BYTES - TAIL_BYTES;

			copy[HEAD_BYTES + unit_below(&seed, body)] = (char)unit_random(&seed);
		}
		set_checksum(copy, bytes.nr_bytes);
		if (!read_copy(copy, bytes.nr_bytes, &back)) {
			show_all(&back);
			nr_shown++;
		}
		reduced_fini(&back);
		free(copy);
	}
	ck_assert_uint_gt(nr_shown, 0);
	reduced_fini(&reduced);
	buf_fini(&bytes);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {any_tree_of_merges_in_any_order_gives_the_same_bytes,
		rows_are_those_of_the_views, extremes_are_of_the_process_that_spent_most_and_least,
		steps_are_those_of_the_views, the_slowest_rank_of_a_step_is_named,
		a_process_that_is_there_twice_is_refused, a_file_that_is_cut_or_changed_is_refused,
		a_file_with_a_row_or_a_process_twice_is_refused};
	Suite *suite = unit_make("report/reduce", tests, sizeof(tests) / sizeof(tests[0]));

	unit_loop(suite, a_body_of_nonsense_is_refused_or_shown_and_nothing_breaks, 4);
	return suite;
}
