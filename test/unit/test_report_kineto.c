/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "report/buf.h"
#include "report/cmd.h"
#include "report/err.h"
#include "report/kineto_in.h"
#include "report/kineto_rows.h"
#include "report/op.h"
#include "report/py_stack.h"
#include "report/timeline.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

#define HEAD "{\"schemaVersion\": 1, \"traceEvents\": ["
#define TAIL "], \"traceName\": \"t.json\"}"
#define OP                                                                                   \
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": " \
	"9, \"ts\": 10, \"dur\": 5}"
#define KERNEL                                                                               \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, "     \
	"\"ts\": 20.5, \"dur\": 1.25, \"args\": {\"device\": 0, \"context\": 1, \"stream\":" \
	" 7, \"correlation\": 3, \"grid\": [2, 3, 4], \"block\": [32, 1, 1], \"registers "   \
	"per thread\": 18, \"shared memory\": 49153}}"

static const char *write_text(const char *name, const char *text)
{
	const char *path = streams_path(name);

	streams_write(path, text, strlen(text));
	return path;
}

static struct process *read_text(const char *text)
{
	return streams_process(write_text("a.json", text));
}

/* The first block of a table, with all columns. */
static void load(const struct process *process, unsigned int table, struct batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		if (stream_in_block_table(process->stream, i) == table) {
			ck_assert_uint_eq(
				stream_in_load(process->stream, i,
					COL_ALL(schema_table(table)->nr_columns), 0, batch),
				0);
			return;
		}
	}
}

static uint64_t rows(const struct process *process, unsigned int table)
{
	return streams_rows(process->stream, table);
}

START_TEST(an_object_and_an_array_are_traces)
{
	static const char *const texts[] = {HEAD OP "," KERNEL TAIL, "[" OP "," KERNEL "]",
		"[\n" OP ",\n" KERNEL ",\n", "\xef\xbb\xbf [" OP ", \n" KERNEL "]",
		"{\"traceEvents\":[" OP "],\"traceEvents\":[" KERNEL "]}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct process *process = read_text(texts[i]);

		ck_assert_uint_eq(rows(process, GPROF_TABLE_op), 1);
		ck_assert_uint_eq(rows(process, GPROF_TABLE_kernel), 1);
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
		{"0.0019999", "1.9999", 1, 1999},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process *process;
		struct batch batch;
		char text[512];

		snprintf(text, sizeof(text),
			"[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
			"\"ts\":%s,\"dur\":%s}]",
			cases[i].ts, cases[i].dur);
		process = read_text(text);
		load(process, GPROF_TABLE_op, &batch);
		ck_assert_uint_eq(batch.nr_rows, 1);
		ck_assert_uint_eq(batch.col[COL_op_begin][0], cases[i].begin);
		ck_assert_uint_eq(batch.col[COL_op_dur][0], cases[i].ns);
		process_destroy(process);
	}
}
END_TEST

