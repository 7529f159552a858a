/* SPDX-License-Identifier: Apache-2.0 */
/* The views over operators, allocations and samples, on the stream of gen_ops. */
#include <stdlib.h>
#include <string.h>

#include "report/flops.h"
#include "report/timeline.h"
#include "report/view.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static struct table *run(const struct view_class *class, const char *path, bool is_split)
{
	struct process *process = streams_process(path);
	struct view_input input = {.processes = &process,
		.nr_processes = 1,
		.is_per_thread = is_split,
		.is_detailed = is_split};
	void *view = class->create(&input);
	struct scan scan = {&class->scan, view};
	struct op_walk walk = {&class->ops, view};
	struct table *table;

	if (class->scan.take) {
		scan_run(&process, 1, &scan, 1);
	}
	op_walk_run(&process, 1, &walk, 1);
	table = class->table(view);
	class->destroy(view);
	process_destroy(process);
	return table;
}

static const char *ops(void)
{
	const char *path = streams_path("ops.gprof");
	struct gen *gen = gen_open(path);

	gen_ops(gen);
	gen_close(gen, "exit");
	return path;
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
	ck_assert(cell(table, row, key)->is_known);
	return cell(table, row, key)->integer;
}

/* The n-th row whose column has that text or name. */
static size_t find(const struct table *table, const char *key, const char *text, size_t n)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct table_cell *found = cell(table, i, key);
		const char *have =
			found->text ? found->text : names_raw((uint32_t)found->integer, NULL);

		if (strcmp(have, text) == 0 && !n--) {
			return i;
		}
	}
	ck_abort_msg("no row %s", text);
	return 0;
}

START_TEST(operators_have_their_own_time_and_that_of_what_they_launched)
{
	struct table *table = run(&view_operator, ops(), false);
	size_t node = find(table, "name", "MmBackward0", 0),
	       mm = find(table, "name", "aten::mm", 0);

	ck_assert_uint_eq(number(table, node, "self_ns"), 45000);
	ck_assert_uint_eq(number(table, node, "total_ns"), 135000);
	ck_assert_uint_eq(number(table, node, "gpu_self_ns"), 0);
	ck_assert_uint_eq(number(table, node, "gpu_total_ns"), 270000);
	ck_assert_uint_eq(number(table, mm, "calls"), 6);
	ck_assert_uint_eq(number(table, mm, "gpu_self_ns"), 330000);
	ck_assert_uint_eq(number(table, mm, "flops"), 6 * 2 * 4 * 16 * 10);
	for (size_t i = 0; i < table->nr_rows; i++) {
		ck_assert_str_ne(names_raw((uint32_t)number(table, i, "name"), NULL), "the model");
	}
	table_destroy(table);
}
END_TEST

START_TEST(operators_of_threads_by_themselves)
{
	struct table *table = run(&view_operator, ops(), true);
	size_t a = find(table, "name", "aten::mm", 0), b = find(table, "name", "aten::mm", 1);

	ck_assert_uint_eq(number(table, a, "tid") + number(table, b, "tid"), 2 * GEN_PID + 1);
	ck_assert_uint_eq(number(table, a, "calls"), 3);
	ck_assert_str_eq(names_raw((uint32_t)number(table, a, "shapes"), NULL),
		"float32[4,16], float32[16,10]");
	table_destroy(table);
}
END_TEST

START_TEST(phases_add_up_to_the_steps)
{
	struct table *model = run(&view_model, ops(), false);
	struct table *steps = run(&view_steps, ops(), false);
	uint64_t sum = 0;

	ck_assert_uint_eq(model->nr_rows, 1 + NR_PHASES);
	for (size_t i = 1; i < model->nr_rows; i++) {
		sum += number(model, i, "total_ns");
	}
	ck_assert_uint_eq(sum, number(model, 0, "total_ns"));
	ck_assert_uint_eq(
		number(model, find(model, "name", "Backward", 0), "gpu_total_ns"), 270000);
	ck_assert_uint_eq(number(model, find(model, "name", "Optimization", 0), "calls"), 6);
	ck_assert_uint_eq(steps->nr_rows, 4);
	ck_assert_uint_eq(number(steps, 0, "duration_ns"), 710000);
	ck_assert_uint_eq(number(steps, 1, "duration_ns"), 1000000);
	ck_assert_uint_eq(number(steps, 1, "forward_ns"), 190000);
	ck_assert_uint_eq(number(steps, 1, "others_ns"), 350000);
	ck_assert_uint_eq(number(steps, 1, "gpu_ns"), 180000);
	ck_assert(!cell(steps, 3, "duration_ns")->is_known);
	table_destroy(model);
	table_destroy(steps);
}
END_TEST

