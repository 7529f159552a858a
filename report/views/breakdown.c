/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what each step spent its time on, why GPUs were idle, and what each GPU did in the steps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/budget/budget.h"
#include "report/budget/part_owners.h"
#include "report/ops/counted_steps.h"
#include "report/analysis/view.h"
#include "report/util/buf.h"
#include "report/util/text.h"

/* The sums of a device over all steps of a process. */
struct use {
	struct device_utilization sum;
	uint64_t steps_ns;
	uint64_t kernel_ns; /* sum of times */
	uint32_t name;
	uint64_t memory_bytes, major, minor;
	bool has_memory, has_major, has_minor;
};

struct result {
	const struct process *process;
	uint64_t nr_cut;
	struct budget_launches launches;
	bool has_steps, is_too_much;
	bool has_sampled;	   /* it has compilations that samples show */
	struct budget_step *steps; /* whole ones */
	bool *counts;		   /* by the same index: all sums and means are of those */
	size_t nr_steps, nr_counted;
	struct use *uses;
	size_t nr_uses;
	struct part_owner longest[NR_BUDGET_PARTS];
};

struct breakdown_view {
	struct view_input input;
	struct rank_waits waits;
	struct budget budget; /* of the current process */
	struct part_owners owners;
	struct result *results;
	size_t nr_results, capacity;
	uint64_t nr_late, nr_untimed;
	size_t nr_warm_up, nr_outliers;
};

static void init(void *state)
{
	struct breakdown_view *view = state;

	rank_waits_init(&view->waits, view->input.nr_processes);
}

static bool needs_waits(void *context, struct process *process, unsigned int table)
{
	const struct breakdown_view *view = context;

	return !view->input.waits && rank_waits_needs(&view->waits, process, table);
}

static void take_waits(void *context, struct process *process, const struct batch *batch)
{
	rank_waits_add_batch(&((struct breakdown_view *)context)->waits, process, batch);
}

static void end_waits(void *context, struct process *process)
{
	rank_waits_end(&((struct breakdown_view *)context)->waits, process);
}

/* No summary and no page of the plugin shows them. */
static bool has_owners(const struct breakdown_view *view)
{
	return !view->input.is_merged && !view->input.is_of_plugin;
}

/* Only the GPUs' own view needs devices; without them a pass takes less time. */
static void begin(void *context, struct process *process)
{
	struct breakdown_view *view = context;

	rank_waits_begin(&view->waits);
	budget_begin(&view->budget, process, !view->input.is_brief);
	view->budget.has_late = true;
	view->budget.has_pauses = view->input.is_of_plugin;
	view->budget.rank_waits = view->input.waits ? view->input.waits : &view->waits;
	if (has_owners(view)) {
		part_owners_begin(&view->owners, &view->budget);
	}
}

static void enter(void *context, const struct op *op)
{
	budget_enter(&((struct breakdown_view *)context)->budget, op);
}

static void call(void *context, const struct op_call *op_call, const struct op *op)
{
	budget_call(&((struct breakdown_view *)context)->budget, op_call, op);
}

static void on_range(void *context, const struct op_range *range)
{
	budget_range(&((struct breakdown_view *)context)->budget, range);
}

static void on_collection(void *context, const struct op_collection *collection)
{
	budget_collection(&((struct breakdown_view *)context)->budget, collection);
}

static void record(void *context, const struct op_record *op_record, const struct op_call *op_call,
	const struct op *op)
{
	budget_record(&((struct breakdown_view *)context)->budget, op_record, op_call, op);
}

static struct use *find_use(struct result *result, const struct process *process, uint32_t device)
{
	struct use *use;

	for (size_t i = 0; i < result->nr_uses; i++) {
		if (result->uses[i].sum.device == device) {
			return &result->uses[i];
		}
	}
	result->uses = mem_resize(result->uses, result->nr_uses + 1, sizeof(*result->uses));
	use = &result->uses[result->nr_uses++];
	*use = (struct use){.sum = {.device = device, .is_sm_known = true}};
	use->name = process_device_name(process, device);
	use->has_memory = process_attribute(process, device, "memory_bytes", &use->memory_bytes);
	use->has_major = process_attribute(process, device, "capability_major", &use->major);
	use->has_minor = process_attribute(process, device, "capability_minor", &use->minor);
	return use;
}

