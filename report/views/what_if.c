/* SPDX-License-Identifier: Apache-2.0 */
/* What steps would take if something were faster: what replay.h says of each change. */
#include "report/analysis/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"

/* More steps of a process are evenly thinned out to about so many. */
#define MOST_STEPS 64u

/* Where the unchanged replay is further off, nothing is predicted. */
#define MOST_ERROR_PCT 3.0

#define MOST_CHANGES (NR_REPLAY_REMOVALS + 1)

/* Of a process: sums over its replayed steps, ns. */
struct row {
	uint64_t nr_steps, step_ns, measured_ns, replayed_ns, unexplained_ns;
	uint64_t changed_ns[MOST_CHANGES];
	uint64_t limits[MOST_CHANGES][NR_REPLAY_KINDS];
};

struct what_if_view {
	struct view_input input;
	struct step_loader load;
	struct replay_names names;
	struct replay_change changes[MOST_CHANGES];
	size_t nr_changes;
	struct row *rows; /* of each process */
	struct row *row;  /* of the one at hand */
	size_t nr_begun, nr_seen, stride;
};

/* All that was asked for at once, or each removal. */
static void choose_changes(struct what_if_view *view)
{
	const struct what_if *asked = view->input.what_if;

	if (asked && (asked->change.removals || asked->change.scales)) {
		view->changes[view->nr_changes++] = asked->change;
		return;
	}
	for (unsigned int i = 0; i < NR_REPLAY_REMOVALS; i++) {
		view->changes[view->nr_changes++] = (struct replay_change){.removals = 1u << i};
	}
}

static void add_result(struct row *row, size_t change, const struct replay_result *result)
{
	row->changed_ns[change] += result->step_ns;
	for (unsigned int i = 0; i < NR_REPLAY_KINDS; i++) {
		row->limits[change][i] += result->limits[i];
	}
}

static void on_step(void *context, struct step_events *step)
{
	struct what_if_view *view = context;
	struct row *row = view->row;
	struct replay_graph *graph;
	struct replay_result result;

	/* What a step begins with is not known of the first one; it also warms up. */
	if (view->nr_seen++ % view->stride ||
		(step->complete_from == step->begin && row->nr_steps)) {
		return;
	}
	graph = replay_create(step, view->names.context ? &view->names : NULL);
	replay_run(graph, NULL, &result);
	row->nr_steps++;
	row->step_ns += step->end - step->begin;
	row->measured_ns += replay_measured_ns(graph);
	row->unexplained_ns += replay_unexplained_ns(graph);
	row->replayed_ns += result.step_ns;
	for (size_t i = 0; i < view->nr_changes; i++) {
		replay_run(graph, &view->changes[i], &result);
		add_result(row, i, &result);
	}
	replay_destroy(graph);
}

static void init(void *state)
{
	struct what_if_view *view = state;

	view->load.take = on_step;
	view->load.context = view;
	if (view->input.what_if && view->input.what_if->nr_scales) {
		view->names = what_if_names(view->input.what_if);
	}
	choose_changes(view);
	view->rows = mem_zeroed(view->input.nr_processes + 1, sizeof(*view->rows));
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct what_if_view *view = context;

	step_loader_mark(&view->load, process, batch);
}

static void begin(void *context, struct process *process)
{
	struct what_if_view *view = context;

	view->row = &view->rows[view->nr_begun++];
	view->nr_seen = 0;
	view->stride = (process->nr_steps + MOST_STEPS - 1) / MOST_STEPS;
	view->stride = view->stride ? view->stride : 1;
	step_loader_begin(&view->load, process);
}

static void on_op(void *context, const struct op *op)
{
	step_loader_op(&((struct what_if_view *)context)->load, op);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	(void)op;
	step_loader_call(&((struct what_if_view *)context)->load, call);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	(void)op;
	step_loader_record(&((struct what_if_view *)context)->load, record, call);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	(void)process;
	(void)phases;
	step_loader_end(&((struct what_if_view *)context)->load);
}

/* ---- the table ---- */

enum column {
	CHANGE,
	SAVED_PCT,
	SAVED,
	PREDICTED,
	STEP,
	REPLAYED,
	ERROR,
	LIMIT,
	ASSUMPTION,
	PID,
	RANK,
	STEPS,
};

static const struct table_column columns[] = {
	TABLE_COLUMN("change", "Without", TABLE_TEXT,
		.help = "what is taken out, or all that was asked for"),
	TABLE_COLUMN("saved_pct", "Saved %", TABLE_PERCENT, .help = "of the step"),
	TABLE_COLUMN("saved_ns", "Saved", TABLE_MEAN_TIME, .help = "replayed less predicted"),
	TABLE_COLUMN("predicted_ns", "Predicted", TABLE_MEAN_TIME,
		.help = "the measured step less what is saved; unknown where the replay of the "
			"unchanged steps is off by more than 3 %"),
	TABLE_COLUMN("step_ns", "Step", TABLE_MEAN_TIME, .help = "measured"),
	TABLE_COLUMN("replayed_ns", "Replayed", TABLE_MEAN_TIME, .is_minor = true,
		.help = "what the replay of the unchanged steps takes"),
	TABLE_COLUMN("error_pct", "Error %", TABLE_PERCENT,
		.help = "of the replay of the unchanged steps, against the measured ones"),
	TABLE_COLUMN("limit", "Then limited by", TABLE_TEXT,
		.help = "what most of the critical path of the changed step consists of"),
	TABLE_COLUMN("assumption", "As if", TABLE_TEXT, .is_wide_only = true),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, .is_minor = true, .help = "replayed steps"),
};

