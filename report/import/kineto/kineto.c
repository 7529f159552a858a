/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports traces of Kineto (PyTorch's profiler): JSON as an object or as the bare array of Chrome's
 * format, plain or gzipped. A trace becomes a stream of our own format in memory (out.h), so that
 * everything else reads it like any stream.
 *
 *     operators, ranges   op (ranges have the user's scope), their shapes op_shape
 *     runtime, driver     call, api_*; a trace does not have their arguments
 *     kernel, copy, set   kernel, memcpy, memset, shape, place; joined by correlation ID
 *     sync, overhead      sync, overhead
 *     python_function     py_call, py_code; op for modules; py_stack for what was called within;
 *                         py_gc for collections of garbage, in our own timelines
 *     [memory]            alloc
 *     kernels with a "Collective name"   nccl, nccl_comm
 *     ProfilerStep#N      step, with its own end (MODEL_STEP_END); else ranges named as steps are
 *     [other dialects]    GPU activities that only flows relate to operators (linked.h)
 *     outer object        device, attribute, info; times count from baseTimeNanoseconds
 *
 * Left out and counted: ranges of the GPU, flows (correlation IDs say the same), counters. External
 * ids are not used: a call belongs to the operator of its thread that contains it.
 *
 * Memory: 96 bytes for each of KINETO_ROWS events while they are sorted (more go to temporary
 * files), about 4 bytes an event afterwards, and the bounds in json.h and out.h. Activities that
 * only flows relate stay in memory until the end, about 150 bytes each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/import/kineto/kineto.h"
#include "report/import/kineto/json.h"
#include "report/import/out.h"
#include "report/util/err.h"
#include "report/import/kineto/convert.h"
#include "report/model/device_records.h"
#include "report/model/model.h"
#include "report/stream/block_index.h"
#include "report/util/progress.h"
#include "report/util/text.h"

/* ---- the outer object ---- */

/* The members of the outer object that are read: devices, rank, clock. */

struct kineto_top {
	uint64_t base_ns; /* since the epoch; times count from it */
	uint64_t rank;
	uint64_t nr_missing; /* of the recording that a timeline was made of */
	bool has_rank, is_incomplete;
	bool has_operator_times;	     /* in what the timeline was made of */
	bool is_own, is_of_xla, is_of_trace; /* a timeline that gprof wrote, and of what */
};

/* ---- devices ---- */

/*
 * The most blocks of a multiprocessor by compute capability, from the CUDA C++ Programming Guide.
 */
static uint64_t most_blocks(uint64_t major, uint64_t minor)
{
	switch (major * 10 + minor) {
	case 50 ... 72:
	case 80:
	case 90:
	case 100 ... 103:
		return 32;
	case 89:
	case 110 ... 121:
		return 24;
	case 75:
	case 86 ... 88:
	case 30 ... 37:
		return 16;
	default:
		return 0;
	}
}

/* The value of a key of an object, 0 if there is none. */
static int find(const struct kineto_json *json, int object, const char *key)
{
	int end = json->tokens[object].end, i = object + 1;

	while (i + 1 < json->nr_tokens && json->tokens[i].start < end) {
		if (json->tokens[i].size == 1 && kineto_json_is(json, i, key, strlen(key))) {
			return i + 1;
		}
		i = json->tokens[i].size == 1 ? kineto_json_next(json, i + 1)
					      : kineto_json_next(json, i);
	}
	return 0;
}

static bool find_number(
	const struct kineto_json *json, int object, const char *key, uint64_t *value)
{
	int token = find(json, object, key);

	return token && kineto_json_number(json, token, value);
}

static void add_device(struct kineto_json *json, int object, struct import_out *out)
{
	static const struct {
		const char *key, *name;
	} attributes[] = {
		{"totalGlobalMem", "memory_bytes"},
		{"computeMajor", "capability_major"},
		{"computeMinor", "capability_minor"},
		{"maxThreadsPerBlock", "max_threads_per_block"},
		{"maxThreadsPerMultiprocessor", "max_threads_per_multiprocessor"},
		{"regsPerBlock", "registers_per_block"},
		{"regsPerMultiprocessor", "registers_per_multiprocessor"},
		{"warpSize", "warp_threads"},
		{"sharedMemPerBlock", "shared_bytes_per_block"},
		{"sharedMemPerMultiprocessor", "shared_bytes_per_multiprocessor"},
		{"sharedMemPerBlockOptin", "shared_bytes_per_block_optin"},
		{"numSms", "multiprocessors"},
	};
	struct gprof_row_device *row;
	uint64_t id, major, minor = 0, threads, warp, value;
	uint32_t name = 0;
	int token = find(json, object, "name");

	if (!find_number(json, object, "id", &id) || id >= UINT32_MAX) {
		return;
	}
	if (token) {
		size_t nr_bytes;
		const char *text = kineto_json_text(json, token, &nr_bytes);

		name = import_out_string(out, text, nr_bytes);
	}
	row = import_out_row(out, GPROF_TABLE_device);
	row->id = (uint32_t)id;
	row->name = name;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		if (find_number(json, object, attributes[i].key, &value)) {
			import_out_attribute(out, (uint32_t)id, attributes[i].name, value);
		}
	}
	if (find_number(json, object, "maxThreadsPerMultiprocessor", &threads) &&
		find_number(json, object, "warpSize", &warp) && warp) {
		import_out_attribute(
			out, (uint32_t)id, "max_warps_per_multiprocessor", threads / warp);
	}
	find_number(json, object, "computeMinor", &minor);
	if (find_number(json, object, "computeMajor", &major) && major < 100 && minor < 10 &&
		most_blocks(major, minor)) {
		import_out_attribute(out, (uint32_t)id, "max_blocks_per_multiprocessor",
			most_blocks(major, minor));
	}
}

/* ---- facts ---- */

static void add_fact(struct kineto_json *json, int token, const char *name, struct import_out *out)
{
	const char *text;
	size_t nr_bytes;

	if (json->tokens[token].type == JSMN_STRING || json->tokens[token].type == JSMN_PRIMITIVE) {
		text = kineto_json_text(json, token, &nr_bytes);
		import_out_fact(out, name, text, nr_bytes);
	}
}

static void read_distributed(
	struct kineto_top *top, struct kineto_json *json, struct import_out *out)
{
	static const struct {
		const char *key, *name;
	} facts[] = {
		{"rank", "rank.world"},
		{"world_size", "rank.world_size"},
		{"backend", "rank.backend"},
		{"nccl_version", "nccl.version"},
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		int token = find(json, 0, facts[i].key);

		if (token) {
			add_fact(json, token, facts[i].name, out);
		}
	}
	top->has_rank = find_number(json, 0, "rank", &top->rank);
}

/* Reads what gprof's own timelines say of the recording that they were made of. */
static void read_gprof(struct kineto_top *top, struct kineto_json *json, struct import_out *out)
{
	int complete = find(json, 0, "complete"), source = find(json, 0, "source");
	int lacking = find(json, 0, "no_gpu");

	find_number(json, 0, "missing_events", &top->nr_missing);
	if (source) {
		add_fact(json, source, "trace.source", out);
	}
	if (lacking) {
		add_fact(json, lacking, PROCESS_LACKS_GPU, out);
	}
	top->has_operator_times = find(json, 0, "operator_times") != 0;
	top->is_own = true;
	top->is_of_trace = source != 0;
	top->is_of_xla = source && kineto_json_is(json, source, "xplane", strlen("xplane"));
	top->is_incomplete = complete && kineto_json_is(json, complete, "false", strlen("false"));
}

/* Reads a member of the outer object: its key, and its value in `json`. */
static void read_top(struct kineto_top *top, const char *key, size_t nr_key,
	struct kineto_json *json, struct import_out *out)
{
	static const struct {
		const char *key, *name;
	} facts[] = {
		{"host_name", "host.name"},
		{"cupti_version", "cupti.version"},
		{"cuda_runtime_version", "cuda.runtime_version"},
		{"cuda_driver_version", "cuda.driver_version"},
		{"trace_id", "trace.id"},
		{"traceName", "trace.name"},
		{"record_shapes", "trace.record_shapes"},
		{"profile_memory", "trace.profile_memory"},
		{"with_stack", "trace.with_stack"},
		{"with_flops", "trace.with_flops"},
		{"with_modules", "trace.with_modules"},
		{"schemaVersion", "trace.version"},
	};

	if (text_is(key, nr_key, "baseTimeNanoseconds")) {
		kineto_json_number(json, 0, &top->base_ns);
	} else if (text_is(key, nr_key, "distributedInfo")) {
		read_distributed(top, json, out);
	} else if (text_is(key, nr_key, "gprof")) {
		read_gprof(top, json, out);
	} else if (text_is(key, nr_key, "deviceProperties") && json->tokens[0].type == JSMN_ARRAY) {
		for (int i = 1; i < json->nr_tokens; i = kineto_json_next(json, i)) {
			if (json->tokens[i].type == JSMN_OBJECT) {
				add_device(json, i, out);
			}
		}
	}
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (text_is(key, nr_key, facts[i].key)) {
			add_fact(json, 0, facts[i].name, out);
		}
	}
}

