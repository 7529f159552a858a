/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of all steps, in the layout of Paddle's Model Summary. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/time_axis.h"
#include "report/ops/counted_steps.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"
#include "report/util/text.h"

#define MAX_SEGMENTS 20000u /* for the timeline of the page */

struct model {
	struct min_max_sum steps, gpu_steps;		      /* ns, of steps that count */
	struct min_max_sum phases[NR_PHASES], gpu[NR_PHASES]; /* ns, of each time it came */
	uint64_t phases_ns[NR_PHASES];			      /* exact sums, see add_phases */
	bool has_gpu, has_steps, has_operators, has_phases, is_training;
	const char *remark;
	const struct process *without_steps;	      /* the last one */
	size_t nr_processes, nr_warm_up, nr_outliers; /* of steps */
};

/* Where a process has a loop, those without one are its helpers and would spoil the sums. */
struct model_view {
	struct view_input input;
	struct model loops, others;
	struct buf segments; /* JSON, of processes with phases */
	size_t nr_segments, nr_left_out;
};

/* gpu: of a process with device records; of others nothing is known, which is not 0. */
static void add_segments(struct model *model, struct process *process, const struct phases *phases,
	const bool *counts, struct min_max_sum *gpu)
{
	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];
		struct min_max_sum *row = &model->phases[segment->phase];

		if (!counts[segment->step] || segment->phase == PHASE_OTHERS) {
			continue;
		}
		if (!segment->is_rest) { /* its time counts already */
			min_max_sum_add(row, clock_map_duration(&process->host_clock,
						     segment->end - segment->begin));
		}
		if (gpu && segment->is_rest) {
			gpu[segment->phase].sum += segment->gpu_ns;
		} else if (gpu) {
			min_max_sum_add(&gpu[segment->phase], segment->gpu_ns);
		}
	}
}

/*
 * Sums ticks up by step before they become nanoseconds, as the headline does: a nanosecond lost for
 * each segment would make the sums differ.
 */
static void add_phases(struct model *model, const struct process *process,
	const struct phases *phases, const bool *counts)
{
	uint64_t(*ticks)[NR_PHASES] = mem_zeroed(phases->nr_steps, sizeof(*ticks));

	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];

		ticks[segment->step][segment->phase] += segment->end - segment->begin;
	}
	for (uint32_t step = 0; step < phases->nr_steps; step++) {
		for (unsigned int k = 0; k < PHASE_OTHERS && counts[step]; k++) {
			model->phases_ns[k] +=
				clock_map_duration(&process->host_clock, ticks[step][k]);
		}
	}
	free(ticks);
}

/* Adds the work that graphs ran for a phase: it has no segment in the step that launched it. */
static void add_graphs(
	const struct phases *phases, const bool *counts, struct min_max_sum gpu[NR_PHASES])
{
	for (uint32_t step = 0; step < phases->nr_steps; step++) {
		for (unsigned int k = 0; k < PHASE_OTHERS && counts[step]; k++) {
			gpu[k].sum += phases->steps[step].graph_ns[k];
		}
	}
}

static void add_steps(
	struct model *model, const struct phases *phases, const bool *counts, bool has_gpu)
{
	for (uint32_t step = 0; step < phases->nr_steps; step++) {
		if (counts[step]) {
			min_max_sum_add(&model->steps, phases_step_ns(phases, step));
			if (has_gpu) {
				min_max_sum_add(
					&model->gpu_steps, phases_step_gpu_ns(phases, step));
			}
		}
	}
}

/*
 * For the timeline of the page: the process, counting from 1, and three numbers for each phase:
 * which, the ns since the end of the one before, and its length.
 */
static void draw_segments(
	struct model_view *view, struct process *process, const struct phases *phases)
{
	uint64_t last = 0;

	buf_printf(&view->segments, "%s{\"process\": %zu, \"segments\": [",
		view->segments.nr_bytes ? ",\n" : "", view->input.number + 1);
	for (size_t i = 0, nr = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];
		uint64_t times[2] = {segment->begin, segment->end};