static void add_devices(
	struct result *result, const struct process *process, const struct budget_step *step)
{
	for (size_t i = 0; i < step->nr_devices; i++) {
		struct use *use = find_use(result, process, step->devices[i].device);

		device_utilization_add(&use->sum, &step->devices[i]);
		for (unsigned int k = 0; k < NR_TENSOR_USES; k++) {
			use->kernel_ns += step->devices[i].tensor_ns[k];
		}
	}
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct breakdown_view *view = context;
	struct budget *budget = &view->budget;
	struct counted_steps counted;
	struct result *result;
	uint64_t all_ns = 0;

	view->results = array_grow(
		view->results, view->nr_results, &view->capacity, sizeof(*view->results));
	result = &view->results[view->nr_results++];
	budget_end(budget, phases);
	*result = (struct result){.process = process,
		.nr_cut = budget->nr_cut,
		.launches = budget->launches,
		.has_steps = budget->has_steps,
		.is_too_much = budget->is_too_much};
	result->steps = mem_zeroed(budget->nr_steps + 1, sizeof(*result->steps));
	result->counts = mem_zeroed(budget->nr_steps + 1, sizeof(*result->counts));
	counted_steps_init(&counted, process, false);
	for (size_t i = 0; i < budget->nr_steps && !budget->is_too_much; i++) {
		const struct budget_step *step = &budget->steps[i];

		if (step->place ? counted_steps_is_one(phases, step->place)
				: step->end_ns > step->begin_ns) {
			if (counted.counts[step->place]) {
				add_devices(result, process, step);
				result->has_sampled |= budget->compiled.nr &&
						       step->ns[BUDGET_HOST + HOST_COMPILATION];
				all_ns += step->devices_end_ns - step->begin_ns;
				result->counts[result->nr_steps] = true;
				result->nr_counted++;
			}
			result->steps[result->nr_steps++] = *step;
		}
	}
	view->nr_warm_up += counted.nr_warm_up;
	view->nr_outliers += counted.nr_outliers;
	counted_steps_fini(&counted);
	for (size_t i = 0; i < result->nr_uses; i++) {
		result->uses[i].steps_ns = all_ns;
	}
	if (has_owners(view)) {
		part_owners_end(&view->owners, result->longest);
	}
	view->nr_late += budget->nr_late;
	view->nr_untimed += budget->nr_untimed;
	budget_fini(budget);
}

static void get_sums(const void *state, uint64_t *sums)
{
	const struct breakdown_view *view = state;
	const struct result *result = view->results;

	if (!view->nr_results || !result->nr_counted) {
		return; /* nothing is known */
	}
	memset(sums, 0, NR_BUDGET_SUMS * sizeof(*sums));
	sums[BUDGET_SUM_STEPS] = result->has_steps ? result->nr_counted : 0;
	sums[BUDGET_SUM_CUT] = result->nr_cut + view->nr_late;
	for (size_t i = 0; i < result->nr_steps; i++) {
		const struct budget_step *step = &result->steps[i];
		uint64_t plugin[NR_BUDGET_PLUGIN_PARTS];

		if (!result->counts[i]) {
			continue;
		}
		sums[BUDGET_SUM_NS] += step->end_ns - step->begin_ns;
		budget_plugin_parts(step, plugin);
		for (unsigned int part = 0; part < NR_BUDGET_PLUGIN_PARTS; part++) {
			sums[BUDGET_SUM_PLUGIN + part] += plugin[part];
		}
	}
}

static void add_steps(const struct result *result, uint64_t *parts)
{
	for (size_t i = 0; i < result->nr_steps; i++) {
		for (unsigned int part = 0; result->counts[i] && part < NR_BUDGET_PARTS; part++) {
			parts[part] += result->steps[i].ns[part];
		}
	}
}