/* Bytes that distinguish a trace from a stream. */
#define FIRST_BYTES 256u

struct kineto {
	struct kineto_tokenizer split;
	struct kineto_convert convert;
	struct kineto_top top;
	struct import_out *out;
	bool is_spoilt; /* rows are missing: no room for temporary files */
};

/* ---- parts ---- */

static void add_event(struct kineto *kineto, struct kineto_part *part)
{
	struct kineto_convert *convert = &kineto->convert;

	do {
		if (!kineto_convert_wants_flows(convert) &&
			kineto_event_is_flow(part->bytes, part->nr_bytes) &&
			part->bytes[part->nr_bytes - 1] == '}') {
			convert->nr_flows++;
			return;
		}
		if (kineto_json_parse(&convert->json, part->bytes, part->nr_bytes) &&
			kineto_convert_event(convert)) {
			return;
		}
	} while (kineto_tokenizer_retry(&kineto->split, part));
}

static void read_member(struct kineto *kineto, const struct kineto_part *part)
{
	if (kineto_json_parse(&kineto->convert.json, part->bytes, part->nr_bytes)) {
		read_top(&kineto->top, part->key, part->nr_key, &kineto->convert.json, kineto->out);
	} else {
		kineto->split.nr_bad++;
	}
}

static void read_parts(struct kineto *kineto)
{
	struct kineto_part part;
	uint64_t reported = 0;

	for (kineto_tokenizer_next(&kineto->split, &part); part.kind != KINETO_END;
		kineto_tokenizer_next(&kineto->split, &part)) {
		if (part.kind == KINETO_EVENT) {
			add_event(kineto, &part);
		} else {
			kineto_foreign_see_member(&kineto->convert.foreign, part.key, part.nr_key);
			if (part.bytes) {
				read_member(kineto, &part);
			}
		}
		if (kineto->split.offset != reported) {
			progress_add(kineto->split.offset - reported);
			reported = kineto->split.offset;
		}
	}
}

