/* SPDX-License-Identifier: Apache-2.0 */
/* What was in use over time: against a count of every nanosecond. */
#include <stdlib.h>
#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define START	   1000000ull
#define MOST_NS	   250000u
#define NR_DEVICES 2u

static void add_work(
	struct gen *gen, unsigned int table, uint32_t place, uint64_t begin, uint64_t end)
{
	struct gprof_row_kernel *row = gen_row(gen, table); /* all begin alike */

	row->begin = START + begin;
	row->dur = START + end;
	row->place = place;
}

/* Work of two devices with two streams each, in runs, some of it written late. */
static const char *random_work(uint64_t *seed, uint32_t span, uint8_t *busy)
{
	static const unsigned int tables[] = {
		GPROF_TABLE_kernel, GPROF_TABLE_memcpy, GPROF_TABLE_memset, GPROF_TABLE_graph};
	const char *path = streams_path("usage.gprof");
	struct gen *gen = gen_open(path);
	uint32_t places[4], nr = 20 + (uint32_t)(unit_random(seed) % 200);

	memset(busy, 0, (size_t)NR_DEVICES * MOST_NS);
	for (uint32_t i = 0; i < 4; i++) {
		places[i] = gen_place(gen, i / 2, 1, i);
	}
	for (uint32_t i = 0; i < nr + 2; i++) {
		uint32_t begin = (uint32_t)(unit_random(seed) % span), place = i % 4;
		uint32_t end = begin + (uint32_t)(unit_random(seed) % (span / 10));

		begin = i == nr ? 0 : begin; /* the span is known */
		end = i == nr + 1 || end > span ? span : end;
		add_work(gen, tables[unit_random(seed) % 4], places[place], begin, end);
		memset(busy + place / 2 * MOST_NS + begin, 1, end - begin);
		if (unit_random(seed) % 16 == 0) {
			gen_flush(gen);
		}
	}
	gen_close(gen, "exit");
	return path;
}

START_TEST(the_union_of_random_work_is_that_of_every_nanosecond)
{
	static uint8_t busy[NR_DEVICES * MOST_NS];
	static const uint32_t widths[] = {1000, 10000};
	uint64_t seed = 5;

	for (unsigned int round = 0; round < 24; round++) {
		uint32_t width = widths[round % 2];
		uint32_t span = (round % 2 ? 100000 : 20000) +
				(uint32_t)(unit_random(&seed) % (round % 2 ? 150000 : 75000));
		const char *path = random_work(&seed, span, busy);
		struct table *table = tables_of(&view_utilization_time, path, false);
		uint64_t sums[NR_DEVICES] = {0};

		ck_assert_uint_eq(table->nr_rows, (size_t)NR_DEVICES * (span / width + 1));
		for (size_t i = 0; i < table->nr_rows; i++) {
			uint64_t start = tables_number(table, i, "start_ns");
			uint64_t length = tables_number(table, i, "duration_ns"), nr = 0;
			uint64_t device = tables_number(table, i, "device");

			ck_assert_uint_eq(start, i / NR_DEVICES * width);
			ck_assert_uint_eq(length, span - start < width ? span - start : width);
			for (uint64_t ns = start; ns < start + length; ns++) {
				nr += busy[device * MOST_NS + ns];
			}
			sums[device] += nr;
			if (length) {
				ck_assert_double_eq_tol(tables_cell(table, i, "gpu_pct")->number,
					100 * (double)nr / (double)length, 1e-6);
			}
		}
		table_destroy(table);
		table = tables_of(&view_utilization, path, false);
		for (uint32_t device = 0; device < NR_DEVICES; device++) {
			size_t row = tables_find(table, "device", device ? "GPU 1" : "GPU 0", 0);

			ck_assert_double_eq_tol(tables_cell(table, row, "avg")->number,
				100 * (double)sums[device] / span, 1e-6);
			ck_assert_double_le(tables_cell(table, row, "max")->number, 100);
		}
		table_destroy(table);
	}
}
END_TEST

static void sample(struct gen *gen, uint64_t ns, uint8_t metric, uint8_t device, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = START + ns;
	row->value = value;
	row->metric = metric;
	row->device = device;
}

