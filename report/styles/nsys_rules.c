/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of `nsys analyze` about copies, sets and calls that wait: up to 50 findings each, the
 * longest first. Copies and sets are timed on the device, calls on the host.
 */
#include <string.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/styles/nsys_reports.h"

#define MOST_FINDINGS	 50u
#define LEAST_COPY_BYTES (64u * 1024u) /* smaller copies to the device do not wait */

/* ---- copies, sets and calls ---- */

static void *create(const struct view_input *input)
{
	struct view_input few = *input;

	few.nr_rows = MOST_FINDINGS;
	return trace_create(&few, TRACE_BY_LENGTH);
}

/* By the name of the call, else by what CUPTI says. */
static bool is_async(
	const struct trace *trace, const struct op_record *record, const struct op_call *call)
{
	uint8_t api;

	if (!call) {
		return (record->copy & COPY_IS_ASYNC) != 0;
	}
	return strstr(string_pool_text(process_call_name(trace->process, call->call, &api), NULL),
		       "Async") != NULL;
}

/* A trace of another format tells nothing without the call. */
static bool is_sync(
	const struct trace *trace, const struct op_record *record, const struct op_call *call)
{
	return (call || !trace->process->stream->is_trace) && !is_async(trace, record, call);
}

static void take_async_copy(void *context, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	if (record->table == GPROF_TABLE_memcpy && is_async(context, record, call) &&
		(copy_source_of(record->copy) == API_MEMORY_PAGEABLE ||
			copy_target_of(record->copy) == API_MEMORY_PAGEABLE)) {
		trace_record(context, record, call, op);
	}
}

static void take_sync_copy(void *context, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	bool is_small =
		copy_kind_of(record->copy) == API_COPY_HTOD && record->bytes <= LEAST_COPY_BYTES;

	if (record->table == GPROF_TABLE_memcpy && is_sync(context, record, call) && !is_small) {
		trace_record(context, record, call, op);
	}
}

static void take_sync_set(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->table == GPROF_TABLE_memset && is_sync(context, record, call)) {
		trace_record(context, record, call, op);
	}
}

static void take_sync(void *context, const struct op_call *call, const struct op *op)
{
	struct trace *trace = context;
	uint8_t api;
	const char *name =
		string_pool_text(process_call_name(trace->process, call->call, &api), NULL);

	if ((api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER) &&
		strstr(name, "Synchronize") != NULL) {
		trace_call(trace, call, op);
	}
}

#define RULE(rule, callback, function)                                    \
	const struct view_class view_nsys_##rule = {                      \
		.name = "nsys " #rule,                                    \
		.is_asked_only = true,                                    \
		.ops = {.begin = nsys_begin_trace, .callback = function}, \
		.create = create,                                         \
		.destroy = nsys_keep_trace,                               \
	}

RULE(async_copy, record, take_async_copy);
RULE(sync_copy, record, take_sync_copy);
RULE(sync_set, record, take_sync_set);
RULE(sync_call, call, take_sync);

enum {
	C_DURATION,
	C_START,
	C_SOURCE, /* of a set: its memory */
	C_TARGET, /* not of sets */
	C_BYTES,
	C_PID,
	C_DEVICE,
	C_CONTEXT,
	C_GREEN,
	C_STREAM,
	C_CALL,
	NR_C,
};

static void fill_place(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct model_place place = trace_place(trace, event);

	if (place.device != UINT32_MAX) {
		table_set_integer(&cells[C_DEVICE - C_DEVICE], place.device);
		table_set_integer(&cells[C_CONTEXT - C_DEVICE], place.context);
		table_set_integer(&cells[C_STREAM - C_DEVICE], place.stream);
	}
	if (event->has_call) {
		nsys_set_name(&cells[C_CALL - C_DEVICE], event->call);
	}
}

static void fill_times(const struct trace_event *event, struct table_cell *cells)
{
	if (event->is_timed) {
		table_set_integer(&cells[C_DURATION], event->dur_ns);
		table_set_integer(&cells[C_START], event->begin_ns);
	}
}

static void fill_copy(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	fill_times(event, cells);
	table_set_string(&cells[C_SOURCE], api_memory_name(copy_source_of(event->copy)));
	table_set_string(&cells[C_TARGET], api_memory_name(copy_target_of(event->copy)));
	table_set_integer(&cells[C_BYTES], event->bytes);
	table_set_integer(&cells[C_PID], trace->processes[event->process]->pid);
	fill_place(trace, event, &cells[C_DEVICE]);
}

static void fill_set(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	fill_times(event, cells);
	table_set_string(&cells[C_SOURCE], api_memory_name(copy_target_of(event->copy)));
	table_set_integer(&cells[C_BYTES - 1], event->bytes);
	table_set_integer(&cells[C_PID - 1], trace->processes[event->process]->pid);
	fill_place(trace, event, &cells[C_DEVICE - 1]);
}

static void fill_sync(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	uint32_t tid;

	table_set_integer(&cells[0], event->api_dur_ns);
	table_set_integer(&cells[1], event->api_begin_ns);
	table_set_integer(&cells[2], trace->processes[event->process]->pid);
	if (trace_tid(trace, event, &tid)) {
		table_set_integer(&cells[3], tid);
	}
	nsys_set_name(&cells[4], event->call);
}

#define PLACE_COLUMNS                                                                \
	{"bytes", "Bytes (MB)", TABLE_SIZE, false}, {"pid", "PID", TABLE_ID, false}, \
		{"device", "Device ID", TABLE_ID, false},                            \
		{"context", "Context ID", TABLE_ID, false},                          \
		{"green_context", "Green Context ID", TABLE_ID, false},              \
		{"stream", "Stream ID", TABLE_ID, false},                            \
	{                                                                            \
		"name", "API Name", TABLE_TEXT, false                                \
	}

/* Those that were kept beyond 50 are left out, as others are that were not. */
static struct table *finish(struct table *table)
{
	table_cut(table, MOST_FINDINGS);
	return table;
}

struct table *nsys_copy_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {NSYS_DURATION_START,
		{"source", "Src Kind", TABLE_TEXT, false},
		{"target", "Dst Kind", TABLE_TEXT, false}, PLACE_COLUMNS};

	(void)ask;
	return finish(trace_table(views[0], "rows", "", columns, NR_C, fill_copy));
}

struct table *nsys_set_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		NSYS_DURATION_START, {"memory", "Memory Kind", TABLE_TEXT, false}, PLACE_COLUMNS};

	(void)ask;
	return finish(trace_table(views[0], "rows", "", columns, NR_C - 1, fill_set));
}

struct table *nsys_sync_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {NSYS_DURATION_START,
		{"pid", "PID", TABLE_ID, false}, {"tid", "TID", TABLE_ID, false},
		{"name", "API Name", TABLE_TEXT, false}};

	(void)ask;
	return finish(trace_table(views[0], "rows", "", columns, 5, fill_sync));
}
