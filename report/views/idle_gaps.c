/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest times in which no GPU of a process works, what the budget counts them for (budget.h),
 * what ended them, and what the launching thread did meanwhile: until the launching call, or until
 * the end of the gap.
 *
 * A scan finds the longest gaps of the process, for the walk comes to what the host did before the
 * budget comes to the gap. The budget's gaps are pieces of these: what lies in no whole step that
 * is chosen is no part of a gap.
 */
#include <stdlib.h>
#include <string.h>

#include "report/gpu/gpu_activities.h"
#include "report/analysis/view.h"
#include "report/budget/budget.h"
#include "report/model/py_stack.h"
#include "report/model/select.h"
#include "report/model/time_axis.h"
#include "report/util/sort.h"

#define NR_GAPS	  256u /* kept of each process */
#define NR_DEPTHS 64u  /* of nested operators that count separately */

struct gap_row {
	struct process *process;
	uint64_t begin, end; /* CLOCK_MONOTONIC ns */
	uint64_t max_end;    /* of this one and those that begin before it */
	/* The part of it that the budget has */
	uint64_t first_ns, all_ns, ns[NR_BUDGET_IDLE];
	bool is_unlaunched;  /* the launch of what ends it is not recorded */
	bool is_found;	     /* the walk has come to that launch; what follows is known */
	uint64_t until;	     /* what the host did is asked from the gap's begin to here */
	uint64_t launch_end; /* ticks */
	uint32_t thread;
	uint32_t work, call, op; /* names: of the record, its call, the operator of the call */
	uint32_t py_stack;
	uint64_t inner_ns[NR_DEPTHS + 1]; /* in operators of that depth, since one around them */
	uint32_t host_op, host_call;	  /* in which the thread was longest; 0 none */
	uint64_t host_op_ns, host_call_ns;
};

/* A gap of the budget, and in which row it lies. */
struct gap_piece {
	struct budget_gap gap;
	size_t row;
};

struct idle_gaps_view {
	struct view_input input;
	struct budget budget; /* of the current process */
	struct gap_row *rows;
	size_t nr_rows, capacity;
	struct gap_piece *pieces; /* of the current process */
	size_t nr_pieces, piece_capacity;
	size_t first;	 /* of the current process */
	size_t end;	 /* behind its last; in the walk, in the order of their begins */
	size_t found;	 /* of these, where the last search ended; mostly, so does the next one */
	size_t shortest; /* of NR_GAPS of the current process */
	uint64_t until;	 /* GPUs work until then, as far as the scan has come */
};

/* ---- the longest ---- */

static uint64_t length_of(const struct gap_row *row)
{
	return row->end - row->begin;
}

static void find_shortest(struct idle_gaps_view *view)
{
	view->shortest = view->first;
	for (size_t i = view->first; i < view->nr_rows; i++) {
		if (length_of(&view->rows[i]) < length_of(&view->rows[view->shortest])) {
			view->shortest = i;
		}
	}
}

/* A heap is not needed: few gaps are longer than the longest so far. */
static void add_gap(struct idle_gaps_view *view, const struct gap_row *gap)
{
	if (view->nr_rows - view->first < NR_GAPS) {
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		view->rows[view->nr_rows++] = *gap;
		if (view->nr_rows - view->first == NR_GAPS) {
			find_shortest(view);
		}
	} else if (length_of(gap) > length_of(&view->rows[view->shortest])) {
		view->rows[view->shortest] = *gap;
		find_shortest(view);
	}
}

static void begin_scan(void *context, struct process *process)
{
	struct idle_gaps_view *view = context;

	view->first = view->nr_rows;
	/* No step begins before that. */
	view->until = process->nr_steps > 1
			      ? clock_map_time(&process->host_clock, process->steps[0].tick)
			      : process->first_ns;
}

static void on_activity(void *context, const struct gpu_activity *work)
{
	struct idle_gaps_view *view = context;

	if (work->begin > view->until && work->end > work->begin) {
		add_gap(view, &(struct gap_row){.process = view->input.process,
				      .begin = view->until,
				      .end = work->begin});
	}
	view->until = work->end > view->until ? work->end : view->until;
}

