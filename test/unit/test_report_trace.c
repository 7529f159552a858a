/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/trace.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define NR_EVENTS 3000

/* What the stream holds, kept apart from it. */
struct plain {
	uint64_t begin, dur; /* of the kernel */
	uint64_t api_begin, api_end;
	uint32_t correlation;
	bool has_call;
};

static struct plain plain[NR_EVENTS];

static uint32_t add_shape(struct gen *gen, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);
	static uint32_t id;

	shape->id = ++id;
	shape->name = string;
	shape->grid_x = 128;
	shape->grid_y = 2;
	shape->grid_z = 1;
	shape->block_x = shape->block_y = shape->block_z = 4;
	shape->registers = 40;
	return id;
}

/* Launches of three threads with kernels that begin before or after their calls return. */
static const char *make_random(uint64_t seed)
{
	const char *path = streams_path("random.gprof");
	struct gen *gen = gen_open(path);
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint32_t shapes[2] = {add_shape(gen, "zeta"), add_shape(gen, "alpha")};
	uint64_t ticks[3] = {1000, 1000, 1000};

	gen_anchor(gen, 0, 0, 0);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		struct gprof_row_kernel *kernel;
		uint32_t thread = (uint32_t)(unit_random(&seed) % 3);
		uint64_t begin = ticks[thread] + unit_random(&seed) % 50;

		plain[i] = (struct plain){.api_begin = begin,
			.api_end = begin + 1 + unit_random(&seed) % 20,
			.begin = begin + unit_random(&seed) % 300,
			.dur = unit_random(&seed) % 1000,
			.correlation = i + 1,
			.has_call = unit_random(&seed) % 10 != 0};
		ticks[thread] = plain[i].api_end;
		if (plain[i].has_call) {
			struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

			call->begin = plain[i].api_begin;
			call->dur = plain[i].api_end;
			call->thread = 1 + thread;
			call->correlation = i + 1;
			call->call = launch;
		}
		kernel = gen_row(gen, GPROF_TABLE_kernel);
		kernel->begin = plain[i].begin;
		kernel->dur = plain[i].begin + plain[i].dur;
		kernel->place = place;
		kernel->correlation = i + 1;
		kernel->shape = shapes[i % 2];
	}
	gen_close(gen, "exit");
	return path;
}

static int by_begin(const void *a, const void *b)
{
	const struct plain *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static uint64_t first_of_all(void)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < NR_EVENTS; i++) {
		if (plain[i].begin < first) {
			first = plain[i].begin;
		}
		if (plain[i].has_call && plain[i].api_begin < first) {
			first = plain[i].api_begin;
		}
	}
	return first;
}

/* A cell of a row of a trace, whose cells are good until the next. */
static const struct table_cell *cell_of(const struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = table_find_cell(table, row, key);

	ck_assert_ptr_nonnull(cell);
	return cell;
}

static uint64_t number_of(const struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = cell_of(table, row, key);

	ck_assert_msg(cell->is_known, "%s of row %zu", key, row);
	return cell->integer;
}

START_TEST(work_comes_by_its_begin_with_the_queue_time_of_its_own_call)
{
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct process *process = streams_process(make_random(seed));
		struct table *table = tables_make(&view_gpu_trace, &process, 1, false);
		uint64_t first = first_of_all();

		ck_assert_uint_eq(table->nr_rows, NR_EVENTS);
		qsort(plain, NR_EVENTS, sizeof(plain[0]), by_begin);
		for (size_t i = 0; i < NR_EVENTS; i++) {
			/* Of those that begin together, any may come first. */
			uint64_t id = number_of(table, i, "correlation");
			const struct plain *p = plain;

			while (p->correlation != id) {
				p++;
			}
			ck_assert_uint_eq(p->begin, plain[i].begin);
			ck_assert_uint_eq(number_of(table, i, "start_ns"), p->begin - first);
			ck_assert_uint_eq(number_of(table, i, "duration_ns"), p->dur);
			ck_assert_int_eq(cell_of(table, i, "call")->is_known, p->has_call);
			if (p->has_call && p->begin > p->api_end) {
				ck_assert_uint_eq(
					number_of(table, i, "queue_ns"), p->begin - p->api_end);
			} else {
				ck_assert(!cell_of(table, i, "queue_ns")->is_known);
			}
		}
		ck_assert_ptr_nonnull(strstr(table->note, "no recorded call."));
		table_destroy(table);
		process_destroy(process);
	}
}
END_TEST

