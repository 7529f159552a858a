/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/view.h"

#include <stdlib.h>
#include <string.h>

#include "report/session/session.h"
#include "report/model/copy_kind.h"
#include "report/model/ranges.h"
#include "report/timeline/chrome.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

START_TEST(kernels_are_summed_by_name_also_those_without_a_call)
{
	struct process *process = streams_process(streams_small("a.gprof"));
	struct table *table = tables_make(&view_kernel, &process, 1, false);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_str_eq(
		tables_name(table, 0), "void gemm<float>(float const*, float const*, float*, int)");
	ck_assert_uint_eq(tables_number(table, 0, "calls"), 5);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 66000);
	ck_assert_uint_eq(tables_number(table, 0, "median_ns"), 12000);
	ck_assert_uint_eq(tables_number(table, 0, "min_ns"), 10000);
	ck_assert_uint_eq(tables_number(table, 0, "max_ns"), 20000);
	ck_assert_double_eq_tol(tables_cell(table, 0, "share_pct")->number, 82.5, 1e-9);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(two_processes_add_up_in_one_table)
{
	struct process *processes[2] = {streams_process(streams_small("a.gprof")),
		streams_process(streams_small("b.gprof"))};
	struct table *kernels = tables_make(&view_kernel, processes, 2, false);
	struct table *devices = tables_make(&view_device, processes, 2, false);

	ck_assert_uint_eq(kernels->nr_rows, 2);
	ck_assert_uint_eq(tables_number(kernels, 0, "calls"), 10);
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
	struct table *table = tables_make(&view_device, &process, 1, false);

	/* Kernels 10+11+12+13 and 14 joined with 20 from 105 on: 25; a copy 50, a set 2. */
	ck_assert_uint_eq(
		tables_number(table, 0, "busy_ns"), (10 + 11 + 12 + 13 + 25 + 50 + 2) * 1000);
	ck_assert_uint_eq(tables_number(table, 0, "span_ns"), 292000);
	ck_assert_uint_eq(tables_number(table, 0, "idle_ns"), 292000 - 123000);
	ck_assert_uint_eq(tables_number(table, 0, "events"), 8);
	ck_assert_ptr_nonnull(strstr(table->note, "calls that are not recorded: 1."));
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
	table = tables_make(&view_api, &process, 1, false);
	ck_assert_uint_eq(tables_number(table, 0, "calls"), 4);
	ck_assert_uint_eq(tables_number(table, 0, "failed"), 2);
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
	for (int i = 0; i < 4; i++) {
		struct gprof_row_api_copy *copy = gen_row(gen, GPROF_TABLE_api_copy);

		copy->begin = 100 + 100 * i;
		copy->dur = copy->begin + 50;
		copy->call = id;
		copy->bytes = 1000;
		copy->dst = 0x900000;
		copy->src = i < 2 ? 0x10800 : 0x20000; /* the last one is not pinned */
		copy->copy_kind = i == 1 ? 4 : 1;
		copy->result = i == 3; /* failed: nothing was copied */
	}
	function->address = 0xabc;
	function->name = kernel;
	shape->id = 1;
	shape->function = 0xabc;
	launch->begin = 600;
	launch->dur = 607;
	launch->shape = 1;
	launch = gen_row(gen, GPROF_TABLE_api_launch);
	launch->begin = 700;
	launch->dur = 800;
	launch->shape = 1;
	launch->result = 1;
	gen_close(gen, "exit");
	return path;
}

START_TEST(without_device_records_launches_and_calls_stand_in_and_say_so)
{
	struct process *process = streams_process(make_host_only());
	struct table *kernels = tables_make(&view_kernel, &process, 1, false);
	struct table *copies = tables_make(&view_memcpy, &process, 1, false);

	ck_assert_str_eq(tables_name(kernels, 0), "gemm");
	ck_assert_uint_eq(tables_number(kernels, 0, "total_ns"), 7);
	ck_assert_ptr_nonnull(
		strstr(kernels->note, "No GPU activities were recorded: run as root."));
	ck_assert_uint_eq(tables_number(kernels, 0, "calls"), 1);
	ck_assert_uint_eq(copies->nr_rows, 3);
	table_sort(copies, "name");
	ck_assert_str_eq(tables_name(copies, 0), "Memcpy HtoD (Pageable -> Device), host call");
	ck_assert_str_eq(tables_name(copies, 1), "Memcpy HtoD (Pinned -> Device), host call");
	/* By address, to memory that nobody allocated: the host's. */
	ck_assert_str_eq(tables_name(copies, 2), "Memcpy HtoH (Pinned -> Pageable), host call");
	ck_assert(!tables_cell(copies, 0, "bytes_per_s")->is_known);
	ck_assert_uint_eq(tables_number(copies, 0, "calls"), 1);
	ck_assert_str_eq(copies->note, "No GPU activities were recorded: run as root.\n"
				       "Rows marked 'host call' show the times of calls.");
	table_destroy(kernels);
	table_destroy(copies);
	process_destroy(process);
}
END_TEST