/* ---- the rest of the stream ---- */

static void write_losses(struct kineto *kineto)
{
	import_out_loss(kineto->out, kineto->convert.last_ns, kineto->top.nr_missing,
		"they are missing in the recording, too");
	import_out_loss(kineto->out, kineto->convert.last_ns, kineto->split.nr_bad,
		"they are not valid trace events");
	import_out_loss(kineto->out, kineto->convert.last_ns,
		kineto->convert.nr_pairs + kineto_pairs_nr_open(&kineto->convert.pairs),
		"begin or end event (phase B or E) without its counterpart");
	import_out_loss(kineto->out, kineto->convert.last_ns, kineto->convert.nr_incomplete,
		"they have no name, begin or duration in the trace");
	for (size_t i = 0; i < kineto->convert.nr_kinds; i++) {
		const struct kineto_unread *kind = &kineto->convert.kinds[i];
		char cause[80];

		snprintf(cause, sizeof(cause), "events of kind %s are not read", kind->name);
		import_out_loss(kineto->out, kineto->convert.last_ns, kind->nr_events, cause);
	}
}

static void write_notice_of_dialect(struct kineto *kineto)
{
	static const char text[] = "in the trace, GPU times are of operators, between two CUDA "
				   "events, and of nested ones those of the inner ones; so there "
				   "are no findings";

	if (kineto->top.has_operator_times ||
		(kineto->convert.dialect == KINETO_OLD_TORCH && kineto->convert.linked.nr)) {
		import_out_notice(kineto->out, kineto->convert.last_ns, "times of operators", text,
			sizeof(text) - 1);
		import_out_fact_number(kineto->out, PROCESS_OPERATOR_TIMES, 1);
	}
}