static double error_of(const struct row *row)
{
	return row->measured_ns ? 100 * fabs((double)row->replayed_ns - (double)row->measured_ns) /
					  (double)row->measured_ns
				: 0;
}

static const char *name_of(const struct what_if_view *view, size_t change, const char **assumption)
{
	uint32_t removals = view->changes[change].removals;
	bool is_one = removals && !(removals & (removals - 1)) && !view->changes[change].scales;
	unsigned int removal = is_one ? (unsigned int)__builtin_ctz(removals) : 0;

	*assumption = is_one ? what_if_assumptions[removal] : NULL;
	return is_one ? what_if_removals[removal] : "all that was asked for";
}

static const char *limit_of(const struct row *row, size_t change)
{
	unsigned int most = 0;

	for (unsigned int i = 1; i < NR_REPLAY_KINDS; i++) {
		most = row->limits[change][i] > row->limits[change][most] ? i : most;
	}
	return row->limits[change][most] ? replay_kind_names[most] : NULL;
}

static void set_text(struct table_cell *cell, const char *text)
{
	if (text) {
		table_set_text(cell, text, strlen(text));
	}
}

static void add_change(
	const struct what_if_view *view, size_t process, size_t change, struct table *table)
{
	const struct row *row = &view->rows[process];
	struct table_cell *cells = table_add_row(table);
	double nr = (double)row->nr_steps, step_ns = (double)row->step_ns / nr;
	double saved_ns = ((double)row->replayed_ns - (double)row->changed_ns[change]) / nr;
	const char *assumption;

	set_text(&cells[CHANGE], name_of(view, change, &assumption));
	set_text(&cells[ASSUMPTION], assumption);
	table_set_number(&cells[STEP], step_ns);
	table_set_number(&cells[REPLAYED], (double)row->replayed_ns / nr);
	table_set_number(&cells[ERROR], error_of(row));
	if (error_of(row) <= MOST_ERROR_PCT) {
		table_set_number(&cells[SAVED], saved_ns);
		table_set_number(&cells[SAVED_PCT], 100 * saved_ns / step_ns);
		table_set_number(&cells[PREDICTED], step_ns - saved_ns);
		set_text(&cells[LIMIT], limit_of(row, change));
	}
	table_set_integer(&cells[STEPS], row->nr_steps);
	view_fill_process(view->input.processes[process], &cells[PID]);
}

struct order {
	size_t change;
	uint64_t ns;
};

static int by_time(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->ns != y->ns) {
		return x->ns < y->ns ? -1 : 1;
	}
	return x->change < y->change ? -1 : x->change > y->change;
}

static void note_error(const struct what_if_view *view, size_t process, struct table *table)
{
	const struct row *row = &view->rows[process];
	double nr = (double)row->nr_steps;

	if (error_of(row) <= MOST_ERROR_PCT) {
		return;
	}
	table_note(table,
		"The steps of process %u are not predictable: their unchanged replay takes %.3f "
		"ms, "
		"measured were %.3f ms. GPU activities waited %.3f ms per step for something that "
		"is not recorded.",
		view->input.processes[process]->pid, (double)row->replayed_ns / nr / 1e6,
		(double)row->measured_ns / nr / 1e6, (double)row->unexplained_ns / nr / 1e6);
}

static void fill_table(void *state, struct table *table)
{
	const struct what_if_view *view = state;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		struct order order[MOST_CHANGES];

		if (!view->rows[i].nr_steps) {
			continue;
		}
		for (size_t k = 0; k < view->nr_changes; k++) {
			order[k] = (struct order){k, view->rows[i].changed_ns[k]};
		}
		qsort(order, view->nr_changes, sizeof(*order), by_time);
		for (size_t k = 0; k < view->nr_changes; k++) {
			add_change(view, i, order[k].change, table);
		}
		note_error(view, i, table);
	}
}

static void fini(void *state)
{
	struct what_if_view *view = state;

	step_loader_fini(&view->load);
	free(view->rows);
}

VIEW(what_if, 25) = {
	.name = "what-if",
	.help = "what a step would take without data loading, waits, copies, launches ...",
	.about = "Each row is a prediction: the recorded steps are run again as a graph of what "
		 "waited for what, with one thing changed. The command whatif changes what you "
		 "choose.",
	.is_asked_only = true,
	.title = "What if",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct what_if_view),
	.scan = {step_loader_wants, STEP_LOADER_NR_WANTS, NULL, NULL, on_batch, NULL},
	.ops = {.begin = begin, .op = on_op, .call = on_call, .record = on_record, .end = end},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
