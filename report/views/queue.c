/* SPDX-License-Identifier: Apache-2.0 */
/* The launch queue of each stream: how far the host was ahead, and whether it waited for room. */
#include <math.h>
#include <stdlib.h>

#include "report/ops/queue_depth.h"
#include "report/gpu/gpu_activities.h"
#include "report/analysis/view.h"
#include "report/util/text.h"

/* The work of one call on a stream, of which a graph has much: it leaves the queue with the first.
 */
struct pending {
	uint64_t call_begin, call_end, begin;
	uint64_t correlation; /* 0 none */
};

struct queue_depth_row {
	struct process *process;
	struct model_place place;
	struct pending pending;
	struct queue_depth queue;
	/* For the table. */
	uint64_t span_ns, empty_ns;
	double length, wait_ns;
};

struct queue_depth_view {
	struct view_input input;
	struct queue_depth_row *rows;
	size_t nr_rows, capacity;
	struct idmap row_of; /* uint32_t, 1 + the row, by the place, of the current process */
	uint64_t nr_without_call;
};

static void begin(void *context, struct process *process)
{
	struct queue_depth_view *view = context;

	(void)process;
	idmap_init(&view->row_of, sizeof(uint32_t));
}

static struct queue_depth_row *row_of(struct queue_depth_view *view, uint32_t place)
{
	uint32_t *number = idmap_put(&view->row_of, place);
	struct queue_depth_row *row;

	if (*number) {
		return &view->rows[*number - 1];
	}
	view->rows = array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
	row = &view->rows[view->nr_rows++];
	*row = (struct queue_depth_row){
		.process = view->input.process, .place = process_place(view->input.process, place)};
	*number = (uint32_t)view->nr_rows;
	return row;
}

static void put_pending(struct queue_depth_row *row)
{
	const struct pending *pending = &row->pending;

	if (pending->correlation) {
		queue_depth_add(
			&row->queue, pending->call_begin, pending->call_end, pending->begin);
	}
	row->pending.correlation = 0;
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct queue_depth_view *view = context;
	struct queue_depth_row *row;

	(void)op;
	if (!call || !record->is_timed) {
		view->nr_without_call += !call;
		return;
	}
	row = row_of(view, record->place);
	if (row->pending.correlation == record->correlation) {
		row->pending.begin = record->begin_ns < row->pending.begin ? record->begin_ns
									   : row->pending.begin;
		return;
	}
	put_pending(row);
	row->pending = (struct pending){.correlation = record->correlation,
		.call_begin = clock_map_time(&view->input.process->host_clock, call->begin),
		.call_end = clock_map_time(&view->input.process->host_clock, call->end),
		.begin = record->begin_ns};
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct queue_depth_view *view = context;

	(void)phases;
	for (size_t i = view->nr_rows; i-- > 0 && view->rows[i].process == process;) {
		put_pending(&view->rows[i]);
		queue_depth_finish(&view->rows[i].queue);
	}
	idmap_fini(&view->row_of);
}

static void finish_row(struct queue_depth_row *row, bool has_lost)
{
	const struct queue_depth *queue = &row->queue;

	row->span_ns = queue->last > queue->first ? queue->last - queue->first : 0;
	row->wait_ns = (double)queue->area / (double)queue->nr;
	row->length = row->span_ns ? (double)queue->area / (double)row->span_ns : NAN;
	row->empty_ns = has_lost ? UINT64_MAX : queue->empty_ns;
	if (row->place.stream == UINT32_MAX) {
		row->place.context = UINT32_MAX;
	}
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS(queue_depth_row, process, place.device),
	TABLE_COLUMN("context", "Context", TABLE_ID, .is_wide_only = true,
		TABLE_MEMBER(queue_depth_row, place.context)),
	TABLE_COLUMN("stream", "Stream", TABLE_ID, TABLE_MEMBER(queue_depth_row, place.stream)),
	TABLE_COLUMN("launches", "Launches", TABLE_COUNT, TABLE_MEMBER(queue_depth_row, queue.nr)),
	TABLE_COLUMN("max_length", "Max depth", TABLE_COUNT,
		.help = "most launches in the queue at once",
		TABLE_MEMBER(queue_depth_row, queue.max)),
	TABLE_COLUMN("avg_length", "Avg depth", TABLE_NUMBER, .help = "mean over the span",
		TABLE_MEMBER(queue_depth_row, length)),
	TABLE_COLUMN("avg_wait_ns", "Avg wait", TABLE_MEAN_TIME,
		.help = "from the start of the call to the start of the activity",
		TABLE_MEMBER(queue_depth_row, wait_ns)),
	TABLE_COLUMN("span_ns", "Span", TABLE_TIME, .is_wide_only = true,
		.help = "from the first call to the start of the last activity",
		TABLE_MEMBER(queue_depth_row, span_ns)),
	TABLE_COLUMN("empty_pct", "Empty % of span", TABLE_PERCENT,
		.help = "time without a launch in the queue",
		TABLE_SHARE(queue_depth_row, empty_ns, span_ns)),
	TABLE_COLUMN("full_pct", "Full % of span", TABLE_PERCENT, .help = "time with a full queue",
		TABLE_SHARE(queue_depth_row, queue.full_ns, span_ns)),
	TABLE_COLUMN("blocked", "Calls while full", TABLE_COUNT,
		.help = "launch calls made while the queue was full",
		TABLE_MEMBER(queue_depth_row, queue.nr_blocked)),
	TABLE_COLUMN("blocked_ns", "Time in them", TABLE_TIME, .help = "time in these calls",
		TABLE_MEMBER(queue_depth_row, queue.blocked_ns)),
};

static void fill_table(void *state, struct table *table)
{
	struct queue_depth_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		struct queue_depth_row *row = &view->rows[i];

		finish_row(row, view_has_lost(&view->input, row->process));
		table_add(table, row);
	}
	table_sort(table, "launches");
	if (view->nr_without_call) {
		table_note(table, "%llu GPU %s no recorded launch.",
			(unsigned long long)view->nr_without_call,
			text_many(view->nr_without_call, "activity has", "activities have"));
	}
	view_note_devices(table, &view->input, "");
	view_note_lost(table, &view->input);
}

static void fini(void *state)
{
	struct queue_depth_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		queue_depth_fini(&view->rows[i].queue);
	}
	free(view->rows);
}

VIEW(queue, 210) = {
	.name = "queue",
	.subject = VIEW_ABOUT_GPU,
	.help = "launches that wait in each stream, and when the queue was full",
	.about = "An activity is in the queue from the start of its launching call until it starts "
		 "to run. A CUDA graph counts once. A queue counts as full at 1,000 launches; "
		 "streams hold about 1,024.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "Launch queue depth",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct queue_depth_view),
	.ops = {.begin = begin, .record = on_record, .end = end},
	.fill = fill_table,
	.fini = fini,
};