static void write_notices(struct kineto *kineto)
{
	uint64_t nr = kineto->convert.rows.nr_overrun;
	char text[160];
	int nr_bytes = snprintf(text, sizeof(text),
		"in the trace, %" PRIu64
		" %s at least two later kernels of the same stream; %s cut "
		"where the next one begins",
		nr, nr == 1 ? "kernel overlaps" : "kernels overlap", nr == 1 ? "it is" : "each is");

	if (nr) {
		import_out_notice(kineto->out, kineto->convert.last_ns, "kernels that overlap",
			text, (size_t)nr_bytes);
	}
	write_notice_of_dialect(kineto);
}

static void write_facts(struct kineto *kineto, const char *command)
{
	const struct kineto_convert *convert = &kineto->convert;
	struct import_out *out = kineto->out;

	if (*command) {
		import_out_fact(out, "process.command", command, strlen(command));
	}
	import_out_fact_number(out, "trace.flows", convert->nr_flows);
	import_out_fact_number(out, "trace.gpu_ranges", convert->nr_gpu_ranges);
	import_out_fact_number(out, "trace.others", convert->nr_other);
}

static int finish(struct kineto *kineto)
{
	struct kineto_convert *convert = &kineto->convert;
	struct import_out_end end = {.format = "kineto",
		.first_tick = convert->first_ns <= convert->last_ns ? convert->first_ns : 1,
		.last_tick = convert->last_ns,
		.base_ns = kineto->top.base_ns};
	const char *command;

	kineto_convert_linked(convert);
	convert->rows.are_ends_right = kineto->top.is_own;
	convert->rows.are_of_xla = kineto->top.is_of_xla;
	convert->rows.are_recorded = kineto->top.is_own && !kineto->top.is_of_trace;
	kineto->is_spoilt = !kineto_rows_write(&convert->rows, &convert->python, kineto->out);
	import_step_names_write(&convert->steps, kineto->out);
	end.nr_early = convert->rows.nr_early;
	end.pid = kineto_threads_write(&convert->threads, kineto->out, &command);
	kineto_nccl_write(
		&convert->nccl, kineto->top.has_rank ? &kineto->top.rank : NULL, kineto->out);
	write_losses(kineto);
	write_notices(kineto);
	write_facts(kineto, command);
	return import_out_finish(kineto->out, &end);
}

/* ---- the file ---- */

static bool is_trace(const struct stream *stream)
{
	unsigned char bytes[FIRST_BYTES];
	ssize_t nr_bytes = pread(stream->fd, bytes, sizeof(bytes), 0);

	return nr_bytes > 0 && kineto_input_is_trace(bytes, (size_t)nr_bytes);
}

static void add_damages(struct stream *stream, const struct kineto *kineto, const char *problem)
{
	if (problem) {
		stream_add_damage(stream, kineto->split.offset, 0, problem);
	} else if (kineto->split.is_cut) {
		stream_add_damage(
			stream, kineto->split.cut_offset, 0, "the trace is truncated here");
	}
	if (kineto->top.is_incomplete && !kineto->top.nr_missing) {
		stream_add_damage(stream, 0, 0, "the recording that it was made of is incomplete");
	}
	if (kineto->is_spoilt) {
		stream_add_damage(stream, 0, 0, IMPORT_OUT_NO_ROOM);
	}
	import_step_names_add_damages(&kineto->convert.steps, stream);
}

int kineto_import(struct stream *stream)
{
	struct kineto kineto = {0};
	struct kineto_input *in;
	const char *problem;
	int fd;

	if (!is_trace(stream)) {
		return 0;
	}
	kineto.out = import_out_create();
	if (!kineto.out) {
		return -ENOMEM;
	}
	in = kineto_input_create(stream->fd);
	kineto_tokenizer_init(&kineto.split, in);
	kineto_convert_init(&kineto.convert, kineto.out);
	progress_start("reading the trace", stream->size);
	read_parts(&kineto);
	progress_stop();
	problem = kineto_input_problem(in);
	fd = finish(&kineto);
	if (fd >= 0) {
		add_damages(stream, &kineto, problem);
	}
	if (fd >= 0 && (kineto.convert.foreign.sentence || !kineto.convert.rows.nr_all)) {
		close(fd);
		fd = err_set(-ENODATA, "%s",
			kineto.convert.foreign.sentence ? kineto.convert.foreign.sentence
							: "it contains no trace events");
	}
	kineto_convert_fini(&kineto.convert);
	kineto_input_destroy(in);
	if (fd < 0) {
		return fd;
	}
	import_out_replace(stream, fd);
	stream->is_bare = true;
	return 0;
}