/* Gives the facts of one process: its parts, its launches, then the parts that came later. */
static void get_parts(const void *state, uint64_t *facts)
{
	const struct breakdown_view *view = state;
	uint64_t parts[NR_BUDGET_PARTS] = {0};

	if (!view->nr_results) {
		return;
	}
	budget_get_launches(&view->results->launches, facts + NR_BUDGET_LONE_PARTS);
	if (view->results->nr_counted) {
		add_steps(view->results, parts);
		for (unsigned int i = 0; i < NR_BUDGET_LONE_PARTS; i++) {
			facts[i] = parts[budget_lone_part(i)];
		}
		for (unsigned int i = 0; i < NR_BUDGET_LATER_PARTS; i++) {
			facts[NR_BUDGET_LONE_PARTS + NR_BUDGET_LAUNCHES + i] =
				parts[budget_later_parts[i]];
		}
	}
}

static void fini(void *state)
{
	struct breakdown_view *view = state;

	for (size_t i = 0; i < view->nr_results; i++) {
		free(view->results[i].steps);
		free(view->results[i].counts);
		free(view->results[i].uses);
	}
	free(view->results);
	rank_waits_fini(&view->waits);
}

/* ---- the tables ---- */

static void add_notes(const struct breakdown_view *view, struct table *table)
{
	counted_steps_note(view->nr_warm_up, view->nr_outliers, table);
	if (view->nr_late) {
		table_note(table, "%" PRIu64 " %s cut off.", view->nr_late,
			text_many(view->nr_late, "event outlasted its step and is",
				"events outlasted their step and are"));
	}
	if (view->nr_untimed) {
		table_note(table, "%" PRIu64 " GPU %s excluded.", view->nr_untimed,
			text_many(view->nr_untimed, "activity without times is",
				"activities without times are"));
	}
	view_note_devices(table, &view->input, "");
	for (size_t i = 0; i < view->nr_results; i++) {
		const struct result *result = &view->results[i];

		budget_warn(result->process, result->is_too_much, result->nr_cut);
		budget_warn_lost(result->process, &result->launches);
		budget_note_lost(table, result->process, &result->launches);
	}
}

enum column {
	PID,
	RANK,
	STEP,
	TOTAL,
	PARTS,
};

static void fill_step(
	const struct result *result, const struct budget_step *step, struct table_cell *cells)
{
	uint64_t plugin[NR_BUDGET_PLUGIN_PARTS];
	char text[32] = "all";

	view_fill_process(result->process, cells);
	if (step->place) {
		snprintf(text, sizeof(text), "%" PRIu64, step->number);
	}
	table_set_string(&cells[STEP], text);
	table_set_number(&cells[TOTAL], (double)(step->end_ns - step->begin_ns));
	budget_plugin_parts(step, plugin);
	for (unsigned int i = 0; i < NR_BUDGET_PLUGIN_PARTS; i++) {
		table_set_number(&cells[PARTS + i], (double)plugin[i]);
	}
}

static void fill_average(const struct result *result, struct table_cell *cells)
{
	double sums[1 + NR_BUDGET_PLUGIN_PARTS] = {0};

	view_fill_process(result->process, cells);
	table_set_text(&cells[STEP], "average", 7);
	for (size_t i = 0; i < result->nr_steps; i++) {
		uint64_t plugin[NR_BUDGET_PLUGIN_PARTS];

		if (!result->counts[i]) {
			continue;
		}
		sums[0] += (double)(result->steps[i].end_ns - result->steps[i].begin_ns);
		budget_plugin_parts(&result->steps[i], plugin);
		for (unsigned int k = 0; k < NR_BUDGET_PLUGIN_PARTS; k++) {
			sums[1 + k] += (double)plugin[k];
		}
	}
	for (unsigned int i = 0; i < 1 + NR_BUDGET_PLUGIN_PARTS; i++) {
		table_set_number(&cells[TOTAL + i], sums[i] / (double)result->nr_counted);
	}
}

/* Where others have steps, a loader worker's whole time is beside the point. */
static bool is_left_out(const struct breakdown_view *view, const struct result *result)
{
	bool has_steps = false;

	for (size_t i = 0; i < view->nr_results; i++) {
		has_steps |= view->results[i].has_steps;
	}
	return has_steps && !result->has_steps;
}

