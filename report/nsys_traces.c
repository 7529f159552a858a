/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `*_trace` reports of calls and of device work, and those of a kernel with its launch: queue
 * time is from the end of the call to the begin of the kernel, if that is later (counted in
 * QCount); total time from the begin of the call to the end of what ends last. One graph launch is
 * the call of many kernels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/api.h"
#include "report/copy.h"
#include "report/hash.h"
#include "report/nsys.h"
#include "report/trace.h"

static void set_kernel_name(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cell)
{
	nsys_set_name(cell, nsys_kernel_name(trace->hint, trace_name(trace, event)));
}

/* ---- cuda_gpu_trace ---- */

enum {
	G_START,
	G_DURATION,
	G_CORRELATION,
	G_GRID,
	G_BLOCK = G_GRID + 3,
	G_REGISTERS = G_BLOCK + 3,
	G_STATIC,
	G_DYNAMIC,
	G_BYTES,
	G_RATE,
	G_SOURCE,
	G_TARGET,
	G_DEVICE,
	G_CONTEXT,
	G_GREEN,
	G_STREAM,
	G_NAME,
	NR_G,
};

static void fill_gpu_kernel(const struct model_shape *shape, struct table_cell *cells)
{
	for (int k = 0; k < 3 && shape->grid[0]; k++) {
		table_set_integer(&cells[G_GRID + k], shape->grid[k]);
		table_set_integer(&cells[G_BLOCK + k], shape->block[k]);
	}
	if (shape->grid[0]) {
		table_set_integer(&cells[G_REGISTERS], shape->registers);
		table_set_integer(&cells[G_STATIC], shape->static_shared_bytes);
		table_set_integer(&cells[G_DYNAMIC], shape->dynamic_shared_bytes);
	}
}

static void fill_gpu_copy(const struct trace_event *event, struct table_cell *cells)
{
	uint32_t source = copy_source_of(event->copy), target = copy_target_of(event->copy);
	bool is_set = event->table == GPROF_TABLE_memset;

	table_set_integer(&cells[G_BYTES], event->bytes);
	if (event->is_timed && event->dur_ns) {
		table_set_number(
			&cells[G_RATE], (double)event->bytes * 1e9 / (double)event->dur_ns);
	}
	/* Of a set the memory stands on the left, as nsys has it. */
	nsys_set_text(&cells[G_SOURCE], api_memory_name(is_set ? target : source));
	if (!is_set) {
		nsys_set_text(&cells[G_TARGET], api_memory_name(target));
	}
	nsys_set_name(&cells[G_NAME], nsys_operation(event->copy));
}

static void fill_gpu(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct model_place place = trace_place(trace, event);
	const struct model_shape shape = trace_shape(trace, event);

	if (event->is_timed) {
		table_set_integer(&cells[G_START], event->begin_ns);
		table_set_integer(&cells[G_DURATION], event->dur_ns);
	}
	table_set_integer(&cells[G_CORRELATION], event->correlation);
	nsys_set_device(&cells[G_DEVICE], trace->processes[event->process], &place);
	if (place.device != UINT32_MAX) {
		table_set_integer(&cells[G_CONTEXT], place.context);
		table_set_integer(&cells[G_STREAM], place.stream);
	}
	if (event->table == GPROF_TABLE_memcpy || event->table == GPROF_TABLE_memset) {
		fill_gpu_copy(event, cells);
	} else {
		fill_gpu_kernel(&shape, cells);
		set_kernel_name(trace, event, &cells[G_NAME]);
	}
}