/* CUPTI was there, and one program called CUDA without anything to run. */
START_TEST(what_did_not_run_is_told_apart_from_what_was_not_seen)
{
	const char *path = streams_path("idle.gprof");
	struct gen *gen = gen_open(path);
	uint16_t id = gen_call(gen, "cudaGetDeviceCount", GPROF_API_RUNTIME);
	struct gprof_row_api *row = gen_row(gen, GPROF_TABLE_api);
	struct process *two[2];
	struct table *table;

	gen_info(gen, "cupti.version", "130001");
	row->begin = 10;
	row->dur = 20;
	row->call = id;
	gen_close(gen, "exit");
	two[0] = streams_process(path);
	two[1] = streams_process(streams_small("a.gprof"));
	table = tables_make(&view_memcpy, two, 2, false);
	ck_assert_str_eq(table->note, "1 process has no GPU activities: only CUDA calls were "
				      "recorded.");
	table_destroy(table);
	table = tables_make(&view_kernel, two, 2, false);
	ck_assert_str_eq(table->note, "1 process has no GPU activities: only CUDA calls were "
				      "recorded.");
	table_destroy(table);
	process_destroy(two[0]);
	process_destroy(two[1]);
}
END_TEST

START_TEST(the_time_of_work_without_times_is_unknown)
{
	static const struct view_class *const views[] = {&view_kernel, &view_kernel_operator};
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
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		table = tables_make(views[i], &process, 1, false);
		ck_assert_uint_eq(tables_number(table, 0, "calls"), 1);
		ck_assert_uint_eq(tables_number(table, 0, "untimed"), 1);
		ck_assert(!tables_cell(table, 0, "share_pct")->is_known);
		ck_assert(!tables_cell(table, 0, "total_ns")->is_known);
		ck_assert(!tables_cell(table, 0, "min_ns")->is_known);
		table_destroy(table);
	}
	process_destroy(process);
}
END_TEST

START_TEST(ranges_nest_by_thread_and_pair_by_id)
{
	struct process *process = streams_process(streams_small("a.gprof"));
	struct table *table = tables_make(&view_nvtx, &process, 1, false);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_str_eq(tables_name(table, 0), "step");
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 145000);
	ck_assert_str_eq(tables_name(table, 1), "copies");
	ck_assert_uint_eq(tables_number(table, 1, "total_ns"), 140000);
	ck_assert_ptr_nonnull(strstr(table->note, "1 ends without a start"));
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
	table = tables_make(&view_losses, &process, 1, false);
	ck_assert_uint_eq(tables_number(table, 0, "count"), 42);
	ck_assert_str_eq(tables_cell(table, 0, "cause")->text, "no room in the rings");
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(a_device_that_the_stream_does_not_name_is_unknown)
{
	const char *path = streams_path("nowhere.gprof");
	struct gen *gen = gen_open(path);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);
	struct table *table;

	kernel->begin = 100;
	kernel->dur = 200;
	kernel->place = 77;
	gen_close(gen, "exit");
	table = tables_of(&view_device, path, false);
	ck_assert_uint_eq(tables_number(table, 0, "kernels"), 1);
	ck_assert(!tables_cell(table, 0, "device")->is_known);
	ck_assert(!tables_cell(table, 0, "name")->is_known);
	table_destroy(table);
}
END_TEST

/* Ids of arrows hold for the whole file, so two processes may not have the same. */
START_TEST(arrows_of_two_processes_are_not_mixed_up)
{
	struct process *processes[2] = {streams_process(streams_small("a.gprof")),
		streams_process(streams_small("b.gprof"))};
	const char *mark = "\"ph\": \"s\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": ";
	unsigned long long ids[64];
	size_t nr_ids = 0;
	struct buf out = {0};

	chrome_write(processes, 2, &(struct chrome_file){.name = "x"}, &out);
	buf_char(&out, '\0');
	for (const char *at = out.bytes; (at = strstr(at, mark)); at++) {
		ck_assert_uint_lt(nr_ids, 64);
		ids[nr_ids] = strtoull(at + strlen(mark), NULL, 10);
		for (size_t i = 0; i < nr_ids; i++) {
			ck_assert_uint_ne(ids[i], ids[nr_ids]);
		}
		nr_ids++;
	}
	ck_assert_uint_gt(nr_ids, 2);
	buf_fini(&out);
	process_destroy(processes[0]);
	process_destroy(processes[1]);
}
END_TEST

/* In a container the program may be process 1, which is what the second GPU is called. */
START_TEST(processes_and_devices_have_different_pids)
{
	struct process *process = streams_process(streams_small("a.gprof"));
	struct buf out = {0};

	process->pid = 0;
	chrome_write(&process, 1, &(struct chrome_file){.name = "x"}, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.bytes,
		"\"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 10000000,"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"cat\": \"gpu_memcpy\""));
	ck_assert_ptr_null(strstr(out.bytes, "\"name\": \"cudaLaunchKernel\", \"pid\": 0,"));
	ck_assert_ptr_nonnull(
		strstr(out.bytes, "\"Record Window End\", \"s\": \"g\", \"pid\": 10000000,"));
	buf_fini(&out);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/view", kernels_are_summed_by_name_also_those_without_a_call,
	two_processes_add_up_in_one_table, a_device_is_busy_for_the_union_of_its_work,
	failed_calls_are_counted_and_not_ready_is_no_failure,
	without_device_records_launches_and_calls_stand_in_and_say_so,
	the_time_of_work_without_times_is_unknown, ranges_nest_by_thread_and_pair_by_id,
	losses_make_a_process_incomplete_and_are_listed,
	a_device_that_the_stream_does_not_name_is_unknown, arrows_of_two_processes_are_not_mixed_up,
	processes_and_devices_have_different_pids,
	what_did_not_run_is_told_apart_from_what_was_not_seen)
