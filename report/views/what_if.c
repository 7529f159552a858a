/* SPDX-License-Identifier: Apache-2.0 */
/* What steps would take if something were faster: what replay.h says of each change. */
#include "report/analysis/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/comm/nccl_match.h"

/* More steps are evenly thinned out to about so many; of jobs, whose graphs are all in memory. */
#define MOST_STEPS     64u
#define MOST_JOB_STEPS 16u
#define MOST_JOB_NODES 8000000u /* 700 MB */

/* Where the unchanged replay is further off, nothing is predicted. */
#define MOST_ERROR_PCT 3.0

#define MOST_CHANGES (NR_REPLAY_REMOVALS + 1)

/* Of a process: sums over its replayed steps, ns. */
struct row {
	uint64_t nr_steps, step_ns, measured_ns, replayed_ns, unexplained_ns;
	uint64_t changed_ns[MOST_CHANGES];
	uint64_t limits[MOST_CHANGES][NR_REPLAY_KINDS];
};

/* A step of a job, until all its processes are there. */
struct slot {
	uint64_t number;
	struct replay_graph **graphs; /* of each process, NULL where it is not replayed */
	uint64_t *step_ns;
};

struct what_if_view {
	struct view_input input;
	struct step_loader load;
	struct replay_change changes[MOST_CHANGES];
	size_t nr_changes;
	struct row *rows; /* of each process */
	size_t process;	  /* the one at hand */
	size_t nr_begun, nr_seen, stride;

	/* of jobs whose collectives match */
	struct nccl_ops ops;
	uint64_t nr_matched;
	struct idmap collectives; /* uint32_t of the process at hand: by correlation id 1 + op */
	struct slot *slots;
	size_t nr_slots, slot_capacity;
	bool is_joined;
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

/* ---- names and collectives ---- */

static uint32_t scales_of(const struct what_if_view *view, uint32_t name, bool is_operator)
{
	return view->input.what_if ? what_if_scales_of(view->input.what_if, name, is_operator) : 0;
}

static uint32_t of_operator(void *context, uint32_t name)
{
	return scales_of(context, name, true);
}

static uint32_t of_activity(void *context, uint32_t name)
{
	return scales_of(context, name, false);
}

static uint32_t of_collective(void *context, uint32_t correlation)
{
	const struct what_if_view *view = context;
	const uint32_t *found = idmap_get(&view->collectives, correlation);

	return found ? *found : 0;
}

static uint32_t ranks_of(void *context, uint32_t collective)
{
	const struct what_if_view *view = context;

	return view->ops.ops[collective - 1].nr_ranks;
}

static struct replay_names names_of(struct what_if_view *view)
{
	return (struct replay_names){of_operator, of_activity, of_collective, ranks_of, view};
}

/* All ranks' operations of a collective lie behind each other: its number is the first of them. */
static void find_collectives(struct what_if_view *view, size_t process)
{
	const struct nccl_op *first = view->ops.ops;

	idmap_fini(&view->collectives);
	idmap_init(&view->collectives, sizeof(uint32_t));
	for (size_t i = 0; i < view->ops.nr_ops; i++) {
		const struct nccl_op *op = &view->ops.ops[i];

		if (op->key != first->key || op->sequence != first->sequence) {
			first = op;
		}
		if (op->process == process && op->is_matched && op->correlation &&
			nccl_op_is_numbered(op)) {
			*(uint32_t *)idmap_put(&view->collectives, op->correlation) =
				(uint32_t)(first - view->ops.ops) + 1;
		}
	}
}

/* ---- steps ---- */

static void add_results(struct what_if_view *view, struct replay_graph *graph, const size_t *of,
	size_t nr, const uint64_t *step_ns)
{
	struct replay_result *results = mem_zeroed(nr, sizeof(*results));

	for (size_t i = 0; i < nr; i++) {
		struct row *row = &view->rows[of[i]];

		row->nr_steps++;
		row->step_ns += step_ns[i];
		row->measured_ns += replay_measured_ns(graph, i);
		row->unexplained_ns += replay_unexplained_ns(graph, i);
	}
	for (size_t change = 0; change <= view->nr_changes; change++) {
		bool is_changed = change < view->nr_changes;

		replay_run(graph, is_changed ? &view->changes[change] : NULL, results);
		for (size_t i = 0; i < nr; i++) {
			struct row *row = &view->rows[of[i]];

			if (!is_changed) {
				row->replayed_ns += results[i].step_ns;
				continue;
			}
			row->changed_ns[change] += results[i].step_ns;
			for (unsigned int k = 0; k < NR_REPLAY_KINDS; k++) {
				row->limits[change][k] += results[i].limits[k];
			}
		}
	}
	free(results);
}

static struct slot *find_slot(struct what_if_view *view, uint64_t number)
{
	size_t nr = view->input.nr_processes;

