/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of `nsys analyze`: up to 50 findings each, the longest first. Copies and sets are timed
 * on the device, calls on the host. In-Use is the union of what ran, where nsys sums durations and
 * may exceed 100 %.
 */
#include <stdlib.h>
#include <string.h>

#include "report/api.h"
#include "report/copy.h"
#include "report/hash.h"
#include "report/nsys.h"
#include "report/trace.h"

#define MOST_FINDINGS	 50u
#define LEAST_COPY_BYTES (64u * 1024u) /* smaller copies to the device do not wait */
#define LEAST_GAP_NS	 500000000u
#define NR_CHUNKS	 30u
#define LEAST_IN_USE	 50.0 /* percent */

/* ---- copies, sets and calls ---- */

static void *create(const struct view_input *input)
{
	struct view_input few = *input;

	few.nr_rows = MOST_FINDINGS;
	return trace_create(&few, TRACE_BY_LENGTH);
}

static void begin(void *context, struct process *process)
{
	trace_begin(context, process);
}

/* The trace is the table's. */
static void keep(void *context)
{
	(void)context;
}

/* By the name of the call, else by what CUPTI says. */
static bool is_async(
	const struct trace *trace, const struct op_record *record, const struct op_call *call)
{
	uint8_t api;

	if (!call) {
		return (record->copy & COPY_IS_ASYNC) != 0;
	}
	return strstr(names_raw(process_call_name(trace->process, call->call, &api), NULL),
		       "Async") != NULL;
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

	if (record->table == GPROF_TABLE_memcpy && !is_async(context, record, call) && !is_small) {
		trace_record(context, record, call, op);
	}
}

static void take_sync_set(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->table == GPROF_TABLE_memset && !is_async(context, record, call)) {
		trace_record(context, record, call, op);
	}
}

static void take_sync(void *context, const struct op_call *call, const struct op *op)
{
	struct trace *trace = context;
	uint8_t api;
	const char *name = names_raw(process_call_name(trace->process, call->call, &api), NULL);

	if ((api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER) &&
		strstr(name, "Synchronize") != NULL) {
		trace_call(trace, call, op);
	}
}

#define RULE(rule, callback, function)                         \
	const struct view_class view_nsys_##rule = {           \
		.name = "nsys " #rule,                         \
		.is_asked_only = true,                         \
		.ops = {.begin = begin, .callback = function}, \
		.create = create,                              \
		.destroy = keep,                               \
	}

RULE(async_copy, record, take_async_copy);
RULE(sync_copy, record, take_sync_copy);
RULE(sync_set, record, take_sync_set);
RULE(sync_call, call, take_sync);

static void *create_all(const struct view_input *input)
{
	struct view_input all = *input;

	all.nr_rows = 0;
	return trace_create(&all, TRACE_BY_RECORD);
}

static void take_work(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->is_timed) {
		trace_record(context, record, call, op);
	}
}

const struct view_class view_nsys_work = {
	.name = "nsys work",
	.is_asked_only = true,
	.ops = {.begin = begin, .record = take_work},
	.create = create_all,
	.destroy = keep,
};

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
	nsys_set_text(&cells[C_SOURCE], api_memory_name(copy_source_of(event->copy)));
	nsys_set_text(&cells[C_TARGET], api_memory_name(copy_target_of(event->copy)));
	table_set_integer(&cells[C_BYTES], event->bytes);
	table_set_integer(&cells[C_PID], trace->processes[event->process]->pid);
	fill_place(trace, event, &cells[C_DEVICE]);
}

static void fill_set(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	fill_times(event, cells);
	nsys_set_text(&cells[C_SOURCE], api_memory_name(copy_target_of(event->copy)));
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

#define TIME_COLUMNS                                         \
	{"duration_ns", "Duration (ns)", TABLE_TIME, false}, \
	{                                                    \
		"start_ns", "Start (ns)", TABLE_TIME, false  \
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
	static const struct table_column columns[] = {TIME_COLUMNS,
		{"source", "Src Kind", TABLE_TEXT, false},
		{"target", "Dst Kind", TABLE_TEXT, false}, PLACE_COLUMNS};

	(void)ask;
	return finish(trace_table(views[0], "rows", "", columns, NR_C, fill_copy));
}

struct table *nsys_set_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TIME_COLUMNS, {"memory", "Memory Kind", TABLE_TEXT, false}, PLACE_COLUMNS};

	(void)ask;
	return finish(trace_table(views[0], "rows", "", columns, NR_C - 1, fill_set));
}