START_TEST(benchmark_counts_samples)
{
	struct table *table = run(&view_benchmark, ops(), false);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(number(table, 0, "steps"), 2);
	ck_assert_uint_eq(number(table, 0, "reader_cost_min_ns"), 100000);
	ck_assert_double_eq_tol(cell(table, 0, "reader_ratio_pct")->number, 10, 1e-9);
	ck_assert_double_eq_tol(cell(table, 0, "ips_avg")->number, 4000, 1e-6);
	table_destroy(table);
}
END_TEST

START_TEST(memory_is_told_by_who_asked_and_what_is_left)
{
	struct table *table = run(&view_memory, ops(), false);
	size_t conv = find(table, "name", "aten::convolution", 0);
	size_t nobody = find(table, "name", "(no operator)", 0);

	ck_assert_uint_eq(number(table, conv, "total_bytes"), 3 * 8u << 20);
	ck_assert_uint_eq(number(table, conv, "live"), 3);
	ck_assert_uint_eq(number(table, nobody, "allocations"), 3);
	ck_assert_uint_eq(number(table, nobody, "live"), 0);
	ck_assert_uint_eq(number(table, nobody, "live_bytes"), 0);
	ck_assert_ptr_nonnull(strstr(table->note, "peak 26.2 MB at 0.003 s"));
	ck_assert_ptr_nonnull(strstr(table->figure, "26.2 MB |"));
	table_destroy(table);
}
END_TEST