struct table *nsys_gpu_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[NR_G] = {
		[G_START] = {"start_ns", "Start (ns)", TABLE_TIME, false},
		[G_DURATION] = {"duration_ns", "Duration (ns)", TABLE_TIME, false},
		[G_CORRELATION] = {"correlation", "CorrId", TABLE_ID, false},
		[G_GRID] = {"grid_x", "GrdX", TABLE_ID, false},
		{"grid_y", "GrdY", TABLE_ID, false},
		{"grid_z", "GrdZ", TABLE_ID, false},
		[G_BLOCK] = {"block_x", "BlkX", TABLE_ID, false},
		{"block_y", "BlkY", TABLE_ID, false},
		{"block_z", "BlkZ", TABLE_ID, false},
		[G_REGISTERS] = {"registers", "Reg/Trd", TABLE_ID, false},
		[G_STATIC] = {"static_bytes", "StcSMem (MB)", TABLE_SIZE, false},
		[G_DYNAMIC] = {"dynamic_bytes", "DymSMem (MB)", TABLE_SIZE, false},
		[G_BYTES] = {"bytes", "Bytes (MB)", TABLE_SIZE, false},
		[G_RATE] = {"rate", "Throughput (MB/s)", TABLE_RATE, false},
		[G_SOURCE] = {"source", "SrcMemKd", TABLE_TEXT, false},
		[G_TARGET] = {"target", "DstMemKd", TABLE_TEXT, false},
		[G_DEVICE] = {"device", "Device", TABLE_TEXT, false},
		[G_CONTEXT] = {"context", "Ctx", TABLE_ID, false},
		[G_GREEN] = {"green_context", "GreenCtx", TABLE_ID, false},
		[G_STREAM] = {"stream", "Strm", TABLE_ID, false},
		[G_NAME] = {"name", "Name", TABLE_TEXT, false},
	};
	struct trace *trace = view_gpu_trace_take(views[0]);

	trace->hint = ask;
	return trace_table(trace, "rows", "", columns, NR_G, fill_gpu);
}

/* ---- views: calls of CUDA alone, and kernels whose launch is recorded ---- */

static void *create_trace(const struct view_input *input)
{
	return trace_create(input, TRACE_BY_CALL);
}

static void begin_trace(void *context, struct process *process)
{
	trace_begin(context, process);
}

static void take_call(void *context, const struct op_call *call, const struct op *op)
{
	struct trace *trace = context;
	uint8_t api = GPROF_API_THREAD;

	process_call_name(trace->process, call->call, &api);
	if (api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER) {
		trace_call(trace, call, op);
	}
}

static void take_kernel(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->table == GPROF_TABLE_kernel && record->is_timed && call) {
		trace_record(context, record, call, op);
	}
}

/* The trace is the table's once that was made. */
static void keep_trace(void *context)
{
	(void)context;
}

const struct view_class view_nsys_api = {
	.name = "nsys calls",
	.is_asked_only = true,
	.ops = {.begin = begin_trace, .call = take_call},
	.create = create_trace,
	.destroy = keep_trace,
};

const struct view_class view_nsys_exec = {
	.name = "nsys kernels with their launches",
	.is_asked_only = true,
	.ops = {.begin = begin_trace, .record = take_kernel},
	.create = create_trace,
	.destroy = keep_trace,
};

/* ---- cuda_api_trace ---- */

enum {
	A_START,
	A_DURATION,
	A_NAME,
	A_RESULT,
	A_CORRELATION,
	A_PID,
	A_TID,
	A_PRIORITY,
	A_THREAD,
	NR_A,
};

static void fill_api(
	const struct trace *trace, const struct trace_event *event, struct table_cell *cells)
{
	const struct process *process = trace->processes[event->process];
	const struct model_thread *thread = idmap_get(&process->threads, event->thread);
	char result[16];

	table_set_integer(&cells[A_START], event->api_begin_ns);
	table_set_integer(&cells[A_DURATION], event->api_dur_ns);
	nsys_set_name(&cells[A_NAME], event->call);
	snprintf(result, sizeof(result), "%d", event->result);
	nsys_set_text(&cells[A_RESULT], result);
	table_set_integer(&cells[A_CORRELATION], event->correlation);
	table_set_integer(&cells[A_PID], process->pid);
	if (thread) {
		table_set_integer(&cells[A_TID], thread->tid);
		nsys_set_name(&cells[A_THREAD], thread->name);
	}
}

