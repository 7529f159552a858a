/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest idle times of each device (idle.h), what ended them, and what the launching thread
 * did meanwhile: until the launching call, or until the end of the gap.
 */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/idle.h"
#include "report/model/py_stack.h"
#include "report/analysis/view.h"
#include "report/model/time_axis.h"

#define NR_GAPS	  256u /* kept of each process */
#define NR_DEPTHS 64u  /* of nested operators that count separately */

struct gap_row {
	struct idle_gap gap;
	bool is_found;	  /* the walk has come to its call; what follows is known */
	uint64_t max_end; /* of this one and those that begin before it */
	uint64_t until;	  /* what the host did is asked from the gap's begin to here */
	uint32_t thread;
	uint32_t work, call, op; /* names: of the record, its call, the operator of the call */
	uint32_t py_stack;
	uint64_t inner_ns[NR_DEPTHS + 1]; /* in operators of that depth, since one around them */
	uint32_t host_op, host_call;	  /* in which the thread was longest; 0 none */
	uint64_t host_op_ns, host_call_ns;
};

struct idle_gaps_view {
	struct view_input input;
	struct idle idle;
	struct gap_row *rows;
	size_t nr_rows, capacity;
	size_t first;	 /* of the process at hand */
	size_t end;	 /* behind its last; in the walk, in the order of their begins */
	size_t found;	 /* of these, where the last search ended; mostly, so does the next one */
	size_t shortest; /* of NR_GAPS of the process at hand */
	struct process *process;
};

/* ---- the longest ---- */

static uint64_t length_of(const struct idle_gaps_view *view, size_t i)
{
	return view->rows[i].gap.end - view->rows[i].gap.begin;
}

static void find_shortest(struct idle_gaps_view *view)
{
	view->shortest = view->first;
	for (size_t i = view->first; i < view->nr_rows; i++) {
		if (length_of(view, i) < length_of(view, view->shortest)) {
			view->shortest = i;
		}
	}
}

/* A heap is not needed: few gaps are longer than the longest so far. */
static void on_gap(void *context, const struct idle_gap *gap)
{
	struct idle_gaps_view *view = context;

	if (view->nr_rows - view->first < NR_GAPS) {
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		view->rows[view->nr_rows++] = (struct gap_row){.gap = *gap};
		if (view->nr_rows - view->first == NR_GAPS) {
			find_shortest(view);
		}
	} else if (gap->end - gap->begin > length_of(view, view->shortest)) {
		view->rows[view->shortest].gap = *gap;
		find_shortest(view);
	}
}

static void begin_scan(void *context, struct process *process)
{
	struct idle_gaps_view *view = context;

	view->first = view->nr_rows;
	idle_begin(&view->idle, process, on_gap, view);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct idle_gaps_view *view = context;

	(void)process;
	idle_take_calls(&view->idle, batch);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	idle_take(&((struct idle_gaps_view *)context)->idle, activity);
}

static void end_scan(void *context, struct process *process)
{
	struct idle_gaps_view *view = context;

	(void)process;
	idle_end(&view->idle);
}

/* ---- what the host did, from its last event to its first ---- */

static int by_begin(const void *a, const void *b)
{
	const struct gap_row *x = a, *y = b;

	return x->gap.begin < y->gap.begin ? -1 : x->gap.begin > y->gap.begin;
}

static void begin_walk(void *context, struct process *process)
{
	struct idle_gaps_view *view = context;
	uint64_t max_end = 0;

	view->process = process;
	view->first = 0;
	while (view->first < view->nr_rows && view->rows[view->first].gap.process != process) {
		view->first++;
	}
	view->end = view->first;
	while (view->end < view->nr_rows && view->rows[view->end].gap.process == process) {
		view->end++;
	}
	if (view->end > view->first) {
		qsort(view->rows + view->first, view->end - view->first, sizeof(*view->rows),
			by_begin);
	}
	view->found = view->end;
	for (size_t i = view->first; i < view->end; i++) {
		max_end = view->rows[i].gap.end > max_end ? view->rows[i].gap.end : max_end;
		view->rows[i].max_end = max_end;
	}
}

