/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are means over a time, and their part in the steps. */
#include <string.h>

#include "report/table/table.h"
#include "report/analysis/view.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define MS  1000000ull
#define GPU 3u

static void add_sample(struct gen *gen, uint64_t ms, uint8_t metric, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = ms * MS;
	row->metric = metric;
	row->device = GPU;
	row->value = value;
}

/* Rows of table step at these times, in ms, up to a 0. */
static void add_steps(struct gen *gen, const uint64_t *ms)
{
	for (uint64_t i = 0; ms[i]; i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = ms[i] * MS;
		row->step = i;
		row->how = GPROF_STEP_CALL;
	}
}

static double value(const struct table *table, const char *metric, const char *column)
{
	return tables_cell(table, tables_find(table, "metric", metric, 0), column)->number;
}

START_TEST(a_mean_counts_by_the_time_that_it_covers)
{
	static const uint64_t steps[] = {1250, 1300, 1350, 1400, 1450, 1500, 0};
	const char *path = streams_path("means.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	add_steps(gen, steps);
	add_sample(gen, 1000, GPROF_METRIC_GPU_ENERGY_MJ, 5000);
	/* The first step does not count. 60 % for 400 ms, of which 100 are steps, and 20 % for 200,
	 * of which half are. */
	add_sample(gen, 1400, GPROF_METRIC_GPU_MEANS_NS, 400 * MS);
	add_sample(gen, 1400, GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT, 60000);
	add_sample(gen, 1400, GPROF_METRIC_GPU_ENERGY_MJ, 5000 + 40000);
	add_sample(gen, 1600, GPROF_METRIC_GPU_MEANS_NS, 200 * MS);
	add_sample(gen, 1600, GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT, 20000);
	add_sample(gen, 1600, GPROF_METRIC_GPU_ENERGY_MJ, 5000 + 40000 + 100000);
	gen_close(gen, "exit");
	table = tables_of(&view_utilization, path, false);
	ck_assert_double_eq_tol(
		value(table, "tensor cores active", "avg"), (60 * 400 + 20 * 200) / 600., 1e-9);
	ck_assert_double_eq_tol(value(table, "tensor cores active", "avg_in_steps"), 40, 1e-9);
	ck_assert_double_eq_tol(value(table, "tensor cores active", "max"), 60, 1e-9);
	/* 100 W, then 500 W: 300 W in the steps of 50 ms each. */
	ck_assert_double_eq_tol(value(table, "power, by energy", "avg_in_steps"), 300, 1e-9);
	ck_assert_ptr_nonnull(strstr(table->note,
		"GPU 3 used 15.00 J a step of process 4242 on average, by its energy counter, "
		"which has all that the GPU does. Samples cover 100 % of the time of the steps "
		"that count."));
	table_destroy(table);
}
END_TEST

START_TEST(without_a_length_a_counter_is_of_its_moment)
{
	static const uint64_t steps[] = {1250, 1300, 1350, 1400, 1450, 1500, 0};
	const char *path = streams_path("moments.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	add_steps(gen, steps);
	add_sample(gen, 1000, GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT, 10000);
	add_sample(gen, 1310, GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT, 30000);
	add_sample(gen, 1480, GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT, 50000);
	gen_close(gen, "exit");
	table = tables_of(&view_utilization, path, false);
	ck_assert_double_eq_tol(value(table, "SM active", "avg"), 30, 1e-9);
	ck_assert_double_eq_tol(value(table, "SM active", "avg_in_steps"), 40, 1e-9);
	table_destroy(table);
}
END_TEST

START_TEST(a_counter_of_energy_that_began_anew_tells_nothing_of_that_time)
{
	const char *path = streams_path("anew.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	add_sample(gen, 1000, GPROF_METRIC_GPU_ENERGY_MJ, 5000);
	add_sample(gen, 1100, GPROF_METRIC_GPU_ENERGY_MJ, 100);
	add_sample(gen, 1300, GPROF_METRIC_GPU_ENERGY_MJ, 20100);
	gen_close(gen, "exit");
	table = tables_of(&view_utilization, path, false);
	ck_assert_double_eq_tol(value(table, "power, by energy", "avg"), 100, 1e-9);
	ck_assert(!tables_cell(table, 0, "avg_in_steps")->is_known);
	ck_assert_ptr_null(strstr(table->note ? table->note : "", "a step"));
	table_destroy(table);
}
END_TEST

static void add_kernel(
	struct gen *gen, uint32_t place, uint32_t shape, uint64_t begin, uint64_t end)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	kernel->begin = begin * MS;
	kernel->dur = end * MS;
	kernel->place = place;
	kernel->shape = shape;
}

static void add_shape(struct gen *gen, uint32_t id, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);

	shape->id = id;
	shape->name = string;
}

/* 10 ms each, from 1000 to 1100 ms: the first three tensor cores work to 90 %, then to 10 %. */
static void add_counters(struct gen *gen)
{
	for (uint64_t i = 1; i <= 10; i++) {
		add_sample(gen, 1000 + 10 * i, GPROF_METRIC_GPU_MEANS_NS, 10 * MS);
		add_sample(gen, 1000 + 10 * i, GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT,
			i <= 3 ? 90000 : 10000);
	}
}

START_TEST(a_kernel_has_the_samples_that_lie_wholly_in_it)
{
	const char *path = streams_path("kernels.gprof");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, GPU, 1, 7), other = gen_place(gen, GPU, 1, 8);
	uint32_t elsewhere = gen_place(gen, GPU + 1, 1, 7);
	struct table *table;
	size_t row;

	add_shape(gen, 1, "gemm");
	add_shape(gen, 2, "tiny");
	add_shape(gen, 3, "other");
	gen_anchor(gen, 1000 * MS, 1000 * MS, 1000 * MS);
	add_kernel(gen, place, 1, 1005, 1045);	   /* samples 2 to 4 */
	add_kernel(gen, place, 2, 1046, 1049);	   /* shorter than a sample */
	add_kernel(gen, place, 1, 1062, 1079);	   /* none lies in it */
	add_kernel(gen, other, 3, 1030, 1050);	   /* at the same time: samples 4 and 5 */
	add_kernel(gen, elsewhere, 3, 1000, 1100); /* another GPU, without samples */
	gen_flush(gen);
	add_counters(gen);
	gen_close(gen, "exit");
	table = tables_of(&view_utilization_kernels, path, false);
	ck_assert_uint_eq(table->nr_rows, 3);
	row = tables_find(table, "name", "gemm", 0);
	ck_assert_uint_eq(tables_number(table, row, "calls"), 2);
	ck_assert_uint_eq(tables_number(table, row, "samples"), 3);
	ck_assert_double_eq_tol(
		tables_cell(table, row, "tensor_active_pct")->number, (90 + 90 + 10) / 3., 1e-5);
	ck_assert_double_eq_tol(tables_cell(table, row, "sampled_calls_pct")->number, 50, 1e-9);
	ck_assert_double_eq_tol(
		tables_cell(table, row, "sampled_pct")->number, 100 * 30 / 57., 1e-9);
	ck_assert(!tables_cell(table, row, "sm_active_pct")->is_known);
	row = tables_find(table, "name", "tiny", 0);
	ck_assert(!tables_cell(table, row, "tensor_active_pct")->is_known);
	ck_assert_double_eq_tol(tables_cell(table, row, "sampled_pct")->number, 0, 1e-9);
	row = tables_find(table, "name", "other", 0);
	ck_assert_uint_eq(tables_number(table, row, "samples"), 2);
	ck_assert_double_eq_tol(tables_cell(table, row, "tensor_active_pct")->number, 10, 1e-5);
	ck_assert_ptr_nonnull(strstr(table->note, "3 of 5 kernels are not sampled"));
	table_destroy(table);
}
END_TEST

