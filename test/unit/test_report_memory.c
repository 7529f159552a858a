/* SPDX-License-Identifier: Apache-2.0 */
/* The view of memory: what allocators reported, or CUDA's calls. */
#include <string.h>

#include "report/memory/allocations.h"
#include "report/model/select.h"
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
	/* The allocator reports the peak: what was in use of both. */
	ck_assert_uint_eq(tables_number(table, conv, "at_peak_bytes"), 3 * 8u << 20);
	ck_assert_uint_eq(tables_number(table, nobody, "at_peak_bytes"), 1u << 20);
	ck_assert_ptr_nonnull(strstr(table->note, "peak 26.2 MB at 0.003 s"));
	ck_assert_ptr_nonnull(strstr(table->figure, "26.2 MB |"));
	table_destroy(table);
	table = tables_of(&view_memory_events, streams_ops("ops.gprof"), false);
	ck_assert_uint_eq(table->nr_rows, 6);
	conv = tables_find(table, "name", "aten::convolution", 0);
	nobody = tables_find(table, "name", "(no operator)", 0);
	ck_assert_uint_eq(tables_number(table, conv, "bytes"), 8u << 20);
	ck_assert(!tables_cell(table, conv, "release_ns")->is_known);
	ck_assert(!tables_cell(table, conv, "duration_ns")->is_known);
	ck_assert_uint_eq(tables_number(table, nobody, "release_ns") -
				  tables_number(table, nobody, "allocation_ns"),
		tables_number(table, nobody, "duration_ns"));
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
	ck_assert_uint_eq(tables_number(table, 0, "at_peak_bytes"), 150);
	ck_assert_str_eq(tables_cell(table, 0, "place")->text, "device memory");
	table_destroy(table);
	table = tables_of(&view_memory_events, path, false);
	ck_assert_uint_eq(table->nr_rows, 3);
	ck_assert_uint_eq(tables_number(table, 0, "bytes"), 100);
	ck_assert_uint_eq(tables_number(table, 0, "duration_ns"), 3000);
	ck_assert_uint_eq(tables_number(table, 1, "bytes"), 50);
	ck_assert_uint_eq(tables_number(table, 2, "bytes"), 30);
	ck_assert(!tables_cell(table, 2, "release_ns")->is_known);
	ck_assert_str_eq(tables_name(table, 2), "cudaMalloc");
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

static struct gprof_row_alloc *add_alloc(
	struct gen *gen, uint64_t time, uint64_t address, int64_t bytes)
{
	struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

	row->time = time;
	row->thread = 1;
	row->address = address;
	row->bytes = bytes;
	return row;
}

struct peak_event {
	uint64_t address, bytes; /* 0 bytes: freed */
	bool is_driver;
};

/* What two calls have in use at the peak of what they share. */
static void check_peak(
	const struct peak_event *events, size_t nr, uint64_t of_malloc, uint64_t of_alloc)
{
	const char *path = streams_path("peak.gprof");
	struct gen *gen = gen_open(path);
	uint16_t ids[] = {gen_call(gen, "cudaMalloc", GPROF_API_RUNTIME),
		gen_call(gen, "cuMemAlloc_v2", GPROF_API_DRIVER)};
	struct table *table;

	for (size_t i = 0; i < nr; i++) {
		struct gprof_row_api_alloc *row = gen_row(gen, GPROF_TABLE_api_alloc);

		row->begin = row->dur = 1000 * i + 1000;
		row->call = ids[events[i].is_driver];
		row->address = events[i].address;
		row->bytes = events[i].bytes;
		row->op = !events[i].bytes;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "name", "cudaMalloc", 0), "at_peak_bytes"),
		of_malloc);
	ck_assert_uint_eq(tables_number(table, tables_find(table, "name", "cuMemAlloc_v2", 0),
				  "at_peak_bytes"),
		of_alloc);
	table_destroy(table);
}

START_TEST(calls_have_what_was_in_use_at_the_peak)
{
	static const struct peak_event events[] = {{1, 100, false}, {2, 50, true}, /* 150 */
		{1, 0, false}, {3, 60, true},					   /* 110 */
		{4, 200, true}, {2, 0, true}, {5, 50, false}};			   /* 310, 310 */

	check_peak(events, 4, 100, 50);
	check_peak(events, 7, 0, 310);
}
END_TEST

