/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables with a row for each event: gpu_trace, api_trace and nvprof's trace. The walk's callbacks
 * put events into an external sort, whose key is what the table is ordered by, and the table reads
 * its rows from there: neither events nor cells of all rows are ever in memory together. Sorting by
 * another column makes a new sort with other keys.
 */
#include "report/analysis/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/time_axis.h"
#include "report/model/activity.h"
#include "report/model/copy_kind.h"
#include "report/util/rate.h"

uint64_t trace_time(const struct trace *trace, uint64_t ns)
{
	return time_axis_time(trace->process, ns);
}

struct trace *trace_create(const struct view_input *input, enum trace_order order)
{
	struct trace *trace = mem_zeroed(1, sizeof(*trace));

	trace->processes = input->processes;
	trace->nr_processes = input->nr_processes;
	trace->order = order;
	trace->spool = external_sort_create(sizeof(struct trace_event), input->nr_rows, 0);
	return trace;
}

void trace_destroy(struct trace *trace)
{
	if (trace) {
		external_sort_destroy(trace->spool);
		free(trace);
	}
}

/* ---- events ---- */

void trace_begin(struct trace *trace, struct process *process)
{
	trace->process = process;
	for (trace->place = 0; trace->processes[trace->place] != process; trace->place++) {
	}
}

static void add_call(struct trace *trace, struct trace_event *event, const struct op_call *call,
	const struct op *op)
{
	struct clock_map *clock = &trace->process->host_clock;
	uint64_t begin = clock_map_time(clock, call->begin);
	uint64_t end = clock_map_time(clock, call->end);

	event->has_call = true;
	event->api_begin_ns = trace_time(trace, begin);
	event->api_dur_ns = end > begin ? end - begin : 0;
	event->thread = call->thread;
	event->call = process_call_name(trace->process, call->call, &event->api);
	event->op = op ? op->name : 0;
	event->step = call->step;
	event->correlation = call->correlation;
	event->result = call->result;
}

/*
 * The key of what has no such time is UINT64_MAX, so it comes last. By length, keys are mirrored,
 * so that the longest come first.
 */
void trace_record(struct trace *trace, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct trace_event *event = external_sort_add(trace->spool);

	event->process = trace->place;
	event->has_record = true;
	event->is_timed = record->is_timed;
	if (record->is_timed) {
		event->begin_ns = trace_time(trace, record->begin_ns);
		event->dur_ns = record->end_ns - record->begin_ns;
	}
	if (call) {
		add_call(trace, event, call, op);
	}
	event->correlation = record->correlation;
	event->bytes = record->bytes;
	event->copy = record->copy;
	event->shape = record->table == GPROF_TABLE_graph ? record->graph : record->shape;
	event->place = record->place;
	event->table = record->table;
	event->head.key = UINT64_MAX;
	if (trace->order == TRACE_BY_RECORD && event->is_timed) {
		event->head.key = event->begin_ns;
	} else if (trace->order == TRACE_BY_CALL && event->has_call) {
		event->head.key = event->api_begin_ns;
	} else if (trace->order == TRACE_BY_LENGTH && event->is_timed) {
		event->head.key = UINT64_MAX - event->dur_ns;
	}
	trace->nr_untimed += !event->is_timed;
	trace->nr_without_call += !event->has_call;
}

void trace_call(struct trace *trace, const struct op_call *call, const struct op *op)
{
	struct trace_event *event = external_sort_add(trace->spool);

	event->process = trace->place;
	add_call(trace, event, call, op);
	event->table = call->table;
	event->head.key = trace->order == TRACE_BY_LENGTH ? UINT64_MAX - event->api_dur_ns
							  : event->api_begin_ns;
}

void trace_nested_calls(struct trace *trace, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t begin = batch->col[COL_api_begin][i];

		trace_call(trace,
			&(struct op_call){.begin = begin,
				.end = begin + batch->col[COL_api_dur][i],
				.thread = (uint32_t)batch->col[COL_api_thread][i],
				.correlation = batch->col[COL_api_correlation][i],
				.call = (uint32_t)batch->col[COL_api_call][i],
				.result = (int32_t)batch->col[COL_api_result][i],
				.table = (uint8_t)batch->table},
			NULL);
	}
}

/* ---- what they are ---- */

