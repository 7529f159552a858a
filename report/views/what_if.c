/* SPDX-License-Identifier: Apache-2.0 */
/* Shows how long steps would take if something were faster: the answers of replay.h for each
 * change. */
#include "report/replay/what_if.h"

#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/replay/prediction.h"
#include "report/analysis/view.h"
#include "report/util/sort.h"

struct what_if_view {
	struct view_input input;
	struct prediction prediction;
};

/* All that was asked for at once, or each removal. */
static void choose_changes(struct what_if_view *view)
{
	const struct what_if *asked = view->input.what_if;
	struct prediction *prediction = &view->prediction;

	if (asked && (asked->change.removals || asked->change.scales)) {
		prediction->changes[prediction->nr_changes++] = asked->change;
		return;
	}
	for (unsigned int i = 0; i < NR_REPLAY_REMOVALS; i++) {
		prediction->changes[prediction->nr_changes++] =
			(struct replay_change){.removals = 1u << i};
	}
}

static uint32_t scales_of(void *context, uint32_t name, enum replay_item item)
{
	const struct what_if_view *view = context;

	return view->input.what_if ? what_if_scales_of(view->input.what_if, name, item) : 0;
}

static void init(void *state)
{
	struct what_if_view *view = state;

	choose_changes(view);
	view->prediction.scales_of = scales_of;
	view->prediction.context = view;
	prediction_init(&view->prediction, &view->input);
}

/* ---- the table ---- */

struct change_row {
	const struct process *process; /* NULL: the job */
	double saved_pct, saved_ns, predicted_ns, step_ns, replayed_ns, error_pct;
	uint64_t nr_steps;
	const char *change, *limit, *assumption;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("change", "Without", TABLE_TEXT,
		.help = "what is taken out, or all that was asked for",
		TABLE_MEMBER(change_row, change)),
	TABLE_COLUMN("saved_pct", "Saved %", TABLE_PERCENT, .help = "of the step",
		TABLE_MEMBER(change_row, saved_pct)),
	TABLE_COLUMN("saved_ns", "Saved", TABLE_MEAN_TIME,
		.help = "what the change takes off the replay", TABLE_MEMBER(change_row, saved_ns)),
	TABLE_COLUMN("predicted_ns", "Predicted", TABLE_MEAN_TIME,
		.help = "the measured step less what is saved, at least GPU busy time; unknown if "
			"the error exceeds 3 %",
		TABLE_MEMBER(change_row, predicted_ns)),
	TABLE_COLUMN("step_ns", "Step", TABLE_MEAN_TIME,
		.help = "measured, as in the view budget, of the replayed steps",
		TABLE_MEMBER(change_row, step_ns)),
	TABLE_COLUMN("replayed_ns", "Replayed", TABLE_MEAN_TIME, .is_minor = true,
		.help = "the same by the replay of the unchanged steps",
		TABLE_MEMBER(change_row, replayed_ns)),
	TABLE_COLUMN("error_pct", "Error %", TABLE_PERCENT, .help = "replayed against measured",
		TABLE_MEMBER(change_row, error_pct)),
	TABLE_COLUMN("limit", "Then limited by", TABLE_TEXT,
		.help = "what most of the critical path of the changed step consists of",
		TABLE_MEMBER(change_row, limit)),
	TABLE_COLUMN("assumption", "As if", TABLE_TEXT, .is_wide_only = true,
		TABLE_MEMBER(change_row, assumption)),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true, VIEW_PID(change_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT, VIEW_RANK(change_row, process)),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, .is_minor = true,
		.help = "replayed steps: some of those that count on the first screen",
		TABLE_MEMBER(change_row, nr_steps)),
};

static const char *name_of(const struct what_if_view *view, size_t change, const char **assumption)
{
	uint32_t removals = view->prediction.changes[change].removals;
	bool is_one = removals && !(removals & (removals - 1)) &&
		      !view->prediction.changes[change].scales;
	unsigned int removal = is_one ? (unsigned int)__builtin_ctz(removals) : 0;

	*assumption = is_one ? what_if_assumptions[removal] : NULL;
	return is_one ? what_if_removals[removal] : "all that was asked for";
}

