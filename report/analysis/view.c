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

static void *view_create(const struct view_class *class, const struct view_input *input)
{
	char *state;

	if (class->create) {
		return class->create(input);
	}
	state = mem_zeroed(1, class->state.size);
	memcpy(state + class->state.input, input, sizeof(*input));
	if (class->state.is_keyed) {
		keyed_stats_init((void *)(state + class->state.keyed));
	}
	if (class->init) {
		class->init(state);
	}
	return state;
}

static struct view_input *input_of(const struct view_class *class, void *state)
{
	return (void *)((char *)state + class->state.input);
}

static struct view_used *used_of(const struct view_class *class, void *state)
{
	return (void *)((char *)state + class->state.used);
}

/* Do all views that use that one use it briefly? */
static bool is_brief(
	const struct view_class *const *all, size_t nr_classes, const struct view_class *used)
{
	for (size_t i = 0; i < nr_classes; i++) {
		if (all[i]->uses == used && !all[i]->uses_briefly) {
			return false;
		}
	}
	return true;
}

/*
 * Adds the views that others use and that the command did not name, behind the nr_classes of
 * `all`.
 */
static size_t add_used(const struct view_input *input, const struct view_class **all,
	size_t nr_classes, void **states)
{
	size_t nr = nr_classes;

	for (size_t i = 0; i < nr_classes; i++) {
		struct view_used *used = used_of(all[i], states[i]);
		size_t at = 0;

		while (all[i]->uses && at < nr && all[at] != all[i]->uses) {
			at++;
		}
		if (all[i]->uses && at == nr) {
			struct view_input own = *input;

			own.is_brief = is_brief(all, nr_classes, all[i]->uses);
			all[nr] = all[i]->uses;
			states[nr] = view_create(all[nr], &own);
			used->is_own = true;
			nr++;
		}
		if (all[i]->uses) {
			used->state = states[at];
		}
	}
	return nr;
}

/* Finds the states that views share; false: the view gathers what it needs itself. */
static bool find_shared(const struct view_class *const *all, void *const *states, size_t nr,
	const struct view_class *class, void *state)
{
	for (size_t i = 0; i < nr && class->shares; i++) {
		if (all[i] == class->shares) {
			used_of(class, state)->state = states[i];
			return true;
		}
	}
	return false;
}

/* One order of what is selected, and one of everything. */
#define NR_ORDERS 2u

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
static void give_launches(const struct view_class *const *all, void *const *states, size_t nr,
	const struct launch_counts *counts)
{
	for (size_t i = 0; i < nr; i++) {
		struct view_input *input = input_of(all[i], states[i]);

		if (all[i]->counts_launches) {
			input->launches =
				mem_resize(NULL, counts->nr + 1, sizeof(*input->launches));
			memcpy(input->launches, counts->of, counts->nr * sizeof(*counts->of));
		}
	}
}

/*
 * Arrays have room for a used view with all its parts beside each view. The scans of the orders
 * come first, so that views have all activities when their own `end` is called. Members of a state
 * (parts) gather after their view.
 */
void view_run_with(const struct view_input *input, const struct view_class *const *classes,
	size_t nr_classes, void **states, const struct op_walk *others, size_t nr_others)
{
	const struct view_class **all = mem_zeroed(2 * nr_classes + 1, sizeof(*all));
	void **all_states = mem_zeroed(2 * nr_classes + 1, sizeof(*all_states));
	size_t most = 2 * nr_classes * (1 + VIEW_MAX_PARTS);
	struct scan *scans = mem_zeroed(most + NR_ORDERS + 1, sizeof(*scans));
	struct op_walk *walks = mem_zeroed(most + nr_others + 1, sizeof(*walks));
	struct gpu_activities_order orders[NR_ORDERS];
	struct launch_counts launches = {0};
	bool counts_launches = false;
	size_t nr_scans = NR_ORDERS, nr_walks = 0, nr;

	for (size_t i = 0; i < nr_classes; i++) {
		all[i] = classes[i];
		states[i] = all_states[i] = view_create(classes[i], input);
	}
	nr = add_used(input, all, nr_classes, all_states);
	for (size_t i = 0; i < nr; i++) {
		counts_launches |= all[i]->counts_launches;
		if (find_shared(all, all_states, nr, all[i], all_states[i])) {
			continue;
		}
		if (all[i]->scan.on_batch || all[i]->scan.on_activity) {
			scans[nr_scans++] = (struct scan){&all[i]->scan, all_states[i]};
		}
		if (op_view_is_set(&all[i]->ops)) {
			walks[nr_walks++] = (struct op_walk){&all[i]->ops, all_states[i]};
		}
		for (unsigned int k = 0; k < VIEW_MAX_PARTS && all[i]->parts[k].ops; k++) {
			const struct view_part *part = &all[i]->parts[k];
			void *member = (char *)all_states[i] + part->offset;
			bool is_brief =
				part->brief_ops && input_of(all[i], all_states[i])->is_brief;

			if (part->scan && (!part->needs_scan || part->needs_scan(member))) {
				scans[nr_scans++] = (struct scan){part->scan, member};
			}
			walks[nr_walks++] =
				(struct op_walk){is_brief ? part->brief_ops : part->ops, member};
		}
	}
	for (size_t i = 0; i < nr_others; i++) {
		walks[nr_walks++] = others[i];
	}
	if (counts_launches) {
		scans[nr_scans++] = (struct scan){&launch_counts_scan, &launches};
	}
	if (nr_scans > NR_ORDERS) {
		add_orders(orders, scans, nr_scans);
		scan_run(input->processes, input->nr_processes, scans, nr_scans);
	}
	if (nr_walks) {
		op_walk_run(input->processes, input->nr_processes, walks, nr_walks);
	}
	give_launches(all, all_states, nr, &launches);
	launch_counts_fini(&launches);
	free(all);
	free(all_states);
	free(scans);
	free(walks);
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
	void *shared = class->shares ? used_of(class, state)->state : NULL;

	class->fill(shared ? shared : state, table);
	return table;
}

/* A view that only this one uses goes with it. */
void view_destroy(const struct view_class *class, void *state)
{
	if (class->destroy) {
		class->destroy(state);
		return;
	}
	if (class->uses) {
		struct view_used *used = used_of(class, state);

		if (used->is_own) {
			view_destroy(class->uses, used->state);
		}
	}
	if (class->fini) {
		class->fini(state);
	}
	free(input_of(class, state)->launches);
	if (class->state.is_keyed) {
		keyed_stats_fini((void *)((char *)state + class->state.keyed));
	}
	free(state);
}

const struct keyed_stats *view_keyed(const struct view_class *class, void *state)
{
	struct keyed_stats *keyed = (void *)((char *)state + class->state.keyed);

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

void view_fill_process(const struct process *process, struct table_cell *cells)
{
	table_set_integer(&cells[0], process->pid);
	if (process->rank >= 0) {
		table_set_integer(&cells[1], (uint64_t)process->rank);
	}
}

void view_fill_device(const struct process *process, uint32_t device, struct table_cell *cells)
{
	view_fill_process(process, cells);
	if (device != UINT32_MAX) {
		table_set_integer(&cells[2], device);
	}
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
