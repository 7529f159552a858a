/* SPDX-License-Identifier: Apache-2.0 */
/* The critical paths of the steps: their pieces by kind, and by name within a kind. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/replay/critical.h"
#include "report/replay/step_events.h"
#include "report/stats/keyed_stats.h"
#include "report/analysis/view.h"
#include "report/budget/launch_counter.h"
#include "report/util/buf.h"
#include "report/util/text.h"
#include "report/util/sort.h"

#define NR_NAMES    10u /* of each kind, without --detail */
#define NR_TOGETHER 256u

struct critical_view {
	struct view_input input;
	struct step_loader load;
	struct keyed_stats kinds, names; /* of pieces; of names the kind too */
	/* Pieces with names that have not been added yet; add_names_to_kinds adds them to kinds. */
	uint32_t rows[NR_TOGETHER];
	uint64_t lengths_ns[NR_TOGETHER];
	uint32_t nr_pieces;
	uint64_t whole_ns;	/* of all steps */
	uint64_t nr_recordings; /* of these: all of a process, where none has steps */
	uint64_t nr_left_out;	/* processes without steps, where others have some */
	size_t nr_warm_up, nr_outliers;
	bool has_all_names;
};

static void add_pieces(struct critical_view *view)
{
	histogram_add_many(&view->names.times, view->rows, view->lengths_ns, view->nr_pieces);
	view->nr_pieces = 0;
}

static void on_piece(
	void *context, enum critical_kind kind, uint32_t name, uint64_t begin, uint64_t end)
{
	struct critical_view *view = context;
	size_t nr_rows = view->names.nr_rows;
	uint32_t row;

	if (!name) {
		row = keyed_stats_find(&view->kinds, kind, 0, kind);
		histogram_add(&view->kinds.times, row, end - begin);
		return;
	}
	row = keyed_stats_find(&view->names, (uint64_t)kind << 32 | name, name, kind);
	if (view->names.nr_rows > nr_rows) {
		keyed_stats_find(&view->kinds, kind, 0, kind);
	}
	view->rows[view->nr_pieces] = row;
	view->lengths_ns[view->nr_pieces++] = end - begin;
	if (view->nr_pieces == NR_TOGETHER) {
		add_pieces(view);
	}
}

/* Kinds have only the pieces without a name until then. */
static void add_names_to_kinds(struct critical_view *view)
{
	struct keyed_stats *names = &view->names;
	uint32_t *kinds = mem_zeroed(names->nr_rows, sizeof(*kinds));

	add_pieces(view);
	for (size_t i = 0; i < names->nr_rows; i++) {
		uint32_t kind = names->rows[i].kind;

		kinds[i] = keyed_stats_find(&view->kinds, kind, 0, kind);
	}
	histogram_merge_all(&view->kinds.times, kinds, &names->times);
	free(kinds);
}

static bool has_steps(const struct critical_view *view)
{
	for (size_t i = 0; i < view->input.nr_processes; i++) {
		if (view->input.processes[i]->nr_steps > 1) {
			return true;
		}
	}
	return false;
}

/* Where others have steps, a loader worker's whole time is beside the point. */
static void on_steps(void *context, struct step_events *steps, size_t nr_steps)
{
	struct critical_view *view = context;

	if (nr_steps == 1 && steps[0].is_recording && has_steps(view)) {
		view->nr_left_out++;
		return;
	}
	for (size_t i = 0; i < nr_steps; i++) {
		view->whole_ns += steps[i].end - steps[i].begin;
		view->nr_recordings += steps[i].is_recording;
	}
	critical_run(steps, nr_steps, on_piece, view);
}

static void init(void *state)
{
	struct critical_view *view = state;

	view->has_all_names = view->input.is_detailed;
	view->load.take = on_steps;
	view->load.is_together = true;
	view->load.context = view;
	keyed_stats_init(&view->names);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct critical_view *view = context;

	step_loader_mark(&view->load, process, batch);
}

static void begin(void *context, struct process *process)
{
	struct critical_view *view = context;

	step_loader_begin(&view->load, process);
}

static void on_op(void *context, const struct op *op)
{
	step_loader_op(&((struct critical_view *)context)->load, op);
}

static void on_range(void *context, const struct op_range *range)
{
	step_loader_range(&((struct critical_view *)context)->load, range);
}