static const char *limit_of(const struct predicted *predicted, size_t change)
{
	unsigned int most = 0;

	for (unsigned int i = 1; i < NR_REPLAY_KINDS; i++) {
		most = predicted->limits[change][i] > predicted->limits[change][most] ? i : most;
	}
	return predicted->limits[change][most] ? replay_kind_names[most] : NULL;
}

/* process: that of nr_processes for the job. */
static void add_change(const struct what_if_view *view, size_t process,
	const struct predicted *predicted, size_t change, struct table *table)
{
	double saved_ns = prediction_saved_ns(predicted, change);
	bool is_known = prediction_is_known(predicted);
	struct change_row row = {.process = process < view->input.nr_processes
						    ? view->input.processes[process]
						    : NULL,
		.saved_pct = is_known ? 100 * saved_ns / predicted->step_ns : NAN,
		.saved_ns = is_known ? saved_ns : NAN,
		.predicted_ns = is_known ? predicted->step_ns - saved_ns : NAN,
		.step_ns = predicted->step_ns,
		.replayed_ns = prediction_replayed_ns(predicted),
		.error_pct = prediction_error_pct(predicted),
		.nr_steps = predicted->nr_steps,
		.limit = is_known ? limit_of(predicted, change) : NULL};

	row.change = name_of(view, change, &row.assumption);
	table_add(table, &row);
}

struct row {
	const struct predicted *predicted;
	size_t process; /* nr_processes: the job */
	size_t change;
};

/* The largest saving comes first; unknown ones come last. */
static int by_saving(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	bool is_known = prediction_is_known(x->predicted);
	double x_ns = prediction_saved_ns(x->predicted, x->change);
	double y_ns = prediction_saved_ns(y->predicted, y->change);

	if (is_known != prediction_is_known(y->predicted)) {
		return is_known ? -1 : 1;
	}
	if (is_known && (x_ns < y_ns || x_ns > y_ns)) {
		return x_ns > y_ns ? -1 : 1;
	}
	return ORDER(COMPARE(x->process, y->process), COMPARE(x->change, y->change));
}

static void note_lost(const struct budget_launches *launches, struct table *table)
{
	struct buf text = {0};

	budget_add_lost(launches, &text);
	table_note(table, "The steps are not predictable: %.*s.", (int)text.nr_bytes, text.bytes);
	buf_fini(&text);
}

static void note_error(const struct predicted *predicted, struct table *table)
{
	if (budget_has_lost(&predicted->launches)) {
		note_lost(&predicted->launches, table);
	} else if (!prediction_is_known(predicted)) {
		table_note(table,
			"The steps are not predictable: their unchanged replay takes %.3f ms, "
			"measured were %.3f ms. GPU activities waited %.3f ms per step for "
			"something that is not recorded.",
			prediction_replayed_ns(predicted) / 1e6, predicted->step_ns / 1e6,
			predicted->unexplained_ns / 1e6);
	}
}

/* Names the least explained of several processes; the table has the errors of all. */
static void note_errors(const struct what_if_view *view, size_t nr_replayed, struct table *table)
{
	const struct predicted *of = view->prediction.of;
	size_t nr_unknown = 0, most = 0;
	struct budget_launches lost = {0};
	const struct process *process;
	char who[32];

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		if (of[i].nr_steps && budget_has_lost(&of[i].launches)) {
			budget_add_launches(&lost, &of[i].launches);
		} else if (of[i].nr_steps && !prediction_is_known(&of[i])) {
			most = !nr_unknown || of[i].unexplained_ns > of[most].unexplained_ns ? i
											     : most;
			nr_unknown++;
		}
	}
	if (lost.all) {
		note_lost(&lost, table);
	}
	if (!nr_unknown) {
		return;
	}
	process = view->input.processes[most];
	if (process->rank < 0) {
		snprintf(who, sizeof(who), "process %u", process->pid);
	} else {
		snprintf(who, sizeof(who), "rank %" PRId64, process->rank);
	}
	table_note(table,
		"The steps of %zu of %zu processes are not predictable: their unchanged replay is "
		"off by more than %.0f %%. GPU activities of %s waited %.3f ms per step for "
		"something that is not recorded.",
		nr_unknown, nr_replayed, PREDICTION_ERROR_PCT, who, of[most].unexplained_ns / 1e6);
}

