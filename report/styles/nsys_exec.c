/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel with its launch, joined by correlation id. Queue time is from the end of the call to the
 * begin of the kernel, if that is later (counted in QCount); total time from the begin of the call
 * to the end of what ends last. One graph launch is the call of many kernels.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/util/hash.h"
#include "report/styles/nsys_reports.h"

/* ---- cuda_kern_exec_trace ---- */

static void *create_trace(const struct view_input *input)
{
	return trace_create(input, TRACE_BY_CALL);
}

static void take_kernel(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->table == GPROF_TABLE_kernel && record->is_timed && call) {
		trace_record(context, record, call, op);
	}
}

const struct view_class view_nsys_exec = {
	.name = "nsys kernels with their launches",
	.is_asked_only = true,
	.ops = {.begin = nsys_begin_trace, .record = take_kernel},
	.create = create_trace,
	.destroy = nsys_keep_trace,
};

enum {
	E_API_START,
	E_API_DURATION,
	E_QUEUE_START,
	E_QUEUE_DURATION,
	E_KERNEL_START,
	E_KERNEL_DURATION,
	E_TOTAL,
	E_PID,
	E_TID,
	E_DEVICE,
	E_API,
	E_GRID,
	E_BLOCK,
	E_KERNEL,
	NR_E,
};

/* From the begin of the call to the end of the call or the kernel. */
static uint64_t total_ns(const struct trace_event *event)
{
	uint64_t api_end = event->api_begin_ns + event->api_dur_ns;
	uint64_t end = event->begin_ns + event->dur_ns;

	end = end > api_end ? end : api_end;
	return end - event->api_begin_ns;
}

static void set_extent(struct table_cell *cell, const uint32_t *extent)
{
	char text[64];

	snprintf(text, sizeof(text), "%4u %4u %4u", extent[0], extent[1], extent[2]);
	table_set_string(cell, text);
}

static void fill_exec(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct model_shape shape = trace_shape(trace, event);
	const struct model_place place = trace_place(trace, event);
	uint64_t begin_ns, dur_ns;
	uint32_t tid;

	table_set_integer(&cells[E_API_START], event->api_begin_ns);
	table_set_integer(&cells[E_API_DURATION], event->api_dur_ns);
	if (trace_queue(event, &begin_ns, &dur_ns)) {
		table_set_integer(&cells[E_QUEUE_START], begin_ns);
		table_set_integer(&cells[E_QUEUE_DURATION], dur_ns);
	}
	table_set_integer(&cells[E_KERNEL_START], event->begin_ns);
	table_set_integer(&cells[E_KERNEL_DURATION], event->dur_ns);
	table_set_integer(&cells[E_TOTAL], total_ns(event));
	table_set_integer(&cells[E_PID], trace->processes[event->process]->pid);
	if (trace_tid(trace, event, &tid)) {
		table_set_integer(&cells[E_TID], tid);
	}
	if (place.device != UINT32_MAX) {
		table_set_integer(&cells[E_DEVICE], place.device);
	}
	nsys_set_name(&cells[E_API], event->call);
	if (shape.grid[0]) {
		set_extent(&cells[E_GRID], shape.grid);
		set_extent(&cells[E_BLOCK], shape.block);
	}
	nsys_set_kernel(trace, event, &cells[E_KERNEL]);
}