uint32_t trace_name(const struct trace *trace, const struct trace_event *event)
{
	const struct process *process = trace->processes[event->process];

	return activity_name(process, event->table, event->shape, event->copy, event->shape);
}

static void set_place(struct trace_row *row)
{
	const struct model_place place = process_place(row->process, row->event.place);

	if (place.device != UINT32_MAX) {
		row->device = place.device;
		row->context = place.context;
		row->stream = place.stream;
	}
}

static void set_shape(struct trace_row *row)
{
	const struct model_shape *shape =
		row->event.table == GPROF_TABLE_kernel
			? idmap_get(&row->process->shapes, row->event.shape)
			: NULL;

	if (!shape || !shape->grid[0]) {
		return;
	}
	for (int k = 0; k < 3; k++) {
		row->grid[k] = shape->grid[k];
		row->block[k] = shape->block[k];
	}
	row->registers = shape->registers;
	row->dynamic_bytes = shape->dynamic_shared_bytes;
	if (!row->process->stream->is_bare) {
		row->static_bytes = shape->static_shared_bytes;
	}
}

static void set_copy(struct trace_row *row)
{
	const struct trace_event *event = &row->event;

	if (!gprof_table_is(event->table, GPROF_IS_COPYING)) {
		return;
	}
	row->bytes = event->bytes;
	if (event->is_timed && event->dur_ns) {
		row->bytes_per_s = rate_of((double)event->bytes, event->dur_ns);
	}
	if (event->table == GPROF_TABLE_memcpy) {
		row->source = api_memory_name(copy_source_of(event->copy));
	}
	row->target = api_memory_name(copy_target_of(event->copy));
	row->left = row->source ? row->source : row->target;
}

static void set_call(struct trace_row *row)
{
	const struct trace_event *event = &row->event;
	const struct process *process = row->process;
	const struct model_thread *thread = idmap_get(&process->threads, event->thread);
	uint64_t end_ns = event->api_begin_ns + event->api_dur_ns;

	if (!event->has_call) {
		return;
	}
	row->call = event->call;
	if (event->step && event->step <= process->nr_steps) {
		row->step = process->steps[event->step - 1].step;
	}
	if (thread) {
		row->tid = thread->tid;
		row->thread_name = thread->name;
	}
	if (event->result >= 0 && !process->stream->is_bare) {
		row->result = (uint64_t)event->result;
	}
	if (event->is_timed && event->begin_ns > end_ns) {
		row->queue_ns = event->begin_ns - end_ns;
	}
}

static struct trace_row make_row(const struct trace *trace, const struct trace_event *event)
{
	struct trace_row row;

	memset(&row, 0xff, sizeof(row)); /* all is unknown */
	row.trace = trace;
	row.event = *event;
	row.process = trace->processes[event->process];
	row.bytes_per_s = NAN;
	row.source = row.target = row.left = NULL;
	if (event->is_timed) {
		row.start_ns = event->begin_ns;
		row.duration_ns = event->dur_ns;
	}
	set_place(&row);
	set_shape(&row);
	set_copy(&row);
	set_call(&row);
	return row;
}

/* ---- tables ---- */

struct rows {
	struct trace *trace;
	const struct table_column *columns;
	unsigned int nr_columns;
};

static void fill(const struct rows *rows, const struct trace_event *event, struct table_cell *cells)
{
	struct trace_row row = make_row(rows->trace, event);

	table_fill(rows->columns, rows->nr_columns, &row, cells);
}

static void fill_row(void *context, size_t row, struct table_cell *cells)
{
	const struct rows *rows = context;

	fill(rows, external_sort_at(rows->trace->spool, row), cells);
}

/*
 * The key of a row for a column: numbers fall, so they are mirrored; names are numbers of
 * string_pool.h here.
 */
static uint64_t sort_value(const struct table_column *column, const struct table_cell *cell)
{
	switch (column->type) {
	case TABLE_NAME:
		return cell->integer;
	case TABLE_TEXT:
		return string_pool_intern(cell->text ? cell->text : "", cell->nr_text);
	default:
		if (!cell->is_known) {
			return UINT64_MAX; /* last, after those that are 0 */
		}
		return cell->integer < UINT64_MAX ? UINT64_MAX - 1 - cell->integer : 0;
	}
}

static int by_text(const void *a, const void *b)
{
	const char *x = string_pool_shown(*(const uint32_t *)a, NULL);
	const char *y = string_pool_shown(*(const uint32_t *)b, NULL);

	return strcmp(x, y);
}

