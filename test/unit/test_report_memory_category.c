/* SPDX-License-Identifier: Apache-2.0 */
/* What memory is used for, of a training made by hand whose blocks are all of another kind. */
#include <string.h>

#include "report/memory/memory_in_use.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define NR_STEPS 3u
#define UNSEEN	 10u /* bytes from before the recording */

enum {
	PARAMETER = 0x1000,
	BUFFER = 0x2000,
	INPUT = 0x3000,
	RESULT = 0x4000,
	GRADIENT = 0x5000,
	STATE = 0x6000,
	SHORT = 0x7000
};

static struct gen *gen;
static uint64_t in_use;

static void alloc(uint64_t time, uint64_t address, int64_t bytes)
{
	struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

	in_use += (uint64_t)bytes;
	row->time = time;
	row->thread = 1;
	row->address = address;
	row->bytes = bytes;
	row->allocated_bytes = in_use;
	row->device_type = 1;
}

static void op(const char *name, uint64_t begin, uint64_t end, uint16_t depth)
{
	gen_op(gen, name, begin, end)->depth = depth;
}

static void step(uint64_t time, uint64_t number)
{
	struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

	row->time = time;
	row->step = number;
	row->thread = 1;
}

/* A parameter, and a buffer of the module. */
static void build(void)
{
	alloc(11, PARAMETER, 4096);
	op("aten::empty", 10, 12, 0);
	alloc(14, BUFFER, 77);
	op("aten::zeros", 13, 15, 0);
}

static void backward(uint64_t t)
{
	alloc(t + 22, GRADIENT, 4096);
	alloc(t + 23, SHORT, 256);
	op("aten::mm", t + 21, t + 30, 1);
	alloc(t + 35, RESULT, -1000);
	alloc(t + 39, SHORT, -256);
	gen_op(gen, "autograd::engine::evaluate_function: MmBackward0", t + 20, t + 40)->scope =
		OP_TORCH_BACKWARD;
}

static void train(uint64_t t, bool is_first)
{
	alloc(t + 2, INPUT + 8 * t, 512);
	op("aten::randn", t + 1, t + 3, 0);
	if (!is_first) {
		alloc(t + 4, INPUT + 8 * (t - 100), -512);
		alloc(t + 5, GRADIENT, -4096);
	}
	op("Optimizer.zero_grad#SGD.zero_grad", t + 4, t + 6, 0);
	alloc(t + 10, RESULT, 1000);
	alloc(t + 11, SHORT, 64);
	alloc(t + 12, SHORT, -64);
	op("aten::mm", t + 9, t + 13, 0);
	backward(t);
	if (is_first) {
		alloc(t + 52, STATE, 4096);
		op("aten::zeros_like", t + 51, t + 53, 1);
	}
	alloc(t + 54, SHORT, 128);
	alloc(t + 60, SHORT, -128);
	op("Optimizer.step#SGD.step", t + 50, t + 70, 0);
}

static const char *training(void)
{
	const char *path = streams_path("categories.gprof");

	gen = gen_open(path);
	in_use = UNSEEN;
	gen_anchor(gen, 0, 0, 0);
	step(5, 0);
	build();
	for (uint64_t i = 0; i < NR_STEPS; i++) {
		train(100 * (i + 1), !i);
		step(100 * (i + 2), i + 1);
	}
	gen_close(gen, "exit");
	return path;
}

static const struct {
	const char *name, *key;
	uint64_t at_peak, at_step_end, nr;
} expected[] = {
	{"parameters", "parameters_bytes", 4096, 4096, 1},
	{"gradients", "gradients_bytes", 4096, 4096, NR_STEPS},
	{"optimizer state", "optimizer_state_bytes", 4096, 4096, 1},
	{"activations", "activations_bytes", 1000, 0, NR_STEPS},
	{"inputs", "inputs_bytes", 512, 512, NR_STEPS},
	{"temporary", "temporary_bytes", 256, 0, 3 * NR_STEPS},
	{"other", "other_bytes", 77, 77, 1},
	{"unknown", "unknown_bytes", UNSEEN, UNSEEN, 0},
};
#define NR_EXPECTED (sizeof(expected) / sizeof(expected[0]))