static const struct table_column steps_columns[] = {
	[PID] = TABLE_COLUMN("pid", "PID", TABLE_ID),
	[RANK] = TABLE_COLUMN("rank", "Rank", TABLE_ID),
	[STEP] = TABLE_COLUMN("step", "Step", TABLE_TEXT),
	[TOTAL] = TABLE_COLUMN("total_ns", "Total", TABLE_MEAN_TIME,
		.help = "duration of the step; the row \"average\" has means without steps that "
			"warm up and outliers"),
	BUDGET_PLUGIN_COLUMNS,
};

static void note_left_out(struct table *table, size_t nr)
{
	if (nr) {
		table_note(table, "%zu process%s without steps %s excluded.", nr,
			nr == 1 ? "" : "es", nr == 1 ? "is" : "are");
	}
}

/*
 * TensorBoard's plugin has no name for these parts of the budget, so they are in its last one. Here
 * they have those of the view budget, as on the first screen.
 */
static void note_other(const struct breakdown_view *view, struct table *table)
{
	static const unsigned int states[] = {HOST_GIL, HOST_GC, HOST_OS};
	uint64_t parts[NR_BUDGET_PARTS] = {0}, nr_steps = 0;
	struct buf text = {0};
	bool has_steps = false;

	for (size_t i = 0; i < view->nr_results; i++) {
		if (!is_left_out(view, &view->results[i])) {
			add_steps(&view->results[i], parts);
			nr_steps += view->results[i].nr_counted;
			has_steps |= view->results[i].has_steps;
		}
	}
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		const unsigned int part = BUDGET_HOST + states[i];
		char time[TEXT_TIME_BYTES];

		if (parts[part]) {
			buf_printf(&text, "%s%s %s", text.nr_bytes ? ", " : "",
				strchr(budget_part_texts[part].title, ' ') + 1,
				text_time(time, (double)parts[part] / (double)nr_steps));
		}
	}
	if (text.nr_bytes) {
		table_note(table, "Other includes%s: %.*s.", has_steps ? ", per step" : "",
			(int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}

static void fill_steps(void *state, struct table *table)
{
	struct breakdown_view *view = state;
	size_t nr_left_out = 0;

	for (size_t i = 0; i < view->nr_results; i++) {
		const struct result *result = &view->results[i];

		if (is_left_out(view, result)) {
			nr_left_out++;
			continue;
		}
		if (result->nr_counted && result->has_steps) {
			fill_average(result, table_add_row(table));
		}
		for (size_t k = 0; k < result->nr_steps; k++) {
			fill_step(result, &result->steps[k], table_add_row(table));
		}
	}
	note_other(view, table);
	add_notes(view, table);
	note_left_out(table, nr_left_out);
}

struct part_row {
	const struct process *process;
	uint64_t ns, whole_ns, nr_steps, longest_ns;
	uint32_t longest;
	const char *title, *help;
	uint64_t drained_ns; /* of the view idle */
};

static const struct table_column budget_columns[] = {
	VIEW_PROCESS_COLUMNS(part_row, process),
	TABLE_COLUMN("part", "Part", TABLE_TEXT, TABLE_MEMBER(part_row, title)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME,
		.help = "of all whole steps but those that warm up and outliers, or of the "
			"recording where there are no steps",
		TABLE_MEMBER(part_row, ns)),
	TABLE_COLUMN("mean_ns", "Per step", TABLE_MEAN_TIME, TABLE_MEAN(part_row, ns, nr_steps)),
	TABLE_COLUMN("share_pct", "% of step", TABLE_PERCENT,
		.help = "of the time of the steps, to which the parts of a process add up",
		TABLE_SHARE(part_row, ns, whole_ns)),
	TABLE_COLUMN("longest_pct", "Most %", TABLE_PERCENT,
		.help = "of the part, what the place with most of it takes",
		TABLE_SHARE(part_row, longest_ns, ns)),
	TABLE_COLUMN("longest", "Most in", TABLE_TEXT,
		.help = "the call or kernel with most of the part, its operator and Python line; "
			"of idle time the call that the host was in, or that launched the next "
			"work",
		TABLE_NONZERO(part_row, longest)),
	TABLE_COLUMN(
		"when", "When", TABLE_TEXT, .is_wide_only = true, TABLE_MEMBER(part_row, help)),
};

static void fill_parts(const struct result *result, struct table *table)
{
	uint64_t parts[NR_BUDGET_PARTS] = {0}, sum = 0;

	add_steps(result, parts);
	for (unsigned int i = 0; i < NR_BUDGET_PARTS; i++) {
		sum += parts[i];
	}
	for (unsigned int i = 0; i < NR_BUDGET_PARTS; i++) {
		const struct part_owner *longest = &result->longest[i];

		if (parts[i]) {
			table_add(table,
				&(struct part_row){.process = result->process,
					.title = budget_part_texts[i].title,
					.help = budget_part_texts[i].help,
					.ns = parts[i],
					.whole_ns = sum,
					.nr_steps = result->nr_counted,
					.longest = longest->text,
					.longest_ns = longest->text ? longest->ns : UINT64_MAX});
		}
	}
}

static void note_waits(const struct breakdown_view *view, struct table *table)
{
	const struct rank_waits *waits = view->input.waits ? view->input.waits : &view->waits;
	uint64_t parts[NR_BUDGET_PARTS] = {0};

	for (size_t i = 0; i < view->nr_results; i++) {
		add_steps(&view->results[i], parts);
	}
	if (parts[BUDGET_COMMUNICATION]) {
		table_note(table,
			"Where not all ranks of a communication are recorded with "
			"times, its waiting is unknown%s.",
			waits->nr_measured ? ", unless NCCL measured it" : "");
	}
	measured_waits_note(table, waits->nr_measured);
}

static void note_sampled(const struct breakdown_view *view, struct table *table)
{
	bool has_sampled = false;

	for (size_t i = 0; i < view->nr_results; i++) {
		has_sampled |=
			view->results[i].has_sampled && !is_left_out(view, &view->results[i]);
	}
	if (has_sampled) {
		table_note(table, "Compilations that no range marks are estimates from samples, "
				  "see view compilations.");
	}
}

static void fill_budget(void *state, struct table *table)
{
	struct breakdown_view *view = state;
	size_t nr_left_out = 0;

	for (size_t i = 0; i < view->nr_results; i++) {
		if (is_left_out(view, &view->results[i])) {
			nr_left_out++;
		} else {
			fill_parts(&view->results[i], table);
		}
	}
	note_waits(view, table);
	note_sampled(view, table);
	note_left_out(table, nr_left_out);
	add_notes(view, table);
}

static const struct table_column idle_columns[] = {
	VIEW_PROCESS_COLUMNS(part_row, process),
	TABLE_COLUMN("share_pct", "% of idle time", TABLE_PERCENT,
		.help = "share of the idle time of the process",
		TABLE_SHARE(part_row, ns, whole_ns)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, .help = "as in the view budget",
		TABLE_MEMBER(part_row, ns)),
	TABLE_COLUMN("mean_ns", "Per step", TABLE_MEAN_TIME, TABLE_MEAN(part_row, ns, nr_steps)),
	TABLE_COLUMN("drained_ns", "After a wait", TABLE_TIME,
		.help = "of the total, in gaps that a wait for the GPU opened",
		TABLE_MEMBER(part_row, drained_ns)),
	TABLE_COLUMN("part", "Part", TABLE_TEXT, .help = "of the time budget",
		TABLE_MEMBER(part_row, title)),
	TABLE_COLUMN(
		"when", "When", TABLE_TEXT, .is_wide_only = true, TABLE_MEMBER(part_row, help)),
};

static uint64_t drained_of(const struct result *result, unsigned int i)
{
	uint64_t ns = 0;

	for (size_t k = 0; k < result->nr_steps; k++) {
		ns += result->counts[k] ? result->steps[k].drained_ns[i] : 0;
	}
	return ns;
}

static void fill_idle_parts(const struct result *result, struct table *table)
{
	uint64_t parts[NR_BUDGET_PARTS] = {0}, sum = 0;

	add_steps(result, parts);
	for (unsigned int i = 0; i < NR_BUDGET_IDLE; i++) {
		sum += parts[BUDGET_HOST + i];
	}
	for (unsigned int i = 0; i < NR_BUDGET_IDLE; i++) {
		const struct budget_part_text *text = &budget_part_texts[BUDGET_HOST + i];

		if (parts[BUDGET_HOST + i]) {
			table_add(table,
				&(struct part_row){.process = result->process,
					.title = text->title,
					.help = text->help,
					.ns = parts[BUDGET_HOST + i],
					.whole_ns = sum,
					.nr_steps = result->has_steps ? result->nr_counted : 0,
					.drained_ns = i <= NR_HOST_STATES ? drained_of(result, i)
									  : UINT64_MAX});
		}
	}
}

/* Without a GPU no GPU is idle. */
static void fill_idle(void *state, struct table *table)
{
	struct breakdown_view *view = state;
	size_t nr_left_out = 0;

	for (size_t i = 0; i < view->nr_results; i++) {
		const struct result *result = &view->results[i];

		if (!process_has_device_records(result->process, NULL)) {
			continue;
		}
		if (is_left_out(view, result)) {
			nr_left_out++;
			continue;
		}
		fill_idle_parts(result, table);
	}
	table_sort(table, "total");
	note_sampled(view, table);
	note_left_out(table, nr_left_out);
	add_notes(view, table);
}

struct use_row {
	struct use use;
	const struct process *process;
	const char *capability;
	uint64_t sm_steps_ns; /* of the steps, if SM efficiency is known */
};

static void add_use(const struct result *result, const struct use *use, struct table *table)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64, use->major, use->minor);
	table_add(table, &(struct use_row){*use, result->process,
				 use->has_major && use->has_minor ? text : NULL,
				 use->sum.is_sm_known ? use->steps_ns : 0});
}

