/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges: what was launched in them, and what they lie in. */
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

static void add_range(
	struct gen *gen, uint32_t thread, uint8_t op, uint64_t time, uint32_t domain, uint32_t name)
{
	struct gprof_row_nvtx *row = gen_nvtx(gen, thread, op, time);

	row->domain = domain;
	row->name = name;
}

static void add_work(struct gen *gen, uint32_t thread, uint64_t begin, uint64_t dur)
{
	static uint32_t correlation;
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	call->begin = begin;
	call->dur = begin + 2;
	call->thread = thread;
	call->correlation = kernel->correlation = ++correlation;
	kernel->begin = 5000;
	kernel->dur = 5000 + dur;
}

/* Two domains that interleave, an operator, another thread at the same time, and loose ends. */
static const char *ranges(void)
{
	const char *path = streams_path("ranges.gprof");
	struct gen *gen = gen_open(path);
	uint32_t conv = gen_op_name(gen, "aten::convolution");
	uint32_t library = gen_string(gen, "cuDNN"), call = gen_string(gen, "conv2d");
	uint32_t user = gen_string(gen, "user"), other = gen_string(gen, "other");
	struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

	gen_anchor(gen, 0, 0, 0);
	gen_anchor(gen, 9000, 9000, 9000);
	op->begin = 100;
	op->dur = 200;
	op->thread = op->end_thread = 1;
	op->op_name = conv;
	add_range(gen, 1, GPROF_NVTX_DOMAIN, 10, 1, library);
	add_range(gen, 1, GPROF_NVTX_POP, 20, 1, 0);
	add_range(gen, 1, GPROF_NVTX_PUSH, 90, 0, user);
	add_range(gen, 1, GPROF_NVTX_PUSH, 110, 1, call);
	add_range(gen, 2, GPROF_NVTX_PUSH, 100, 0, other);
	add_range(gen, 1, GPROF_NVTX_POP, 150, 0, 0);
	add_range(gen, 1, GPROF_NVTX_POP, 190, 1, 0);
	add_range(gen, 2, GPROF_NVTX_POP, 200, 0, 0);
	add_range(gen, 1, GPROF_NVTX_PUSH, 300, 1, call);
	add_work(gen, 1, 120, 50);
	add_work(gen, 1, 160, 7);
	add_work(gen, 1, 310, 1000);
	add_work(gen, 2, 130, 3);
	gen_close(gen, "exit");
	return path;
}

START_TEST(ranges_have_what_their_thread_launched_in_them)
{
	struct table *table = tables_of(&view_user_ranges, ranges(), false);
	struct table *split = tables_of(&view_user_ranges, ranges(), true);
	size_t user = tables_find(table, "name", "user", 0),
	       other = tables_find(table, "name", "other", 0);
	size_t call = tables_find(table, "name", "cuDNN:conv2d", 0);
	size_t lies_in = tables_find(split, "operator", "aten::convolution", 0);

	ck_assert_uint_eq(table->nr_rows, 3);
	ck_assert_uint_eq(tables_number(table, user, "total_ns"), 60);
	ck_assert_uint_eq(tables_number(table, user, "gpu_total_ns"), 50);
	ck_assert_uint_eq(tables_number(table, call, "calls"), 1);
	ck_assert_uint_eq(tables_number(table, call, "total_ns"), 80);
	ck_assert_uint_eq(tables_number(table, call, "gpu_total_ns"), 57);
	ck_assert_uint_eq(tables_number(table, other, "gpu_total_ns"), 3);
	ck_assert(!tables_cell(table, call, "operator")->is_known);
	ck_assert_uint_eq(split->nr_rows, 3);
	ck_assert_uint_eq(lies_in, tables_find(split, "name", "cuDNN:conv2d", 0));
	ck_assert(!tables_cell(split, tables_find(split, "name", "user", 0), "operator")->is_known);
	table_destroy(table);
	table_destroy(split);
}
END_TEST

static void add_across(
	struct gen *gen, uint32_t thread, uint8_t op, uint64_t time, uint64_t id, uint32_t name)
{
	struct gprof_row_nvtx *row = gen_nvtx(gen, thread, op, time);

	row->range = id;
	row->name = name;
}

/* The thread that ends the range was read before the one that began it. */
START_TEST(an_end_may_stand_before_its_begin)
{
	const char *path = streams_path("early.gprof");
	struct gen *gen = gen_open(path);
	uint32_t across = gen_string(gen, "across"), again = gen_string(gen, "again");
	struct table *table;

	gen_anchor(gen, 0, 0, 0);
	gen_anchor(gen, 9000, 9000, 9000);
	add_across(gen, 2, GPROF_NVTX_END, 500, 7, 0);
	add_across(gen, 2, GPROF_NVTX_END, 100, 8, 0); /* of another one that was lost */
	add_across(gen, 1, GPROF_NVTX_START, 400, 7, across);
	add_across(gen, 1, GPROF_NVTX_START, 400, 8, again);
	add_across(gen, 1, GPROF_NVTX_END, 450, 8, 0);
	gen_close(gen, "exit");
	table = tables_of(&view_nvtx, path, false);
	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "across", 0), "total_ns"), 100);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "again", 0), "total_ns"), 50);
	ck_assert_str_eq(table->note, "1 ends without a start are excluded.");
	table_destroy(table);
}
END_TEST

/* One tick: a range ends, two without a length lie in each other, and one begins. */
static const char *ranges_of_one_tick(void)
{
	const char *path = streams_path("one_tick.gprof");
	struct gen *gen = gen_open(path);
	uint32_t before = gen_string(gen, "before"), outer = gen_string(gen, "outer");
	uint32_t inner = gen_string(gen, "inner"), after = gen_string(gen, "after");

	gen_anchor(gen, 0, 0, 0);
	gen_anchor(gen, 9000, 9000, 9000);
	add_range(gen, 1, GPROF_NVTX_PUSH, 10, 0, before);
	add_range(gen, 1, GPROF_NVTX_POP, 20, 0, 0);
	add_range(gen, 1, GPROF_NVTX_PUSH, 20, 0, outer);
	add_range(gen, 1, GPROF_NVTX_PUSH, 20, 0, inner);
	add_range(gen, 1, GPROF_NVTX_POP, 20, 0, 0);
	add_range(gen, 1, GPROF_NVTX_POP, 20, 0, 0);
	add_range(gen, 1, GPROF_NVTX_PUSH, 20, 0, after);
	add_range(gen, 1, GPROF_NVTX_POP, 50, 0, 0);
	gen_close(gen, "exit");
	return path;
}

START_TEST(ranges_without_a_length_pair_with_themselves)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} wanted[] = {{"before", 10}, {"outer", 0}, {"inner", 0}, {"after", 30}};
	struct table *table = tables_of(&view_user_ranges, ranges_of_one_tick(), false);

	ck_assert_uint_eq(table->nr_rows, 4);
	for (size_t i = 0; i < 4; i++) {
		size_t row = tables_find(table, "name", wanted[i].name, 0);

		ck_assert_uint_eq(tables_number(table, row, "calls"), 1);
		ck_assert_uint_eq(tables_number(table, row, "total_ns"), wanted[i].ns);
	}
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/ranges", ranges_have_what_their_thread_launched_in_them,
	ranges_without_a_length_pair_with_themselves, an_end_may_stand_before_its_begin)