START_TEST(kernels_without_a_launch_count_once_everywhere)
{
	const char *path = streams_path("no_launch.gprof");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, GPU, 1, 7), other = gen_place(gen, GPU, 1, 8);
	struct table *table;

	add_shape(gen, 1, "gemm");
	gen_anchor(gen, 1000 * MS, 1000 * MS, 1000 * MS);
	/* Both begin at once, with the same correlation ID, 0: their streams tell them apart. */
	add_kernel(gen, place, 1, 1005, 1045);
	add_kernel(gen, other, 1, 1005, 1035);
	gen_flush(gen);
	add_counters(gen);
	gen_close(gen, "exit");
	table = tables_of(&view_utilization_operators, path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_str_eq(tables_name(table, 0), "(no launch recorded)");
	ck_assert_uint_eq(tables_number(table, 0, "calls"), 2);
	ck_assert_uint_eq(tables_number(table, 0, "samples"), 3 + 2);
	table_destroy(table);
	table = tables_of(&view_utilization_phases, path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_str_eq(tables_cell(table, 0, "phase")->text, "Others");
	ck_assert_uint_eq(tables_number(table, 0, "samples"), 3 + 2);
	table_destroy(table);
	table = tables_of(&view_utilization_steps, path, false);
	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
	tables_of_nonsense(&view_utilization_kernels, false);
	tables_of_nonsense(&view_utilization_operators, false);
}
END_TEST

UNIT_SUITE("report/utilization", kernels_without_a_launch_count_once_everywhere,
	a_kernel_has_the_samples_that_lie_wholly_in_it, a_mean_counts_by_the_time_that_it_covers,
	without_a_length_a_counter_is_of_its_moment,
	a_counter_of_energy_that_began_anew_tells_nothing_of_that_time)
