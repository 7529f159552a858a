/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of PyTorch's profiler, in all their dialects: what becomes of their events. */
#include <stdio.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/import/kineto/rows_overrun.h"
#include "report/ops/op.h"
#include "report/model/py_stack.h"
#include "report/timeline/chrome.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/report_traces.h"
#include "test/unit/unit.h"

START_TEST(an_object_and_an_array_are_traces)
{
	static const char *const texts[] = {TRACES_HEAD TRACES_OP "," TRACES_KERNEL TRACES_TAIL,
		"[" TRACES_OP "," TRACES_KERNEL "]", "[\n" TRACES_OP ",\n" TRACES_KERNEL ",\n",
		"\xef\xbb\xbf [" TRACES_OP ", \n" TRACES_KERNEL "]",
		"{\"traceEvents\":[" TRACES_OP "],\"traceEvents\":[" TRACES_KERNEL "]}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct process *process = traces_read(texts[i]);

		ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), 1);
		ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_kernel), 1);
		ck_assert(process_is_complete(process));
		ck_assert_uint_eq(process->pid, 7);
		process_destroy(process);
	}
}
END_TEST

START_TEST(times_keep_their_nanoseconds)
{
	static const struct {
		const char *ts, *dur;
		uint64_t begin, ns;
	} cases[] = {
		{"1669783687464181", "45", 1669783687464181000, 45000},
		{"1712195495519689.123", "63.813", 1712195495519689123, 63813},
		{"1365627862757.064", "0", 1365627862757064, 0},
		{"\"12\"", "0.001", 12000, 1},
		{"1.5e3", "25e-1", 1500000, 2500},
		/* the nearest one: doubles are a little off */
		{"0.0019999", "1.9999", 2, 2000},
		{"51200934567.123", "99.99999", 51200934567123, 100000},
		{"51200934567.12349", "100.00001", 51200934567123, 100000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process *process;
		struct batch batch;
		char text[512];

		snprintf(text, sizeof(text),
			"[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
			"\"ts\":%s,\"dur\":%s}]",
			cases[i].ts, cases[i].dur);
		process = traces_read(text);
		traces_load(process, GPROF_TABLE_op, &batch);
		ck_assert_uint_eq(batch.nr_rows, 1);
		ck_assert_uint_eq(batch.col[COL_op_begin][0], cases[i].begin);
		ck_assert_uint_eq(batch.col[COL_op_dur][0], cases[i].ns);
		process_destroy(process);
	}
}
END_TEST

#define SPAN_OF(cat, name, pid, ts, dur)                                       \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid \
	",\"tid\":9,\"ts\":" ts ",\"dur\":" dur ",\"args\":{\"correlation\":3}}"

START_TEST(a_kernel_keeps_its_launch)
{
	struct process *process = traces_read(TRACES_HEAD TRACES_KERNEL TRACES_TAIL);
	const struct model_shape *shape;
	struct model_place place;
	struct batch batch;

	traces_load(process, GPROF_TABLE_kernel, &batch);
	ck_assert_uint_eq(batch.nr_rows, 1);
	ck_assert_uint_eq(batch.col[COL_kernel_begin][0], 20500);
	ck_assert_uint_eq(batch.col[COL_kernel_dur][0], 1250);
	ck_assert_uint_eq(batch.col[COL_kernel_correlation][0], 3);
	shape = idmap_get(&process->shapes, (uint32_t)batch.col[COL_kernel_shape][0]);
	ck_assert_ptr_nonnull(shape);
	ck_assert_str_eq(string_pool_text(shape->name, NULL), "k");
	ck_assert_uint_eq(shape->grid[2], 4);
	ck_assert_uint_eq(shape->block[0], 32);
	ck_assert_uint_eq(shape->registers, 18);
	ck_assert_uint_eq(shape->static_shared_bytes + shape->dynamic_shared_bytes, 49153);
	place = process_place(process, batch.col[COL_kernel_place][0]);
	ck_assert_uint_eq(place.device, 0);
	ck_assert_uint_eq(place.context, 1);
	ck_assert_uint_eq(place.stream, 7);
	process_destroy(process);
}
END_TEST

/* The host goes on at once: the time budget has the GPU's idle time by them as that of other calls.
 */
START_TEST(who_asks_whether_the_gpu_has_ended_does_not_wait)
{
	static const char *const asks[] = {"cudaEventQuery", "cudaStreamQuery", "hipEventQuery",
		"cuStreamQuery", "cudaStreamWaitEvent"};

	for (size_t i = 0; i <= sizeof(asks) / sizeof(asks[0]); i++) {
		bool is_wait = i == sizeof(asks) / sizeof(asks[0]);
		struct process *process;
		struct table *idle;
		char text[1024];

		snprintf(text, sizeof(text),
			"[" SPAN_OF("cuda_runtime", "%s", "7", "80", "10") "," SPAN_OF(
				"cuda_runtime", "cudaLaunchKernel", "7", "95",
				"5") "," SPAN_OF("kernel", "k", "0", "100", "20") "]",
			is_wait ? "cudaStreamSynchronize" : asks[i]);
		process = traces_read(text);
		ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_api_sync), 1);
		idle = tables_make(&view_idle, &process, 1, false);
		ck_assert_uint_eq(tables_number(idle, 0, "total_ns"), 10000);
		ck_assert_str_eq(tables_cell(idle, 0, "part")->text,
			is_wait ? "Idle: waits" : "Idle: other calls");
		table_destroy(idle);
		process_destroy(process);
	}
}
END_TEST