/* The time after the last work may belong to a step, too. */
static void end_scan(void *context, struct process *process)
{
	struct idle_gaps_view *view = context;

	if (process_has_device_records(process, NULL)) {
		add_gap(view, &(struct gap_row){
				      .process = process, .begin = view->until, .end = UINT64_MAX});
	}
}

/* ---- what the host did, from its last event to its first ---- */

static int by_begin(const void *a, const void *b)
{
	const struct gap_row *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

/* The first gap that begins at `time` or later. */
static size_t first_from(struct idle_gaps_view *view, uint64_t time)
{
	size_t at = view->found;

	if ((at == view->first || view->rows[at - 1].begin < time) &&
		(at == view->end || view->rows[at].begin >= time)) {
		return at;
	}
	BISECT(at, view->first, view->end, view->rows[at].begin < time);
	view->found = at;
	return at;
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

		if (row->end > begin && row->begin < end) {
			return row;
		}
	}
	return NULL;
}

/* Takes the gaps of steps that the user chose; which steps are whole is known at the end. */
static void on_gap(void *context, const struct budget_gap *gap)
{
	struct idle_gaps_view *view = context;
	size_t at = first_from(view, gap->end);
	struct gap_row *row;

	if (gap->step->place && !select_has_step(view->input.process, gap->step->place - 1)) {
		return;
	}
	row = next_gap(view, gap->begin, gap->end, &at);
	if (row) {
		view->pieces = array_grow(view->pieces, view->nr_pieces, &view->piece_capacity,
			sizeof(*view->pieces));
		view->pieces[view->nr_pieces++] =
			(struct gap_piece){*gap, (size_t)(row - view->rows)};
	}
}

static void begin_walk(void *context, struct process *process)
{
	struct idle_gaps_view *view = context;
	uint64_t max_end = 0;

	budget_begin(&view->budget, process, false);
	view->budget.on_gap = on_gap;
	view->budget.gap_context = view;
	view->first = 0;
	while (view->first < view->nr_rows && view->rows[view->first].process != process) {
		view->first++;
	}
	view->end = view->first;
	while (view->end < view->nr_rows && view->rows[view->end].process == process) {
		view->end++;
	}
	if (view->end > view->first) {
		qsort(view->rows + view->first, view->end - view->first, sizeof(*view->rows),
			by_begin);
	}
	view->found = view->end;
	for (size_t i = view->first; i < view->end; i++) {
		max_end = view->rows[i].end > max_end ? view->rows[i].end : max_end;
		view->rows[i].max_end = max_end;
	}
}

static void enter(void *context, const struct op *op)
{
	budget_enter(&((struct idle_gaps_view *)context)->budget, op);
}

static void on_range(void *context, const struct op_range *range)
{
	budget_range(&((struct idle_gaps_view *)context)->budget, range);
}

static void on_collection(void *context, const struct op_collection *collection)
{
	budget_collection(&((struct idle_gaps_view *)context)->budget, collection);
}

/* As in the budget: of several that end it together, the first that was launched. */
static bool is_before(const struct gap_row *row, const struct op_call *call)
{
	return !row->is_unlaunched && (!call || !row->is_found || call->end < row->launch_end);
}

/* Sets the work behind the gap. The host's states so far were for a launch that came later. */
static void set_work(struct gap_row *row, struct process *process, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	uint64_t call_ns;

	*row = (struct gap_row){.process = process,
		.begin = row->begin,
		.end = row->end,
		.max_end = row->max_end,
		.work = op_record_name(process, record),
		.is_unlaunched = !call,
		.is_found = call != NULL};
	if (!call) {
		return;
	}
	call_ns = clock_map_time(&process->host_clock, call->begin);
	row->until = call_ns < row->end ? call_ns : row->end;
	row->launch_end = call->end;
	row->thread = call->thread;
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

	budget_record(&view->budget, record, call, op);
	while (record->is_timed && (row = next_gap(view, begin, end, &at))) {
		if (row->end == end && is_before(row, call)) {
			set_work(row, view->input.process, record, call, op);
		}
	}
}

