/* SPDX-License-Identifier: Apache-2.0 */
#include "report/view.h"

#include <stdlib.h>
#include <string.h>

#include "report/copy.h"
#include "report/ranges.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

/* The table of a view over some processes. */
static struct table *run(const struct view_class *class, struct process **processes, size_t nr)
{
	struct view_input input = {.processes = processes, .nr_processes = nr};
	void *view = class->create(&input);
	struct scan scan = {&class->scan, view};
	struct table *table;

	if (class->scan.take) {
		scan_run(processes, nr, &scan, 1);
	}
	table = class->table(view);
	class->destroy(view);
	return table;
}

static const struct table_cell *cell(const struct table *table, size_t row, const char *key)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (strcmp(table->columns[c].key, key) == 0) {
			ck_assert_uint_lt(row, table->nr_rows);
			return &table->cells[row * table->nr_columns + c];
		}
	}
	ck_abort_msg("no column %s", key);
	return NULL;
}

static uint64_t number(const struct table *table, size_t row, const char *key)
{
	return cell(table, row, key)->integer;
}

static const char *name(const struct table *table, size_t row)
{
	return names_readable((uint32_t)number(table, row, "name"), NULL);
}

START_TEST(kernels_are_summed_by_name_also_those_without_a_call)
{
	struct process *process = streams_process(streams_small("a.gprof"));
	struct table *table = run(&view_kernel, &process, 1);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_str_eq(
		name(table, 0), "void gemm<float>(float const*, float const*, float*, int)");
	ck_assert_uint_eq(number(table, 0, "calls"), 5);
	ck_assert_uint_eq(number(table, 0, "total_ns"), 66000);
	ck_assert_uint_eq(number(table, 0, "median_ns"), 12000);
	ck_assert_uint_eq(number(table, 0, "min_ns"), 10000);
	ck_assert_uint_eq(number(table, 0, "max_ns"), 20000);
	ck_assert_double_eq_tol(cell(table, 0, "share_pct")->number, 82.5, 1e-9);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(two_processes_add_up_in_one_table)
{
	struct process *processes[2] = {streams_process(streams_small("a.gprof")),
		streams_process(streams_small("b.gprof"))};
	struct table *kernels = run(&view_kernel, processes, 2);
	struct table *devices = run(&view_device, processes, 2);

	ck_assert_uint_eq(kernels->nr_rows, 2);
	ck_assert_uint_eq(number(kernels, 0, "calls"), 10);
	ck_assert_uint_eq(devices->nr_rows, 2);
	table_destroy(kernels);
	table_destroy(devices);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

START_TEST(a_device_is_busy_for_the_union_of_its_work)
{
	struct process *process = streams_process(streams_small("a.gprof"));
	struct table *table = run(&view_device, &process, 1);

	/* Kernels 10+11+12+13 and 14 joined with 20 from 105 on: 25; a copy 50, a set 2. */
	ck_assert_uint_eq(number(table, 0, "busy_ns"), (10 + 11 + 12 + 13 + 25 + 50 + 2) * 1000);
	ck_assert_uint_eq(number(table, 0, "span_ns"), 292000);
	ck_assert_uint_eq(number(table, 0, "idle_ns"), 292000 - 123000);
	ck_assert_uint_eq(number(table, 0, "events"), 8);
	ck_assert_ptr_nonnull(strstr(table->note, "work of 1 calls"));
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(failed_calls_are_counted_and_not_ready_is_no_failure)
{
	const char *path = streams_path("calls.gprof");
	struct gen *gen = gen_open(path);
	uint16_t query = gen_call(gen, "cudaEventQuery", GPROF_API_RUNTIME);
	static const int32_t results[] = {0, 600, 1, -5};
	struct process *process;
	struct table *table;

	for (int i = 0; i < 4; i++) {
		struct gprof_row_api_sync *row = gen_row(gen, GPROF_TABLE_api_sync);

		row->begin = 100 * i;
		row->dur = 100 * i + 10;
		row->call = query;
		row->result = results[i];
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	table = run(&view_api, &process, 1);
	ck_assert_uint_eq(number(table, 0, "calls"), 4);
	ck_assert_uint_eq(number(table, 0, "failed"), 2);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* A process whose CUPTI refused: an allocation of pinned memory, copies, a launch, a notice. */
static const char *make_host_only(void)
{
	const char *path = streams_path("host.gprof");
	struct gen *gen = gen_open(path);
	uint16_t id = gen_call(gen, "cudaMemcpy", GPROF_API_RUNTIME);
	struct gprof_row_api_alloc *alloc = gen_row(gen, GPROF_TABLE_api_alloc);
	uint32_t kernel = gen_string(gen, "gemm");
	uint32_t cause = gen_string(gen, "CUPTI refused");
	uint32_t text = gen_string(gen, "run as root");
	struct gprof_row_notice *notice = gen_row(gen, GPROF_TABLE_notice);
	struct gprof_row_function *function = gen_row(gen, GPROF_TABLE_function);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);
	struct gprof_row_api_launch *launch = gen_row(gen, GPROF_TABLE_api_launch);

	notice->cause = cause;
	notice->text = text;
	alloc->begin = 10;
	alloc->dur = 20;
	alloc->bytes = 4096;
	alloc->address = 0x10000;
	alloc->space = GPROF_SPACE_HOST;
	for (int i = 0; i < 3; i++) {
		struct gprof_row_api_copy *copy = gen_row(gen, GPROF_TABLE_api_copy);

		copy->begin = 100 + 100 * i;
		copy->dur = copy->begin + 50;
		copy->call = id;
		copy->bytes = 1000;
		copy->dst = 0x900000;
		copy->src = i < 2 ? 0x10800 : 0x20000; /* the last one is not pinned */
		copy->copy_kind = i == 1 ? 4 : 1;
	}
	function->address = 0xabc;
	function->name = kernel;
	shape->id = 1;
	shape->function = 0xabc;
	launch->begin = 500;
	launch->dur = 507;
	launch->shape = 1;
	gen_close(gen, "exit");
	return path;
}

START_TEST(without_device_records_launches_and_calls_stand_in_and_say_so)
{
	struct process *process = streams_process(make_host_only());
	struct table *kernels = run(&view_kernel, &process, 1);
	struct table *copies = run(&view_memcpy, &process, 1);

	ck_assert_str_eq(name(kernels, 0), "gemm");
	ck_assert_uint_eq(number(kernels, 0, "total_ns"), 7);
	ck_assert_ptr_nonnull(strstr(kernels->note, "no device records: run as root"));
	ck_assert_uint_eq(copies->nr_rows, 3);
	table_sort(copies, "name");
	ck_assert_str_eq(name(copies, 0), "Memcpy HtoD (Pageable -> Device), host call");
	ck_assert_str_eq(name(copies, 1), "Memcpy HtoD (Pinned -> Device), host call");
	/* By address, to memory that nobody allocated: the host's. */
	ck_assert_str_eq(name(copies, 2), "Memcpy HtoH (Pinned -> Pageable), host call");
	ck_assert(!cell(copies, 0, "bytes_per_s")->is_known);
	table_destroy(kernels);
	table_destroy(copies);
	process_destroy(process);
}
END_TEST

START_TEST(work_without_times_is_counted_and_adds_no_time)
{
	const char *path = streams_path("untimed.gprof");
	struct gen *gen = gen_open(path);
	uint32_t kernel = gen_string(gen, "gemm");
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);
	struct gprof_row_untimed *untimed = gen_row(gen, GPROF_TABLE_untimed);
	struct process *process;
	struct table *table;

	shape->id = 1;
	shape->name = kernel;
	untimed->table = GPROF_TABLE_kernel;
	untimed->shape = 1;
	gen_close(gen, "exit");
	process = streams_process(path);
	table = run(&view_kernel, &process, 1);
	ck_assert_uint_eq(number(table, 0, "calls"), 1);
	ck_assert_uint_eq(number(table, 0, "untimed"), 1);
	ck_assert_uint_eq(number(table, 0, "total_ns"), 0);
	ck_assert(!cell(table, 0, "min_ns")->is_known);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(ranges_nest_by_thread_and_pair_by_id)
{
	struct process *process = streams_process(streams_small("a.gprof"));
	struct table *table = run(&view_nvtx, &process, 1);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_str_eq(name(table, 0), "step");
	ck_assert_uint_eq(number(table, 0, "total_ns"), 145000);
	ck_assert_str_eq(name(table, 1), "copies");
	ck_assert_uint_eq(number(table, 1, "total_ns"), 140000);
	ck_assert_ptr_nonnull(strstr(table->note, "1 ends had no begin"));
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(losses_make_a_process_incomplete_and_are_listed)
{
	const char *path = streams_path("lossy.gprof");
	struct gen *gen = gen_open(path);
	uint32_t cause = gen_string(gen, "no room in the rings");
	struct gprof_row_loss *loss;
	struct process *process;
	struct table *table;

	for (int i = 0; i < 2; i++) {
		loss = gen_row(gen, GPROF_TABLE_loss);
		loss->count = 21;
		loss->cause = cause;
	}
	gen_close(gen, "exit");
	process = streams_process(path);
	ck_assert_uint_eq(process_missing(process), 42);
	ck_assert(!process_is_complete(process));
	table = run(&view_losses, &process, 1);
	ck_assert_uint_eq(number(table, 0, "count"), 42);
	ck_assert_str_eq(cell(table, 0, "cause")->text, "no room in the rings");
	table_destroy(table);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/view", kernels_are_summed_by_name_also_those_without_a_call,
	two_processes_add_up_in_one_table, a_device_is_busy_for_the_union_of_its_work,
	failed_calls_are_counted_and_not_ready_is_no_failure,
	without_device_records_launches_and_calls_stand_in_and_say_so,
	work_without_times_is_counted_and_adds_no_time, ranges_nest_by_thread_and_pair_by_id,
	losses_make_a_process_incomplete_and_are_listed)