START_TEST(what_is_reserved_at_the_peak_is_told_of_the_peak)
{
	const char *path = streams_path("reserved.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint32_t i = 0; i < 3; i++) {
		struct gprof_row_alloc *row = add_alloc(gen, 1000 * i, 0x1000 * i, 1);

		row->allocated_bytes = i == 1 ? 80000000 : 10000000;
		row->reserved_bytes = i == 2 ? 200000000 : 100000000;
		row->device_type = 1;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_ptr_nonnull(strstr(
		table->note, "(100.0 MB reserved, 20.0 % of it free; at most 200.0 MB reserved)"));
	ck_assert_uint_eq(tables_number(table, 0, "allocations"), 3);
	ck_assert_uint_eq(tables_number(table, 0, "at_peak_bytes"), 2); /* the third came later */
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
		struct gprof_row_alloc *row =
			add_alloc(gen, 1000 * i, 0x1000 + i / 2, i % 2 ? -4096 : 4096);

		row->reserved_bytes = i % 2 ? 0 : 4096;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "total_bytes"), 8192);
	ck_assert_uint_eq(tables_number(table, 0, "live"), 0);
	ck_assert(!tables_cell(table, 0, "at_peak_bytes")->is_known);
	ck_assert_ptr_nonnull(
		strstr(table->note, "CPU of 4242: the allocator does not report totals."));
	ck_assert_ptr_null(strstr(table->note, "peak"));
	ck_assert_str_eq(table->figure, "");
	table_destroy(table);
	table = tables_of(&view_memory_curve, path, false);
	ck_assert_uint_eq(table->nr_rows, 0);
	ck_assert_str_eq(table->note, "1 kind of memory without reported totals is excluded.");
	table_destroy(table);
}
END_TEST

/* Each allocates 8 GB more: what the frees had, or that they are missing, is another matter. */
static struct table *live_table(bool has_address, uint64_t device_bytes, unsigned int nr_freed)
{
	const char *path = streams_path("live.gprof");
	struct gen *gen = gen_open(path);

	gen_device(gen, 0, "GPU X");
	if (device_bytes) {
		uint32_t name = gen_string(gen, "memory_bytes");
		struct gprof_row_attribute *row = gen_row(gen, GPROF_TABLE_attribute);

		row->device = 0;
		row->name = name;
		row->value = device_bytes;
	}
	for (uint32_t i = 0; i < 8; i++) {
		add_alloc(gen, 1000 * i, has_address ? 0x1000 + i / 2 : 0,
			i % 2 ? -8000000000 : 8000000000)
			->device_type = 1;
	}
	for (uint32_t i = nr_freed; i < 4; i++) {
		add_alloc(gen, 8000 + 1000 * i, 0x2000 + i, 8000000000)->device_type = 1;
	}
	gen_close(gen, "exit");
	return tables_of(&view_memory, path, false);
}

START_TEST(what_is_left_is_known_where_frees_match)
{
	struct table *table = live_table(true, 32000000000, 1);

	ck_assert_uint_eq(tables_number(table, 0, "live"), 3);
	ck_assert_uint_eq(tables_number(table, 0, "live_bytes"), 24000000000);
	ck_assert_ptr_null(strstr(table->note, "Live at exit"));
	table_destroy(table);
	/* Frees without an address, as of PyTorch 1.8. */
	table = live_table(false, 32000000000, 4);
	ck_assert(!tables_cell(table, 0, "live")->is_known);
	ck_assert(!tables_cell(table, 0, "live_bytes")->is_known);
	ck_assert_ptr_nonnull(strstr(table->note, "Live at exit is n/a for GPU 0 of 4242: frees"));
	table_destroy(table);
	/* More than the GPU has. */
	table = live_table(true, 30000000000, 0);
	ck_assert(!tables_cell(table, 0, "live_bytes")->is_known);
	ck_assert_ptr_nonnull(strstr(table->note, "Live at exit is n/a for GPU 0 of 4242: more"));
	table_destroy(table);
	table = live_table(true, 0, 0);
	ck_assert_uint_eq(tables_number(table, 0, "live_bytes"), 32000000000);
	table_destroy(table);
}
END_TEST

/*
 * Two blocks of which one is freed: that another one has the same address, 0, says nothing of when.
 * A third one and its free have an address; it is on a device of its own.
 */
static const char *nameless(const char *name)
{
	static const struct {
		uint64_t address;
		int64_t bytes;
		uint8_t device;
	} events[] = {{0, 300, 0}, {0, 200, 0}, {0x1000, 100, 1}, {0, -300, 0}, {0x1000, -100, 1}};
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint64_t in_use[2] = {0};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct gprof_row_alloc *row =
			add_alloc(gen, 1000 * i, events[i].address, events[i].bytes);

		in_use[events[i].device] += (uint64_t)events[i].bytes;
		row->allocated_bytes = in_use[events[i].device];
		row->device_type = 1;
		row->device = events[i].device;
	}
	gen_close(gen, "exit");
	return path;
}

