/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary has of each process: its steps, what they were made of, its peaks of memory. */
#include <string.h>

#include "report/reduce/reduced_view.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define MB (1u << 20)

/* See gen_ops.c: 8 MB more in each of three steps, and once 1 MB beside them. */
START_TEST(peaks_of_memory_are_those_of_the_allocator)
{
	struct reduced ops = streams_reduced(streams_ops("ops.gprof"));
	struct reduced none = streams_reduced(streams_small("small.gprof"));
	struct table *table = reduced_memory_table(&ops, 0);
	struct table *empty = reduced_memory_table(&none, 0);

	ck_assert_uint_eq(tables_number(table, 0, "allocated_bytes"), 25 * MB);
	ck_assert_uint_eq(tables_number(table, 0, "reserved_bytes"), 20 * MB);
	ck_assert(!tables_cell(table, 0, "cuda_malloc_bytes")->is_known);
	ck_assert(!tables_cell(empty, 0, "allocated_bytes")->is_known);
	ck_assert(empty->is_aside);
	table_destroy(table);
	table_destroy(empty);
	reduced_fini(&ops);
	reduced_fini(&none);
}
END_TEST

static void add_alloc(
	struct gen *gen, uint8_t device_type, uint8_t device, uint64_t allocated, uint64_t reserved)
{
	struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

	*row = (struct gprof_row_alloc){.time = 1000,
		.thread = 1,
		.address = 0x1000,
		.bytes = 1,
		.allocated_bytes = allocated,
		.reserved_bytes = reserved,
		.device_type = device_type,
		.device = device};
}

/* Of two GPUs one has more in use and the other more reserved; the CPU has more of both. */
static const char *rank_of_allocator(unsigned int rank)
{
	const char *path = streams_path(rank ? "alloc1.gprof" : "alloc0.gprof");
	struct gen *gen = gen_open(path);

	gen_info(gen, "rank.world", rank ? "1" : "0");
	add_alloc(gen, 0, 0, 90 * MB, 90 * MB);
	add_alloc(gen, 1, 0, rank ? 60 * MB : 30 * MB, 70 * MB);
	add_alloc(gen, 1, 1, 20 * MB, 80 * MB);
	gen_close(gen, "exit");
	return path;
}

static const char *rank_of_malloc(uint8_t space, uint64_t bytes)
{
	const char *path = streams_path("malloc.gprof");
	struct gen *gen = gen_open(path);
	uint16_t id = gen_call(gen, "cudaMalloc", GPROF_API_RUNTIME);

	for (uint64_t i = 0; i < 2; i++) {
		struct gprof_row_api_alloc *row = gen_row(gen, GPROF_TABLE_api_alloc);

		row->begin = row->dur = 1000 * i + 1000;
		row->call = id;
		row->address = 0x1000 * (i + 1);
		row->bytes = i ? bytes : MB;
		row->space = i ? space : GPROF_SPACE_DEVICE;
	}
	gen_close(gen, "exit");
	return path;
}

/* What a process has of that in its only row; 0 where it is not known. */
static uint64_t peak_of(const char *path, const char *column)
{
	struct reduced reduced = streams_reduced(path);
	struct table *table = reduced_memory_table(&reduced, 0);
	const struct table_cell *cell = tables_cell(table, 0, column);
	uint64_t bytes = cell->is_known ? cell->integer : 0;

	table_destroy(table);
	reduced_fini(&reduced);
	return bytes;
}

START_TEST(peaks_of_memory_are_of_the_gpu_with_the_most)
{
	ck_assert_uint_eq(peak_of(rank_of_allocator(0), "allocated_bytes"), 30 * MB);
	ck_assert_uint_eq(peak_of(rank_of_allocator(0), "reserved_bytes"), 80 * MB);
	ck_assert_uint_eq(
		peak_of(rank_of_malloc(GPROF_SPACE_DEVICE, 2 * MB), "cuda_malloc_bytes"), 3 * MB);
	ck_assert_uint_eq(
		peak_of(rank_of_malloc(GPROF_SPACE_HOST, 2 * MB), "cuda_malloc_bytes"), MB);
	ck_assert_uint_eq(peak_of(rank_of_malloc(GPROF_SPACE_HOST, MB), "allocated_bytes"), 0);
}
END_TEST