/* The first gap that begins at `time` or later. */
static size_t first_from(struct idle_gaps_view *view, uint64_t time)
{
	size_t low = view->first, high = view->end, at = view->found;

	if ((at == low || view->rows[at - 1].gap.begin < time) &&
		(at == high || view->rows[at].gap.begin >= time)) {
		return at;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->rows[middle].gap.begin < time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	view->found = low;
	return low;
}

/*
 * The gap that overlaps [begin, end) and stands before `at`, NULL if there is no other; to begin
 * with, `at` is what first_from says of the end.
 */
static struct gap_row *next_gap(
	struct idle_gaps_view *view, uint64_t begin, uint64_t end, size_t *at)
{
	while (*at > view->first && view->rows[*at - 1].max_end > begin) {
		struct gap_row *row = &view->rows[--*at];

		if (row->gap.end > begin && row->gap.begin < end) {
			return row;
		}
	}
	return NULL;
}

static void find_call(struct gap_row *row, struct process *process, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	uint64_t call_ns = clock_map_time(&process->host_clock, call->begin);

	row->is_found = true;
	row->until = call_ns < row->gap.end ? call_ns : row->gap.end;
	row->thread = call->thread;
	row->work = gpu_activity_name(process, record);
	row->call = process_call_name(process, call->call, NULL);
	row->op = op ? op->name : 0;
	for (; op && !row->py_stack; op = op->parent) {
		row->py_stack = op->py_stack;
	}
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct idle_gaps_view *view = context;
	uint64_t end = record->begin_ns, begin = end - (end > 0);
	size_t at = first_from(view, end);
	struct gap_row *row;

	while ((row = next_gap(view, begin, end, &at))) {
		if (row->gap.correlation != record->correlation || row->gap.end != end) {
			continue;
		}
		if (call) {
			find_call(row, view->process, record, call, op);
		} else {
			row->work = gpu_activity_name(view->process, record);
		}
	}
}

/* How much of a time lies in what is asked of. */
static uint64_t overlap_of(const struct gap_row *row, uint64_t begin, uint64_t end)
{
	uint64_t from = begin > row->gap.begin ? begin : row->gap.begin;
	uint64_t to = end < row->until ? end : row->until;

	return to > from ? to - from : 0;
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct idle_gaps_view *view = context;
	uint64_t begin = clock_map_time(&view->process->host_clock, call->begin);
	uint64_t end = clock_map_time(&view->process->host_clock, call->end);
	size_t at = first_from(view, end);
	struct gap_row *row;

	(void)op;
	while ((row = next_gap(view, begin, end, &at))) {
		uint64_t ns = overlap_of(row, begin, end);

		if (row->is_found && row->thread == call->thread && ns > row->host_call_ns) {
			row->host_call_ns = ns;
			row->host_call = process_call_name(view->process, call->call, NULL);
		}
	}
}

/* Those that lie in it came before: what is left of it is its own. */
static void add_op(struct gap_row *row, const struct op *op, size_t depth, uint64_t ns)
{
	uint64_t *inner_ns = &row->inner_ns[depth + 1];
	uint64_t self_ns = ns > *inner_ns ? ns - *inner_ns : 0;

	*inner_ns = 0;
	row->inner_ns[depth] += ns;
	if (self_ns > row->host_op_ns) {
		row->host_op_ns = self_ns;
		row->host_op = op->name;
	}
}

static void on_op(void *context, const struct op *op)
{
	struct idle_gaps_view *view = context;
	uint64_t begin = clock_map_time(&view->process->host_clock, op->begin);
	uint64_t end = clock_map_time(&view->process->host_clock, op->end);
	size_t at = first_from(view, end), depth = 0;
	struct gap_row *row;

	for (const struct op *outer = op->parent; outer && depth < NR_DEPTHS - 1;
		outer = outer->parent) {
		depth++;
	}
	while ((row = next_gap(view, begin, end, &at))) {
		if (row->is_found && row->thread == op->thread) {
			add_op(row, op, depth, overlap_of(row, begin, end));
		}
	}
}

/* ---- the table ---- */

enum column {
	START = VIEW_NR_DEVICE_COLUMNS,
	DURATION,
	CAUSE,
	BEFORE_CALL,
	WORK,
	CALL,
	THREAD,
	OP,
	HOST_OP,
	HOST_OP_TIME,
	HOST_CALL,
	HOST_CALL_TIME,
	STACK,
};

static void set_name(struct table_cell *cell, uint32_t name)
{
	if (name) {
		table_set_integer(cell, name);
	}
}

static void fill_host(const struct gap_row *row, struct table_cell *cells)
{
	table_set_integer(
		&cells[BEFORE_CALL], row->until > row->gap.begin ? row->until - row->gap.begin : 0);
	set_name(&cells[CALL], row->call);
	table_set_integer(&cells[THREAD], row->thread);
	set_name(&cells[OP], row->op);
	if (row->host_op_ns) {
		set_name(&cells[HOST_OP], row->host_op);
		table_set_integer(&cells[HOST_OP_TIME], row->host_op_ns);
	}
	if (row->host_call_ns) {
		set_name(&cells[HOST_CALL], row->host_call);
		table_set_integer(&cells[HOST_CALL_TIME], row->host_call_ns);
	}
	if (row->py_stack) {
		set_name(&cells[STACK], py_stack_text(row->gap.process, row->py_stack));
	}
}

static void fill(const struct gap_row *row, struct table_cell *cells)
{
	const struct idle_gap *gap = &row->gap;
	const char *cause = idle_cause_names[gap->cause];

	view_fill_device(gap->process, gap->device, cells);
	table_set_integer(&cells[START], time_axis_time(gap->process, gap->begin));
	table_set_integer(&cells[DURATION], gap->end - gap->begin);
	table_set_string(&cells[CAUSE], cause);
	set_name(&cells[WORK], row->work);
	if (row->is_found) {
		fill_host(row, cells);
	}
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS,
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording"),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME),
	TABLE_COLUMN("cause", "Cause", TABLE_TEXT,
		.help = "host, launch or dependency, as in the view idle"),
	TABLE_COLUMN("before_call_ns", "Before the call", TABLE_TIME,
		.help = "time in the gap before the launching call"),
	TABLE_COLUMN("activity", "Ended by", TABLE_NAME, .is_kernel = true,
		.help = "GPU activity that ends the gap"),
	TABLE_COLUMN(
		"call", "Call", TABLE_NAME, .is_wide_only = true, .help = "call that launched it"),
	TABLE_COLUMN("thread", "Thread", TABLE_ID, .is_wide_only = true,
		.help = "thread that launched it"),
	TABLE_COLUMN("op", "Launched in", TABLE_NAME, .help = "operator around the launch"),
	TABLE_COLUMN("host_op", "Host operator", TABLE_NAME,
		.help = "operator in which the launching thread spent most of the gap"),
	TABLE_COLUMN("host_op_ns", "Operator time", TABLE_TIME,
		.help = "time of the gap in this operator"),
	TABLE_COLUMN("host_call", "Host call", TABLE_NAME,
		.help = "call in which it spent most of the gap"),
	TABLE_COLUMN(
		"host_call_ns", "Call time", TABLE_TIME, .help = "time of the gap in this call"),
	TABLE_COLUMN("py_stack", "Python stack", TABLE_NAME, .is_wide_only = true,
		.help = "Python stack of the launch"),
};

static void fill_table(void *state, struct table *table)
{
	struct idle_gaps_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		fill(&view->rows[i], table_add_row(table));
	}
	table_sort(table, "duration");
	table_note(table, "The table has at most the %u longest gaps of each process.", NR_GAPS);
	view_note_devices(table, &view->input, "");
}

static void fini(void *state)
{
	struct idle_gaps_view *view = state;

	free(view->rows);
}

VIEW(idle_gaps, 190) = {
	.name = "idle-gaps",
	.help = "the longest idle gaps of the GPUs, and what the host did meanwhile",
	.about = "The last columns show what the launching thread did before the call that ended "
		 "the gap. The operator, without those inside it, and the call are those that took "
		 "most of that time.",
	.is_empty_hidden = true,
	.title = "Longest GPU idle gaps",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct idle_gaps_view),
	.scan = {idle_wants, IDLE_NR_WANTS, gpu_activities_needs, begin_scan, on_batch, end_scan,
		.on_activity = on_activity},
	.ops = {.begin = begin_walk, .op = on_op, .call = on_call, .record = on_record},
	.fill = fill_table,
	.fini = fini,
};