START_TEST(what_rises_is_spread_over_the_time_that_passed)
{
	const char *path = streams_path("samples.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	/* Buckets of 10 us: 0-15 us half a core, 15-120 us two. */
	sample(gen, 0, GPROF_METRIC_PROCESS_CPU_NS, 255, 1000000);
	sample(gen, 0, GPROF_METRIC_HOST_CPU_BUSY_NS, 255, 500);
	sample(gen, 0, GPROF_METRIC_HOST_CPU_ALL_NS, 255, 1000);
	sample(gen, 5000, GPROF_METRIC_GPU_MEMORY_BYTES, 0, 3000000);
	sample(gen, 5000, GPROF_METRIC_GPU_POWER_MW, 0, 250500);
	sample(gen, 15000, GPROF_METRIC_PROCESS_CPU_NS, 255, 1007500);
	sample(gen, 15000, GPROF_METRIC_HOST_CPU_BUSY_NS, 255, 15500);
	sample(gen, 15000, GPROF_METRIC_HOST_CPU_ALL_NS, 255, 61000);
	sample(gen, 120000, GPROF_METRIC_PROCESS_CPU_NS, 255, 1217500);
	gen_close(gen, "exit");
	table = tables_of(&view_utilization_time, path, false);
	ck_assert_uint_eq(table->nr_rows, 13);
	ck_assert_double_eq_tol(tables_cell(table, 0, "cpu_process_pct")->number, 50, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, 1, "cpu_process_pct")->number, 125, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, 2, "cpu_process_pct")->number, 200, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, 11, "cpu_process_pct")->number, 200, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, 1, "cpu_system_pct")->number, 25, 1e-9);
	ck_assert(!tables_cell(table, 2, "cpu_system_pct")->is_known);
	ck_assert_uint_eq(tables_number(table, 0, "gpu_memory_bytes"), 3000000);
	ck_assert(!tables_cell(table, 1, "gpu_memory_bytes")->is_known);
	ck_assert_double_eq_tol(tables_cell(table, 0, "gpu_power_w")->number, 250.5, 1e-9);
	ck_assert(!tables_cell(table, 1, "gpu_power_w")->is_known);
	ck_assert(!tables_cell(table, 0, "gpu_pct")->is_known);
	table_destroy(table);
	table = tables_of(&view_utilization, path, false);
	ck_assert_double_eq_tol(
		tables_cell(table, tables_find(table, "metric", "CPU(Process)", 0), "avg")->number,
		100 * 217.5 / 120, 1e-9);
	table_destroy(table);
}
END_TEST

/* As old recorders did, a second between two looks. */
START_TEST(values_of_a_look_belong_together_though_the_clock_was_read_for_each)
{
	const char *path = streams_path("looks.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;
	const struct table_cell *cell;

	for (uint64_t look = 0; look < 4; look++) {
		uint64_t ns = look * 1000000000u;

		if (look != 2) { /* lost */
			sample(gen, ns, GPROF_METRIC_HOST_CPU_BUSY_NS, 255, look * 500000000u);
		}
		sample(gen, ns + 10, GPROF_METRIC_HOST_CPU_ALL_NS, 255, look * 2000000000u);
	}
	gen_close(gen, "exit");
	table = tables_of(&view_utilization, path, false);
	cell = tables_cell(table, tables_find(table, "metric", "CPU(System)", 0), "avg");
	ck_assert_double_eq_tol(cell->number, 25, 1e-9);
	table_destroy(table);
}
END_TEST

START_TEST(user_system_and_iowait_are_shares_of_all_cpus)
{
	static const struct {
		uint8_t metric;
		uint64_t per_look;
		const char *name;
		double percent;
	} parts[] = {{GPROF_METRIC_HOST_CPU_USER_NS, 500, "CPU(System), user", 25},
		{GPROF_METRIC_HOST_CPU_SYSTEM_NS, 100, "CPU(System), system", 5},
		{GPROF_METRIC_HOST_CPU_IOWAIT_NS, 300, "CPU(System), iowait", 15},
		{GPROF_METRIC_HOST_CPU_BUSY_NS, 600, "CPU(System)", 30},
		{GPROF_METRIC_PROCESS_USER_NS, 9000, "CPU(Process), user", 90},
		{GPROF_METRIC_PROCESS_SYSTEM_NS, 2000, "CPU(Process), system", 20}};
	const char *path = streams_path("parts.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	for (uint64_t look = 0; look < 3; look++) {
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			if (look || i != 2) { /* one of them comes later */
				sample(gen, look * 10000, parts[i].metric, 255,
					77 + look * parts[i].per_look);
			}
		}
		sample(gen, look * 10000, GPROF_METRIC_HOST_CPU_ALL_NS, 255, 77 + look * 2000);
	}
	gen_close(gen, "exit");
	table = tables_of(&view_utilization, path, false);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t row = tables_find(table, "metric", parts[i].name, 0);

		ck_assert_double_eq_tol(
			tables_cell(table, row, "avg")->number, parts[i].percent, 1e-9);
	}
	table_destroy(table);
	table = tables_of(&view_utilization_time, path, false);
	ck_assert_double_eq_tol(tables_cell(table, 0, "cpu_user_pct")->number, 25, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, 0, "cpu_kernel_pct")->number, 5, 1e-9);
	ck_assert(!tables_cell(table, 0, "cpu_iowait_pct")->is_known);
	ck_assert_double_eq_tol(tables_cell(table, 10, "cpu_iowait_pct")->number, 15, 1e-9);
	table_destroy(table);
}
END_TEST

START_TEST(nothing_is_in_use_where_nothing_happened)
{
	const char *path = streams_path("nothing.gprof");
	struct gen *gen = gen_open(path);
	struct table *table;

	gen_close(gen, "exit");
	table = tables_of(&view_utilization_time, path, false);
	ck_assert_uint_eq(table->nr_rows, 0);
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/usage", the_union_of_random_work_is_that_of_every_nanosecond,
	what_rises_is_spread_over_the_time_that_passed,
	values_of_a_look_belong_together_though_the_clock_was_read_for_each,
	user_system_and_iowait_are_shares_of_all_cpus, nothing_is_in_use_where_nothing_happened)