START_TEST(blocks_have_the_category_of_who_allocated_them_and_how_long_they_live)
{
	struct table *table = tables_of(&view_memory_categories, training(), false);

	ck_assert_uint_eq(table->nr_rows, NR_EXPECTED);
	for (size_t i = 0; i < NR_EXPECTED; i++) {
		ck_assert_uint_eq(tables_find(table, "category", expected[i].name, 0), i);
		ck_assert_uint_eq(tables_number(table, i, "peak_bytes"), expected[i].at_peak);
		ck_assert_uint_eq(
			tables_number(table, i, "step_end_max_bytes"), expected[i].at_step_end);
		if (expected[i].nr) {
			ck_assert_uint_eq(tables_number(table, i, "allocations"), expected[i].nr);
		}
	}
	ck_assert_ptr_nonnull(strstr(table->note, "GPU 0 of 4242: the peak is 14.1 KB"));
	ck_assert_ptr_nonnull(strstr(table->note, "Unknown memory was allocated before"));
	table_destroy(table);
}
END_TEST

/* Two pictures, changed, of which one is kept to the end; without steps. */
static const char *loading(bool is_loader)
{
	const char *path = streams_path("loading.gprof");

	gen = gen_open(path);
	in_use = 0;
	gen_anchor(gen, 0, 0, 0);
	if (is_loader) {
		gen_info(gen, "loader.worker", "1");
		gen_info(gen, "loader.workers", "2");
	}
	alloc(11, INPUT, 512);
	op("aten::empty", 10, 12, 0);
	alloc(14, RESULT, 1000);
	op("aten::div", 13, 15, 0);
	alloc(20, RESULT, -1000);
	op("aten::stack", 30, 31, 0);
	gen_close(gen, "exit");
	return path;
}

START_TEST(a_worker_of_a_loader_has_inputs_alone)
{
	struct table *table = tables_of(&view_memory_categories, loading(false), false);

	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "category", "parameters", 0), "max_bytes"),
		512);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "category", "activations", 0), "max_bytes"),
		1000);
	table_destroy(table);
	table = tables_of(&view_memory_categories, loading(true), false);
	ck_assert_uint_eq(
		tables_number(table, tables_find(table, "category", "inputs", 0), "max_bytes"),
		1512);
	ck_assert_uint_eq(table->nr_rows, 1);
	table_destroy(table);
}
END_TEST

START_TEST(categories_add_up_to_the_total_at_any_time)
{
	struct table *table = tables_of(&view_memory_curve, training(), false);
	uint64_t nr_ends = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		bool is_end = tables_cell(table, row, "step")->is_known;
		uint64_t sum = 0;

		for (size_t i = 0; i < NR_EXPECTED; i++) {
			uint64_t bytes = tables_number(table, row, expected[i].key);

			sum += bytes;
			ck_assert(!is_end || bytes == expected[i].at_step_end);
		}
		ck_assert_uint_eq(sum, tables_number(table, row, "allocated_bytes"));
		ck_assert(!is_end || tables_number(table, row, "step") == nr_ends);
		nr_ends += is_end;
	}
	ck_assert_uint_eq(nr_ends, NR_STEPS);
	table_destroy(table);
}
END_TEST

START_TEST(the_peak_is_of_operators_and_blocks)
{
	struct table *table = tables_of(&view_memory_peak, training(), false);
	size_t state = tables_find(table, "name", "aten::zeros_like", 0);

	ck_assert_uint_eq(table->nr_rows, 7);
	ck_assert_uint_eq(tables_number(table, state, "bytes"), 4096);
	ck_assert_uint_eq(tables_number(table, state, "blocks"), 1);
	ck_assert_str_eq(tables_cell(table, state, "category")->text, "optimizer state");
	table_destroy(table);
	table = tables_of(&view_memory_blocks, training(), false);
	/* Each is among the largest at some time, but for those between two samples. */
	ck_assert_uint_eq(tables_number(table, 0, "bytes"), 4096);
	state = tables_find(table, "category", "inputs", 0);
	ck_assert_uint_eq(tables_number(table, state, "bytes"), 512);
	ck_assert(tables_cell(table, state, "release_ns")->is_known);
	table_destroy(table);
	tables_of_nonsense(&view_memory_categories, false);
	tables_of_nonsense(&view_memory_peak, false);
	tables_of_nonsense(&view_memory_blocks, false);
}
END_TEST

UNIT_SUITE("report/memory_category",
	blocks_have_the_category_of_who_allocated_them_and_how_long_they_live,
	a_worker_of_a_loader_has_inputs_alone, categories_add_up_to_the_total_at_any_time,
	the_peak_is_of_operators_and_blocks)