static const struct table_column uses_columns[] = {
	VIEW_PROCESS_COLUMNS(use_row, process),
	TABLE_COLUMN("device", "GPU", TABLE_ID, TABLE_MEMBER(use_row, use.sum.device)),
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(use_row, use.name)),
	TABLE_COLUMN("memory_bytes", "Memory", TABLE_SIZE, .help = "memory of the GPU",
		TABLE_IF(use_row, use.memory_bytes, use.has_memory)),
	TABLE_COLUMN(
		"capability", "Compute capability", TABLE_TEXT, TABLE_MEMBER(use_row, capability)),
	TABLE_COLUMN("utilization_pct", "Kernels % of steps", TABLE_PERCENT,
		.help = "time in which a kernel ran, as a share of the steps",
		TABLE_SHARE(use_row, use.sum.busy_ns, use.steps_ns)),
	TABLE_COLUMN("sm_efficiency_pct", "Est. SM efficiency %", TABLE_PERCENT,
		.help = "estimated share of multiprocessors that had blocks, at most",
		TABLE_SHARE(use_row, use.sum.sm_ns, sm_steps_ns)),
	TABLE_COLUMN("occupancy_pct", "Est. achieved occupancy %", TABLE_PERCENT,
		.help = "estimated share of the warps of a multiprocessor that fit, weighted by "
			"time",
		TABLE_MEAN(use_row, use.sum.occupancy, use.sum.occupancy_ns)),
	TABLE_COLUMN("tensor_pct", "Tensor cores % of kernel time", TABLE_PERCENT,
		.help = "kernels whose names are those of tensor core kernels",
		TABLE_SHARE(use_row, use.sum.tensor_ns[TENSOR_YES], use.kernel_ns)),
	TABLE_COLUMN("no_tensor_pct", "Without %", TABLE_PERCENT, .is_wide_only = true,
		.help = "kernels without tensor cores",
		TABLE_SHARE(use_row, use.sum.tensor_ns[TENSOR_NO], use.kernel_ns)),
	TABLE_COLUMN("unknown_tensor_pct", "Unknown %", TABLE_PERCENT,
		.help = "kernels whose names do not show it",
		TABLE_SHARE(use_row, use.sum.tensor_ns[TENSOR_UNKNOWN], use.kernel_ns)),
};