/* Its times are 0; the recording does not begin there. */
START_TEST(an_activity_without_times_has_a_launch_and_no_time)
{
	struct process *process = traces_read("[" SPAN_OF("cuda_runtime", "cudaLaunchKernel", "7",
		"100", "5") "," SPAN_OF("kernel", "k", "0", "0", "0") "]");
	struct batch batch;

	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_kernel), 0);
	traces_load(process, GPROF_TABLE_untimed, &batch);
	ck_assert_uint_eq(batch.nr_rows, 1);
	ck_assert_uint_eq(batch.col[COL_untimed_correlation][0], 3);
	ck_assert_uint_eq(batch.col[COL_untimed_table][0], GPROF_TABLE_kernel);
	process_destroy(process);
}
END_TEST

/* A kernel's launch is before it, and rows have the lower 32 bits of its ID. */
#define LAUNCHED_KERNEL(id, at)                                                                   \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":" \
	"9,"                                                                                      \
	"\"ts\":" at "0,\"dur\":1,\"args\":{\"correlation\":" id "}},"                            \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" at          \
	"5,\"dur\":2,\"args\":{\"device\":0,\"stream\":7,\"context\":1,\"correlation\":" id "}}"

START_TEST(correlation_ids_may_take_more_than_32_bits)
{
	struct process *process =
		traces_read(TRACES_HEAD LAUNCHED_KERNEL("4294967294", "1") "," LAUNCHED_KERNEL(
			"4294967298", "2") "," LAUNCHED_KERNEL("7", "3") TRACES_TAIL);
	static const uint64_t ids[] = {
		4294967294, 4294967298, 0}; /* the last is too far from the others */
	struct batch batch;

	traces_load(process, GPROF_TABLE_kernel, &batch);
	ck_assert_uint_eq(batch.nr_rows, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(batch.col[COL_kernel_correlation][i], ids[i]);
	}
	traces_load(process, GPROF_TABLE_api_launch, &batch);
	ck_assert_uint_eq(batch.nr_rows, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(batch.col[COL_api_launch_correlation][i], ids[i]);
	}
	process_destroy(process);
}
END_TEST

#define KERNEL_OF(correlation, begin, dur, more)                                               \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" begin    \
	",\"dur\":" dur                                                                        \
	",\"args\":{\"device\":0,\"stream\":7,\"context\":1,\"correlation\":" correlation more \
	"}}"

static void check_kernels(const char *text, uint64_t all_ns, size_t nr_notices)
{
	struct process *process = traces_read(text);
	struct batch batch;
	uint64_t sum = 0;

	traces_load(process, GPROF_TABLE_kernel, &batch);
	for (uint32_t i = 0; i < batch.nr_rows; i++) {
		sum += batch.col[COL_kernel_dur][i];
	}
	ck_assert_uint_eq(sum, all_ns);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_notice), nr_notices);
	process_destroy(process);
}