/* A factor for something that never ran changes nothing, and is probably misspelt. */
static void note_unmatched(const struct what_if *asked, struct table *table)
{
	for (size_t i = 0; asked && i < asked->nr_scales; i++) {
		const char *text = what_if_unmatched(asked, i);

		if (text) {
			table_note(table, "--scale '%s' applies to nothing in the replayed steps.",
				text);
		}
	}
}

static void fill_rows(struct what_if_view *view, struct row *rows, size_t nr, struct table *table)
{
	const struct prediction *prediction = &view->prediction;
	size_t nr_processes = view->input.nr_processes;

	qsort(rows, nr, sizeof(*rows), by_saving);
	for (size_t i = 0; i < nr; i++) {
		bool has_ranks = rows[i].process == nr_processes && view->input.is_detailed;

		add_change(view, rows[i].process, rows[i].predicted, rows[i].change, table);
		for (size_t k = 0; has_ranks && k < nr_processes; k++) {
			if (prediction->of[k].nr_steps) {
				add_change(view, k, &prediction->of[k], rows[i].change, table);
				table_set_level(table, 1);
			}
		}
	}
}

/* Each change, of the job where its processes are replayed together, else of each process. */
static void fill_table(void *state, struct table *table)
{
	struct what_if_view *view = state;
	const struct prediction *prediction = &view->prediction;
	size_t nr_processes = view->input.nr_processes, nr_changes = prediction->nr_changes;
	size_t nr_replayed = 0, nr = 0, first = 0, end = nr_processes;
	struct row *rows = mem_zeroed((nr_processes + 1) * nr_changes, sizeof(*rows));

	prediction_end(&view->prediction);
	for (size_t i = 0; i < nr_processes; i++) {
		prediction_set_launches(&view->prediction, i, &view->input.launches[i]);
		budget_warn_lost(view->input.processes[i], &view->input.launches[i]);
		nr_replayed += prediction->of[i].nr_steps != 0;
	}
	if (nr_replayed > 1 && prediction->is_joined) {
		first = nr_processes;
		end = nr_processes + 1;
	}
	for (size_t i = first; i < end; i++) {
		const struct predicted *of =
			i == nr_processes ? &prediction->job : &prediction->of[i];

		for (size_t k = 0; k < nr_changes && of->nr_steps; k++) {
			rows[nr++] = (struct row){of, i, k};
		}
	}
	fill_rows(view, rows, nr, table);
	if (first) {
		note_error(&prediction->job, table);
	} else if (nr_replayed > 1) {
		note_errors(view, nr_replayed, table);
		table_note(table, "Each process is replayed by itself: the time that its "
				  "collectives wait for other ranks stays as measured.");
	} else if (nr) {
		note_error(rows[0].predicted, table);
	}
	free(rows);
	note_unmatched(view->input.what_if, table);
}

static void fini(void *state)
{
	struct what_if_view *view = state;

	prediction_fini(&view->prediction);
}

VIEW(what_if, 25) = {
	.name = "what-if",
	.subject = VIEW_ABOUT_VERDICT,
	.help = "what a step would take without data loading, waits, copies, launches ...",
	.about = "Each row is a prediction: the recorded steps are run again as a graph of what "
		 "waited for what, with one thing changed. The command whatif changes what you "
		 "choose.",
	.is_asked_only = true,
	.counts_launches = true,
	.title = "What if",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct what_if_view),
	.parts = {{&prediction_scan, &prediction_ops, offsetof(struct what_if_view, prediction)}},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
