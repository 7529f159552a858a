/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step trace in numbers: how long whole steps and their parts took in each process, as mean,
 * median, p99 and standard deviation of the sample. MindInsight's means leave out the first step;
 * here those that warm up and outliers are left out (counted_steps.h), unless the user chose the
 * steps.
 */
#include <stdlib.h>
#include <string.h>

#include "report/stats/samples.h"
#include "report/ops/step_time.h"
#include "report/ops/counted_steps.h"
#include "report/analysis/view.h"
#include "report/util/text.h"

enum part {
	STEP,
	INTERVAL,
	COMPUTE,
	TAIL,
	PHASES,
	GPU = PHASES + NR_PHASES,
	NR_PARTS,
};

struct loop {
	const struct process *process;
	struct samples parts[NR_PARTS]; /* ns, one value a step */
};

struct step_stats_view {
	struct view_input input;
	struct loop *loops;
	size_t nr_loops, capacity;
	size_t nr_not_whole; /* steps that are not counted, as their ends are not known */
	size_t nr_warm_up, nr_outliers; /* nor these */
};

static void add_step(struct loop *loop, const struct phases *phases, uint32_t step,
	const struct step_trace *trace, bool has_gpu)
{
	const struct clock_map *clock = &loop->process->host_clock;
	uint64_t ns = phases_step_ns(phases, step), others_ns = ns;

	samples_add(&loop->parts[STEP], ns);
	if (has_gpu) {
		samples_add(&loop->parts[GPU], phases_step_gpu_ns(phases, step));
	}
	if (!phases->nr_segments) {
		return;
	}
	for (unsigned int i = 0; i < PHASE_OTHERS; i++) {
		uint64_t part_ns = clock_map_duration(clock, phases->steps[step].ticks[i]);

		samples_add(&loop->parts[PHASES + i], part_ns);
		others_ns -= part_ns < others_ns ? part_ns : others_ns;
	}
	samples_add(&loop->parts[PHASES + PHASE_OTHERS], others_ns);
	if (trace->is_known) {
		uint64_t interval_ns = clock_map_duration(clock, trace->forward - trace->begin);
		uint64_t tail_ns = clock_map_duration(clock, trace->end - trace->backward);
		uint64_t rest_ns = interval_ns + tail_ns;

		samples_add(&loop->parts[INTERVAL], interval_ns);
		samples_add(&loop->parts[COMPUTE], ns > rest_ns ? ns - rest_ns : 0);
		samples_add(&loop->parts[TAIL], tail_ns);
	}
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct step_stats_view *view = context;
	struct step_trace *traces;
	struct loop *loop;
	bool has_gpu = process_has_device_records(process, NULL);
	struct counted_steps counted;

	if (!phases_has_steps(phases)) {
		return;
	}
	view->loops =
		array_grow(view->loops, view->nr_loops, &view->capacity, sizeof(*view->loops));
	loop = &view->loops[view->nr_loops++];
	*loop = (struct loop){.process = process};
	traces = step_trace_create(phases);
	counted_steps_init(&counted, process, false);
	view->nr_warm_up += counted.nr_warm_up;
	view->nr_outliers += counted.nr_outliers;
	for (uint32_t step = 1; step < phases->nr_steps; step++) {
		if (!phases_is_whole(phases, step)) {
			view->nr_not_whole += !model_step_is_gap(&process->steps[step - 1]);
		} else if (counted.counts[step]) {
			add_step(loop, phases, step, &traces[step], has_gpu && phases->nr_segments);
		}
	}
	counted_steps_fini(&counted);
	free(traces);
}

/* ---- the table ---- */

static const char *name_of(unsigned int part)
{
	static const char *const names[NR_PARTS] = {[STEP] = "Step",
		[INTERVAL] = "Iteration interval",
		[COMPUTE] = "Forward+Backward",
		[TAIL] = "Tail",
		[GPU] = "GPU (sum)"};

	return part >= PHASES && part < GPU ? phase_names[part - PHASES] : names[part];
}

/* A phase that never comes is not known to take no time: its names may be others. */
static bool is_seen(const struct loop *loop, unsigned int part)
{
	bool is_phase = part >= PHASES && part < PHASES + PHASE_OTHERS;

	return is_phase ? samples_sum(&loop->parts[part]) != 0 : loop->parts[part].nr != 0;
}

struct part_row {
	const struct process *process;
	const char *part;
	uint64_t nr, total_ns, steps_ns;
	struct samples_figures figures;
};

static void add_part(struct table *table, struct loop *loop, unsigned int part)
{
	struct samples *dist = &loop->parts[part];

	table_add(table, &(struct part_row){.process = loop->process,
				 .part = name_of(part),
				 .nr = dist->nr,
				 .total_ns = samples_sum(dist),
				 .steps_ns = part == GPU ? 0 : samples_sum(&loop->parts[STEP]),
				 .figures = samples_figures(dist)});
}

static const struct table_column columns[] = {
	VIEW_PROCESS_COLUMNS(part_row, process),
	TABLE_COLUMN("part", "Part", TABLE_TEXT, .help = "part of the step",
		TABLE_MEMBER(part_row, part)),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, TABLE_MEMBER(part_row, nr)),
	TABLE_COLUMN("share_pct", "% of steps", TABLE_PERCENT,
		TABLE_SHARE(part_row, total_ns, steps_ns)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, TABLE_MEMBER(part_row, total_ns)),
	SAMPLES_COLUMNS(part_row, figures),
};

static void fill_table(void *state, struct table *table)
{
	struct step_stats_view *view = state;
	bool has_rank = false;

	for (size_t i = 0; i < view->nr_loops; i++) {
		has_rank = has_rank || view->loops[i].process->rank >= 0;
	}
	table_set_wide(table, "rank", !has_rank);
	for (size_t i = 0; i < view->nr_loops; i++) {
		for (unsigned int part = 0; part < NR_PARTS; part++) {
			if (is_seen(&view->loops[i], part)) {
				add_part(table, &view->loops[i], part);
			}
		}
	}
	counted_steps_note(view->nr_warm_up, view->nr_outliers, table);
	if (view->nr_not_whole) {
		table_note(table, "%zu %s excluded.", view->nr_not_whole,
			text_many(view->nr_not_whole, "step without a known start or end is",
				"steps without a known start or end are"));
	}
}

static void fini(void *state)
{
	struct step_stats_view *view = state;

	for (size_t i = 0; i < view->nr_loops; i++) {
		for (unsigned int part = 0; part < NR_PARTS; part++) {
			samples_fini(&view->loops[i].parts[part]);
		}
	}
	free(view->loops);
}

VIEW(step_stats, 40) = {
	.name = "step-stats",
	.subject = VIEW_ABOUT_STEPS,
	.help = "statistics of steps: interval, Forward and Backward, tail; mean, median, p99",
	.about = "Covers the steps whose start and end are known, without those that warm up and "
		 "outliers. "
		 "Interval lasts until the first "
		 "Forward, Forward+Backward until the end of the last Backward; the tail is the "
		 "rest. GPU is the sum of what the step launched; overlaps count twice.",
	.is_empty_hidden = true,
	.title = "Step statistics",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct step_stats_view),
	.ops = {.end = end},
	.fill = fill_table,
	.fini = fini,
};