struct table *nsys_sync_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {TIME_COLUMNS, {"pid", "PID", TABLE_ID, false},
		{"tid", "TID", TABLE_ID, false}, {"name", "API Name", TABLE_TEXT, false}};

	(void)ask;
	return finish(trace_table(views[0], "rows", "", columns, 5, fill_sync));
}

/* ---- devices over time ---- */

/* Of a process, on a device, what follows each other without a gap is one span. */
struct device {
	uint64_t key; /* process << 32 | device */
	uint32_t context;
	uint64_t begin_ns, end_ns; /* of the span at hand; on the second pass from the first on */
	uint64_t first_ns, last_ns;
	uint64_t busy_ns[NR_CHUNKS];
	bool is_open;
	UT_hash_handle hh;
};

struct findings {
	struct table *table;
	struct trace *trace;
	struct device *devices;
};

static struct device *find_device(struct findings *found, const struct trace_event *event)
{
	const struct model_place place = trace_place(found->trace, event);
	uint64_t key = (uint64_t)event->process << 32 | place.device;
	struct device *device;

	HASH_FIND(hh, found->devices, &key, sizeof(key), device);
	if (!device) {
		device = mem_zeroed(1, sizeof(*device));
		device->key = key;
		device->first_ns = event->begin_ns;
		HASH_ADD(hh, found->devices, key, sizeof(device->key), device);
	}
	device->context = place.context;
	return device;
}

static void add_place(
	const struct findings *found, const struct device *device, struct table_cell *cells)
{
	table_set_integer(&cells[0], found->trace->processes[device->key >> 32]->pid);
	if ((uint32_t)device->key != UINT32_MAX) {
		table_set_integer(&cells[1], (uint32_t)device->key);
		table_set_integer(&cells[2], device->context);
	}
}

/* All work with times, by its begin; `span`: each that ended before the next began. */
static void find_spans(struct findings *found,
	void (*span)(struct findings *found, struct device *device, uint64_t next_ns))
{
	for (size_t i = 0; i < spool_nr(found->trace->spool); i++) {
		const struct trace_event *event = spool_at(found->trace->spool, i);
		uint64_t end_ns = event->begin_ns + event->dur_ns;
		struct device *device;

		device = find_device(found, event);
		if (device->is_open && event->begin_ns > device->end_ns) {
			span(found, device, event->begin_ns);
			device->is_open = false;
		}
		if (!device->is_open) {
			device->begin_ns = event->begin_ns;
			device->end_ns = end_ns;
			device->is_open = true;
		}
		device->end_ns = end_ns > device->end_ns ? end_ns : device->end_ns;
	}
	for (struct device *device = found->devices; device; device = device->hh.next) {
		span(found, device, device->end_ns);
		device->is_open = false;
		device->last_ns = device->end_ns;
	}
}

static void begin_findings(
	struct findings *found, void *view, const struct table_column *columns, unsigned int nr)
{
	*found = (struct findings){.table = table_create("rows", "", columns, nr), .trace = view};
	spool_finish(found->trace->spool);
}

/* The first 50 rows with their numbers. */
static struct table *end_findings(struct findings *found)
{
	struct table *table = found->table;

	table_cut(table, MOST_FINDINGS);
	for (size_t row = 0; row < table->nr_rows; row++) {
		table_set_integer(&table->cells[row * table->nr_columns], row + 1);
	}
	hash_free(found->devices);
	trace_destroy(found->trace);
	return table;
}