		if (segment->phase == PHASE_OTHERS) {
			continue;
		}
		if (view->nr_segments == MAX_SEGMENTS) {
			view->nr_left_out++;
			continue;
		}
		for (unsigned int t = 0; t < 2; t++) {
			times[t] = time_axis_time(
				process, clock_map_time(&process->host_clock, times[t]));
		}
		buf_printf(&view->segments, "%s%u,%" PRId64 ",%" PRIu64, nr++ ? "," : "",
			segment->phase, (int64_t)(times[0] - last),
			times[1] > times[0] ? times[1] - times[0] : 0);
		last = times[1];
		view->nr_segments++;
	}
	buf_text(&view->segments, "]}");
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct model_view *view = context;
	struct model *model = phases_has_loop(phases) ? &view->loops : &view->others;
	struct counted_steps counted;
	uint64_t ns;
	bool has_gpu;

	counted_steps_init(&counted, process, view->input.has_all_steps);
	if (!phases->nr_segments && !counted_steps_sum(&counted, phases, &ns)) {
		counted_steps_fini(&counted);
		return;
	}
	has_gpu = process_has_device_records(process, NULL);
	model->nr_processes++;
	model->has_operators |= op_has_any(phases->process);
	model->has_gpu |= has_gpu;
	model->has_phases |= phases->has_phases && phases_has_loop(phases);
	model->is_training |= phases_is_training(phases);
	model->has_steps |= phases_has_steps(phases);
	model->without_steps = phases_has_steps(phases) ? model->without_steps : process;
	model->remark = phases_remark(phases) ? phases_remark(phases) : model->remark;
	if (phases->has_phases) {
		draw_segments(view, process, phases);
	}
	add_segments(model, process, phases, counted.counts, has_gpu ? model->gpu : NULL);
	if (has_gpu) {
		add_graphs(phases, counted.counts, model->gpu);
	}
	add_phases(model, process, phases, counted.counts);
	add_steps(model, phases, counted.counts, has_gpu);
	model->nr_warm_up += counted.nr_warm_up;
	model->nr_outliers += counted.nr_outliers;
	counted_steps_fini(&counted);
}

struct phase_row {
	const char *name;
	uint64_t calls;
	struct min_max_sum cpu, gpu;
	bool has_gpu;
	uint64_t steps_ns, gpu_steps_ns;
};

static void add_row(struct table *table, const struct model *model, const char *name,
	uint64_t calls, const struct min_max_sum *cpu, const struct min_max_sum *gpu)
{
	table_add(table, &(struct phase_row){.name = name,
				 .calls = calls,
				 .cpu = *cpu,
				 .gpu = *gpu,
				 .has_gpu = model->has_gpu,
				 .steps_ns = model->steps.sum,
				 .gpu_steps_ns = model->has_gpu ? model->gpu_steps.sum : 0});
}

/* Adds the time outside of all phases. Its parts were not counted, so only the sums are known. */
static void add_others(struct table *table, const struct model *model)
{
	struct min_max_sum cpu = {.sum = model->steps.sum}, gpu = {.sum = model->gpu_steps.sum};

	for (unsigned int k = 0; k < PHASE_OTHERS; k++) {
		uint64_t used = model->phases_ns[k];

		cpu.sum -= used < cpu.sum ? used : cpu.sum;
		gpu.sum -= model->gpu[k].sum < gpu.sum ? model->gpu[k].sum : gpu.sum;
	}
	add_row(table, model, phase_names[PHASE_OTHERS], UINT64_MAX, &cpu, &gpu);
}