struct table *nsys_exec_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[NR_E] = {
		[E_API_START] = {"api_start_ns", "API Start (ns)", TABLE_TIME, false},
		[E_API_DURATION] = {"api_duration_ns", "API Dur (ns)", TABLE_TIME, false},
		[E_QUEUE_START] = {"queue_start_ns", "Queue Start (ns)", TABLE_TIME, false},
		[E_QUEUE_DURATION] = {"queue_duration_ns", "Queue Dur (ns)", TABLE_TIME, false},
		[E_KERNEL_START] = {"start_ns", "Kernel Start (ns)", TABLE_TIME, false},
		[E_KERNEL_DURATION] = {"duration_ns", "Kernel Dur (ns)", TABLE_TIME, false},
		[E_TOTAL] = {"total_ns", "Total Dur (ns)", TABLE_TIME, false},
		[E_PID] = {"pid", "PID", TABLE_ID, false},
		[E_TID] = {"tid", "TID", TABLE_ID, false},
		[E_DEVICE] = {"device", "DevId", TABLE_ID, false},
		[E_API] = {"api", "API Function", TABLE_TEXT, false},
		[E_GRID] = {"grid", "GridXYZ", TABLE_TEXT, false},
		[E_BLOCK] = {"block", "BlockXYZ", TABLE_TEXT, false},
		[E_KERNEL] = {"name", "Kernel Name", TABLE_TEXT, false},
	};
	struct trace *trace = views[0];

	trace->hint = ask;
	return trace_table(trace, "rows", "", columns, NR_E, fill_exec);
}

/* ---- cuda_kern_exec_sum ---- */

enum {
	TOTAL,
	API,
	QUEUE,
	KERNEL,
	NR_TIMES,
};

struct exec_key {
	uint32_t process, thread, device, call, kernel;
};

struct exec_row {
	struct exec_key key;
	uint32_t place;	   /* in the stats */
	uint64_t total_ns; /* of TOTAL */
	UT_hash_handle hh;
};

struct exec_view {
	struct trace *trace; /* for its axis alone */
	struct exec_row *rows;
	struct histogram times[NR_TIMES];
};

static void *create_exec(const struct view_input *input)
{
	struct exec_view *view = mem_zeroed(1, sizeof(*view));

	view->trace = trace_create(input, TRACE_BY_CALL);
	for (int k = 0; k < NR_TIMES; k++) {
		histogram_init(&view->times[k]);
	}
	return view;
}

static void begin_exec(void *context, struct process *process)
{
	trace_begin(((struct exec_view *)context)->trace, process);
}

static struct exec_row *find_exec(struct exec_view *view, const struct exec_key *key)
{
	struct exec_row *row;

