/* SPDX-License-Identifier: Apache-2.0 */
/* The view of memory: what allocators told, or the calls of CUDA's. */
#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

START_TEST(memory_is_told_by_who_asked_and_what_is_left)
{
	struct table *table = tables_of(&view_memory, streams_ops("ops.gprof"), false);
	size_t conv = tables_find(table, "name", "aten::convolution", 0);
	size_t nobody = tables_find(table, "name", "(no operator)", 0);

	ck_assert_uint_eq(tables_number(table, conv, "total_bytes"), 3 * 8u << 20);
	ck_assert_uint_eq(tables_number(table, conv, "live"), 3);
	ck_assert_uint_eq(tables_number(table, nobody, "allocations"), 3);
	ck_assert_uint_eq(tables_number(table, nobody, "live"), 0);
	ck_assert_uint_eq(tables_number(table, nobody, "live_bytes"), 0);
	ck_assert_ptr_nonnull(strstr(table->note, "peak 26.2 MB, 0.003 s after the first event"));
	ck_assert_ptr_nonnull(strstr(table->figure, "26.2 MB |"));
	table_destroy(table);
}
END_TEST

/* Without a framework's allocator; what is freed is found by its address. */
START_TEST(calls_of_cudaMalloc_give_the_same)
{
	static const struct {
		uint64_t address, bytes;
		bool is_free;
		int32_t result;
	} calls[] = {
		{0x1000, 100, false, 0}, {0x2000, 50, false, 0},
		{0x3000, 900, false, 2}, /* failed */
		{0x1000, 0, true, 0}, {0x1000, 30, false, 0},
		{0x7777, 0, true, 0}, /* from before the recording */
	};
	const char *path = streams_path("malloc.gprof");
	struct gen *gen = gen_open(path);
	uint16_t id = gen_call(gen, "cudaMalloc", GPROF_API_RUNTIME);
	struct table *table;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct gprof_row_api_alloc *row = gen_row(gen, GPROF_TABLE_api_alloc);

		row->begin = row->dur = 1000 * i + 1000;
		row->call = id;
		row->address = calls[i].address;
		row->bytes = calls[i].bytes;
		row->op = calls[i].is_free;
		row->result = calls[i].result;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "allocations"), 3);
	ck_assert_uint_eq(tables_number(table, 0, "total_bytes"), 180);
	ck_assert_uint_eq(tables_number(table, 0, "live"), 2);
	ck_assert_uint_eq(tables_number(table, 0, "live_bytes"), 80);
	ck_assert_str_eq(tables_cell(table, 0, "place")->text, "device memory");
	table_destroy(table);
}
END_TEST

/* A thread that is about to get what another one is about to free. */
START_TEST(memory_goes_from_hand_to_hand)
{
	static const struct {
		uint64_t begin, end, bytes;
		bool is_free;
		uint8_t space;
	} calls[] = {
		{1000, 1100, 100, false, GPROF_SPACE_DEVICE},
		{2500, 3300, 70, false, GPROF_SPACE_HOST},
		{3000, 3200, 0, true, GPROF_SPACE_DEVICE},
	};
	const char *path = streams_path("hands.gprof");
	struct gen *gen = gen_open(path);
	uint16_t id = gen_call(gen, "cudaMalloc", GPROF_API_RUNTIME);
	struct gprof_row_api_copy *copy = gen_row(gen, GPROF_TABLE_api_copy);
	struct table *table;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct gprof_row_api_alloc *row = gen_row(gen, GPROF_TABLE_api_alloc);

		row->begin = calls[i].begin;
		row->dur = calls[i].end;
		row->call = id;
		row->address = 0x1000;
		row->bytes = calls[i].bytes;
		row->op = calls[i].is_free;
		row->space = calls[i].space;
	}
	copy->begin = 4000;
	copy->dur = 4100;
	copy->call = id;
	copy->src = 0x1000;
	copy->dst = 0x900000;
	copy->copy_kind = 4; /* by address */
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "place", "device memory", 0), "live"), 0);
	ck_assert_uint_eq(tables_number(table, tables_find(table, "place", "pinned host memory", 0),
				  "live_bytes"),
		70);
	table_destroy(table);
	table = tables_of(&view_memcpy, path, false);
	ck_assert_str_eq(tables_name(table, 0), "Memcpy HtoH (Pinned -> Pageable), host call");
	table_destroy(table);
}
END_TEST

START_TEST(what_is_reserved_at_the_peak_is_told_of_the_peak)
{
	const char *path = streams_path("reserved.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint32_t i = 0; i < 3; i++) {
		struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

		row->time = 1000 * i;
		row->thread = 1;
		row->address = 0x1000 * i;
		row->bytes = 1;
		row->allocated_bytes = i == 1 ? 80000000 : 10000000;
		row->reserved_bytes = i == 2 ? 200000000 : 100000000;
		row->device_type = 1;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_ptr_nonnull(strstr(
		table->note, "100.0 MB reserved then (at most 200.0 MB), 20.0 % of that free"));
	table_destroy(table);
}
END_TEST

/* As PyTorch's for memory that processes share. */
START_TEST(an_allocator_without_totals_has_no_peak_of_zero)
{
	const char *path = streams_path("untold.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint32_t i = 0; i < 4; i++) {
		struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

		row->time = 1000 * i;
		row->thread = 1;
		row->address = 0x1000 + i / 2;
		row->bytes = i % 2 ? -4096 : 4096;
		row->reserved_bytes = i % 2 ? 0 : 4096;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "total_bytes"), 8192);
	ck_assert_uint_eq(tables_number(table, 0, "live"), 0);
	ck_assert_ptr_nonnull(strstr(table->note, "CPU of 4242: its allocator tells no totals"));
	ck_assert_ptr_null(strstr(table->note, "peak"));
	ck_assert_str_eq(table->figure, "");
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/memory", memory_is_told_by_who_asked_and_what_is_left,
	calls_of_cudaMalloc_give_the_same, memory_goes_from_hand_to_hand,
	what_is_reserved_at_the_peak_is_told_of_the_peak,
	an_allocator_without_totals_has_no_peak_of_zero)