/* The last one lasts over more starts than are kept: it ends at the first of these. */
START_TEST(a_kernel_ends_where_two_later_ones_of_its_stream_have_run)
{
	struct buf many = {0};

	check_kernels("[" KERNEL_OF("1", "10", "100", "") "," KERNEL_OF(
			      "2", "30", "5", "") "," KERNEL_OF("3", "40", "5", "") "]",
		30000, 1);
	/* the next one alone; kernels of one launch, and of a graph */
	check_kernels("[" KERNEL_OF("1", "10", "100", "") "," KERNEL_OF("2", "30", "5", "") "]",
		105000, 0);
	check_kernels("[" KERNEL_OF("1", "10", "100", "") "," KERNEL_OF(
			      "1", "30", "5", "") "," KERNEL_OF("1", "40", "5", "") "]",
		110000, 0);
	check_kernels("[" KERNEL_OF("1", "10", "100", ",\"graph id\":5") "," KERNEL_OF(
			      "2", "30", "5", "") "," KERNEL_OF("3", "40", "5", "") "]",
		110000, 0);
	buf_text(&many, "[" KERNEL_OF("1", "5", "9000", ""));
	for (unsigned int i = 0; i < KINETO_OVERRUN_STARTS + 44; i++) {
		buf_printf(&many, ", " KERNEL_OF("%u", "%u", "1", ""), 10 * (i + 1), i + 2);
	}
	buf_text(&many, "]");
	buf_char(&many, '\0');
	check_kernels(many.bytes, 445000 + 300000, 1);
	buf_fini(&many);
}
END_TEST

/* MTIA has waits of streams among the kernels, and repeats calls on rows of the device. */
START_TEST(what_a_device_repeats_is_no_call_and_no_kernel)
{
	struct process *process = traces_read(
		"[{\"ph\":\"X\",\"cat\":\"mtia_runtime\",\"name\":\"synchronizeStream\",\"pid\":"
		"865,"
		"\"tid\":2,\"ts\":10,\"dur\":3,\"args\":{\"correlation\":7,\"device\":17}},"
		"{\"ph\":\"X\",\"cat\":\"mtia_runtime\",\"name\":\"synchronize\",\"pid\":17,"
		"\"tid\":3,\"ts\":11,\"dur\":1,\"args\":{\"correlation\":7,\"device\":17}},"
		"{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"event_wait\",\"pid\":17,"
		"\"tid\":3,\"ts\":5,\"dur\":9,\"args\":{\"stream\":1}},"
		"{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"merge\",\"pid\":17,"
		"\"tid\":3,\"ts\":15,\"dur\":9,\"args\":{\"stream\":1}}]");

	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_kernel), 1);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_api_sync), 1);
	process_destroy(process);
}
END_TEST

START_TEST(old_traces_have_other_names)
{
	struct process *process = traces_read(
		"[{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"a\",\"pid\":25738,\"tid\":"
		"\"25738\",\"ts\":1,\"dur\":9,\"args\":{\"Input Dims\":[[2,3],[],[[1],[2]]],"
		"\"Input type\":[\"float\",\"Scalar\",\"TensorList\"]}},"
		"{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":25738,"
		"\"tid\":25738,\"ts\":2,\"dur\":1,\"args\":{\"correlation\":5}},"
		"{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\","
		"\"pid\":0,\"tid\":\"stream 7\",\"ts\":4,\"dur\":1,\"args\":{\"device\":0,"
		"\"correlation\":5,\"bytes\":77}},"
		"{\"ph\":\"X\",\"cat\":\"Memset\",\"name\":\"Memset (Device)\",\"pid\":0,"
		"\"tid\":\"stream 7\",\"ts\":6,\"dur\":1,\"args\":{\"bytes\":5}}]");
	const uint32_t *shape;
	struct batch batch;

	ck_assert_uint_eq(process->threads.nr, 1); /* "25738" is 25738 */
	traces_load(process, GPROF_TABLE_memcpy, &batch);
	ck_assert_uint_eq(batch.nr_rows, 1);
	ck_assert_uint_eq(batch.col[COL_memcpy_bytes][0], 77);
	ck_assert_uint_eq(batch.col[COL_memcpy_copy_kind][0], 1);
	ck_assert_uint_eq(batch.col[COL_memcpy_src_kind][0], 1);
	ck_assert_uint_eq(batch.col[COL_memcpy_dst_kind][0], 3);
	ck_assert_uint_eq(batch.col[COL_memcpy_flags][0], 1); /* its call says Async */
	ck_assert_uint_eq(process_place(process, batch.col[COL_memcpy_place][0]).stream, 7);
	traces_load(process, GPROF_TABLE_memset, &batch);
	ck_assert_uint_eq(batch.col[COL_memset_flags][0], GPROF_COPY_NO_CALL);
	ck_assert_uint_eq(batch.col[COL_memset_memory_kind][0], 3);
	traces_load(process, GPROF_TABLE_api_copy, &batch);
	ck_assert_uint_eq(batch.col[COL_api_copy_correlation][0], 5);
	traces_load(process, GPROF_TABLE_op, &batch);
	shape = idmap_get(&process->op_shapes, (uint32_t)batch.col[COL_op_op_shape][0]);
	ck_assert_ptr_nonnull(shape);
	ck_assert_str_eq(string_pool_text(*shape, NULL), "float32[2,3]");
	process_destroy(process);
}
END_TEST