/* Replaces each name by its rank in the order of texts. */
static void rank_names(struct idmap *ranks)
{
	uint32_t *names = mem_zeroed(ranks->nr, sizeof(*names));

	for (size_t i = 0; i < ranks->nr; i++) {
		names[i] = *(const uint32_t *)idmap_at(ranks, i);
	}
	qsort(names, ranks->nr, sizeof(*names), by_text);
	for (size_t i = 0; i < ranks->nr; i++) {
		*(uint32_t *)idmap_get(ranks, names[i]) = (uint32_t)i;
	}
	free(names);
}

/*
 * Copies the events into a new sort with the keys of a column. names: only collects the names, and
 * keeps the order; ranks: the keys are the ranks of names.
 */
static struct external_sort *copy_events(const struct rows *rows, unsigned int column,
	struct idmap *names, const struct idmap *ranks)
{
	struct external_sort *old = rows->trace->spool;
	struct external_sort *copies = external_sort_create(sizeof(struct trace_event), 0, 0);
	struct table_cell *cells = mem_zeroed(rows->nr_columns, sizeof(*cells));

	for (size_t i = 0; i < external_sort_nr(old); i++) {
		const struct trace_event *event = external_sort_at(old, i);
		struct trace_event *copy = external_sort_add(copies);
		uint64_t order = copy->head.order, key = 0;

		fill(rows, event, cells);
		key = sort_value(&rows->columns[column], &cells[column]);
		if (names) {
			*(uint32_t *)idmap_put(names, (uint32_t)key) = (uint32_t)key;
		} else if (ranks) {
			key = *(const uint32_t *)idmap_get(ranks, (uint32_t)key);
		}
		*copy = *event;
		copy->head = (struct external_sort_head){names ? i : key, order};
		for (unsigned int c = 0; c < rows->nr_columns; c++) {
			free(cells[c].text);
			cells[c] = (struct table_cell){0};
		}
	}
	free(cells);
	external_sort_finish(copies);
	return copies;
}

static void replace(struct trace *trace, struct external_sort *spool)
{
	external_sort_destroy(trace->spool);
	trace->spool = spool;
}

/* Texts need two rounds, as their ranks are known only when all have been seen. */
static void sort_rows(void *context, unsigned int column)
{
	struct rows *rows = context;
	enum table_type type = rows->columns[column].type;
	struct idmap names;

	if (type != TABLE_NAME && type != TABLE_TEXT) {
		replace(rows->trace, copy_events(rows, column, NULL, NULL));
		return;
	}
	idmap_init(&names, sizeof(uint32_t));
	replace(rows->trace, copy_events(rows, column, &names, NULL));
	rank_names(&names);
	replace(rows->trace, copy_events(rows, column, NULL, &names));
	idmap_fini(&names);
}

static void destroy_rows(void *context)
{
	struct rows *rows = context;

	trace_destroy(rows->trace);
	free(rows);
}

void trace_fill(struct trace *trace, struct table *table)
{
	struct table_source *source = mem_zeroed(1, sizeof(*source));
	struct rows *rows = mem_zeroed(1, sizeof(*rows));

	*rows = (struct rows){trace, table->columns, table->nr_columns};
	*source = (struct table_source){
		.context = rows, .row = fill_row, .sort = sort_rows, .destroy = destroy_rows};
	external_sort_finish(trace->spool);
	table_set_source(table, source, external_sort_nr(trace->spool));
	table->nr_cut = external_sort_nr_added(trace->spool) - external_sort_nr(trace->spool);
	view_note_clock(table, trace->processes, trace->nr_processes);
}

struct table *trace_table(
	struct trace *trace, const struct table_column *columns, unsigned int nr_columns)
{
	struct table *table = table_create("rows", "", columns, nr_columns);

	trace_fill(trace, table);
	return table;
}

void trace_view_begin(void *state, struct process *process)
{
	struct trace_view *view = state;

	trace_begin(view->trace, process);
}

void trace_view_fini(void *state)
{
	struct trace_view *view = state;

	trace_destroy(view->trace);
}

struct trace *trace_view_take(void *state)
{
	struct trace_view *view = state;
	struct trace *trace = view->trace;

	view->trace = NULL;
	return trace;
}