	for (size_t i = 0; i < view->nr_slots; i++) {
		if (view->slots[i].number == number) {
			return &view->slots[i];
		}
	}
	view->slots =
		array_grow(view->slots, view->nr_slots, &view->slot_capacity, sizeof(*view->slots));
	view->slots[view->nr_slots] = (struct slot){.number = number,
		.graphs = mem_zeroed(nr, sizeof(struct replay_graph *)),
		.step_ns = mem_zeroed(nr, sizeof(uint64_t))};
	return &view->slots[view->nr_slots++];
}

/* Ranks count alike, so all thin out to the same steps. */
static bool is_wanted(struct what_if_view *view, const struct step_events *step)
{
	/* What a step begins with is not known of the first one; it also warms up. */
	if (step->complete_from == step->begin && view->nr_seen) {
		return false;
	}
	view->nr_seen++;
	return step->number % view->stride == 0 || step->complete_from == step->begin;
}

static void on_step(void *context, struct step_events *step)
{
	struct what_if_view *view = context;
	struct replay_names names = names_of(view);
	uint64_t step_ns = step->end - step->begin;
	struct replay_graph *graph;
	struct slot *slot;

	if (!is_wanted(view, step)) {
		return;
	}
	graph = replay_create(step, &names);
	if (!view->is_joined) {
		add_results(view, graph, &view->process, 1, &step_ns);
		replay_destroy(graph);
		return;
	}
	slot = find_slot(view, step->number);
	slot->graphs[view->process] = graph;
	slot->step_ns[view->process] = step_ns;
}

static void run_slot(struct what_if_view *view, struct slot *slot)
{
	size_t nr_processes = view->input.nr_processes, nr = 0;
	struct replay_graph **graphs = mem_zeroed(nr_processes, sizeof(*graphs));
	size_t *of = mem_zeroed(nr_processes, sizeof(*of));
	uint64_t *step_ns = mem_zeroed(nr_processes, sizeof(*step_ns));
	struct replay_names names = names_of(view);
	struct replay_graph *joined;

	for (size_t i = 0; i < nr_processes; i++) {
		if (slot->graphs[i]) {
			graphs[nr] = slot->graphs[i];
			step_ns[nr] = slot->step_ns[i];
			of[nr++] = i;
		}
	}
	joined = replay_join(graphs, nr, &names);
	add_results(view, joined, of, nr, step_ns);
	replay_destroy(joined);
	for (size_t i = 0; i < nr; i++) {
		replay_destroy(graphs[i]);
	}
	free(graphs);
	free(of);
	free(step_ns);
	free(slot->graphs);
	free(slot->step_ns);
}

/* ---- the pass ---- */

static void init(void *state)
{
	struct what_if_view *view = state;

	view->load.take = on_step;
	view->load.context = view;
	idmap_init(&view->collectives, sizeof(uint32_t));
	choose_changes(view);
	view->rows = mem_zeroed(view->input.nr_processes + 1, sizeof(*view->rows));
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct what_if_view *view = context;

	if (batch->table == GPROF_TABLE_nccl) {
		nccl_ops_add_batch(&view->ops, batch);
	} else {
		step_loader_mark(&view->load, process, batch);
	}
}

static void end_scan(void *context, struct process *process)
{
	struct what_if_view *view = context;

	nccl_ops_end(&view->ops, process);
}

static bool has_steps(const struct process *process)
{
	return process->nr_steps > 1;
}

/* How many steps of the job fit in memory, of two steps' events each. */
static size_t most_job_steps(const struct what_if_view *view)
{
	uint64_t nr_nodes = 0;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		const struct process *process = view->input.processes[i];

		nr_nodes += has_steps(process) ? 2 * process->nr_events / process->nr_steps : 0;
	}
	nr_nodes = nr_nodes ? MOST_JOB_NODES / nr_nodes : 0;
	return nr_nodes < MOST_JOB_STEPS ? (size_t)nr_nodes : MOST_JOB_STEPS;
}

static void begin_all(struct what_if_view *view)
{
	struct nccl_match match;

	if (view->input.nr_processes > 1) {
		nccl_match(&view->ops, &match);
		view->nr_matched = match.nr_matched;
	}
	view->is_joined = view->nr_matched && most_job_steps(view);
}