START_TEST(the_object_tells_rank_clock_and_devices)
{
	struct process *process = traces_read(
		"{\"deviceProperties\": [{\"id\": 1, \"name\": \"V\\u0031\\u00e9\", \"numSms\": "
		"80, "
		"\"computeMajor\": 7, \"computeMinor\": 0, \"maxThreadsPerMultiprocessor\": 2048, "
		"\"warpSize\": 32}], \"distributedInfo\": {\"rank\": 3, \"world_size\": 8},"
		"\"host_name\": \"h\", \"traceEvents\": [" TRACES_OP "],"
		"\"baseTimeNanoseconds\": 1700000000000000000}");
	uint64_t value;

	ck_assert_int_eq(process->rank, 3);
	ck_assert_int_eq(process->world, 8);
	ck_assert_str_eq(process_host(process), "h");
	ck_assert_str_eq(string_pool_text(process_device_name(process, 1), NULL), "V1\xc3\xa9");
	ck_assert(process_attribute(process, 1, "multiprocessors", &value) && value == 80);
	ck_assert(process_attribute(process, 1, "max_warps_per_multiprocessor", &value) &&
		  value == 64);
	ck_assert(process_attribute(process, 1, "max_blocks_per_multiprocessor", &value) &&
		  value == 32);
	ck_assert_uint_eq(
		clock_map_time(&process->host_clock, 10000), 1700000000000000000u + 10000);
	process_destroy(process);
}
END_TEST