/* Steps of three layers each, the last batch being smaller. */
START_TEST(the_batch_is_seen_in_shapes)
{
	const char *path = streams_path("batch.gprof");
	struct gen *gen = gen_open(path);
	uint32_t name = gen_op_name(gen, "aten::linear");
	uint32_t full = gen_op_shape(gen, "float32[32,128], float32[10,128]");
	uint32_t part = gen_op_shape(gen, "float32[7,128], float32[10,128]");
	struct table *table;

	for (uint32_t i = 0; i < 20; i++) {
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		op->begin = 1000 * i + 100;
		op->dur = 1000 * i + 200;
		op->thread = op->end_thread = 1;
		op->op_name = name;
		op->op_shape = i < 19 ? full : part;
		step->time = 1000 * i;
		step->step = i;
	}
	gen_close(gen, "exit");
	table = run(&view_benchmark, path, false);
	ck_assert_uint_eq(number(table, 0, "batch_size"), 32);
	ck_assert_double_eq_tol(cell(table, 0, "ips_avg")->number, 32e6, 1);
	ck_assert_ptr_nonnull(strstr(table->note, "samples a second; the batch is what"));
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
	table = run(&view_memory, path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(number(table, 0, "allocations"), 3);
	ck_assert_uint_eq(number(table, 0, "total_bytes"), 180);
	ck_assert_uint_eq(number(table, 0, "live"), 2);
	ck_assert_uint_eq(number(table, 0, "live_bytes"), 80);
	ck_assert_str_eq(cell(table, 0, "place")->text, "device memory");
	table_destroy(table);
}
END_TEST

START_TEST(samples_become_shares_of_time)
{
	struct table *table = run(&view_utilization, ops(), false);
	size_t cpu = find(table, "metric", "CPU(Process)", 0);
	size_t host = find(table, "metric", "CPU(System)", 0);
	size_t gpu = find(table, "device", "GPU 0", 0);

	ck_assert_double_eq_tol(cell(table, cpu, "avg")->number, 150, 1e-9);
	ck_assert_double_eq_tol(cell(table, host, "avg")->number, 50, 1e-9);
	ck_assert_double_eq_tol(cell(table, gpu, "avg")->number, 15, 1e-9);
	ck_assert_double_eq_tol(cell(table, gpu, "max")->number, 30, 1e-9);
	table_destroy(table);
}
END_TEST

START_TEST(waiting_for_data_is_told)
{
	struct table *table = run(&view_dataprep, ops(), false);

	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(number(table, 0, "batches"), 3);
	ck_assert_uint_eq(number(table, 0, "wait_ns"), 300000);
	ck_assert_uint_eq(number(table, 0, "cpu_ns"), 4500000);
	table_destroy(table);
}
END_TEST

static double flops(const char *name, const char *shapes)
{
	double count = -1;

	return flops_of(names_intern(name, strlen(name)), names_intern(shapes, strlen(shapes)),
		       &count)
		       ? count
		       : -1;
}

START_TEST(operations_are_counted_from_shapes)
{
	ck_assert_double_eq(flops("aten::mm", "float32[2,3], float32[3,5]"), 60);
	ck_assert_double_eq(
		flops("aten::addmm", "float32[5], float32[2,3], float32[3,5], scalar"), 60);
	ck_assert_double_eq(flops("aten::bmm", "bfloat16[7,2,3], bfloat16[7,3,5]"), 420);
	ck_assert_double_eq(
		flops("aten::baddbmm", "float32[7,2,5], float32[7,2,3], float32[7,3,5]"), 420);
	ck_assert_double_eq(
		flops("aten::convolution", "float32[4,3,8,8], float32[16,3,3,3], ?"), 221184);
	ck_assert_double_eq(flops("aten::_scaled_dot_product_flash_attention",
				    "float16[2,4,8,16], float16[2,4,6,16], float16[2,4,6,32]"),
		2.0 * 2 * 4 * 8 * 6 * (16 + 32));
	ck_assert_double_eq(flops("aten::add", "float32[4,1,8], float32[3,1], scalar"), 96);
	ck_assert_double_eq(flops("aten::relu", "float32[]"), 1);
	ck_assert_double_eq(flops("aten::mm", "float32[2,3], float32[4,5]"), -1);
	ck_assert_double_eq(flops("aten::mm", "float32[2,x], float32[3,5]"), -1);
	ck_assert_double_eq(flops("aten::mm", "float32[2,3"), -1);
	ck_assert_double_eq(flops("aten::mm", "float32[1,2,3,4,5,6,7,8,9]"), -1);
	ck_assert_double_eq(flops("aten::mm", ""), -1);
	ck_assert_double_eq(flops("aten::embedding", "float32[2,3], int64[3,5]"), -1);
}
END_TEST

/* The operator that made the node is the last that begins with its number. */
START_TEST(arrows_go_from_operators_to_their_nodes)
{
	struct process *process = streams_process(ops());
	struct buf out = {0};
	size_t nr_begins = 0, nr_ends = 0;

	timeline_write(&process, 1, "x", &out);
	buf_char(&out, '\0');
	for (const char *at = out.bytes; (at = strstr(at, "\"cat\": \"fwdbwd\"")); at++) {
		nr_begins += at[-4] == 's';
		nr_ends += at[-4] == 'f';
	}
	ck_assert_uint_eq(nr_begins, 3);
	ck_assert_uint_eq(nr_ends, 3);
	/* 220 us after the start of the first step, where aten::mm begins */
	ck_assert_ptr_nonnull(strstr(out.bytes,
		"\"fwdbwd\", \"id\": 2, \"pid\": 4242, \"tid\": 4242, \"ts\": 2070947934133.088"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"cat\": \"cpu_op\", \"name\": \"aten::mm\""));
	ck_assert_ptr_nonnull(
		strstr(out.bytes, "\"cat\": \"user_annotation\", \"name\": \"the model\""));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"Bytes\": -1048576"));
	buf_fini(&out);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/ops", operators_have_their_own_time_and_that_of_what_they_launched,
	operators_of_threads_by_themselves, phases_add_up_to_the_steps, benchmark_counts_samples,
	the_batch_is_seen_in_shapes, memory_is_told_by_who_asked_and_what_is_left,
	calls_of_cudaMalloc_give_the_same, samples_become_shares_of_time, waiting_for_data_is_told,
	operations_are_counted_from_shapes, arrows_go_from_operators_to_their_nodes)