START_TEST(calls_come_by_their_begin_and_none_is_missing)
{
	struct process *process = streams_process(make_random(9));
	struct table *table = tables_make(&view_api_trace, &process, 1, false);
	uint64_t last = 0, nr_calls = 0, sum = 0, plain_sum = 0;

	for (size_t i = 0; i < NR_EVENTS; i++) {
		nr_calls += plain[i].has_call;
		plain_sum += plain[i].has_call ? plain[i].api_end - plain[i].api_begin : 0;
	}
	ck_assert_uint_eq(table->nr_rows, nr_calls);
	for (size_t i = 0; i < table->nr_rows; i++) {
		ck_assert_uint_ge(number_of(table, i, "start_ns"), last);
		last = number_of(table, i, "start_ns");
		sum += number_of(table, i, "duration_ns");
	}
	ck_assert_uint_eq(sum, plain_sum);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(a_trace_is_sorted_by_any_column_names_rising_numbers_falling)
{
	struct process *process = streams_process(make_random(5));
	struct table *table = tables_make(&view_gpu_trace, &process, 1, false);
	uint64_t last = UINT64_MAX;

	ck_assert(table_sort(table, "duration"));
	for (size_t i = 0; i < NR_EVENTS; i++) {
		ck_assert_uint_le(number_of(table, i, "duration_ns"), last);
		last = number_of(table, i, "duration_ns");
	}
	ck_assert(table_sort(table, "name"));
	for (size_t i = 0; i < NR_EVENTS; i++) {
		const char *name = string_pool_shown((uint32_t)number_of(table, i, "name"), NULL);

		ck_assert_str_eq(name, i < NR_EVENTS / 2 ? "alpha" : "zeta");
	}
	ck_assert(!table_sort(table, "nothing"));
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* A set has no shared memory; that of a kernel is 0 here. */
START_TEST(what_is_not_known_comes_behind_0)
{
	const char *path = streams_path("set.gprof");
	struct gen *gen = gen_open(path);
	struct gprof_row_memset *set = gen_row(gen, GPROF_TABLE_memset);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);
	struct process *process;
	struct table *table;

	set->begin = set->dur = 10;
	kernel->begin = kernel->dur = 20;
	kernel->shape = add_shape(gen, "zeta");
	gen_close(gen, "exit");
	process = streams_process(path);
	table = tables_make(&view_gpu_trace, &process, 1, false);
	ck_assert(!cell_of(table, 0, "dynamic_shared_bytes")->is_known);
	ck_assert(table_sort(table, "dynamic_shared"));
	ck_assert(!cell_of(table, 1, "dynamic_shared_bytes")->is_known);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(of_a_few_rows_that_are_wanted_the_rest_is_counted)
{
	struct process *process = streams_process(make_random(5));
	struct view_input input = {.processes = &process, .nr_processes = 1, .nr_rows = 7};
	struct table *table = tables_with(&view_gpu_trace, &input);

	table_cut(table, 7);
	ck_assert_uint_eq(table->nr_rows, 7);
	ck_assert_uint_eq(table->nr_cut, NR_EVENTS - 7);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* A kernel at `monotonic` and the same moment on another process's clock. */
static const char *make_one(const char *name, uint64_t monotonic, uint64_t realtime_begin)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	struct gprof_row_kernel *kernel;
	struct gprof_row_anchor *anchor = gen_row(gen, GPROF_TABLE_anchor);

	*anchor = (struct gprof_row_anchor){.head = anchor->head,
		.tick = monotonic,
		.monotonic_ns = monotonic,
		.realtime_ns = realtime_begin,
		.cupti_ns = monotonic};
	kernel = gen_row(gen, GPROF_TABLE_kernel);
	kernel->begin = monotonic;
	kernel->dur = monotonic + 10;
	gen_close(gen, "exit");
	return path;
}

START_TEST(processes_of_several_hosts_stand_on_one_axis)
{
	struct process *processes[2] = {streams_process(make_one("late.gprof", 1000, 5000700)),
		streams_process(make_one("early.gprof", 900000, 5000000))};
	struct table *table = tables_make(&view_gpu_trace, processes, 2, false);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(number_of(table, 0, "start_ns"), 0);
	ck_assert_uint_eq(number_of(table, 1, "start_ns"), 700);
	table_destroy(table);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

UNIT_SUITE("report/trace", work_comes_by_its_begin_with_the_queue_time_of_its_own_call,
	calls_come_by_their_begin_and_none_is_missing,
	a_trace_is_sorted_by_any_column_names_rising_numbers_falling,
	what_is_not_known_comes_behind_0, of_a_few_rows_that_are_wanted_the_rest_is_counted,
	processes_of_several_hosts_stand_on_one_axis)