static void add_gap(struct findings *found, struct device *device, uint64_t next_ns)
{
	struct table_cell *cells;

	if (next_ns - device->end_ns <= LEAST_GAP_NS) {
		return;
	}
	cells = table_add_row(found->table);
	table_set_integer(&cells[1], next_ns - device->end_ns);
	table_set_integer(&cells[2], device->end_ns);
	add_place(found, device, &cells[3]);
}

struct table *nsys_gaps_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {{"row", "Row#", TABLE_ID, false},
		TIME_COLUMNS, {"pid", "PID", TABLE_ID, false},
		{"device", "Device ID", TABLE_ID, false},
		{"context", "Context ID", TABLE_ID, false}};
	struct findings found;

	(void)ask;
	begin_findings(&found, views[0], columns, 6);
	find_spans(&found, add_gap);
	table_sort(found.table, "duration");
	return end_findings(&found);
}

static void pass_over(struct findings *found, struct device *device, uint64_t next_ns)
{
	(void)found;
	(void)device;
	(void)next_ns;
}

static uint64_t chunk_begin(const struct device *device, unsigned int chunk)
{
	unsigned __int128 length = device->last_ns - device->first_ns;

	return device->first_ns + (uint64_t)(length * chunk / NR_CHUNKS);
}

static void add_to_chunks(struct findings *found, struct device *device, uint64_t next_ns)
{
	(void)found;
	(void)next_ns;
	for (unsigned int k = 0; k < NR_CHUNKS; k++) {
		uint64_t begin = chunk_begin(device, k), end = chunk_begin(device, k + 1);

		begin = begin > device->begin_ns ? begin : device->begin_ns;
		end = end < device->end_ns ? end : device->end_ns;
		device->busy_ns[k] += end > begin ? end - begin : 0;
	}
}

/* A part of a device's time, of which little was used. */
struct chunk {
	const struct device *device;
	uint64_t begin_ns, ns;
	double in_use; /* percent */
};

struct chunks {
	struct chunk *items;
	size_t nr, capacity;
};

static void add_chunks(struct chunks *chunks, const struct device *device)
{
	for (unsigned int k = 0; k < NR_CHUNKS; k++) {
		uint64_t begin = chunk_begin(device, k), ns = chunk_begin(device, k + 1) - begin;
		double in_use = ns ? 100 * (double)device->busy_ns[k] / (double)ns : 100;

		if (in_use < LEAST_IN_USE) {
			chunks->items = array_grow(chunks->items, chunks->nr, &chunks->capacity,
				sizeof(*chunks->items));
			chunks->items[chunks->nr++] = (struct chunk){device, begin, ns, in_use};
		}
	}
}

static int by_use(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	if (x->in_use != y->in_use) {
		return x->in_use < y->in_use ? -1 : 1;
	}
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void add_chunk_rows(struct findings *found, struct chunks *chunks)
{
	if (chunks->nr) {
		qsort(chunks->items, chunks->nr, sizeof(*chunks->items), by_use);
	}
	for (size_t i = 0; i < chunks->nr; i++) {
		struct table_cell *cells = table_add_row(found->table);

		table_set_number(&cells[1], chunks->items[i].in_use);
		table_set_integer(&cells[2], chunks->items[i].ns);
		table_set_integer(&cells[3], chunks->items[i].begin_ns);
		add_place(found, chunks->items[i].device, &cells[4]);
	}
	free(chunks->items);
}

struct table *nsys_util_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {{"row", "Row#", TABLE_ID, false},
		{"in_use", "In-Use (%)", TABLE_PERCENT, false}, TIME_COLUMNS,
		{"pid", "PID", TABLE_ID, false}, {"device", "Device ID", TABLE_ID, false},
		{"context", "Context ID", TABLE_ID, false}};
	struct chunks chunks = {0};
	struct findings found;

	(void)ask;
	begin_findings(&found, views[0], columns, 7);
	find_spans(&found, pass_over); /* how long is it? */
	find_spans(&found, add_to_chunks);
	for (const struct device *device = found.devices; device; device = device->hh.next) {
		add_chunks(&chunks, device);
	}
	add_chunk_rows(&found, &chunks);
	return end_findings(&found);
}
