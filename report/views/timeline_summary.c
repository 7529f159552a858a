/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what a timeline has, in one line a process: operators, calls, streams and their times. */
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/util/idset.h"

struct row {
	const struct process *process;
	uint64_t nr_operators, nr_calls, operators_ns;
	uint64_t nr_streams, nr_activities, gpu_ns;
	uint64_t span_ns; /* for the table */
};

struct timeline_summary_view {
	struct view_input input;
	struct row *rows;
	size_t nr_rows, capacity;
	struct row row;	       /* of the current process */
	struct idset *names;   /* of its operators */
	struct idset *streams; /* its places with a stream */
};

static void begin(void *context, struct process *process)
{
	struct timeline_summary_view *view = context;

	view->row = (struct row){.process = process};
	view->names = idset_create();
	view->streams = idset_create();
}

static void count(struct idset *set, uint32_t id, uint64_t *nr)
{
	if (!idset_has(set, id)) {
		idset_add(set, id);
		++*nr;
	}
}

/* Self times: nothing counts twice where operators lie in each other. */
static void on_op(void *context, const struct op *op)
{
	struct timeline_summary_view *view = context;
	uint64_t ticks = op->end - op->begin;

	if (op_class(op->name, op->framework, op->scope) == OP_RANGE) {
		return; /* a step, or a range of the user */
	}
	count(view->names, op->name, &view->row.nr_operators);
	view->row.nr_calls++;
	view->row.operators_ns += clock_map_duration(&view->row.process->host_clock,
		ticks > op->child_ticks ? ticks - op->child_ticks : 0);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct timeline_summary_view *view = context;

	(void)call;
	(void)op;
	count(view->streams, record->place, &view->row.nr_streams);
	view->row.nr_activities++;
	view->row.gpu_ns += record->is_timed ? record->end_ns - record->begin_ns : 0;
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct timeline_summary_view *view = context;

	(void)process;
	(void)phases;
	idset_destroy(view->names);
	idset_destroy(view->streams);
	if (view->row.nr_calls || view->row.nr_activities) {
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		view->rows[view->nr_rows++] = view->row;
	}
}

static const struct table_column columns[] = {
	VIEW_PROCESS_COLUMNS(row, process),
	TABLE_COLUMN("span_ns", "Span", TABLE_TIME, .help = "from the first event to the last",
		TABLE_MEMBER(row, span_ns)),
	TABLE_COLUMN("operators", "Operators", TABLE_COUNT, .help = "different operators",
		TABLE_MEMBER(row, nr_operators)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, .help = "calls of operators",
		TABLE_MEMBER(row, nr_calls)),
	TABLE_COLUMN("operators_ns", "Operator time", TABLE_TIME,
		.help = "self time of all operators on all threads",
		TABLE_MEMBER(row, operators_ns)),
	TABLE_COLUMN("streams", "Streams", TABLE_COUNT, .help = "streams of all GPUs",
		TABLE_MEMBER(row, nr_streams)),
	TABLE_COLUMN("activities", "GPU activities", TABLE_COUNT, TABLE_MEMBER(row, nr_activities)),
	TABLE_COLUMN("gpu_ns", "GPU time", TABLE_TIME, .help = "sum over the GPU activities",
		TABLE_MEMBER(row, gpu_ns)),
};

static void fill_table(void *state, struct table *table)
{
	struct timeline_summary_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		struct row *row = &view->rows[i];
		const struct process *process = row->process;

		row->span_ns = process->first_ns <= process->last_ns
				       ? process->last_ns - process->first_ns
				       : UINT64_MAX;
		table_add(table, row);
	}
}

static void fini(void *state)
{
	free(((struct timeline_summary_view *)state)->rows);
}

VIEW(timeline_summary, 455) = {
	.name = "timeline-summary",
	.subject = VIEW_ABOUT_RECORDING,
	.help = "what the timeline has: operators, calls, streams and their times",
	.about = "Times are sums: operators of several threads and activities of several streams "
		 "add up, so they can exceed the span.",
	.is_empty_hidden = true,
	.title = "Timeline summary",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct timeline_summary_view),
	.ops = {.begin = begin,
		.op = on_op,
		.record = on_record,
		.end = end,
		.op_is = OP_IS_OPERATOR},
	.fill = fill_table,
	.fini = fini,
};