static void fill_uses(void *state, struct table *table)
{
	struct breakdown_view *view = state;

	for (size_t i = 0; i < view->nr_results; i++) {
		for (size_t k = 0; k < view->results[i].nr_uses; k++) {
			add_use(&view->results[i], &view->results[i].uses[k], table);
		}
	}
	add_notes(view, table);
}

static const struct scan_want wants[] = {RANK_WAITS_WANTS};

VIEW(breakdown, 260) = {
	.name = "breakdown",
	.subject = VIEW_ABOUT_STEPS,
	.help = "each step's time by categories, which add up to it",
	.about = "Time that several categories cover counts for the first of them, in the order "
		 "of the columns, so the categories add up to the step. A step ends with the last "
		 "GPU activity that it launched.",
	.title = "Step breakdown",
	VIEW_COLUMNS(steps_columns),
	.shows = &view_gpu_summary,
	.is_brief = true,
	.merge = {.get_facts = get_sums, .nr_facts = NR_BUDGET_SUMS},
	.fill = fill_steps,
};

VIEW(budget, 255) = {
	.name = "budget",
	.subject = VIEW_ABOUT_STEPS,
	.help = "what the time of the steps went to: each nanosecond belongs to one part",
	.about =
		"The parts of a process add up to its steps. While a GPU of the process computes, "
		"the time counts for that, whatever else runs; else for copies, else for "
		"communication. A rank waits until the last rank of a collective has come; then "
		"it transfers. Where other ranks are not recorded, it waits while no data come, if "
		"NCCL measured that. "
		"While the GPU is idle, it counts for what the thread did that "
		"launched the next work, up to the end of that launch. A step ends with the last "
		"GPU activity that it launched.",
	.title = "Time budget",
	VIEW_COLUMNS(budget_columns),
	.shows = &view_gpu_summary,
	.is_brief = true,
	.merge = {.get_facts = get_parts,
		.nr_facts = NR_BUDGET_LONE_PARTS + NR_BUDGET_LAUNCHES + NR_BUDGET_LATER_PARTS},
	.fill = fill_budget,
};