struct table *nsys_api_trace(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[NR_A] = {
		[A_START] = {"start_ns", "Start (ns)", TABLE_TIME, false},
		[A_DURATION] = {"duration_ns", "Duration (ns)", TABLE_TIME, false},
		[A_NAME] = {"name", "Name", TABLE_TEXT, false},
		[A_RESULT] = {"result", "Result", TABLE_TEXT, false},
		[A_CORRELATION] = {"correlation", "CorrID", TABLE_ID, false},
		[A_PID] = {"pid", "Pid", TABLE_ID, false},
		[A_TID] = {"tid", "Tid", TABLE_ID, false},
		[A_PRIORITY] = {"priority", "T-Pri", TABLE_ID, false},
		[A_THREAD] = {"thread_name", "Thread Name", TABLE_TEXT, false},
	};

	(void)ask;
	return trace_table(views[0], "rows", "", columns, NR_A, fill_api);
}

/* ---- cuda_kern_exec_trace ---- */

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
	nsys_set_text(cell, text);
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
	set_kernel_name(trace, event, &cells[E_KERNEL]);
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
	struct stat times[NR_TIMES];
};

static void *create_exec(const struct view_input *input)
{
	struct exec_view *view = mem_zeroed(1, sizeof(*view));

	view->trace = trace_create(input, TRACE_BY_CALL);
	for (int k = 0; k < NR_TIMES; k++) {
		stat_init(&view->times[k]);
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
			stat_grow(&view->times[k], row->place);
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
	stat_add(&view->times[TOTAL], row->place, total_ns(&event));
	stat_add(&view->times[API], row->place, event.api_dur_ns);
	if (trace_queue(&event, &begin_ns, &dur_ns)) {
		stat_add(&view->times[QUEUE], row->place, dur_ns);
	}
	stat_add(&view->times[KERNEL], row->place, event.dur_ns);
}

static void destroy_exec(void *context)
{
	struct exec_view *view = context;

	trace_destroy(view->trace);
	hash_free(view->rows);
	for (int k = 0; k < NR_TIMES; k++) {
		stat_fini(&view->times[k]);
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
	const struct model_thread *thread = idmap_get(&process->threads, row->key.thread);

	table_set_integer(&cells[0], process->pid);
	if (thread) {
		table_set_integer(&cells[1], thread->tid);
	}
	if (row->key.device != UINT32_MAX) {
		table_set_integer(&cells[2], row->key.device);
	}
	table_set_integer(&cells[3], view->times[TOTAL].groups[row->place].count);
	table_set_integer(&cells[4], view->times[QUEUE].groups[row->place].count);
	for (int k = 0; k < NR_TIMES; k++) {
		const struct stat_group *group = &view->times[k].groups[row->place];
		struct table_cell *times = cells + 5 + 5 * k;

		if (group->count) {
			table_set_number(&times[0], stat_mean(group));
			table_set_number(&times[1], stat_median(group));
			table_set_integer(&times[2], group->min);
			table_set_integer(&times[3], group->max);
			table_set_number(&times[4], stat_deviation(group));
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
	struct exec_view *view = views[0];
	struct table *table = table_create("rows", "", columns, 27);

	for (int k = 0; k < NR_TIMES; k++) {
		stat_finish(&view->times[k]);
	}
	HASH_SORT(view->rows, by_total);
	for (const struct exec_row *row = view->rows; row; row = row->hh.next) {
		struct table_cell *cells = table_add_row(table);

		fill_exec_row(view, row, cells);
		nsys_set_name(&cells[25], row->key.call);
		nsys_set_name(&cells[26], nsys_kernel_name(ask, row->key.kernel));
	}
	return table;
}
