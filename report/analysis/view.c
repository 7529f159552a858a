/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs views. A command hands over the views that it wants; this makes their states, collects the
 * callbacks of all into two lists, and makes two passes over the events: scan.c, block by block,
 * then op_walk.c, for nesting. All views of a command share both passes. The rest of the file is
 * what views have in common: device columns and notes.
 */
#include "report/analysis/view.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/gpu/gpu_activities.h"
#include "report/comm/job_clock.h"
#include "report/util/text.h"

/* A state, the view that gathers it, and the first that shows it. */
struct owner {
	const struct view_class *class, *first;
	void *state;
	bool counts_launches; /* a view that shows the state wants the launches */
};

const struct view_class *view_owner(const struct view_class *class)
{
	return class->shows ? class->shows : class;
}

static struct view_input *input_of(const struct view_class *owner, void *state)
{
	return (void *)((char *)state + owner->state.input);
}

static void *create(const struct view_class *owner, const struct view_input *input, bool is_brief)
{
	char *state = mem_zeroed(1, owner->state.size);

	*input_of(owner, state) = *input;
	input_of(owner, state)->is_brief = is_brief;
	if (owner->state.is_keyed) {
		keyed_stats_init((void *)(state + owner->state.keyed));
	}
	if (owner->init) {
		owner->init(state);
	}
	return state;
}

/* Are all views brief that show the state of that one? */
static bool is_brief(
	const struct view_class *const *classes, size_t nr_classes, const struct view_class *owner)
{
	for (size_t i = 0; i < nr_classes; i++) {
		if (view_owner(classes[i]) == owner && !classes[i]->is_brief) {
			return false;
		}
	}
	return true;
}

/*
 * Makes the states; returns how many there are, and them with their views in `owners`. A view that
 * is named twice gathers twice, since its table may take what it gathered.
 */
static size_t create_states(const struct view_input *input, const struct view_class *const *classes,
	size_t nr_classes, void **states, struct owner *owners)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_classes; i++) {
		const struct view_class *class = view_owner(classes[i]);
		size_t at = 0;

		while (at < nr && (owners[at].class != class || owners[at].first == classes[i])) {
			at++;
		}
		if (at == nr) {
			owners[nr].class = class;
			owners[nr].first = classes[i];
			owners[nr++].state =
				create(class, input, is_brief(classes, nr_classes, class));
		}
		states[i] = owners[at].state;
		input_of(class, states[i])->nr_showing++;
		owners[at].counts_launches |= classes[i]->counts_launches;
	}
	return nr;
}

/*
 * One order is for what is selected, one for everything. Behind them comes the scan that tells
 * views the current process.
 */
#define NR_ORDERS      2u
#define NR_FIRST_SCANS (NR_ORDERS + 1u)

/* The first scans make the orders of GPU activities for the others. */
static void add_orders(struct gpu_activities_order *orders, struct scan *scans, size_t nr_scans)
{
	for (unsigned int i = 0; i < NR_ORDERS; i++) {
		orders[i] = (struct gpu_activities_order){.scans = scans + NR_ORDERS,
			.nr_scans = nr_scans - NR_ORDERS,
			.ignores_selection = i > 0};
		scans[i] = gpu_activities_order_scan(&orders[i]);
	}
}

/* One count of the launches is for all views that want it. */
static void give_launches(
	const struct owner *owners, size_t nr_owners, const struct launch_counts *counts)
{
	for (size_t i = 0; i < nr_owners; i++) {
		struct view_input *input = input_of(owners[i].class, owners[i].state);

		if (owners[i].counts_launches) {
			input->launches =
				mem_resize(NULL, counts->nr + 1, sizeof(*input->launches));
			memcpy(input->launches, counts->of, counts->nr * sizeof(*counts->of));
		}
	}
}

/* All states, and their callbacks. */
struct gatherers {
	const struct view_input *input;
	struct owner *owners;
	size_t nr_owners, nr_begun; /* begun: processes of both passes */
	struct scan *scans;
	struct op_walk *walks;
	size_t nr_scans, nr_walks;
};

/* Both passes begin their processes in the order of the input, and this comes before the views. */
static void begin(void *context, struct process *process)
{
	struct gatherers *all = context;
	size_t number = all->nr_begun++ % all->input->nr_processes;

	for (size_t i = 0; i < all->nr_owners; i++) {
		struct view_input *input = input_of(all->owners[i].class, all->owners[i].state);

		input->process = process;
		input->number = number;
	}
}

static const struct scan_view begin_scan = {.begin = begin};
static const struct op_view begin_walk = {.begin = begin};