/* ROCm's activities count all GPUs of the machine, its properties the visible ones. */
START_TEST(a_device_without_properties_has_the_name_of_all)
{
	static const struct {
		const char *properties, *name;
	} cases[] = {
		{"{\"id\": 0, \"name\": \"MI\"}", "MI"},
		{"{\"id\": 0, \"name\": \"MI\"}, {\"id\": 1, \"name\": \"MI\"}", "MI"},
		{"{\"id\": 0, \"name\": \"MI\"}, {\"id\": 1, \"name\": \"MX\"}", "GPU 2"},
		{"{\"id\": 0, \"name\": \"MI\"}, {\"id\": 2, \"name\": \"MX\"}", "MX"},
		{"{\"id\": 0, \"name\": \"\"}, {\"id\": 2, \"name\": \"\"}", "GPU 2"},
		{"", "GPU 2"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char trace[512];
		struct process *process;

		snprintf(trace, sizeof(trace),
			"{\"deviceProperties\": [%s], \"traceEvents\": [" TRACES_OP "]}",
			cases[i].properties);
		process = traces_read(trace);
		ck_assert_str_eq(
			string_pool_text(process_device_name(process, 2), NULL), cases[i].name);
		process_destroy(process);
	}
}
END_TEST

START_TEST(each_step_has_its_own_end_the_last_one_too)
{
	struct process *process = traces_read("[" TRACES_STEP("4", "100", "50") "," TRACES_STEP(
		"5", "150", "20") "," TRACES_STEP("6", "180", "7") "]");
	static const struct {
		uint64_t tick, step;
		bool is_gap;
	} expected[] = {{100000, 4, false}, {150000, 5, false}, {170000, 5, true},
		{180000, 6, false}, {187000, 6, true}};

	ck_assert_uint_eq(process->nr_steps, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(process->steps[i].tick, expected[i].tick);
		ck_assert_uint_eq(process->steps[i].step, expected[i].step);
		ck_assert_int_eq(model_step_is_gap(&process->steps[i]), expected[i].is_gap);
	}
	process_destroy(process);
}
END_TEST

#define SPAN(cat, name, ts, dur, args)                                                 \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":7,\"tid\":9," \
	"\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"

static size_t nr_steps_of(const char *text)
{
	struct process *process = traces_read(text);
	size_t nr = 0;

	for (size_t i = 0; i < process->nr_steps; i++) {
		nr += !model_step_is_gap(&process->steps[i]);
	}
	process_destroy(process);
	return nr;
}

#define RANGE(name, ts)	   SPAN("user_annotation", name, ts, "10", "")
#define OPERATOR(name, ts) SPAN("cpu_op", name, ts, "10", "")

START_TEST(ranges_named_as_steps_are_steps_where_the_profiler_marks_none)
{
	ck_assert_uint_eq(nr_steps_of("[" RANGE("iteration 0", "100") "," RANGE(
				  "iteration 1", "110") "," RANGE("iteration 2", "120") "]"),
		3);
	ck_assert_uint_eq(nr_steps_of("[" RANGE("train_step", "100") "," RANGE(
				  "train_step", "110") "," RANGE("batch 7", "120") "]"),
		2);
	ck_assert_uint_eq(nr_steps_of("[" RANGE("[pl][profile]run_training_batch", "100") "," RANGE(
				  "[pl][profile]run_training_batch", "110") "]"),
		2);
	ck_assert_uint_eq(nr_steps_of("[" TRACES_STEP("4", "100", "50") "," RANGE(
				  "iteration 0", "100") "," RANGE("iteration 1", "110") "]"),
		1);
	ck_assert_uint_eq(nr_steps_of("[" RANGE("iteration 0", "100") "]"), 0);
	ck_assert_uint_eq(
		nr_steps_of("[" OPERATOR("batch 1", "100") "," OPERATOR("batch 2", "110") "]"), 0);
	ck_assert_uint_eq(
		nr_steps_of("[" RANGE("stepwise", "100") "," RANGE("steps 2", "110") "]"), 0);
}
END_TEST

static const char *stack_text(struct process *process, uint64_t stack)
{
	return string_pool_text(py_stack_text(process, (uint32_t)stack), NULL);
}

START_TEST(operators_lie_in_modules_and_were_called_from_python)
{
	struct process *process = traces_read("[" SPAN("python_function", "a.py(3): main", "0",
		"100", "") "," SPAN("python_function", "nn.Module: Net_0", "10", "80",
		"") "," SPAN("python_function", "b.py(7): f", "20", "50",
		"") "," SPAN("python_function", "<built-in mm>", "25", "40", "") "," SPAN("cpu_op",
		"aten::mm", "30", "30",
		"") "," SPAN("cpu_op", "aten::in", "40", "20", "") "," SPAN("cuda_runtime",
		"cudaLaunchKernel", "45", "5", "\"correlation\":3") "," SPAN("cpu_op", "aten::late",
		"95", "2", "") "," SPAN("cpu_op", "aten::out", "200", "2",
		"\"Call stack\":\"x.py(1): g;y.py(2): h\"") "]");
	static const struct {
		uint64_t begin, depth;
		const char *stack;
	} expected[] = {{40000, 1, "b.py: f <- a.py: main"}, {30000, 0, "b.py: f <- a.py: main"},
		{10000, 0, ""}, {95000, 0, "a.py: main"}, {200000, 0, "x.py(1): g <- y.py(2): h"}};
	struct batch batch;

	traces_load(process, GPROF_TABLE_op, &batch);
	ck_assert_uint_eq(batch.nr_rows, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(batch.col[COL_op_begin][i], expected[i].begin);
		ck_assert_uint_eq(batch.col[COL_op_depth][i], expected[i].depth);
		if (batch.col[COL_op_scope][i] != GPROF_PYTHON_MODULE) {
			ck_assert_str_eq(stack_text(process, batch.col[COL_op_py_stack][i]),
				expected[i].stack);
		}
	}
	traces_load(process, GPROF_TABLE_api_launch, &batch);
	ck_assert_str_eq(stack_text(process, batch.col[COL_api_launch_py_stack][0]),
		"b.py: f <- a.py: main");
	traces_load(process, GPROF_TABLE_py_call, &batch);
	ck_assert_uint_eq(batch.nr_rows, 3);
	process_destroy(process);
}
END_TEST

/* gprof's own timelines have them in a row beside that of the thread that they name. */
START_TEST(collections_of_garbage_are_no_functions)
{
	struct process *process = traces_read("[" SPAN("cpu_op", "aten::mm", "0", "100",
		"") "," SPAN("python_function", "garbage collection of generation 2", "10", "50",
		"\"thread\":9,\"collected\":300,\"uncollectable\":"
		"2") "," SPAN("python_function", "garbage collection of generation 0", "70", "5",
		"\"thread\":12") "," SPAN("python_function", "garbage collection of generation",
		"80", "5", "") "," SPAN("python_function", "garbage collection of generation 256",
		"90", "5", "") "]");
	struct batch batch;
	uint64_t thread;

	traces_load(process, GPROF_TABLE_op, &batch);
	thread = batch.col[COL_op_thread][0];
	traces_load(process, GPROF_TABLE_py_gc, &batch);
	ck_assert_uint_eq(batch.nr_rows, 2);
	ck_assert_uint_eq(batch.col[COL_py_gc_begin][0], 10000);
	ck_assert_uint_eq(batch.col[COL_py_gc_dur][0], 50000);
	ck_assert_uint_eq(batch.col[COL_py_gc_generation][0], 2);
	ck_assert_uint_eq(batch.col[COL_py_gc_collected][0], 300);
	ck_assert_uint_eq(batch.col[COL_py_gc_uncollectable][0], 2);
	ck_assert_uint_eq(batch.col[COL_py_gc_thread][0], thread);
	ck_assert_uint_ne(batch.col[COL_py_gc_thread][1], thread);
	ck_assert_uint_eq(batch.col[COL_py_gc_generation][1], 0);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_py_call), 2);
	process_destroy(process);
}
END_TEST