static const struct table_column columns[] = {
	TABLE_COLUMN("name", "Phase", TABLE_TEXT, TABLE_MEMBER(phase_row, name)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(phase_row, calls)),
	TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME, TABLE_MEMBER(phase_row, cpu.sum)),
	TABLE_COLUMN("avg_ns", "CPU avg", TABLE_MEAN_TIME, TABLE_MEAN(phase_row, cpu.sum, cpu.nr)),
	TABLE_COLUMN("max_ns", "CPU max", TABLE_TIME, .is_minor = true,
		TABLE_IF(phase_row, cpu.max, cpu.nr)),
	TABLE_COLUMN("min_ns", "CPU min", TABLE_TIME, .is_minor = true,
		TABLE_IF(phase_row, cpu.min, cpu.nr)),
	TABLE_COLUMN("ratio_pct", "% of steps", TABLE_PERCENT,
		.help = "CPU total, as a share of the steps",
		TABLE_SHARE(phase_row, cpu.sum, steps_ns)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME,
		.help = "sum of the GPU activities that the phase launched",
		TABLE_IF(phase_row, gpu.sum, has_gpu)),
	TABLE_COLUMN("gpu_avg_ns", "GPU avg", TABLE_MEAN_TIME, .is_minor = true,
		TABLE_MEAN(phase_row, gpu.sum, gpu.nr)),
	TABLE_COLUMN("gpu_max_ns", "GPU max", TABLE_TIME, .is_minor = true,
		TABLE_IF(phase_row, gpu.max, gpu.nr)),
	TABLE_COLUMN("gpu_min_ns", "GPU min", TABLE_TIME, .is_minor = true,
		TABLE_IF(phase_row, gpu.min, gpu.nr)),
	TABLE_COLUMN("gpu_ratio_pct", "% of GPU total", TABLE_PERCENT,
		.help = "GPU total, as a share of that of the steps",
		TABLE_SHARE(phase_row, gpu.sum, gpu_steps_ns)),
};

static char *figure_json(const struct model_view *view)
{
	struct buf out = {0};

	if (view->nr_segments) {
		buf_text(&out, "{\"names\": [");
		for (unsigned int k = 0; k < PHASE_OTHERS; k++) {
			buf_printf(&out, "%s\"%s\"", k ? ", " : "", phase_names[k]);
		}
		buf_printf(&out, "], \"left_out\": %zu, \"processes\": [\n", view->nr_left_out);
		buf_add(&out, view->segments.bytes, view->segments.nr_bytes);
		buf_text(&out, "]}");
		buf_char(&out, '\0');
	}
	return out.bytes;
}

static void fini(void *state)
{
	struct model_view *view = state;

	buf_fini(&view->segments);
}

static void fill_table(void *state, struct table *table)
{
	struct model_view *view = state;
	const struct model *model = view->loops.nr_processes ? &view->loops : &view->others;

	for (unsigned int i = 0; i < table->nr_columns; i++) {
		if (strncmp(table->columns[i].key, "gpu_", 4) == 0) {
			table->columns[i].is_wide_only = !model->has_gpu;
		}
	}
	if (!model->nr_processes) {
		return;
	}
	table->figure_json = figure_json(view);
	add_row(table, model, model->has_steps ? "ProfileStep" : "(no steps)", model->steps.nr,
		&model->steps, &model->gpu_steps);
	for (unsigned int k = 0; k < PHASE_OTHERS; k++) {
		struct min_max_sum cpu = model->phases[k];

		if (model->is_training || cpu.nr) {
			cpu.sum = model->phases_ns[k];
			add_row(table, model, phase_names[k],
				cpu.nr || !cpu.sum ? cpu.nr : UINT64_MAX, &cpu, &model->gpu[k]);
		}
	}
	add_others(table, model);
	/* One sum says nothing new, and what is not a training has no phases to speak of. */
	table->is_aside = !model->has_phases || !model->is_training;
	if (!model->is_training) {
		table_set_title(table, "Phases");
	}
	if (!model->has_phases && !model->remark) {
		table_note(table, "%s: phases are unknown, and count as Others.",
			model->has_operators ? "No operator marks a phase"
					     : "No operators were recorded");
	}
	if (!model->has_steps) {
		table_note(table, "There are no steps: shares are of the time of all operators.");
	}
	counted_steps_note(model->nr_warm_up, model->nr_outliers, table);
	if (model->remark) {
		table_note(table, "%s", model->remark);
	}
	if (model->without_steps) {
		view_note_steps(table, model->without_steps);
	}
	if (model == &view->loops) {
		view_note_stepless(table, view->others.nr_processes);
	}
}

VIEW(model, 10) = {
	.name = "model",
	.subject = VIEW_ABOUT_STEPS,
	.help = "phases of steps: Dataloader, Forward, Backward ...",
	.about = "Covers the steps that count, see `help headline`, and in Paddle's layout all "
		 "whose start and end are known; without steps, the time from the first operator "
		 "to the last. GPU time "
		 "is the sum of the GPU activities that the "
		 "phase launched; overlaps count twice.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Training phases",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct model_view),
	.fini = fini,
	.ops = {.end = end},
	.fill = fill_table,
};