/* Members of a state (parts) gather after their view. */
static void add_gatherers(struct gatherers *all, const struct view_class *class, void *state)
{
	if (class->scan.on_batch || class->scan.on_activity) {
		all->scans[all->nr_scans++] = (struct scan){&class->scan, state};
	}
	if (op_view_is_set(&class->ops)) {
		all->walks[all->nr_walks++] = (struct op_walk){&class->ops, state};
	}
	for (unsigned int k = 0;
		k < VIEW_MAX_PARTS && (class->parts[k].ops || class->parts[k].scan); k++) {
		const struct view_part *part = &class->parts[k];
		void *member = (char *)state + part->offset;
		bool is_brief = part->brief_ops && input_of(class, state)->is_brief;

		if (part->scan && (!part->needs_scan || part->needs_scan(member))) {
			all->scans[all->nr_scans++] = (struct scan){part->scan, member};
		}
		if (part->ops) {
			all->walks[all->nr_walks++] =
				(struct op_walk){is_brief ? part->brief_ops : part->ops, member};
		}
	}
}

/*
 * Makes both passes, if there is somebody to gather. The scans of the orders come first, so that
 * views have all activities when their `end` is called.
 */
static void gather(struct gatherers *all)
{
	struct process **processes = all->input->processes;
	size_t nr_processes = all->input->nr_processes;
	struct gpu_activities_order orders[NR_ORDERS];

	if (all->nr_scans > NR_FIRST_SCANS) {
		add_orders(orders, all->scans, all->nr_scans);
		all->scans[NR_ORDERS] = (struct scan){&begin_scan, all};
		scan_run(processes, nr_processes, all->scans, all->nr_scans);
	}
	if (all->nr_walks > 1) {
		all->walks[0] = (struct op_walk){&begin_walk, all};
		op_walk_run(processes, nr_processes, all->walks, all->nr_walks);
	}
}

void view_run_with(const struct view_input *input, const struct view_class *const *classes,
	size_t nr_classes, void **states, const struct op_walk *others, size_t nr_others)
{
	struct owner *owners = mem_zeroed(nr_classes + 1, sizeof(*owners));
	size_t most = nr_classes * (1 + VIEW_MAX_PARTS) + 1;
	struct launch_counts launches = {0};
	bool counts_launches = false;
	struct gatherers all = {
		.input = input,
		.owners = owners,
		.nr_owners = create_states(input, classes, nr_classes, states, owners),
		.scans = mem_zeroed(NR_FIRST_SCANS + most, sizeof(struct scan)),
		.walks = mem_zeroed(1 + most + nr_others, sizeof(struct op_walk)),
		.nr_scans = NR_FIRST_SCANS,
		.nr_walks = 1,
	};

	for (size_t i = 0; i < all.nr_owners; i++) {
		counts_launches |= owners[i].counts_launches;
		add_gatherers(&all, owners[i].class, owners[i].state);
	}
	for (size_t i = 0; i < nr_others; i++) {
		all.walks[all.nr_walks++] = others[i];
	}
	if (counts_launches) {
		all.scans[all.nr_scans++] = (struct scan){&launch_counts_scan, &launches};
	}
	gather(&all);
	give_launches(owners, all.nr_owners, &launches);
	launch_counts_fini(&launches);
	free(owners);
	free(all.scans);
	free(all.walks);
}

void view_run(const struct view_input *input, const struct view_class *const *classes,
	size_t nr_classes, void **states)
{
	view_run_with(input, classes, nr_classes, states, NULL, 0);
}

struct table *view_table(const struct view_class *class, void *state)
{
	struct table *table =
		table_create(class->name, class->title, class->columns, class->nr_columns);

	table_set_state(table, state);
	class->fill(state, table);
	return table;
}

void view_destroy(const struct view_class *class, void *state)
{
	const struct view_class *owner = view_owner(class);

	if (--input_of(owner, state)->nr_showing) {
		return;
	}
	if (owner->fini) {
		owner->fini(state);
	}
	free(input_of(owner, state)->launches);
	if (owner->state.is_keyed) {
		keyed_stats_fini((void *)((char *)state + owner->state.keyed));
	}
	free(state);
}

const struct keyed_stats *view_keyed(const struct view_class *class, void *state)
{
	struct keyed_stats *keyed = (void *)((char *)state + view_owner(class)->state.keyed);

	keyed_stats_finish(keyed);
	return keyed;
}

const struct table_column *view_column(const struct view_class *class, const char *key)
{
	for (unsigned int i = 0; i < class->nr_columns; i++) {
		if (strcmp(class->columns[i].key, key) == 0) {
			return &class->columns[i];
		}
	}
	return NULL;
}

void view_set_pid(const void *member, struct table_cell *cell)
{
	const struct process *process = *(const struct process *const *)member;

	if (process) {
		table_set_integer(cell, process->pid);
	}
}

void view_set_rank(const void *member, struct table_cell *cell)
{
	const struct process *process = *(const struct process *const *)member;

	if (process && process->rank >= 0) {
		table_set_integer(cell, (uint64_t)process->rank);
	}
}

void view_fill_process(const struct process *process, struct table_cell *cells)
{
	struct place {
		const struct process *process;
	} place = {process};
	static const struct table_column columns[] = {VIEW_PROCESS_COLUMNS(place, process)};

	TABLE_FILL(columns, &place, cells);
}