START_TEST(an_allocator_that_tells_no_totals_has_no_peak_of_zero)
{
	const char *path = streams_path("untold.gprof");
	struct gen *gen = gen_open(path);
	struct reduced reduced;

	add_alloc(gen, 1, 0, 0, 0);
	gen_close(gen, "exit");
	reduced = streams_reduced(path);
	ck_assert_uint_eq(
		reduced.processes[0].who.facts[REDUCED_MEMORY + MEMORY_PEAK_ALLOCATED], UINT64_MAX);
	reduced_fini(&reduced);
}
END_TEST

START_TEST(two_processes_have_a_median_between_them_and_equal_ones_no_names)
{
	struct reduced reduced = streams_reduced(rank_of_allocator(0)),
		       other = streams_reduced(rank_of_allocator(1));
	struct table *over;
	size_t allocated, reserved;

	ck_assert_int_eq(reduced_merge(&reduced, &other), 0);
	over = reduced_over_table(&reduced, reduced_view_find(&view_memory), "memory");
	allocated = tables_find(over, "name", "Allocated", 0);
	reserved = tables_find(over, "name", "Reserved", 0);
	ck_assert_uint_eq(over->nr_rows, 2); /* nobody calls cudaMalloc */
	ck_assert_double_eq(tables_cell(over, allocated, "min_bytes")->number, 30 * MB);
	ck_assert_double_eq(tables_cell(over, allocated, "median_bytes")->number, 45 * MB);
	ck_assert_str_eq(tables_cell(over, allocated, "max_rank")->text, "1");
	ck_assert_double_eq(tables_cell(over, reserved, "median_bytes")->number, 80 * MB);
	ck_assert(!tables_cell(over, reserved, "max_rank")->is_known);
	table_destroy(over);
	reduced_fini(&reduced);
}
END_TEST

/* ---- processes by hand ---- */

/* A step 7, and no other fact than those that are asked for. */
static void add_process(struct reduced *reduced, int64_t rank, uint64_t cut, uint64_t duration_ns,
	uint64_t dataloader_ns)
{
	struct reduced_step step = {.step = 7};
	struct reduced_process process = {.rank = rank, .world = -1, .nr_steps = 1, .steps = &step};

	memset(step.ns, 0xff, sizeof(step.ns));
	step.ns[REDUCED_DURATION] = duration_ns;
	step.ns[REDUCED_DATALOADER] = dataloader_ns;
	memset(process.facts, 0xff, sizeof(process.facts));
	if (cut) {
		memset(process.facts, 0, sizeof(process.facts));
		process.facts[REDUCED_BUDGET + BUDGET_SUM_STEPS] = 1;
		process.facts[REDUCED_BUDGET + BUDGET_SUM_CUT] = cut;
	}
	reduced_add_process(reduced, &process);
}

START_TEST(what_is_not_known_of_a_step_is_in_no_mean)
{
	struct reduced reduced = {0};
	struct table *table;

	add_process(&reduced, 0, 0, 300, UINT64_MAX);
	add_process(&reduced, 1, 0, 100, 10);
	table = reduced_steps_table(&reduced, 0);
	ck_assert_uint_eq(tables_number(table, 0, "processes"), 2);
	ck_assert_double_eq(tables_cell(table, 0, "avg_ns")->number, 200);
	ck_assert_double_eq(tables_cell(table, 0, "dataloader_ns")->number, 10);
	ck_assert(!tables_cell(table, 0, "forward_ns")->is_known);
	table_destroy(table);
	reduced_fini(&reduced);
}
END_TEST

START_TEST(breakdowns_that_nobody_has_stand_aside_and_cut_ones_are_told)
{
	struct reduced reduced = {0};
	struct table *table;

	add_process(&reduced, 0, 0, 100, 10);
	table = reduced_breakdown_table(&reduced, 0);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert(table->is_aside);
	table_destroy(table);
	add_process(&reduced, 1, 3, 100, 10);
	add_process(&reduced, 2, 4, 100, 10);
	table = reduced_breakdown_table(&reduced, 0);
	ck_assert(!table->is_aside);
	ck_assert_ptr_nonnull(strstr(table->note, "Parts of 7 events are cut off."));
	table_destroy(table);
	reduced_fini(&reduced);
}
END_TEST

UNIT_SUITE("report/reduce, each process", peaks_of_memory_are_those_of_the_allocator,
	peaks_of_memory_are_of_the_gpu_with_the_most,
	an_allocator_that_tells_no_totals_has_no_peak_of_zero,
	two_processes_have_a_median_between_them_and_equal_ones_no_names,
	what_is_not_known_of_a_step_is_in_no_mean,
	breakdowns_that_nobody_has_stand_aside_and_cut_ones_are_told)
