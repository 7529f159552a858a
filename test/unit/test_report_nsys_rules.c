/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/sql/database.h"
#include "report/sql/nsys_query.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

static struct summary summary; /* asks must stay as long as their tables */

static struct table *report_of(const char *report, struct process *process)
{
	static struct process *processes[1]; /* tables of traces look there */

	processes[0] = process;
	ck_assert(nsys_take(&summary, report));
	return nsys_query_table(&summary.reports[summary.nr_reports - 1], NULL, processes, 1);
}

static uint64_t number_of(const struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = table_find_cell(table, row, key);

	ck_assert(cell && cell->is_known);
	return cell->integer;
}

/* ---- copies, sets, waits ---- */

static void add_copy(struct gen *gen, uint16_t call, uint32_t correlation, uint8_t kind,
	uint8_t source, uint64_t bytes)
{
	struct gprof_row_api_copy *host = gen_row(gen, GPROF_TABLE_api_copy);
	struct gprof_row_memcpy *copy = gen_row(gen, GPROF_TABLE_memcpy);

	host->begin = 100 * correlation;
	host->dur = host->begin + 10;
	host->call = call;
	host->correlation = correlation;
	copy->begin = 100 * correlation + 5;
	copy->dur = copy->begin + 10 * correlation;
	copy->correlation = correlation;
	copy->bytes = bytes;
	copy->copy_kind = kind;
	copy->src_kind = source;
	copy->dst_kind = kind == API_COPY_HTOD ? API_MEMORY_DEVICE : API_MEMORY_PINNED;
	copy->flags = 1; /* what the call says counts more */
}

static const char *make_copies(void)
{
	const char *path = streams_path("copies.gprof");
	struct gen *gen = gen_open(path);
	uint16_t sync = gen_call(gen, "cudaMemcpy", GPROF_API_RUNTIME);
	uint16_t async = gen_call(gen, "cudaMemcpyAsync", GPROF_API_RUNTIME);
	uint16_t wait = gen_call(gen, "cudaDeviceSynchronize", GPROF_API_RUNTIME);
	uint16_t join = gen_call(gen, "pthread_Synchronize", GPROF_API_THREAD);
	struct gprof_row_api_sync *row;
	struct gprof_row_memset *set;

	gen_anchor(gen, 0, 0, 0);
	add_copy(gen, sync, 1, API_COPY_HTOD, API_MEMORY_PAGEABLE, 65536); /* too small */
	add_copy(gen, sync, 2, API_COPY_HTOD, API_MEMORY_PAGEABLE, 65537);
	add_copy(gen, sync, 3, API_COPY_DTOH, API_MEMORY_DEVICE, 1);
	add_copy(gen, async, 4, API_COPY_HTOD, API_MEMORY_PAGEABLE, 10);
	add_copy(gen, async, 5, API_COPY_HTOD, API_MEMORY_PINNED, 10);
	row = gen_row(gen, GPROF_TABLE_api_sync);
	row->begin = 1000;
	row->dur = 1500;
	row->call = wait;
	row = gen_row(gen, GPROF_TABLE_api_sync);
	row->begin = 2000;
	row->dur = 9000;
	row->call = join;
	set = gen_row(gen, GPROF_TABLE_memset);
	set->begin = 3000;
	set->dur = 3007;
	set->bytes = 64;
	set->flags = 1;
	set = gen_row(gen, GPROF_TABLE_memset);
	set->begin = 4000;
	set->dur = 4008;
	set->bytes = 65;
	set->memory_kind = API_MEMORY_DEVICE;
	gen_close(gen, "exit");
	return path;
}

START_TEST(rules_fire_on_what_waits_and_on_nothing_else)
{
	struct process *process = streams_process(make_copies());
	struct table *async = report_of("cuda_memcpy_async", process);
	struct table *sync = report_of("cuda_memcpy_sync", process);
	struct table *set = report_of("cuda_memset_sync", process);
	struct table *wait = report_of("cuda_api_sync", process);

	ck_assert_uint_eq(async->nr_rows, 1);
	ck_assert_uint_eq(number_of(async, 0, "duration_ns"), 40);
	ck_assert_uint_eq(sync->nr_rows, 2);
	ck_assert_uint_eq(number_of(sync, 0, "duration_ns"), 30); /* the longest first */
	ck_assert_uint_eq(number_of(sync, 1, "bytes"), 65537);
	ck_assert_uint_eq(set->nr_rows, 1);
	ck_assert_uint_eq(number_of(set, 0, "bytes"), 65);
	ck_assert_str_eq(table_find_cell(set, 0, "memory")->text, "Device");
	ck_assert_uint_eq(wait->nr_rows, 1);
	ck_assert_uint_eq(number_of(wait, 0, "duration_ns"), 500);
	ck_assert_str_eq(table_find_cell(wait, 0, "name")->text, "cudaDeviceSynchronize");
	table_destroy(async);
	table_destroy(sync);
	table_destroy(set);
	table_destroy(wait);
	process_destroy(process);
}
END_TEST