/* The marks of a recording are no ranges; a range of the program with such a name has an id. */
START_TEST(steps_of_a_recording_are_no_operators_of_its_timeline)
{
#define EVENTS                                                                                \
	"{\"traceEvents\":[" RANGE("ProfilerStep#1", "100") "," RANGE(                        \
		"ProfilerStep#2", "110") "," SPAN("user_annotation", "ProfilerStep#2", "110", \
		"10", "\"External id\":5") "," SPAN("cpu_op", "aten::mm", "112", "5",         \
		"\"External id\":6") "]"
	static const struct {
		const char *text;
		uint64_t nr_ops, depth;
	} cases[] = {{EVENTS ",\"gprof\":{\"complete\":true}}", 2, 1},
		{EVENTS ",\"gprof\":{\"complete\":true,\"source\":\"kineto\"}}", 4, 2},
		{EVENTS "}", 4, 2}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process *process = traces_read(cases[i].text);
		struct batch batch;

		ck_assert_uint_eq(process->nr_steps, 3);
		traces_load(process, GPROF_TABLE_op, &batch);
		ck_assert_uint_eq(batch.nr_rows, cases[i].nr_ops);
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			if (batch.col[COL_op_begin][row] == 112000) {
				ck_assert_uint_eq(batch.col[COL_op_depth][row], cases[i].depth);
			}
		}
		process_destroy(process);
	}
#undef EVENTS
}
END_TEST

/* Of others it is 0, or unknown. */
START_TEST(nodes_of_autograd_tell_the_thread_of_their_forward)
{
	struct process *process = traces_read("[" SPAN("Operator", "ReluBackward1", "10", "5",
		"\"Fwd thread id\": 1, \"Sequence number\": 7") "," SPAN("cpu_op", "aten::relu",
		"20", "5", "\"Fwd thread id\": 0, \"Sequence number\": 7") "," SPAN("cpu_op",
		"aten::mm", "30", "5", "") "]");
	struct batch batch;

	traces_load(process, GPROF_TABLE_op, &batch);
	ck_assert_uint_eq(batch.nr_rows, 3);
	for (uint32_t i = 0; i < batch.nr_rows; i++) {
		ck_assert_uint_eq(batch.col[COL_op_scope][i],
			batch.col[COL_op_begin][i] == 10000 ? OP_TORCH_BACKWARD : 0);
	}
	process_destroy(process);
}
END_TEST

