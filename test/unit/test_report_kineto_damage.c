/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that are cut, damaged, too large or no traces: what is left out is counted and named. */
#include <stdlib.h>
#include <string.h>

#include "report/session/importers.h"
#include "report/util/err.h"
#include "report/import/kineto/json.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_traces.h"
#include "test/unit/unit.h"

static uint64_t missing(const char *text, uint64_t nr_ops)
{
	struct process *process = traces_read(text);
	uint64_t nr_missing = process_missing(process);

	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), nr_ops);
	ck_assert_int_eq(process_is_complete(process), !nr_missing);
	process_destroy(process);
	return nr_missing;
}

START_TEST(a_bad_event_is_left_out_alone)
{
	ck_assert_uint_eq(missing("[" TRACES_OP ",{\"ph\":\"X\",}{]," TRACES_OP "]", 2), 2);
	ck_assert_uint_eq(
		missing("[" TRACES_OP ",{\"ph\":\"X\",\"na\"me\":\"}, {[\"}," TRACES_OP "]", 2), 2);
	ck_assert_uint_eq(
		missing("[\n  " TRACES_OP ",\n  {\"a\": \"b\n  },\n  " TRACES_OP "\n]", 2), 1);
	ck_assert_uint_eq(missing("[" TRACES_OP ",17,\"x\"," TRACES_OP "]", 2), 2);
	ck_assert_uint_eq(missing("[" TRACES_OP ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\","
				  "\"ts\":NaN,\"dur\":1}," TRACES_OP "]",
				  2),
		1);
	ck_assert_uint_eq(missing("[" TRACES_OP ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\","
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

/* As Kineto on Windows wrote paths. What could be an escape is one. */
START_TEST(a_lone_backslash_stands_for_itself)
{
	static const char text[] = "{\"a\":\"torch\\cuda\\_x\\u12 \\\\ \\\"q\\\" \\u0041\"}";
	struct kineto_json json = {0};
	size_t nr_bytes;
	const char *value;

	ck_assert_uint_eq(missing("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"torch\\cuda\\_x\","
				  "\"ts\":1,\"dur\":1}," TRACES_OP "]",
				  2),
		0);
	ck_assert(kineto_json_parse(&json, text, sizeof(text) - 1));
	value = kineto_json_text(&json, 2, &nr_bytes);
	ck_assert_uint_eq(nr_bytes, strlen("torch\\cuda\\_x\\u12 \\ \"q\" A"));
	ck_assert_mem_eq(value, "torch\\cuda\\_x\\u12 \\ \"q\" A", nr_bytes);
	kineto_json_fini(&json);
}
END_TEST

START_TEST(a_cut_trace_is_read_as_far_as_it_goes)
{
	static const char text[] = TRACES_HEAD "\n  " TRACES_OP ",\n  " TRACES_KERNEL
					       ",\n  " TRACES_OP "\n" TRACES_TAIL;
	char cut[sizeof(text)];

	for (size_t n = 1; n < sizeof(text) - 1; n += UNIT_IS_SLOW ? 5 : 1) {
		const char *path;
		struct stream *stream;
		struct process *process;

		memcpy(cut, text, n);
		cut[n] = '\0';
		path = traces_write("cut.json", cut);
		if (stream_open(&stream, path, stream_importers)) {
			ck_assert_ptr_nonnull(strstr(err_text(), "no trace events"));
			ck_assert_uint_le(n, sizeof(TRACES_HEAD) + 4 + sizeof(TRACES_OP));
			continue;
		}
		process = process_create(stream);
		ck_assert(!process_is_complete(process));
		ck_assert_uint_ge(traces_rows(process, GPROF_TABLE_op), 1);
		process_destroy(process);
	}
}
END_TEST

START_TEST(a_file_without_events_is_refused)
{
	static const char *const texts[] = {
		"{}", "[]", "[", "{\"traceEvents\": []}", "{\"a\": [1,2,{\"b\":3}]}", "[[[[[["};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct stream *stream;

		ck_assert_int_lt(
			stream_open(&stream, traces_write("no.json", texts[i]), stream_importers),
			0);
		ck_assert_str_eq(err_text(), "it contains no trace events");
	}
}
END_TEST

/* A begin without an end, an end without a begin, one that is before its begin, and one of no kind.
 */
START_TEST(begins_and_ends_without_each_other_are_told)
{
	struct process *process = traces_read("[" TRACES_OP "," TRACES_BEGIN(TRACES_OP_CAT, "a",
		"1", "1") "," TRACES_BEGIN(TRACES_OP_CAT, "b", "2", "9") "," TRACES_END("2",
		"8") ",{\"ph\":\"E\",\"cat\":\"cpu_op\",\"pid\":1,"
		     "\"tid\":3,\"ts\":2}," TRACES_END("4", "5") "," TRACES_BEGIN(
			     "", "c", "1", "3") "]");

	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), 1);
	ck_assert_uint_eq(process_missing(process), 4);
	process_destroy(process);
}
END_TEST