size_t view_without_devices(const struct view_input *input, const char **why)
{
	size_t nr = 0;

	for (size_t i = 0; i < input->nr_processes; i++) {
		nr += !process_has_device_records(input->processes[i], why);
	}
	return nr;
}

void view_note_without_devices(struct table *table, const struct view_input *input,
	size_t nr_without, const char *why, const char *instead)
{
	const char *lacking = nr_without && nr_without == input->nr_processes
				      ? process_lacks_gpu(input->processes[0])
				      : NULL;

	if (lacking) {
		table_note(table, "No GPU: %s.", lacking);
	} else if (nr_without && nr_without == input->nr_processes) {
		table_note(table, "No GPU activities were recorded: %s.", why);
	} else if (nr_without) {
		table_note(table, "%zu process%s no GPU activities: %s.", nr_without,
			nr_without == 1 ? " has" : "es have", why);
	}
	if (nr_without && *instead) {
		table_note(table, "%s", instead);
	}
}

void view_note_stacks(struct table *table, const struct view_input *input, uint64_t nr_with_stack,
	uint64_t nr_ops)
{
	bool has_stacks = false;

	for (size_t i = 0; i < input->nr_processes; i++) {
		has_stacks |= input->processes[i]->py_stacks.nr > 0;
	}
	if (!has_stacks) {
		table_note(table, "No Python stacks were recorded; set GPROF_PYTHON=stacks.");
		return;
	}
	table_note(table,
		"The table covers the %" PRIu64 " of %" PRIu64
		" operators that have a Python stack; GPROF_PYTHON_HZ sets how many a recording "
		"samples.",
		nr_with_stack, nr_ops);
}

void view_note_devices(struct table *table, const struct view_input *input, const char *instead)
{
	const char *why = "";
	size_t nr_without = view_without_devices(input, &why);

	view_note_without_devices(table, input, nr_without, why, instead);
}

bool view_has_lost(const struct view_input *input, const struct process *process)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		if (input->processes[i] == process) {
			return budget_has_lost(&input->launches[i]);
		}
	}
	return false;
}

void view_note_lost(struct table *table, const struct view_input *input)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		budget_warn_lost(input->processes[i], &input->launches[i]);
		budget_note_lost(table, input->processes[i], &input->launches[i]);
	}
}

void view_note_stepless(struct table *table, size_t nr_processes)
{
	if (nr_processes) {
		table_note(table, "%zu process%s without steps or phases %s excluded.",
			nr_processes, nr_processes == 1 ? "" : "es",
			nr_processes == 1 ? "is" : "are");
	}
}

void view_note_steps(struct table *table, const struct process *process)
{
	const char *rule = process_fact(process, "step.rule", "");
	const char *why = process_fact(process, "step.why", "");

	if (!*rule) {
		return; /* the user named it, or an older recorder */
	}
	if (strcmp(rule, "none") == 0) {
		table_note(
			table, "No steps were found: %s; GPROF_STEP sets what ends a step.", why);
	} else {
		table_note(table, "Steps were found by %s, confidence %s: %s.", rule,
			process_fact(process, "step.confidence", "unknown"), why);
	}
}

static void note_sentence(struct table *table, struct buf *text)
{
	if (text->nr_bytes) {
		text->bytes[0] = (char)toupper((unsigned char)text->bytes[0]);
		table_note(table, "%.*s.", (int)text->nr_bytes, text->bytes);
	}
	buf_fini(text);
}

void view_note_clock(struct table *table, struct process *const *processes, size_t nr_processes)
{
	struct buf text = {0};

	view_note_fit(table, processes, nr_processes);
	job_clock_print_unaligned(processes, nr_processes, "", &text);
	note_sentence(table, &text);
}

void view_note_fit(struct table *table, struct process *const *processes, size_t nr_processes)
{
	struct buf text = {0};

	job_clock_print_fit(processes, nr_processes, "", &text);
	note_sentence(table, &text);
}

/* Processes are sorted by rank, so a rank that was not seen before is larger than the last one. */
void view_note_ranks(struct table *table, struct process *const *processes, size_t nr_processes)
{
	int64_t last = -1, world = -1;
	size_t nr_ranks = 0, nr_strangers = 0, nr_parts = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];

		world = process->world > world ? process->world : world;
		nr_ranks += process->rank > last;
		last = process->rank > last ? process->rank : last;
		nr_strangers += process->is_foreign;
		nr_parts += process->rank >= 0 && !process_is_complete(process);
	}
	if (nr_ranks > 1 && (int64_t)nr_ranks < world) {
		table_note(table, "Covers %zu of %" PRId64 " ranks.", nr_ranks, world);
	}
	if (nr_ranks > 1 && nr_parts) {
		table_note(table, "%zu process%s incomplete: still running, or data is missing.",
			nr_parts, nr_parts == 1 ? " is" : "es are");
	}
	if (nr_strangers) {
		table_note(table,
			"%zu process%s no communicator with the others: another job, or another "
			"time.",
			nr_strangers, nr_strangers == 1 ? " shares" : "es share");
	}
}