static void check_copy_names(const char *const *names, size_t nr, unsigned int table)
{
	const struct view_class *class = table == GPROF_TABLE_memset ? &view_memset : &view_memcpy;
	struct buf text;
	struct table *rows_of;

	buf_init(&text, NULL, NULL);
	for (size_t i = 0; i < nr; i++) {
		buf_printf(&text,
			"%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"ts\":%zu,\"dur\":1,"
			"\"args\":{\"device\":0,\"bytes\":5}}",
			i ? "," : "[", table == GPROF_TABLE_memset ? "gpu_memset" : "gpu_memcpy",
			names[i], i);
	}
	buf_text(&text, "]");
	buf_char(&text, '\0');
	rows_of = tables_of(class, traces_write("copies.json", text.bytes), false);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(
			tables_number(rows_of, tables_find(rows_of, "name", names[i], 0), "calls"),
			1);
	}
	table_destroy(rows_of);
	buf_fini(&text);
}

START_TEST(copies_and_sets_keep_names_that_cupti_does_not_have)
{
	static const char *const copies[] = {"Memcpy HtoD (Pinned -> Device)",
		"Memcpy HtoD (Host -> Device)", "CopyHostToDevice",
		"Memcpy PtoP (Device -> Device)", "Memcpy (",
		"Memcpy HtoD (A memory with a name longer than any other has -> Device)",
		"Memcpy DtoD (Unknown -> Device)"};
	static const char *const sets[] = {
		"Memset (Device)", "Memset (Host)", "FillBuffer", "Memset"};

	check_copy_names(copies, sizeof(copies) / sizeof(copies[0]), GPROF_TABLE_memcpy);
	check_copy_names(sets, sizeof(sets) / sizeof(sets[0]), GPROF_TABLE_memset);
}
END_TEST

/* Calls of a trace have a name and a time, nothing of what they copied. */
START_TEST(copies_without_records_are_calls_of_which_no_more_is_known)
{
	static const char text[] =
		"[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\","
		"\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":5},"
		"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemset\","
		"\"pid\":1,\"tid\":1,\"ts\":20,\"dur\":7}]";
	static const char *const unknown[] = {"direction", "source", "target", "total_bytes",
		"avg_bytes", "min_bytes", "max_bytes", "bytes_per_s"};
	static const struct {
		const struct view_class *class;
		const char *name;
		uint64_t ns;
	} views[] = {{&view_memcpy, "Memcpy, host call", 5000},
		{&view_memset, "Memset, host call", 7000}};

	for (size_t i = 0; i < 2; i++) {
		struct table *table =
			tables_of(views[i].class, traces_write("calls.json", text), false);

		ck_assert_uint_eq(table->nr_rows, 1);
		ck_assert_uint_eq(tables_find(table, "name", views[i].name, 0), 0);
		ck_assert_uint_eq(tables_number(table, 0, "total_ns"), views[i].ns);
		for (size_t k = 0; k < sizeof(unknown) / sizeof(unknown[0]); k++) {
			ck_assert_msg(
				!tables_cell(table, 0, unknown[k])->is_known, "%s", unknown[k]);
		}
		table_destroy(table);
	}
}
END_TEST

/* Two threads in turns; a begin of no kind that we keep; two with the same times in each other. */
START_TEST(begins_and_ends_are_put_together)
{
	struct process *process = traces_read("[" TRACES_BEGIN(
		TRACES_OP_CAT, "outer", "1", "10") "," TRACES_BEGIN(TRACES_OP_CAT, "other", "2",
		"11") "," TRACES_BEGIN("", "none", "1", "12") "," TRACES_BEGIN(TRACES_OP_CAT,
		"inner", "1", "13") "," TRACES_BEGIN(TRACES_OP_CAT, "same", "1",
		"13") "," TRACES_END("2", "14") "," TRACES_END("1", "15") "," TRACES_END("1",
		"15") "," TRACES_END("1", "16") "," TRACES_END("1", "20") "]");
	static const struct {
		const char *name;
		uint64_t begin, dur, depth;
	} wanted[] = {{"other", 11000, 3000, 0}, {"same", 13000, 2000, 2},
		{"inner", 13000, 2000, 1}, {"outer", 10000, 10000, 0}};
	struct batch batch;

	ck_assert_uint_eq(process_missing(process), 1); /* the one without a kind */
	traces_load(process, GPROF_TABLE_op, &batch);
	ck_assert_uint_eq(batch.nr_rows, 4);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t name =
			op_name(process, batch.col[COL_op_op_name][i], batch.col[COL_op_name][i]);

		ck_assert_str_eq(string_pool_text(name, NULL), wanted[i].name);
		ck_assert_uint_eq(batch.col[COL_op_begin][i], wanted[i].begin);
		ck_assert_uint_eq(batch.col[COL_op_dur][i], wanted[i].dur);
		ck_assert_uint_eq(batch.col[COL_op_depth][i], wanted[i].depth);
	}
	process_destroy(process);
}
END_TEST