static uint64_t lost(const struct process *process, const char *cause)
{
	for (size_t i = 0; i < process->nr_losses; i++) {
		if (!strcmp(string_pool_text(process->losses[i].cause, NULL), cause)) {
			return process->losses[i].count;
		}
	}
	return 0;
}

#define OF_KIND(kind, phase)                     \
	",{\"ph\":\"" phase "\",\"cat\":\"" kind \
	"\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1}"

/* Insights of MTIA, counters of CUPTI's profiler, and kinds that no text should have. */
START_TEST(kinds_that_are_not_read_are_counted_by_name)
{
	struct process *process = traces_read("[" TRACES_OP OF_KIND("mtia_insight", "X") OF_KIND(
		"mtia_insight", "X") OF_KIND("collective_comm", "X") OF_KIND("cuda_profiler_range",
		"X") OF_KIND("mtia_workloadd", "i") OF_KIND("Trace", "X") OF_KIND("ac2g", "s")
			OF_KIND("gpu_user_annotation", "X") OF_KIND("a\\u001b[31m", "X") "]");

	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), 1);
	ck_assert_uint_eq(process_missing(process), 6);
	ck_assert_uint_eq(lost(process, "events of kind mtia_insight are not read"), 2);
	ck_assert_uint_eq(lost(process, "events of kind collective_comm are not read"), 1);
	ck_assert_uint_eq(lost(process, "events of kind cuda_profiler_range are not read"), 1);
	ck_assert_uint_eq(lost(process, "events of kind mtia_workloadd are not read"), 1);
	ck_assert_uint_eq(lost(process, "events of kind a??31m are not read"), 1);
	process_destroy(process);
}
END_TEST

START_TEST(very_many_kinds_are_counted_together)
{
	struct buf text = {0};
	struct process *process;

	buf_text(&text, "[" TRACES_OP);
	for (int i = 0; i < 40; i++) {
		buf_printf(&text,
			",{\"ph\":\"X\",\"cat\":\"kind%d\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
			"\"ts\":5,\"dur\":1}",
			i);
	}
	buf_text(&text, "]");
	buf_char(&text, '\0');
	process = traces_read(text.bytes);
	ck_assert_uint_eq(process->nr_losses, 16);
	ck_assert_uint_eq(process_missing(process), 40);
	ck_assert_uint_eq(lost(process, "events of kind others are not read"), 25);
	process_destroy(process);
	buf_fini(&text);
}
END_TEST

/* The event is kept, so nothing is missing. */
START_TEST(names_that_are_cut_are_counted)
{
	struct buf text = {0};
	struct process *process;

	buf_text(&text, "[" TRACES_OP ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"");
	for (unsigned int i = 0; i < GPROF_TEXT_BYTES + 1; i++) {
		buf_char(&text, 'x');
	}
	buf_text(&text, "\",\"pid\":1,\"tid\":1,\"ts\":50,\"dur\":1}]");
	buf_char(&text, '\0');
	process = traces_read(text.bytes);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), 2);
	ck_assert_uint_eq(lost(process, "name cut to 4096 bytes (the event is kept)"), 1);
	ck_assert(process_is_complete(process));
	process_destroy(process);
	buf_fini(&text);
}
END_TEST

START_TEST(steps_that_overlap_are_told)
{
	struct process *process = traces_read(
		"[" TRACES_STEP("4", "100", "50") "," TRACES_STEP("5", "140", "20") "]");

	ck_assert_uint_eq(process->nr_steps, 3);
	ck_assert_uint_eq(process->steps[1].tick, 140000);
	ck_assert_uint_eq(process->steps[2].tick, 160000);
	ck_assert(!process_is_complete(process));
	ck_assert_uint_eq(process->stream->nr_damages, 1);
	process_destroy(process);
}
END_TEST