/* How much of a time lies in what is asked of. */
static uint64_t overlap_of(const struct gap_row *row, uint64_t begin, uint64_t end)
{
	uint64_t from = begin > row->begin ? begin : row->begin;
	uint64_t to = end < row->until ? end : row->until;

	return to > from ? to - from : 0;
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct idle_gaps_view *view = context;
	uint64_t begin = clock_map_time(&view->input.process->host_clock, call->begin);
	uint64_t end = clock_map_time(&view->input.process->host_clock, call->end);
	size_t at = first_from(view, end);
	struct gap_row *row;

	budget_call(&view->budget, call, op);
	while ((row = next_gap(view, begin, end, &at))) {
		uint64_t ns = overlap_of(row, begin, end);

		if (row->is_found && row->thread == call->thread && ns > row->host_call_ns) {
			row->host_call_ns = ns;
			row->host_call = process_call_name(view->input.process, call->call, NULL);
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
	uint64_t begin = clock_map_time(&view->input.process->host_clock, op->begin);
	uint64_t end = clock_map_time(&view->input.process->host_clock, op->end);
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

/* From the last to the first. */
static void add_piece(struct gap_row *row, const struct budget_gap *gap)
{
	row->first_ns = gap->begin;
	row->all_ns += gap->end - gap->begin;
	for (unsigned int i = 0; i < NR_BUDGET_IDLE; i++) {
		row->ns[i] += gap->ns[i];
	}
}

static void end_walk(void *context, struct process *process, const struct phases *phases)
{
	struct idle_gaps_view *view = context;
	struct budget *budget = &view->budget;

	budget_end(budget, phases);
	for (size_t i = 0; i < view->nr_pieces && !budget->is_too_much; i++) {
		struct gap_piece *piece = &view->pieces[i];

		if (piece->gap.step->is_whole) {
			budget_settle_gap(budget, &piece->gap);
			add_piece(&view->rows[piece->row], &piece->gap);
		}
	}
	view->nr_pieces = 0;
	budget_warn(process, budget->is_too_much, budget->nr_cut);
	budget_warn_lost(process, &budget->launches);
	budget_fini(budget);
}

/* ---- the table ---- */

static uint64_t shortest(const struct gap_row *row, uint64_t ns)
{
	return ns < row->all_ns ? ns : row->all_ns;
}

/* A gap as shown. The host's part of it may begin before the first step does. */
struct shown_row {
	struct gap_row gap;
	uint64_t start_ns, cause_ns, before_call_ns, host_op_ns, host_call_ns;
	uint32_t call, op, host_op, host_call, py_stack; /* 0 unknown */
	const char *cause;
};

static void show_gap(const struct gap_row *row, struct table *table)
{
	unsigned int cause = 0;
	struct shown_row shown = {.gap = *row,
		.start_ns = time_axis_time(row->process, row->first_ns),
		.before_call_ns = row->until > row->first_ns ? row->until - row->first_ns : 0};

	for (unsigned int i = 1; i < NR_BUDGET_IDLE; i++) {
		cause = row->ns[i] > row->ns[cause] ? i : cause;
	}
	shown.cause = budget_part_texts[BUDGET_HOST + cause].title;
	shown.cause_ns = row->ns[cause];
	if (row->is_found) {
		shown.before_call_ns = shortest(row, shown.before_call_ns);
		shown.call = row->call;
		shown.op = row->op;
		shown.host_op = row->host_op_ns ? row->host_op : 0;
		shown.host_op_ns = shortest(row, row->host_op_ns);
		shown.host_call = row->host_call_ns ? row->host_call : 0;
		shown.host_call_ns = shortest(row, row->host_call_ns);
		shown.py_stack = row->py_stack ? py_stack_text(row->process, row->py_stack) : 0;
	}
	table_add(table, &shown);
}

static const struct table_column columns[] = {
	VIEW_PROCESS_COLUMNS(shown_row, gap.process),
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording",
		TABLE_MEMBER(shown_row, start_ns)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TABLE_MEMBER(shown_row, gap.all_ns)),
	TABLE_COLUMN("cause", "Cause", TABLE_TEXT,
		.help = "part of the time budget with most of the gap",
		TABLE_MEMBER(shown_row, cause)),
	TABLE_COLUMN("cause_ns", "Cause time", TABLE_TIME, .is_minor = true,
		.help = "time of the gap that counts for the cause",
		TABLE_MEMBER(shown_row, cause_ns)),
	TABLE_COLUMN("before_call_ns", "Before the call", TABLE_TIME, .is_minor = true,
		.help = "time in the gap before the launching call",
		TABLE_IF(shown_row, before_call_ns, gap.is_found)),
	TABLE_COLUMN("activity", "Ended by", TABLE_NAME, .is_kernel = true,
		.help = "GPU activity that ends the gap", TABLE_NONZERO(shown_row, gap.work)),
	TABLE_COLUMN("call", "Call", TABLE_NAME, .is_wide_only = true,
		.help = "call that launched it", TABLE_NONZERO(shown_row, call)),
	TABLE_COLUMN("thread", "Thread", TABLE_ID, .is_wide_only = true,
		.help = "thread that launched it", TABLE_IF(shown_row, gap.thread, gap.is_found)),
	TABLE_COLUMN("op", "Launched in", TABLE_NAME, .help = "operator around the launch",
		TABLE_NONZERO(shown_row, op)),
	TABLE_COLUMN("host_op", "Host operator", TABLE_NAME,
		.help = "operator in which the launching thread spent most of the gap",
		TABLE_NONZERO(shown_row, host_op)),
	TABLE_COLUMN("host_op_ns", "Operator time", TABLE_TIME,
		.help = "time of the gap in this operator", TABLE_NONZERO(shown_row, host_op_ns)),
	TABLE_COLUMN("host_call", "Host call", TABLE_NAME,
		.help = "call in which it spent most of the gap",
		TABLE_NONZERO(shown_row, host_call)),
	TABLE_COLUMN("host_call_ns", "Call time", TABLE_TIME,
		.help = "time of the gap in this call", TABLE_NONZERO(shown_row, host_call_ns)),
	TABLE_COLUMN("py_stack", "Python stack", TABLE_NAME, .is_wide_only = true,
		.help = "Python stack of the launch", TABLE_NONZERO(shown_row, py_stack)),
};

static void fill_table(void *state, struct table *table)
{
	struct idle_gaps_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		if (view->rows[i].all_ns) {
			show_gap(&view->rows[i], table);
		}
	}
	table_sort(table, "duration");
	table_note(table,
		"A gap is a time in which no GPU of the process works. The table has at most the "
		"%u longest of each process.",
		NR_GAPS);
	view_note_devices(table, &view->input, "");
}

static void fini(void *state)
{
	struct idle_gaps_view *view = state;

	free(view->rows);
	free(view->pieces);
}

VIEW(idle_gaps, 190) = {
	.name = "idle-gaps",
	.subject = VIEW_ABOUT_GPU,
	.help = "the longest idle gaps of the GPUs, and what the host did meanwhile",
	.about =
		"The gaps are those of the time budget: they lie in whole steps, or anywhere where "
		"there are no steps. The last columns show what the launching thread did before "
		"the call that ended "
		"the gap. The operator, without those inside it, and the call are those that took "
		"most of that time.",
	.is_empty_hidden = true,
	.title = "Longest GPU idle gaps",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct idle_gaps_view),
	.scan = {.needs = gpu_activities_needs,
		.begin = begin_scan,
		.end = end_scan,
		.on_activity = on_activity},
	.ops = {.ignores_selection = true,
		.begin = begin_walk,
		.enter = enter,
		.enter_wants = budget_wants_covered,
		.op = on_op,
		.range = on_range,
		.collection = on_collection,
		.call = on_call,
		.record = on_record,
		.end = end_walk},
	.fill = fill_table,
	.fini = fini,
};