	HASH_FIND(hh, view->rows, key, sizeof(*key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = *key;
		row->place = HASH_COUNT(view->rows);
		HASH_ADD(hh, view->rows, key, sizeof(row->key), row);
		for (int k = 0; k < NR_TIMES; k++) {
			histogram_grow(&view->times[k], row->place);
		}
	}
	return row;
}

static void take_exec(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct exec_view *view = context;
	struct process *process = view->trace->process;
	struct trace_event event = {.has_call = true, .is_timed = true};
	uint64_t begin_ns, dur_ns, end;
	struct exec_key key;
	struct exec_row *row;

	(void)op;
	if (record->table != GPROF_TABLE_kernel || !record->is_timed || !call) {
		return;
	}
	event.begin_ns = record->begin_ns;
	event.dur_ns = record->end_ns - record->begin_ns;
	event.api_begin_ns = clock_map_time(&process->host_clock, call->begin);
	end = clock_map_time(&process->host_clock, call->end);
	event.api_dur_ns = end > event.api_begin_ns ? end - event.api_begin_ns : 0;
	key = (struct exec_key){.process = view->trace->place,
		.thread = call->thread,
		.device = process_place(process, record->place).device,
		.call = process_call_name(process, call->call, &(uint8_t){0}),
		.kernel = process_shape_name(process, record->shape)};
	row = find_exec(view, &key);
	row->total_ns += total_ns(&event);
	histogram_add(&view->times[TOTAL], row->place, total_ns(&event));
	histogram_add(&view->times[API], row->place, event.api_dur_ns);
	if (trace_queue(&event, &begin_ns, &dur_ns)) {
		histogram_add(&view->times[QUEUE], row->place, dur_ns);
	}
	histogram_add(&view->times[KERNEL], row->place, event.dur_ns);
}

static void destroy_exec(void *context)
{
	struct exec_view *view = context;

	trace_destroy(view->trace);
	hash_free(view->rows);
	for (int k = 0; k < NR_TIMES; k++) {
		histogram_fini(&view->times[k]);
	}
	free(view);
}

const struct view_class view_nsys_exec_sum = {
	.name = "nsys kernels with their launches by name",
	.ops = {.begin = begin_exec, .record = take_exec},
	.create = create_exec,
	.destroy = destroy_exec,
};

static void fill_exec_row(
	const struct exec_view *view, const struct exec_row *row, struct table_cell *cells)
{
	const struct process *process = view->trace->processes[row->key.process];

	nsys_set_thread(process, row->key.thread, cells);
	if (row->key.device != UINT32_MAX) {
		table_set_integer(&cells[2], row->key.device);
	}
	table_set_integer(&cells[3], view->times[TOTAL].groups[row->place].count);
	table_set_integer(&cells[4], view->times[QUEUE].groups[row->place].count);
	for (int k = 0; k < NR_TIMES; k++) {
		const struct histogram_group *group = &view->times[k].groups[row->place];
		struct table_cell *times = cells + 5 + 5 * k;

		if (group->count) {
			table_set_number(&times[0], histogram_mean(group));
			table_set_number(&times[1], histogram_median(group));
			table_set_integer(&times[2], group->min);
			table_set_integer(&times[3], group->max);
			table_set_number(&times[4], histogram_deviation(group));
		}
	}
}

#define EXEC_TIMES(letter, key)                                               \
	{key "avg_ns", letter "Avg (ns)", TABLE_MEAN_TIME, false},            \
		{key "median_ns", letter "Med (ns)", TABLE_MEAN_TIME, false}, \
		{key "min_ns", letter "Min (ns)", TABLE_TIME, false},         \
		{key "max_ns", letter "Max (ns)", TABLE_TIME, false},         \
	{                                                                     \
		key "stddev_ns", letter "StdDev (ns)", TABLE_MEAN_TIME, false \
	}

static int by_total(const struct exec_row *a, const struct exec_row *b)
{
	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

/* Kernels that have one name as they are asked for are one row. */
static void merge_rows(
	struct exec_view *merged, const struct exec_view *view, const struct nsys_ask *ask)
{
	for (int k = 0; k < NR_TIMES; k++) {
		histogram_init(&merged->times[k]);
	}
	for (const struct exec_row *row = view->rows; row; row = row->hh.next) {
		struct exec_key key = row->key;
		struct exec_row *to;

		key.kernel = nsys_kernel_name(ask, key.kernel);
		to = find_exec(merged, &key);
		to->total_ns += row->total_ns;
		for (int k = 0; k < NR_TIMES; k++) {
			histogram_merge(&merged->times[k], to->place, &view->times[k], row->place);
		}
	}
	for (int k = 0; k < NR_TIMES; k++) {
		histogram_finish(&merged->times[k]);
	}
	HASH_SORT(merged->rows, by_total);
}

struct table *nsys_exec_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		{"pid", "PID", TABLE_ID, false},
		{"tid", "TID", TABLE_ID, false},
		{"device", "DevId", TABLE_ID, false},
		{"calls", "Count", TABLE_COUNT, false},
		{"queued", "QCount", TABLE_COUNT, false},
		EXEC_TIMES("T", "total_"),
		EXEC_TIMES("A", "api_"),
		EXEC_TIMES("Q", "queue_"),
		EXEC_TIMES("K", "kernel_"),
		{"api", "API Name", TABLE_TEXT, false},
		{"name", "Kernel Name", TABLE_TEXT, false},
	};
	const struct exec_view *view = views[0];
	struct exec_view merged = {.trace = view->trace};
	struct table *table = table_create("rows", "", columns, 27);

	merge_rows(&merged, view, ask);
	for (const struct exec_row *row = merged.rows; row; row = row->hh.next) {
		struct table_cell *cells = table_add_row(table);

		fill_exec_row(&merged, row, cells);
		nsys_set_name(&cells[25], row->key.call);
		nsys_set_name(&cells[26], row->key.kernel);
	}
	hash_free(merged.rows);
	for (int k = 0; k < NR_TIMES; k++) {
		histogram_fini(&merged.times[k]);
	}
	return table;
}