static void on_collection(void *context, const struct op_collection *collection)
{
	step_loader_collection(&((struct critical_view *)context)->load, collection);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	(void)op;
	step_loader_call(&((struct critical_view *)context)->load, call);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	step_loader_record(&((struct critical_view *)context)->load, record, call, op);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct critical_view *view = context;

	(void)process;
	(void)phases;
	step_loader_end(&view->load);
	view->nr_warm_up += view->load.counted.nr_warm_up;
	view->nr_outliers += view->load.counted.nr_outliers;
}

/* ---- the table ---- */

struct order {
	size_t row;
	unsigned __int128 sum;
};

static int by_sum(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return ORDER(COMPARE(y->sum, x->sum), x->row < y->row ? -1 : 1);
}

struct path_row {
	struct keyed_stats_times times;
	const char *kind;
	uint32_t name;
};

static void add_row(const struct critical_view *view, const struct keyed_stats *tally, size_t row,
	uint32_t name, struct table *table)
{
	table_add(table, &(struct path_row){keyed_stats_times(tally, row, (double)view->whole_ns),
				 critical_kind_names[tally->rows[row].kind], name});
}

/* Those that are not worth a line each. */
static void add_others(const struct critical_view *view, const struct order *order, size_t nr,
	uint32_t kind, struct table *table)
{
	static const struct histogram_group none;
	struct path_row row = {keyed_stats_times_of(&none, 0, 0, 0), critical_kind_names[kind], 0};
	unsigned __int128 sum = 0;
	char text[48];
	int length = snprintf(text, sizeof(text), "(%zu others)", nr);

	for (size_t i = 0; i < nr; i++) {
		sum += order[i].sum;
		row.times.calls += view->names.times.groups[order[i].row].count;
	}
	row.times.share_pct = 100 * (double)sum / (double)view->whole_ns;
	row.times.total_ns = (uint64_t)sum;
	row.name = string_pool_intern(text, (size_t)length);
	table_add(table, &row);
	table_set_level(table, 1);
}

static void add_names(const struct critical_view *view, uint32_t kind, struct table *table)
{
	const struct keyed_stats *names = &view->names;
	struct order *order = mem_zeroed(names->nr_rows + 1, sizeof(*order));
	size_t nr = 0, nr_shown;

	for (size_t i = 0; i < names->nr_rows; i++) {
		if (names->rows[i].kind == kind) {
			order[nr++] = (struct order){i, names->times.groups[i].sum};
		}
	}
	qsort(order, nr, sizeof(*order), by_sum);
	nr_shown = view->has_all_names || nr <= NR_NAMES ? nr : NR_NAMES;
	for (size_t i = 0; i < nr_shown; i++) {
		add_row(view, names, order[i].row, names->rows[order[i].row].name, table);
		table_set_level(table, 1);
	}
	if (nr_shown < nr) {
		add_others(view, order + nr_shown, nr - nr_shown, kind, table);
	}
	free(order);
}

/* Without activities of launches the path runs through what the host did meanwhile. */
static void note_lost(const struct critical_view *view, struct table *table)
{
	struct budget_launches lost = {0};
	struct buf text = {0};

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		budget_warn_lost(view->input.processes[i], &view->input.launches[i]);
		if (budget_has_lost(&view->input.launches[i])) {
			budget_add_launches(&lost, &view->input.launches[i]);
		}
	}
	if (lost.all) {
		budget_add_lost(&lost, &text);
		table_note(table, "%.*s, so the path may lack GPU activities.", (int)text.nr_bytes,
			text.bytes);
	}
	buf_fini(&text);
}