START_TEST(what_is_larger_than_memory_should_hold_is_left_out)
{
	struct process *process;
	struct buf text;
	const char *path = streams_path("large.json");

	buf_init(&text, NULL, NULL);
	buf_text(&text, "{\"large\": \"");
	buf_pad(&text, 'x', KINETO_INPUT_ROOM + (1u << 20));
	buf_text(&text, "\", \"distributedInfo\": {\"rank\": 5}, \"traceEvents\": [" TRACES_OP
			", {\"a\": \"");
	buf_pad(&text, 'y', KINETO_INPUT_ROOM + (1u << 20));
	buf_text(&text, "\"}, " TRACES_OP "," TRACES_KERNEL TRACES_TAIL);
	streams_write(path, text.bytes, text.nr_bytes);
	buf_fini(&text);
	process = streams_process(path);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_op), 2);
	ck_assert_uint_eq(traces_rows(process, GPROF_TABLE_kernel), 1);
	ck_assert_int_eq(process->rank, 5);
	ck_assert_uint_eq(process_missing(process), 2);
	process_destroy(process);
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
	buf_text(&text, TRACES_HEAD);
	for (unsigned int i = 0; i < 20000; i++) {
		buf_text(&text, i ? "," TRACES_OP : TRACES_OP);
	}
	buf_text(&text, TRACES_TAIL);
	traces_gzip(path, &text);
	bytes = streams_read(path, &nr_bytes);
	streams_write(path, bytes, nr_bytes * 9 / 10);
	process = streams_process(path);
	ck_assert(!process_is_complete(process));
	ck_assert_uint_eq(process->stream->nr_damages, 1);
	ck_assert_str_eq(process->stream->damages[0].what, "the gzip data are truncated");
	ck_assert_uint_gt(traces_rows(process, GPROF_TABLE_op), 10000);
	process_destroy(process);
	bytes[nr_bytes - 7] ^= 0xff; /* the checksum, behind all events */
	streams_write(path, bytes, nr_bytes);
	process = streams_process(path);
	ck_assert(!process_is_complete(process));
	ck_assert_uint_eq(process->stream->nr_damages, 1);
	ck_assert_str_eq(process->stream->damages[0].what, "the gzip data are damaged");
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

#define EVENT(cat, pid, args) \
	"{\"ph\":\"X\"," cat "\"name\":\"f\",\"pid\":" pid ",\"tid\":1,\"ts\":1,\"dur\":1" args "}"
#define PROCESS(name) \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"" name "\"}}"

/* Also where some events look like Kineto's. */
START_TEST(traces_of_other_programs_are_refused_by_their_names)
{
	static const struct {
		const char *text, *name;
	} traces[] = {
		{"{\"traceEvents\":[" EVENT(
			 "\"cat\":\"FEE\",", "5", "") "],\"viztracer_metadata\":{}}",
			"VizTracer"},
		{"{\"rocprofiler-sdk-tool\":[{\"metadata\":{}}]}", "rocprofv3"},
		{"[" PROCESS("/job:localhost/replica:0/task:0/device:GPU:0 Compute") "," EVENT(
			 "\"cat\":\"Op\",", "1", "") "]",
			"TensorFlow 1"},
		{"[" PROCESS("gpu/0") "," EVENT("\"cat\":\"operator\",", "1", "") "]", "MXNet"},
		{"[" EVENT("\"cat\":\"cuda_runtime\",", "\"[TP00] 1\"", "") "," EVENT(
			 "\"cat\":\"cuda_runtime\",", "\"[TP01] 2\"", "") "]",
			"several processes"},
	};

	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		struct stream *stream;

		ck_assert_int_lt(stream_open(&stream, traces_write("a.json", traces[i].text),
					 stream_importers),
			0);
		ck_assert_ptr_nonnull(strstr(err_text(), traces[i].name));
	}
}
END_TEST

START_TEST(other_files_are_refused_with_what_to_do)
{
	static const struct {
		const char *name, *text, *expected;
	} files[] = {
		{"a.json", "\xff\xfe{", "iconv -f UTF-16"},
		{"a.nsys-rep", "QNSY", "nsys export -t sqlite"},
		{"train.py", "import torch", "gprof-record python"},
		{"a.bin", "something", "not a gprof stream"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct stream *stream;

		ck_assert_int_lt(stream_open(&stream, traces_write(files[i].name, files[i].text),
					 stream_importers),
			0);
		ck_assert_ptr_nonnull(strstr(err_text(), files[i].expected));
	}
}
END_TEST

UNIT_SUITE("report_kineto_damage", traces_of_other_programs_are_refused_by_their_names,
	other_files_are_refused_with_what_to_do, a_bad_event_is_left_out_alone,
	odd_numbers_and_bytes_in_arguments_do_no_harm, a_lone_backslash_stands_for_itself,
	a_cut_trace_is_read_as_far_as_it_goes, a_file_without_events_is_refused,
	begins_and_ends_without_each_other_are_told, steps_that_overlap_are_told,
	kinds_that_are_not_read_are_counted_by_name, very_many_kinds_are_counted_together,
	names_that_are_cut_are_counted, what_is_larger_than_memory_should_hold_is_left_out,
	damaged_gzip_is_told)