START_TEST(a_kernel_keeps_its_launch)
{
	struct process *process = read_text(HEAD KERNEL TAIL);
	const struct model_shape *shape;
	struct model_place place;
	struct batch batch;

	load(process, GPROF_TABLE_kernel, &batch);
	ck_assert_uint_eq(batch.nr_rows, 1);
	ck_assert_uint_eq(batch.col[COL_kernel_begin][0], 20500);
	ck_assert_uint_eq(batch.col[COL_kernel_dur][0], 1250);
	ck_assert_uint_eq(batch.col[COL_kernel_correlation][0], 3);
	shape = idmap_get(&process->shapes, (uint32_t)batch.col[COL_kernel_shape][0]);
	ck_assert_ptr_nonnull(shape);
	ck_assert_str_eq(names_raw(shape->name, NULL), "k");
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

START_TEST(old_traces_have_other_names)
{
	struct process *process = read_text(
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
	load(process, GPROF_TABLE_memcpy, &batch);
	ck_assert_uint_eq(batch.nr_rows, 1);
	ck_assert_uint_eq(batch.col[COL_memcpy_bytes][0], 77);
	ck_assert_uint_eq(batch.col[COL_memcpy_copy_kind][0], 1);
	ck_assert_uint_eq(batch.col[COL_memcpy_src_kind][0], 1);
	ck_assert_uint_eq(batch.col[COL_memcpy_dst_kind][0], 3);
	ck_assert_uint_eq(batch.col[COL_memcpy_flags][0], 1); /* its call says Async */
	ck_assert_uint_eq(process_place(process, batch.col[COL_memcpy_place][0]).stream, 7);
	load(process, GPROF_TABLE_memset, &batch);
	ck_assert_uint_eq(batch.col[COL_memset_memory_kind][0], 3);
	load(process, GPROF_TABLE_api_copy, &batch);
	ck_assert_uint_eq(batch.col[COL_api_copy_correlation][0], 5);
	load(process, GPROF_TABLE_op, &batch);
	shape = idmap_get(&process->op_shapes, (uint32_t)batch.col[COL_op_op_shape][0]);
	ck_assert_ptr_nonnull(shape);
	ck_assert_str_eq(names_raw(*shape, NULL), "float32[2,3]");
	process_destroy(process);
}
END_TEST

START_TEST(the_object_tells_rank_clock_and_devices)
{
	struct process *process = read_text(
		"{\"deviceProperties\": [{\"id\": 1, \"name\": \"V\\u0031\\u00e9\", \"numSms\": "
		"80, "
		"\"computeMajor\": 7, \"computeMinor\": 0, \"maxThreadsPerMultiprocessor\": 2048, "
		"\"warpSize\": 32}], \"distributedInfo\": {\"rank\": 3, \"world_size\": 8},"
		"\"host_name\": \"h\", \"traceEvents\": [" OP "],"
		"\"baseTimeNanoseconds\": 1700000000000000000}");
	uint64_t value;

	ck_assert_int_eq(process->rank, 3);
	ck_assert_int_eq(process->world, 8);
	ck_assert_str_eq(process_host(process), "h");
	ck_assert_str_eq(names_raw(process_device_name(process, 1), NULL), "V1\xc3\xa9");
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

#define STEP(number, ts, dur)                                                             \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" number "\"," \
	"\"pid\":7,\"tid\":9,\"ts\":" ts ",\"dur\":" dur "}"

START_TEST(each_step_has_its_own_end_the_last_one_too)
{
	struct process *process = read_text("[" STEP("4", "100", "50") "," STEP(
		"5", "150", "20") "," STEP("6", "180", "7") "]");
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

static const char *stack_text(struct process *process, uint64_t stack)
{
	return names_raw(py_stack_text(process, (uint32_t)stack), NULL);
}

START_TEST(operators_lie_in_modules_and_were_called_from_python)
{
	struct process *process = read_text("[" SPAN("python_function", "a.py(3): main", "0", "100",
		"") "," SPAN("python_function", "nn.Module: Net_0", "10", "80",
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

	load(process, GPROF_TABLE_op, &batch);
	ck_assert_uint_eq(batch.nr_rows, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(batch.col[COL_op_begin][i], expected[i].begin);
		ck_assert_uint_eq(batch.col[COL_op_depth][i], expected[i].depth);
		if (batch.col[COL_op_scope][i] != GPROF_PYTHON_MODULE) {
			ck_assert_str_eq(stack_text(process, batch.col[COL_op_py_stack][i]),
				expected[i].stack);
		}
	}
	load(process, GPROF_TABLE_api_launch, &batch);
	ck_assert_str_eq(stack_text(process, batch.col[COL_api_launch_py_stack][0]),
		"b.py: f <- a.py: main");
	load(process, GPROF_TABLE_py_call, &batch);
	ck_assert_uint_eq(batch.nr_rows, 3);
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
	rows_of = tables_of(class, write_text("copies.json", text.bytes), false);
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

#define BEGIN(cat, name, tid, ts) \
	"{\"ph\":\"B\"," cat "\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts "}"
#define END(tid, ts) "{\"ph\":\"E\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts "}"
#define OP_CAT	     "\"cat\":\"cpu_op\","

/* Two threads in turns; a begin of no kind that we keep; two with the same times in each other. */
START_TEST(begins_and_ends_are_put_together)
{
	struct process *process = read_text("[" BEGIN(OP_CAT, "outer", "1", "10") "," BEGIN(OP_CAT,
		"other", "2", "11") "," BEGIN("", "none", "1", "12") "," BEGIN(OP_CAT, "inner", "1",
		"13") "," BEGIN(OP_CAT, "same", "1", "13") "," END("2", "14") "," END("1",
		"15") "," END("1", "15") "," END("1", "16") "," END("1", "20") "]");
	static const struct {
		const char *name;
		uint64_t begin, dur, depth;
	} wanted[] = {{"other", 11000, 3000, 0}, {"same", 13000, 2000, 2},
		{"inner", 13000, 2000, 1}, {"outer", 10000, 10000, 0}};
	struct batch batch;

	ck_assert(process_is_complete(process));
	load(process, GPROF_TABLE_op, &batch);
	ck_assert_uint_eq(batch.nr_rows, 4);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t name =
			op_name(process, batch.col[COL_op_op_name][i], batch.col[COL_op_name][i]);

		ck_assert_str_eq(names_raw(name, NULL), wanted[i].name);
		ck_assert_uint_eq(batch.col[COL_op_begin][i], wanted[i].begin);
		ck_assert_uint_eq(batch.col[COL_op_dur][i], wanted[i].dur);
		ck_assert_uint_eq(batch.col[COL_op_depth][i], wanted[i].depth);
	}
	process_destroy(process);
}
END_TEST

/* A begin without an end, an end without a begin, and one that is before its begin. */
START_TEST(begins_and_ends_without_each_other_are_told)
{
	struct process *process = read_text("[" OP "," BEGIN(OP_CAT, "a", "1", "1") "," BEGIN(
		OP_CAT, "b", "2", "9") "," END("2",
		"8") ",{\"ph\":\"E\",\"cat\":\"cpu_op\",\"pid\":1,"
		     "\"tid\":3,\"ts\":2}," END("4", "5") "," BEGIN("", "c", "1", "3") "]");

	ck_assert_uint_eq(rows(process, GPROF_TABLE_op), 1);
	ck_assert_uint_eq(process_missing(process), 3);
	process_destroy(process);
}
END_TEST

START_TEST(steps_that_overlap_are_told)
{
	struct process *process =
		read_text("[" STEP("4", "100", "50") "," STEP("5", "140", "20") "]");

	ck_assert_uint_eq(process->nr_steps, 3);
	ck_assert_uint_eq(process->steps[1].tick, 140000);
	ck_assert_uint_eq(process->steps[2].tick, 160000);
	ck_assert(!process_is_complete(process));
	ck_assert_uint_eq(process->stream->nr_damages, 1);
	process_destroy(process);
}
END_TEST

/* ---- what is wrong with it ---- */

static uint64_t missing(const char *text, uint64_t nr_ops)
{
	struct process *process = read_text(text);
	uint64_t nr_missing = process_missing(process);

	ck_assert_uint_eq(rows(process, GPROF_TABLE_op), nr_ops);
	ck_assert_int_eq(process_is_complete(process), !nr_missing);
	process_destroy(process);
	return nr_missing;
}

/* Of others it is 0, or nothing is told. */
START_TEST(nodes_of_autograd_tell_the_thread_of_their_forward)
{
	struct process *process = read_text("[" SPAN("Operator", "ReluBackward1", "10", "5",
		"\"Fwd thread id\": 1, \"Sequence number\": 7") "," SPAN("cpu_op", "aten::relu",
		"20", "5", "\"Fwd thread id\": 0, \"Sequence number\": 7") "," SPAN("cpu_op",
		"aten::mm", "30", "5", "") "]");
	struct batch batch;

	load(process, GPROF_TABLE_op, &batch);
	ck_assert_uint_eq(batch.nr_rows, 3);
	for (uint32_t i = 0; i < batch.nr_rows; i++) {
		ck_assert_uint_eq(batch.col[COL_op_scope][i],
			batch.col[COL_op_begin][i] == 10000 ? OP_TORCH_BACKWARD : 0);
	}
	process_destroy(process);
}
END_TEST

START_TEST(a_bad_event_is_left_out_alone)
{
	ck_assert_uint_eq(missing("[" OP ",{\"ph\":\"X\",}{]," OP "]", 2), 2);
	ck_assert_uint_eq(missing("[" OP ",{\"ph\":\"X\",\"na\"me\":\"}, {[\"}," OP "]", 2), 2);
	ck_assert_uint_eq(missing("[\n  " OP ",\n  {\"a\": \"b\n  },\n  " OP "\n]", 2), 1);
	ck_assert_uint_eq(missing("[" OP ",17,\"x\"," OP "]", 2), 2);
	ck_assert_uint_eq(missing("[" OP ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\","
				  "\"ts\":NaN,\"dur\":1}," OP "]",
				  2),
		1);
	ck_assert_uint_eq(missing("[" OP ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\","
				  "\"ts\":-5,\"dur\":1},{\"ph\":\"X\",\"cat\":\"cpu_op\","
				  "\"ts\":18446744073709551,\"dur\":18446744073709551}]",
				  1),
		2);
}
END_TEST

START_TEST(odd_numbers_and_bytes_in_arguments_do_no_harm)
{
	ck_assert_uint_eq(missing("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\x01\tb\xff\\\"\","
				  "\"ts\":1,\"dur\":1,\"args\":{\"x\":NaN,\"y\":-Infinity,"
				  "\"z\":[1,{\"q\":null}],\"Sequence number\":3}}]",
				  1),
		0);
}
END_TEST

START_TEST(a_cut_trace_is_read_as_far_as_it_goes)
{
	static const char text[] = HEAD "\n  " OP ",\n  " KERNEL ",\n  " OP "\n" TAIL;
	char cut[sizeof(text)];

	for (size_t n = 1; n < sizeof(text) - 1; n++) {
		const char *path;
		struct stream_in *stream;
		struct process *process;

		memcpy(cut, text, n);
		cut[n] = '\0';
		path = write_text("cut.json", cut);
		if (stream_in_open(&stream, path)) {
			ck_assert_ptr_nonnull(strstr(err_text(), "no events"));
			ck_assert_uint_le(n, sizeof(HEAD) + 4 + sizeof(OP));
			continue;
		}
		process = process_create(stream);
		ck_assert(!process_is_complete(process));
		ck_assert_uint_ge(rows(process, GPROF_TABLE_op), 1);
		process_destroy(process);
	}
}
END_TEST

START_TEST(a_file_without_events_is_refused)
{
	static const char *const texts[] = {
		"{}", "[]", "[", "{\"traceEvents\": []}", "{\"a\": [1,2,{\"b\":3}]}", "[[[[[["};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct stream_in *stream;

		ck_assert_int_lt(stream_in_open(&stream, write_text("no.json", texts[i])), 0);
		ck_assert_str_eq(err_text(), "no events of a trace in it");
	}
}
END_TEST

START_TEST(more_traces_than_files_of_streams_are_open_stay_readable)
{
	enum { NR = 300 };
	struct stream_in *streams[NR];
	const char *path = write_text("one.json", HEAD OP "," KERNEL TAIL);

	for (size_t i = 0; i < NR; i++) {
		streams[i] = streams_open(path);
	}
	for (size_t i = 0; i < NR; i++) {
		struct process *process = process_create(streams[i]);
		struct batch batch;

		load(process, GPROF_TABLE_kernel, &batch);
		ck_assert_uint_eq(batch.nr_rows, 1);
		ck_assert_uint_eq(batch.col[COL_kernel_dur][0], 1250);
		process_destroy(process);
	}
}
END_TEST

/* ---- many events, in any shape of text, against what they were made from ---- */

struct made {
	uint64_t begin, dur;
	uint32_t number;
	bool is_kernel;
};

static void add_event(struct buf *text, const struct made *event, uint64_t *seed)
{
	bool is_pretty = unit_random(seed) % 2;
	const char *gap = is_pretty ? "\n    " : "";

	buf_printf(text, "%s{%s\"ph\": \"X\",%s \"cat\": \"%s\",%s\"name\": \"n%u\",",
		is_pretty ? "\n  " : "", gap, gap, event->is_kernel ? "kernel" : "cpu_op", gap,
		event->number % 50);
	buf_printf(text, "%s\"pid\": 1, \"tid\": %u,%s\"ts\": %llu.%03llu, \"dur\": %llu.%03llu",
		gap, event->number % 3, gap, (unsigned long long)event->begin / 1000,
		(unsigned long long)event->begin % 1000, (unsigned long long)event->dur / 1000,
		(unsigned long long)event->dur % 1000);
	if (unit_random(seed) % 4 == 0) {
		buf_printf(text, ",%s\"args\": {%s  \"correlation\": %u, \"odd\": \"}, {\\\"\"}",
			gap, gap, event->number);
	}
	if (unit_random(seed) % 500 == 0) { /* longer than a piece */
		buf_text(text, ", \"long\": \"");
		buf_pad(text, 'x', 400000);
		buf_char(text, '"');
	}
	buf_text(text, is_pretty ? "\n  }" : "}");
}

static int by_end(const void *a, const void *b)
{
	const struct made *x = a, *y = b;
	uint64_t end_x = x->begin + x->dur, end_y = y->begin + y->dur;

	if (end_x != end_y) {
		return end_x < end_y ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin > y->begin ? -1 : 1;
	}
	return x->number > y->number ? -1 : 1;
}

/* All rows of one of both tables, in the order of the stream, are those that were made. */
static void compare_rows(
	const struct process *process, const struct made *made, size_t nr_made, bool is_kernel)
{
	unsigned int table = is_kernel ? GPROF_TABLE_kernel : GPROF_TABLE_op;
	size_t next = 0;

	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		struct batch b;

		if (stream_in_block_table(process->stream, i) != table) {
			continue;
		}
		ck_assert_uint_eq(stream_in_load(process->stream, i,
					  COL_ALL(schema_table(table)->nr_columns), 0, &b),
			0);
		for (uint32_t row = 0; row < b.nr_rows; row++, next++) {
			while (next < nr_made && made[next].is_kernel != is_kernel) {
				next++;
			}
			ck_assert_uint_lt(next, nr_made);
			ck_assert_uint_eq(b.col[COL_op_begin][row], made[next].begin);
			ck_assert_uint_eq(b.col[COL_op_dur][row], made[next].dur);
		}
	}
	while (next < nr_made && made[next].is_kernel != is_kernel) {
		next++;
	}
	ck_assert_uint_eq(next, nr_made);
}

static void write_gzip(const char *path, const struct buf *text)
{
	gzFile file = gzopen(path, "w1");
	size_t half = text->nr_bytes / 2;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(gzwrite(file, text->bytes, (unsigned int)half), (int)half);
	gzclose(file);
	file = gzopen(path, "a1"); /* a second member */
	ck_assert_int_eq(gzwrite(file, text->bytes + half, (unsigned int)(text->nr_bytes - half)),
		(int)(text->nr_bytes - half));
	gzclose(file);
}

START_TEST(random_traces_come_out_as_they_were_made)
{
	enum { NR = 70000 };
	struct made *made = mem_zeroed(NR, sizeof(*made));

	for (uint64_t round = 1; round <= 2; round++) {
		uint64_t seed = round * 77;
		struct process *process;
		struct buf text;
		const char *path = streams_path("random.json.gz");

		buf_init(&text, NULL, NULL);
		buf_text(&text, HEAD);
		for (uint32_t i = 0; i < NR; i++) {
			made[i] = (struct made){.begin = unit_random(&seed) % 3000000,
				.dur = unit_random(&seed) % 5000,
				.number = i,
				.is_kernel = unit_random(&seed) % 3 == 0};
			buf_text(&text, i ? "," : "");
			add_event(&text, &made[i], &seed);
		}
		buf_text(&text, TAIL);
		if (round == 1) {
			path = streams_path("random.json");
			streams_write(path, text.bytes, text.nr_bytes);
		} else {
			write_gzip(path, &text);
		}
		process = streams_process(path);
		ck_assert(process_is_complete(process));
		qsort(made, NR, sizeof(*made), by_end);
		compare_rows(process, made, NR, false);
		compare_rows(process, made, NR, true);
		process_destroy(process);
		buf_fini(&text);
	}
	free(made);
}
END_TEST

START_TEST(what_is_larger_than_memory_should_hold_is_left_out)
{
	struct process *process;
	struct buf text;
	const char *path = streams_path("large.json");

	buf_init(&text, NULL, NULL);
	buf_text(&text, "{\"large\": \"");
	buf_pad(&text, 'x', KINETO_IN_ROOM + (1u << 20));
	buf_text(&text,
		"\", \"distributedInfo\": {\"rank\": 5}, \"traceEvents\": [" OP ", {\"a\": \"");
	buf_pad(&text, 'y', KINETO_IN_ROOM + (1u << 20));
	buf_text(&text, "\"}, " OP "," KERNEL TAIL);
	streams_write(path, text.bytes, text.nr_bytes);
	buf_fini(&text);
	process = streams_process(path);
	ck_assert_uint_eq(rows(process, GPROF_TABLE_op), 2);
	ck_assert_uint_eq(rows(process, GPROF_TABLE_kernel), 1);
	ck_assert_int_eq(process->rank, 5);
	ck_assert_uint_eq(process_missing(process), 2);
	process_destroy(process);
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
	timeline_write(&process, 1, NULL, "timeline.json", &out);
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

/* Ops, Python calls, launches and copies that nest or not, on some threads. */
static void add_rows(struct kineto_rows *rows, struct kineto_python *python, struct kineto_out *out)
{
	static const uint8_t tables[] = {GPROF_TABLE_op, GPROF_TABLE_op, GPROF_TABLE_py_call,
		GPROF_TABLE_api_launch, GPROF_TABLE_api_copy, GPROF_TABLE_memcpy};
	uint64_t seed = 99;

	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t table = tables[unit_random(&seed) % sizeof(tables)];
		uint32_t name = kineto_out_string(out, "n", 1);
		uint32_t code = kineto_python_code(python, out, "f.py(1): a", 10);
		struct kineto_row *row = kineto_rows_add(rows);

		row->table = table;
		row->begin = unit_random(&seed) % 100000;
		row->end = row->begin + unit_random(&seed) % 300;
		row->thread = (uint32_t)(unit_random(&seed) % 3);
		if (table == GPROF_TABLE_op) {
			row->op.name = name;
			row->source = unit_random(&seed) % 4 ? GPROF_FRAMEWORK_TORCH
							     : GPROF_FRAMEWORK_PYTHON;
			row->kind = row->source == GPROF_FRAMEWORK_PYTHON;
		} else if (table == GPROF_TABLE_py_call) {
			row->py_call.code = code;
		} else if (table == GPROF_TABLE_memcpy) {
			row->work.correlation = (uint32_t)(unit_random(&seed) % 1000);
		} else {
			row->call.correlation = (uint32_t)(unit_random(&seed) % 1000);
			row->call.is_async = unit_random(&seed) % 2;
		}
	}
}

/* The stream that they become, to be freed. */
static char *write_rows(size_t most, off_t *nr_bytes)
{
	struct kineto_rows rows = {.most = most};
	struct kineto_python python = {0};
	struct kineto_out *out = kineto_out_create();
	char *bytes;
	int fd;

	add_rows(&rows, &python, out);
	ck_assert(kineto_rows_write(&rows, &python, out));
	fd = kineto_out_finish(out, 1, 1);
	ck_assert_int_ge(fd, 0);
	*nr_bytes = lseek(fd, 0, SEEK_END);
	bytes = mem_zeroed((size_t)*nr_bytes, 1);
	ck_assert_int_eq(pread(fd, bytes, (size_t)*nr_bytes, 0), *nr_bytes);
	close(fd);
	ck_assert_int_eq(rows.runs ? 1 : 0, most ? 1 : 0);
	kineto_rows_fini(&rows);
	kineto_python_fini(&python);
	return bytes;
}

START_TEST(rows_that_lie_in_files_make_the_same_stream)
{
	off_t nr_all, nr;
	char *all = write_rows(0, &nr_all);

	for (size_t most = 777; most < 20000; most *= 5) {
		char *bytes = write_rows(most, &nr);

		ck_assert_int_eq(nr, nr_all);
		ck_assert_mem_eq(bytes, all, (size_t)nr);
		free(bytes);
	}
	free(all);
}
END_TEST

START_TEST(without_room_for_files_rows_stay_in_memory)
{
	struct kineto_rows rows = {.most = 100};
	struct kineto_python python = {0};
	struct kineto_out *out = kineto_out_create();

	ck_assert_int_eq(setenv("TMPDIR", "/nowhere", 1), 0);
	add_rows(&rows, &python, out);
	ck_assert_ptr_null(rows.runs);
	ck_assert_uint_eq(rows.nr_rows, 20000);
	ck_assert(kineto_rows_write(&rows, &python, out));
	close(kineto_out_finish(out, 1, 1));
	kineto_rows_fini(&rows);
	kineto_python_fini(&python);
}
END_TEST

START_TEST(damaged_gzip_is_told)
{
	const char *path = streams_path("cut.json.gz");
	struct process *process;
	struct buf text;
	unsigned char *bytes;
	size_t nr_bytes;

	buf_init(&text, NULL, NULL);
	buf_text(&text, HEAD);
	for (unsigned int i = 0; i < 20000; i++) {
		buf_text(&text, i ? "," OP : OP);
	}
	buf_text(&text, TAIL);
	write_gzip(path, &text);
	bytes = streams_read(path, &nr_bytes);
	streams_write(path, bytes, nr_bytes * 9 / 10);
	process = streams_process(path);
	ck_assert(!process_is_complete(process));
	ck_assert_uint_eq(process->stream->nr_damages, 1);
	ck_assert_str_eq(process->stream->damages[0].what, "its gzip data are cut off");
	ck_assert_uint_gt(rows(process, GPROF_TABLE_op), 10000);
	process_destroy(process);
	bytes[nr_bytes - 7] ^= 0xff; /* the checksum, behind all events */
	streams_write(path, bytes, nr_bytes);
	process = streams_process(path);
	ck_assert(!process_is_complete(process));
	ck_assert_uint_eq(process->stream->nr_damages, 1);
	ck_assert_str_eq(process->stream->damages[0].what, "its gzip data are damaged");
	process_destroy(process);
	bytes[nr_bytes / 4] ^= 0xff;
	streams_write(path, bytes, nr_bytes);
	process = streams_process(path);
	ck_assert(!process_is_complete(process));
	process_destroy(process);
	free(bytes);
	buf_fini(&text);
}
END_TEST

UNIT_SUITE("report_kineto", an_object_and_an_array_are_traces, times_keep_their_nanoseconds,
	a_kernel_keeps_its_launch, old_traces_have_other_names,
	the_object_tells_rank_clock_and_devices, each_step_has_its_own_end_the_last_one_too,
	copies_and_sets_keep_names_that_cupti_does_not_have, begins_and_ends_are_put_together,
	begins_and_ends_without_each_other_are_told, steps_that_overlap_are_told,
	operators_lie_in_modules_and_were_called_from_python,
	nodes_of_autograd_tell_the_thread_of_their_forward, a_bad_event_is_left_out_alone,
	odd_numbers_and_bytes_in_arguments_do_no_harm,
	more_traces_than_files_of_streams_are_open_stay_readable,
	a_cut_trace_is_read_as_far_as_it_goes, a_file_without_events_is_refused,
	a_timeline_is_a_trace_with_the_same_kernels_and_calls,
	what_is_larger_than_memory_should_hold_is_left_out,
	random_traces_come_out_as_they_were_made, rows_that_lie_in_files_make_the_same_stream,
	without_room_for_files_rows_stay_in_memory, damaged_gzip_is_told)