START_TEST(more_traces_than_files_of_streams_are_open_stay_readable)
{
	enum { NR = 300 };
	struct stream *streams[NR];
	const char *path =
		traces_write("one.json", TRACES_HEAD TRACES_OP "," TRACES_KERNEL TRACES_TAIL);

	for (size_t i = 0; i < NR; i++) {
		streams[i] = streams_open(path);
	}
	for (size_t i = 0; i < NR; i++) {
		struct process *process = process_create(streams[i]);
		struct batch batch;

		traces_load(process, GPROF_TABLE_kernel, &batch);
		ck_assert_uint_eq(batch.nr_rows, 1);
		ck_assert_uint_eq(batch.col[COL_kernel_dur][0], 1250);
		process_destroy(process);
	}
}
END_TEST

/* ---- there and back: our own timelines are traces ---- */

static uint64_t sum_of(const struct table *table, const char *key)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		sum += tables_number(table, row, key);
	}
	return sum;
}

/* Not by names: a timeline has no control bytes in them, and the small stream does. */
static void compare_tables(const struct view_class *class, struct process *a, struct process *b)
{
	static const char *const keys[] = {"calls", "total_ns", "min_ns", "max_ns"};
	struct table *x = tables_make(class, &a, 1, false), *y = tables_make(class, &b, 1, false);

	ck_assert_uint_gt(x->nr_rows, 0);
	ck_assert_uint_eq(x->nr_rows, y->nr_rows);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ck_assert_uint_eq(sum_of(x, keys[i]), sum_of(y, keys[i]));
	}
	table_destroy(x);
	table_destroy(y);
}

START_TEST(a_timeline_is_a_trace_with_the_same_kernels_and_calls)
{
	struct process *process = streams_process(streams_small("small.gprof")), *back;
	const char *path = streams_path("timeline.json");
	struct buf out;

	buf_init(&out, NULL, NULL);
	chrome_write(&process, 1, &(struct chrome_file){.name = "timeline.json"}, &out);
	streams_write(path, out.bytes, out.nr_bytes);
	buf_fini(&out);
	back = streams_process(path);
	ck_assert(process_is_complete(back));
	ck_assert_uint_eq(back->pid, process->pid);
	compare_tables(&view_kernel, process, back);
	compare_tables(&view_api, process, back);
	process_destroy(back);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report_kineto", an_object_and_an_array_are_traces, times_keep_their_nanoseconds,
	a_kernel_keeps_its_launch, correlation_ids_may_take_more_than_32_bits,
	who_asks_whether_the_gpu_has_ended_does_not_wait,
	an_activity_without_times_has_a_launch_and_no_time,
	a_kernel_ends_where_two_later_ones_of_its_stream_have_run,
	what_a_device_repeats_is_no_call_and_no_kernel, old_traces_have_other_names,
	the_object_tells_rank_clock_and_devices, a_device_without_properties_has_the_name_of_all,
	each_step_has_its_own_end_the_last_one_too,
	ranges_named_as_steps_are_steps_where_the_profiler_marks_none,
	operators_lie_in_modules_and_were_called_from_python,
	collections_of_garbage_are_no_functions,
	steps_of_a_recording_are_no_operators_of_its_timeline,
	nodes_of_autograd_tell_the_thread_of_their_forward,
	copies_and_sets_keep_names_that_cupti_does_not_have,
	copies_without_records_are_calls_of_which_no_more_is_known,
	begins_and_ends_are_put_together, more_traces_than_files_of_streams_are_open_stay_readable,
	a_timeline_is_a_trace_with_the_same_kernels_and_calls)