static bool is_known(const struct table *table, size_t row, const char *key)
{
	return tables_cell(table, row, key)->is_known;
}

START_TEST(frees_without_an_address_match_no_allocation)
{
	const char *path = nameless("nameless.gprof");
	struct table *table = tables_of(&view_memory_events, path, false);

	ck_assert_uint_eq(table->nr_rows, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(tables_number(table, i, "bytes"), 300 - 100 * i);
		ck_assert_uint_eq(tables_number(table, i, "allocation_ns"), 1000 * i);
		ck_assert(is_known(table, i, "release_ns") == (i == 2));
		ck_assert(is_known(table, i, "duration_ns") == (i == 2));
	}
	ck_assert_str_eq(table->note, "1 free has no address, so it is unknown what it frees.");
	table_destroy(table);
	table = tables_of(&view_memory, path, false);
	for (size_t i = 0; i < table->nr_rows; i++) {
		bool is_other = !strcmp(tables_cell(table, i, "place")->text, "GPU 1");

		ck_assert(is_known(table, i, "at_peak_bytes") == is_other);
		ck_assert(is_known(table, i, "live_bytes") == is_other);
	}
	table_destroy(table);
}
END_TEST

START_TEST(blocks_in_use_are_unknown_with_frees_without_an_address)
{
	static const struct view_class *const views[] = {
		&view_memory_peak, &view_memory_blocks, &view_memory_categories};
	const char *path = nameless("nameless.gprof");
	struct table *table;

	for (size_t i = 0; i < 3; i++) {
		table = tables_of(views[i], path, false);
		ck_assert_uint_eq(table->nr_rows, 1);
		ck_assert_str_eq(tables_cell(table, 0, "place")->text, "GPU 1");
		ck_assert_ptr_nonnull(strstr(table->note,
			"Blocks in use are n/a for GPU 0 of 4242: frees have no address"));
		table_destroy(table);
	}
	table = tables_of(&view_memory_curve, path, false);
	for (size_t i = 0; i < table->nr_rows; i++) {
		bool is_other = !strcmp(tables_cell(table, i, "device")->text, "GPU 1");

		ck_assert(is_known(table, i, "allocated_bytes"));
		ck_assert(is_known(table, i, "unknown_bytes") == is_other);
	}
	table_destroy(table);
}
END_TEST

/* ---- over time ---- */

#define CURVE_EVENTS 20000u

static void add_total(struct gen *gen, uint64_t time, uint64_t allocated, uint64_t reserved)
{
	struct gprof_row_alloc *row = add_alloc(gen, time, 0x1000, -1);

	row->allocated_bytes = allocated;
	row->reserved_bytes = reserved;
	row->device_type = 1;
	row->device = 3;
}

START_TEST(tables_without_a_row_say_why)
{
	static const struct view_class *const views[] = {
		&view_memory, &view_memory_curve, &view_memory_events};

	for (size_t i = 0; i < 3; i++) {
		struct table *table = tables_of(views[i], streams_small("small.gprof"), false);

		ck_assert_uint_eq(table->nr_rows, 0);
		ck_assert_ptr_nonnull(strstr(table->note, "No allocator events"));
		table_destroy(table);
	}
}
END_TEST

START_TEST(the_curve_has_the_peak_and_the_end_of_each_part)
{
	static uint64_t totals[CURVE_EVENTS];
	const char *path = streams_path("curve.gprof");
	struct gen *gen = gen_open(path);
	uint64_t seed = 11, most = 0, last_ns = 0;
	struct table *table;

	gen_anchor(gen, 0, 0, 0);
	for (uint64_t i = 0; i < CURVE_EVENTS; i++) {
		totals[i] = unit_random(&seed) % 1000000;
		most = totals[i] > most ? totals[i] : most;
		add_total(gen, 1000 + 10 * i, totals[i], 0);
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory_curve, path, false);
	ck_assert_uint_le(table->nr_rows, 512);
	ck_assert_uint_ge(table->nr_rows, 256);
	for (size_t i = 0; i < table->nr_rows; i++) {
		uint64_t ns = tables_number(table, i, "time_ns");
		uint64_t bytes = tables_number(table, i, "allocated_bytes");

		ck_assert(!i || ns > last_ns);
		ck_assert_uint_eq(bytes, totals[ns / 10]);
		ck_assert_str_eq(tables_cell(table, i, "device")->text, "GPU 3");
		ck_assert(!tables_cell(table, i, "reserved_bytes")->is_known);
		most = bytes == most ? 0 : most; /* it is there */
		last_ns = ns;
	}
	ck_assert_uint_eq(most, 0);
	ck_assert_uint_eq(last_ns, 10 * (CURVE_EVENTS - 1));
	table_destroy(table);
}
END_TEST