static void add_note(const struct critical_view *view, struct table *table)
{
	const struct step_loader *load = &view->load;

	uint64_t nr_steps = load->nr_steps - view->nr_left_out;

	if (!nr_steps) {
		table_note(table, "No step has a known start and end.");
	} else if (view->nr_recordings == nr_steps) {
		table_note(table,
			"No steps were found: the path covers all of the recording, %.3f ms from "
			"the first call or operator to the end of the last activity.",
			(double)view->whole_ns / 1e6);
	} else {
		table_note(table, "The path covers %llu step%s.", (unsigned long long)nr_steps,
			nr_steps == 1 ? "" : "s");
	}
	counted_steps_note(view->nr_warm_up, view->nr_outliers, table);
	if (view->nr_left_out) {
		table_note(table, "%llu process%s without steps %s excluded.",
			(unsigned long long)view->nr_left_out, view->nr_left_out == 1 ? "" : "es",
			view->nr_left_out == 1 ? "is" : "are");
	}
	if (load->nr_too_long) {
		table_note(table,
			"%llu %s with more than %u calls, operators or activities %s excluded.",
			(unsigned long long)load->nr_too_long,
			text_many(load->nr_too_long, "step", "steps"), STEP_EVENTS_MAX,
			text_many(load->nr_too_long, "is", "are"));
	}
	if (load->nr_lone) {
		table_note(table, "%llu GPU %s no recorded launch.",
			(unsigned long long)load->nr_lone,
			text_many(load->nr_lone, "activity has", "activities have"));
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN(
		"share_pct", "% of steps", TABLE_PERCENT, TABLE_MEMBER(path_row, times.share_pct)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, TABLE_MEMBER(path_row, times.total_ns)),
	TABLE_COLUMN("segments", "Segments", TABLE_COUNT, .help = "segments of the path",
		TABLE_MEMBER(path_row, times.calls)),
	TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME, TABLE_MEMBER(path_row, times.avg_ns)),
	TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME, TABLE_MEMBER(path_row, times.median_ns)),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .is_wide_only = true,
		TABLE_MEMBER(path_row, times.p99_ns)),
	TABLE_COLUMN("min_ns", "Min", TABLE_TIME, .is_wide_only = true,
		TABLE_MEMBER(path_row, times.min_ns)),
	TABLE_COLUMN("max_ns", "Max", TABLE_TIME, TABLE_MEMBER(path_row, times.max_ns)),
	TABLE_COLUMN("stddev_ns", "StdDev", TABLE_MEAN_TIME, .is_wide_only = true,
		TABLE_MEMBER(path_row, times.stddev_ns)),
	TABLE_COLUMN("kind", "Kind", TABLE_TEXT, .is_wide_only = true,
		.help = "host, launch, stream or wait", TABLE_MEMBER(path_row, kind)),
	TABLE_COLUMN("name", "Segment", TABLE_NAME, .is_kernel = true,
		.help = "what the path runs through", TABLE_MEMBER(path_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct critical_view *view = state;

	struct order order[NR_CRITICAL_KINDS];

	if (view->nr_recordings && view->nr_recordings == view->load.nr_steps) {
		table->columns[0].title = "% of path";
	}
	if (!view->kinds.is_finished) {
		add_names_to_kinds(view);
	}
	keyed_stats_finish(&view->kinds);
	keyed_stats_finish(&view->names);
	for (size_t i = 0; i < view->kinds.nr_rows; i++) {
		order[i] = (struct order){i, view->kinds.times.groups[i].sum};
	}
	qsort(order, view->kinds.nr_rows, sizeof(*order), by_sum);
	for (size_t i = 0; i < view->kinds.nr_rows; i++) {
		uint32_t kind = view->kinds.rows[order[i].row].kind;
		const char *text = critical_kind_names[kind];

		add_row(view, &view->kinds, order[i].row, string_pool_intern(text, strlen(text)),
			table);
		add_names(view, kind, table);
	}
	add_note(view, table);
	note_lost(view, table);
	keyed_stats_note(&view->names, table);
}

static void fini(void *state)
{
	struct critical_view *view = state;

	step_loader_fini(&view->load);
	keyed_stats_fini(&view->names);
}

static const struct scan_want wants[] = {STEP_LOADER_WANTS};

VIEW(critical_path, 230) = {
	.name = "critical-path",
	.subject = VIEW_ABOUT_VERDICT,
	.help = "what the length of the steps depends on: operators, launches, GPU activities, "
		"waits",
	.about = "The critical path goes backwards from the end of each step to its start. Its "
		 "segments follow each other without overlap, so they add up to the time of the "
		 "steps. Those are the steps that count on the first screen, each up to the begin "
		 "of the next one. What the path runs through is not what the view budget counts: "
		 "a kernel that nothing waits for is in no segment.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "Critical path",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct critical_view, kinds),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.ops = {.begin = begin,
		.op = on_op,
		.range = on_range,
		.collection = on_collection,
		.call = on_call,
		.record = on_record,
		.end = end},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