static void begin(void *context, struct process *process)
{
	struct what_if_view *view = context;
	size_t most;

	if (!view->nr_begun) {
		begin_all(view);
	}
	most = view->is_joined ? most_job_steps(view) : MOST_STEPS;
	view->process = view->nr_begun++;
	view->nr_seen = 0;
	view->stride = (process->nr_steps + most - 1) / most;
	view->stride = view->stride ? view->stride : 1;
	if (view->is_joined) {
		find_collectives(view, view->process);
	}
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

/* What a row of the table says: means per step, of a process or the median of all ranks. */
struct figures {
	double step_ns, measured_ns, replayed_ns, unexplained_ns;
	double changed_ns[MOST_CHANGES];
	uint64_t limits[MOST_CHANGES][NR_REPLAY_KINDS];
	uint64_t nr_steps;
};

static void set_figures(const struct row *row, struct figures *figures)
{
	double nr = (double)row->nr_steps;

	*figures = (struct figures){
		.step_ns = (double)row->step_ns / nr,
		.measured_ns = (double)row->measured_ns / nr,
		.replayed_ns = (double)row->replayed_ns / nr,
		.unexplained_ns = (double)row->unexplained_ns / nr,
		.nr_steps = row->nr_steps,
	};
	for (size_t i = 0; i < MOST_CHANGES; i++) {
		figures->changed_ns[i] = (double)row->changed_ns[i] / nr;
	}
	memcpy(figures->limits, row->limits, sizeof(figures->limits));
}

static int by_number(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median over figures of a member at `offset` of the struct. */
static double median_of(const struct figures *figures, size_t nr, size_t offset)
{
	double *values = mem_zeroed(nr, sizeof(*values));
	double median;

	for (size_t i = 0; i < nr; i++) {
		memcpy(&values[i], (const char *)&figures[i] + offset, sizeof(*values));
	}
	qsort(values, nr, sizeof(*values), by_number);
	median = (values[(nr - 1) / 2] + values[nr / 2]) / 2;
	free(values);
	return median;
}

static void set_job(const struct figures *figures, size_t nr, struct figures *job)
{
	*job = (struct figures){
		.step_ns = median_of(figures, nr, offsetof(struct figures, step_ns)),
		.measured_ns = median_of(figures, nr, offsetof(struct figures, measured_ns)),
		.replayed_ns = median_of(figures, nr, offsetof(struct figures, replayed_ns)),
		.unexplained_ns = median_of(figures, nr, offsetof(struct figures, unexplained_ns)),
		.nr_steps = figures[0].nr_steps,
	};
	for (size_t i = 0; i < MOST_CHANGES; i++) {
		job->changed_ns[i] = median_of(
			figures, nr, offsetof(struct figures, changed_ns) + i * sizeof(double));
		for (size_t k = 0; k < nr; k++) {
			for (unsigned int kind = 0; kind < NR_REPLAY_KINDS; kind++) {
				job->limits[i][kind] += figures[k].limits[i][kind];
			}
		}
	}
}

static double error_of(const struct figures *figures)
{
	return figures->measured_ns > 0 ? 100 * fabs(figures->replayed_ns - figures->measured_ns) /
						  figures->measured_ns
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

static const char *limit_of(const struct figures *figures, size_t change)
{
	unsigned int most = 0;

	for (unsigned int i = 1; i < NR_REPLAY_KINDS; i++) {
		most = figures->limits[change][i] > figures->limits[change][most] ? i : most;
	}
	return figures->limits[change][most] ? replay_kind_names[most] : NULL;
}

static void set_text(struct table_cell *cell, const char *text)
{
	if (text) {
		table_set_text(cell, text, strlen(text));
	}
}

/* process: NULL for the job. */
static struct table_cell *add_change(const struct what_if_view *view, const struct process *process,
	const struct figures *figures, size_t change, struct table *table)
{
	struct table_cell *cells = table_add_row(table);
	double saved_ns = figures->replayed_ns - figures->changed_ns[change];
	const char *assumption;

	set_text(&cells[CHANGE], name_of(view, change, &assumption));
	set_text(&cells[ASSUMPTION], assumption);
	table_set_number(&cells[STEP], figures->step_ns);
	table_set_number(&cells[REPLAYED], figures->replayed_ns);
	table_set_number(&cells[ERROR], error_of(figures));
	if (error_of(figures) <= MOST_ERROR_PCT) {
		table_set_number(&cells[SAVED], saved_ns);
		table_set_number(&cells[SAVED_PCT], 100 * saved_ns / figures->step_ns);
		table_set_number(&cells[PREDICTED], figures->step_ns - saved_ns);
		set_text(&cells[LIMIT], limit_of(figures, change));
	}
	table_set_integer(&cells[STEPS], figures->nr_steps);
	if (process) {
		view_fill_process(process, &cells[PID]);
	}
	return cells;
}

struct order {
	size_t change;
	double ns;
};

static int by_time(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->ns < y->ns || x->ns > y->ns) {
		return x->ns < y->ns ? -1 : 1;
	}
	return x->change < y->change ? -1 : x->change > y->change;
}

static void note_error(const char *whose, const struct figures *figures, struct table *table)
{
	if (error_of(figures) > MOST_ERROR_PCT) {
		table_note(table,
			"The steps%s are not predictable: their unchanged replay takes %.3f ms, "
			"measured were %.3f ms. GPU activities waited %.3f ms per step for "
			"something that is not recorded.",
			whose, figures->replayed_ns / 1e6, figures->measured_ns / 1e6,
			figures->unexplained_ns / 1e6);
	}
}

/* Each change of the job, with those of its ranks below if that was asked for. */
static void add_job(struct what_if_view *view, const struct figures *figures,
	const struct process *const *processes, size_t nr, struct table *table)
{
	struct order order[MOST_CHANGES];
	bool is_one = nr == 1;
	struct figures job;

	set_job(figures, nr, &job);
	for (size_t i = 0; i < view->nr_changes; i++) {
		order[i] = (struct order){i, job.changed_ns[i]};
	}
	qsort(order, view->nr_changes, sizeof(*order), by_time);
	for (size_t i = 0; i < view->nr_changes; i++) {
		add_change(view, is_one ? processes[0] : NULL, &job, order[i].change, table);
		for (size_t k = 0; k < nr && !is_one && view->input.is_detailed; k++) {
			add_change(view, processes[k], &figures[k], order[i].change, table);
			table_set_level(table, 1);
		}
	}
	note_error("", &job, table);
}

static void add_each(struct what_if_view *view, const struct figures *figures,
	const struct process *const *processes, size_t nr, struct table *table)
{
	for (size_t i = 0; i < nr; i++) {
		add_job(view, &figures[i], &processes[i], 1, table);
	}
	if (nr > 1) {
		table_note(table, "Each process is replayed by itself: the time that its "
				  "collectives wait for other ranks stays as measured.");
	}
}

static void fill_table(void *state, struct table *table)
{
	struct what_if_view *view = state;
	size_t nr_processes = view->input.nr_processes, nr = 0;
	const struct process **processes = mem_zeroed(nr_processes + 1, sizeof(*processes));
	struct figures *figures = mem_zeroed(nr_processes + 1, sizeof(*figures));
	bool has_any = false;

	for (size_t i = 0; i < view->nr_slots; i++) {
		run_slot(view, &view->slots[i]);
	}
	view->nr_slots = 0;
	for (size_t i = 0; i < nr_processes; i++) {
		has_any |= has_steps(view->input.processes[i]);
	}
	for (size_t i = 0; i < nr_processes; i++) {
		/* Helpers of a process that trains have no steps. */
		if (view->rows[i].nr_steps && (!has_any || has_steps(view->input.processes[i]))) {
			set_figures(&view->rows[i], &figures[nr]);
			processes[nr++] = view->input.processes[i];
		}
	}
	if (nr && view->is_joined) {
		add_job(view, figures, processes, nr, table);
	} else {
		add_each(view, figures, processes, nr, table);
	}
	free(processes);
	free(figures);
}

static void fini(void *state)
{
	struct what_if_view *view = state;

	for (size_t i = 0; i < view->nr_slots; i++) {
		for (size_t k = 0; k < view->input.nr_processes; k++) {
			if (view->slots[i].graphs[k]) {
				replay_destroy(view->slots[i].graphs[k]);
			}
		}
		free(view->slots[i].graphs);
		free(view->slots[i].step_ns);
	}
	free(view->slots);
	step_loader_fini(&view->load);
	idmap_fini(&view->collectives);
	nccl_ops_fini(&view->ops);
	free(view->rows);
}

static const struct scan_want wants[] = {
	STEP_LOADER_WANTS,
	{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0},
};

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
	.scan = {wants, 3, NULL, NULL, on_batch, end_scan, true},
	.ops = {.ignores_selection = true,
		.begin = begin,
		.op = on_op,
		.call = on_call,
		.record = on_record,
		.end = end},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