START_TEST(the_curve_of_calls_adds_up_before_what_is_chosen)
{
	const char *path = streams_path("curve_calls.gprof");
	struct gen *gen = gen_open(path);
	uint16_t id = gen_call(gen, "cudaMalloc", GPROF_API_RUNTIME);
	struct select_options ask = {0};
	struct process *process;
	struct buf why = {0};
	struct table *table;

	gen_anchor(gen, 0, 0, 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct gprof_row_api_alloc *row = gen_row(gen, GPROF_TABLE_api_alloc);
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		row->begin = row->dur = 1000 * i + 1000;
		row->call = id;
		row->address = i == 2 ? 0x2000 : 0x1000 * (i + 1);
		row->op = i == 2; /* a free */
		row->bytes = 100;
		step->time = 1000 * i + 500;
		step->step = i;
		step->thread = 1;
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert(numbers_parse(&ask.steps, "1", true));
	ck_assert(select_all(&process, 1, &ask, &why));
	table = tables_make(&view_memory_curve, &process, 1, false);
	/* Its event, and its end. */
	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(tables_number(table, 0, "allocated_bytes"), 200);
	ck_assert_uint_eq(tables_number(table, 1, "allocated_bytes"), 200);
	ck_assert_uint_eq(tables_number(table, 1, "step"), 1);
	ck_assert_str_eq(tables_cell(table, 0, "device")->text, "device memory");
	table_destroy(table);
	/* What is asked for in the step; also what is given back only later. */
	table = tables_make(&view_memory_events, &process, 1, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "bytes"), 100);
	ck_assert_uint_eq(tables_number(table, 0, "duration_ns"), 1000);
	table_destroy(table);
	select_drop_all(&process, 1);
	numbers_fini(&ask.steps);
	process_destroy(process);
	tables_of_nonsense(&view_memory_curve, false);
	tables_of_nonsense(&view_memory_events, false);
}
END_TEST

/* As of two at one address whose allocations are from before the recording, or lost. */
START_TEST(what_is_only_given_back_is_a_block_each)
{
	const char *path = streams_path("freed.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint32_t i = 0; i < 2; i++) {
		add_alloc(gen, 1000 * i, 0x1000, i ? -600 : -500);
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory_events, path, false);
	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(tables_number(table, 0, "bytes"), 600);
	ck_assert_uint_eq(tables_number(table, 0, "release_ns"), 1000);
	ck_assert_uint_eq(tables_number(table, 1, "bytes"), 500);
	ck_assert_uint_eq(tables_number(table, 1, "release_ns"), 0);
	ck_assert(!tables_cell(table, 1, "allocation_ns")->is_known);
	ck_assert(!tables_cell(table, 1, "name")->is_known);
	table_destroy(table);
}
END_TEST

START_TEST(of_many_blocks_the_largest_are_there_and_the_others_told)
{
	const char *path = streams_path("many.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint32_t i = 0; i < ALLOCATIONS_MAX + 2; i++) {
		add_alloc(gen, 1000 * i, 0x1000 + i, 512 + i);
	}
	gen_close(gen, "exit");
	table = tables_of(&view_memory_events, path, false);
	ck_assert_uint_eq(table->nr_rows, ALLOCATIONS_MAX);
	ck_assert_uint_eq(tables_number(table, ALLOCATIONS_MAX - 1, "bytes"), 514);
	ck_assert_ptr_nonnull(strstr(table->note, "the 1000 largest of 1002 allocations"));
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/memory", memory_is_told_by_who_asked_and_what_is_left,
	calls_of_cudaMalloc_give_the_same, memory_goes_from_hand_to_hand,
	calls_have_what_was_in_use_at_the_peak, what_is_reserved_at_the_peak_is_told_of_the_peak,
	an_allocator_without_totals_has_no_peak_of_zero, what_is_left_is_known_where_frees_match,
	frees_without_an_address_match_no_allocation,
	blocks_in_use_are_unknown_with_frees_without_an_address, tables_without_a_row_say_why,
	the_curve_has_the_peak_and_the_end_of_each_part,
	the_curve_of_calls_adds_up_before_what_is_chosen, what_is_only_given_back_is_a_block_each,
	of_many_blocks_the_largest_are_there_and_the_others_told)