VIEW(idle, 180) = {
	.name = "idle",
	.subject = VIEW_ABOUT_GPU,
	.help = "why the GPUs were idle: the idle parts of the time budget",
	.about =
		"A process is idle while no GPU of it runs a kernel, copy or memset. The parts and "
		"their times are those of the view budget.",
	.is_empty_hidden = true,
	.title = "GPU idle time by cause",
	VIEW_COLUMNS(idle_columns),
	.shows = &view_gpu_summary,
	.is_brief = true,
	.fill = fill_idle,
};

VIEW(gpu_summary, 270) = {
	.name = "gpu-summary",
	.subject = VIEW_ABOUT_GPU,
	.help = "GPUs within the steps: utilization, SM efficiency, occupancy, tensor cores",
	.about = "Covers the steps that count, as on the first screen, or the whole recording "
		 "where there are none. SM efficiency and "
		 "occupancy are estimates from the launch configurations of the kernels, not "
		 "measurements.",
	.title = "GPU summary",
	VIEW_COLUMNS(uses_columns),
	VIEW_STATE(struct breakdown_view),
	.init = init,
	/* When other ranks came, for what the communication of a step was. */
	.scan = {.wants = wants,
		.nr_wants = sizeof(wants) / sizeof(wants[0]),
		.needs = needs_waits,
		.on_batch = take_waits,
		.end = end_waits,
		.ignores_selection = true},
	.ops = {.ignores_selection = true,
		.begin = begin,
		.enter = enter,
		.enter_wants = budget_wants_covered,
		.range = on_range,
		.call = call,
		.collection = on_collection,
		.record = record,
		.end = end},
	.fill = fill_uses,
	.fini = fini,
};