/* ---- devices over time ---- */

#define NR_WORKS 260u
#define MS	 1000000u

struct gpu_activity {
	uint64_t begin, end;
	uint32_t device;
};

static struct gpu_activity works[NR_WORKS];

static const char *make_works(uint64_t seed)
{
	const char *path = streams_path("works.gprof");
	struct gen *gen = gen_open(path);
	uint32_t places[2] = {gen_place(gen, 0, 1, 7), gen_place(gen, 1, 2, 7)};

	gen_anchor(gen, 0, 0, 0);
	for (size_t i = 0; i < NR_WORKS; i++) {
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);
		uint64_t begin = unit_random(&seed) % 30000 * MS;

		works[i] = (struct gpu_activity){.begin = begin,
			.end = begin + unit_random(&seed) % 150 * MS,
			.device = (uint32_t)(unit_random(&seed) % 2)};
		kernel->begin = works[i].begin;
		kernel->dur = works[i].end;
		kernel->place = places[works[i].device];
	}
	gen_close(gen, "exit");
	return path;
}

/* Time of a device in use between two moments, a millisecond at a time. */
static uint64_t in_use(uint32_t device, uint64_t begin_ms, uint64_t end_ms)
{
	uint64_t ms = 0;

	for (uint64_t t = begin_ms; t < end_ms; t++) {
		for (size_t i = 0; i < NR_WORKS; i++) {
			if (works[i].device == device && works[i].begin <= t * MS &&
				works[i].end >= (t + 1) * MS) {
				ms++;
				break;
			}
		}
	}
	return ms;
}

static uint64_t edge(uint32_t device, bool is_last)
{
	uint64_t found = is_last ? 0 : UINT64_MAX;

	for (size_t i = 0; i < NR_WORKS; i++) {
		if (works[i].device == device && is_last && works[i].end > found) {
			found = works[i].end;
		} else if (works[i].device == device && !is_last && works[i].begin < found) {
			found = works[i].begin;
		}
	}
	return found;
}

START_TEST(gaps_are_of_the_device_whatever_overlaps)
{
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct process *process = streams_process(make_works(seed));
		struct table *table = report_of("gpu_gaps", process);
		uint64_t start = edge(0, false) < edge(1, false) ? edge(0, false) : edge(1, false);
		uint64_t last = UINT64_MAX;

		ck_assert_uint_gt(table->nr_rows, 0);
		for (size_t row = 0; row < table->nr_rows; row++) {
			uint64_t ns = number_of(table, row, "duration_ns");
			uint64_t begin = number_of(table, row, "start_ns") + start;
			uint32_t device = (uint32_t)number_of(table, row, "device");

			ck_assert_uint_eq(number_of(table, row, "row"), row + 1);
			ck_assert_uint_gt(ns, 500u * MS);
			ck_assert_uint_le(ns, last);
			last = ns;
			ck_assert_uint_eq(in_use(device, begin / MS, (begin + ns) / MS), 0);
			ck_assert_uint_eq(in_use(device, begin / MS - 1, begin / MS), 1);
		}
		table_destroy(table);
		process_destroy(process);
	}
}
END_TEST

START_TEST(utilization_is_of_the_union_in_thirty_parts)
{
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct process *process = streams_process(make_works(seed));
		struct table *table = report_of("gpu_time_util", process);
		uint64_t start = edge(0, false) < edge(1, false) ? edge(0, false) : edge(1, false);

		for (uint32_t device = 0; device < 2; device++) {
			uint64_t first = edge(device, false), length = edge(device, true) - first;

			for (uint64_t k = 0; k < 30; k++) {
				uint64_t begin = first + length * k / 30, row = 0;
				uint64_t end = first + length * (k + 1) / 30;
				double use = 100.0 * (double)in_use(device, begin / MS, end / MS) /
					     (double)(end / MS - begin / MS);

				/* By whole milliseconds it is known to about 0.2 %. */
				if (use > 49) {
					continue;
				}
				while (row < table->nr_rows &&
					(number_of(table, row, "device") != device ||
						number_of(table, row, "start_ns") + start !=
							begin)) {
					row++;
				}
				/* Of more than 50 the least used are kept. */
				if (row == table->nr_rows) {
					ck_assert_uint_eq(row, 50);
					ck_assert_double_le(
						table_find_cell(table, 49, "in_use")->number,
						use + 0.4);
				}
				if (row < table->nr_rows) {
					ck_assert_double_eq_tol(
						table_find_cell(table, row, "in_use")->number, use,
						0.4);
				}
			}
		}
		ck_assert_uint_gt(table->nr_rows, 0);
		table_destroy(table);
		process_destroy(process);
	}
}
END_TEST

UNIT_SUITE("report/nsys_rules", rules_fire_on_what_waits_and_on_nothing_else,
	gaps_are_of_the_device_whatever_overlaps, utilization_is_of_the_union_in_thirty_parts)
