/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with their phases, and the windows of the schedule. */
#include <stdlib.h>
#include <string.h>

#include "report/table/step_heatmap.h"
#include "report/ops/step_time.h"
#include "report/model/select.h"
#include "report/analysis/view.h"
#include "report/model/time_axis.h"

/* One row of the table, kept until all processes are read. */
struct step_row {
	struct process *process;
	size_t place;	/* in process.steps */
	uint64_t start; /* tick */
	uint64_t duration_ns;
	uint64_t phase_ns[NR_PHASES], gpu_ns;
	uint64_t interval_ns, tail_ns; /* what is left of the duration is Forward and Backward */
	bool is_whole, has_phases, has_gpu, has_trace;
	bool has_only_loader; /* of phases, only Dataloader is known */
};

struct steps_view {
	struct view_input input;
	struct step_row *rows;
	size_t nr_rows, capacity;
	bool has_phases, has_gpu, has_trace, has_loop, has_events, has_open;
	const struct process *noted; /* whose steps the note names: the first with a loop */
	const char *remark;
};

static void fini(void *state)
{
	struct steps_view *view = state;

	free(view->rows);
}

static const char *name_of(const char *const *names, size_t nr_names, unsigned int i)
{
	return i < nr_names && names[i] ? names[i] : "?";
}

static uint64_t start_of(struct process *process, uint64_t tick)
{
	return time_axis_time(process, clock_map_time(&process->host_clock, tick));
}

static void add_phases(struct step_row *row, const struct phases *phases)
{
	const struct clock_map *clock = &row->process->host_clock;
	uint32_t place = (uint32_t)row->place + 1;
	uint64_t used_ns = 0;

	if (!phases_is_whole(phases, place)) {
		return;
	}
	row->has_phases = true;
	row->duration_ns = phases_step_ns(phases, place);
	row->start = row->process->steps[row->place + 1].tick - phases_step_ticks(phases, place);
	for (unsigned int i = 0; i < PHASE_OTHERS; i++) {
		row->phase_ns[i] = clock_map_duration(clock, phases->steps[place].ticks[i]);
		used_ns += row->phase_ns[i];
	}
	row->phase_ns[PHASE_OTHERS] = row->duration_ns > used_ns ? row->duration_ns - used_ns : 0;
	row->gpu_ns = phases_step_gpu_ns(phases, place);
}

static void add_trace(struct step_row *row, const struct step_trace *trace)
{
	const struct clock_map *clock = &row->process->host_clock;

	row->has_trace = true;
	row->interval_ns = clock_map_duration(clock, trace->forward - trace->begin);
	row->tail_ns = clock_map_duration(clock, trace->end - trace->backward);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct steps_view *view = context;
	bool has_phases = phases->nr_segments && phases_has_steps(phases);
	struct step_trace *traces = step_trace_create(phases);
	bool has_gpu = has_phases && process_has_device_records(process, NULL);

	if (!view->noted || (!view->has_loop && phases_has_loop(phases))) {
		view->noted = process;
		view->has_loop = phases_has_loop(phases);
	}
	view->has_events |= process->nr_events > 0;
	if (has_phases) {
		view->has_phases = true;
		view->has_gpu |= has_gpu;
		view->remark = phases_remark(phases) ? phases_remark(phases) : view->remark;
	}
	for (size_t i = 0; i < process->nr_steps; i++) {
		const struct model_step *step = &process->steps[i];
		struct step_row *row;

		if (model_step_is_gap(step) || !select_has_step(process, i)) {
			continue;
		}
		view->rows =
			array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
		row = &view->rows[view->nr_rows++];
		*row = (struct step_row){
			.process = process, .place = i, .start = step->tick, .has_gpu = has_gpu};
		row->is_whole = i + 1 < process->nr_steps && step[1].tick >= step->tick;
		view->has_open |= !row->is_whole;
		if (row->is_whole) {
			row->duration_ns = clock_map_time(&process->host_clock, step[1].tick) -
					   clock_map_time(&process->host_clock, step->tick);
		}
		if (has_phases) {
			row->has_only_loader = !phases->has_phases;
			add_phases(row, phases);
		}
		if (row->has_phases && traces[i + 1].is_known) {
			add_trace(row, &traces[i + 1]);
			view->has_trace = true;
		}
	}
	free(traces);
}

/* A row as shown. */
struct shown_row {
	const struct process *process;
	uint64_t step, start_ns, duration_ns;
	uint64_t phase_ns[NR_PHASES], gpu_ns;
	uint64_t interval_ns, fp_bp_ns, tail_ns;
	const char *rule;
};

static void add_row(const struct step_row *row, struct table *table)
{
	static const char *const rules[] = {"(start)", [GPROF_STEP_CALL] = "gprof_step()",
		[GPROF_STEP_NVTX] = "nvtx", [GPROF_STEP_API] = "api",
		[GPROF_STEP_KERNEL] = "kernel", [GPROF_STEP_INTERVAL] = "interval",
		[GPROF_STEP_OPTIMIZER] = "optimizer", [GPROF_STEP_DATALOADER] = "dataloader",
		[GPROF_STEP_PERIOD] = "launch period", [MODEL_STEP_TRACE] = "trace"};
	const struct model_step *step = &row->process->steps[row->place];
	bool has_phases = row->is_whole && row->has_phases;
	bool has_trace = row->is_whole && row->has_trace;
	uint64_t rest_ns = row->interval_ns + row->tail_ns;
	struct shown_row shown = {.process = row->process,
		.step = step->step,
		.start_ns = start_of(row->process, row->start),
		.duration_ns = row->is_whole ? row->duration_ns : UINT64_MAX,
		.gpu_ns = has_phases && row->has_gpu ? row->gpu_ns : UINT64_MAX,
		.interval_ns = has_trace ? row->interval_ns : UINT64_MAX,
		.fp_bp_ns = !has_trace			 ? UINT64_MAX
			    : row->duration_ns > rest_ns ? row->duration_ns - rest_ns
							 : 0,
		.tail_ns = has_trace ? row->tail_ns : UINT64_MAX,
		.rule = name_of(rules, sizeof(rules) / sizeof(rules[0]), step->how)};

	for (unsigned int i = 0; i < NR_PHASES; i++) {
		bool is_known = !row->has_only_loader || i == PHASE_DATALOADER || i == PHASE_OTHERS;

		shown.phase_ns[i] = has_phases && is_known ? row->phase_ns[i] : UINT64_MAX;
	}
	table_add(table, &shown);
}

/* Draws the steps of a job, its ranks beside each other. */
static void draw(const struct steps_view *view, struct table *table)
{
	struct step_heatmap *steps = mem_zeroed(view->nr_rows + 1, sizeof(*steps));
	size_t nr = 0;

	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct step_row *row = &view->rows[i];

		if (row->is_whole && row->process->rank >= 0) {
			steps[nr++] = (struct step_heatmap){(uint64_t)row->process->rank,
				row->process->steps[row->place].step, row->duration_ns,
				row->process->pid};
		}
	}
	table->figure = step_heatmap_draw(steps, nr);
	table->figure_json = step_heatmap_json(steps, nr);
	free(steps);
}

static const struct table_column steps_columns[] = {
	VIEW_PROCESS_COLUMNS(shown_row, process, .is_wide_only = true),
	TABLE_COLUMN("step", "Step", TABLE_ID, TABLE_MEMBER(shown_row, step)),
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording",
		TABLE_MEMBER(shown_row, start_ns)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TABLE_MEMBER(shown_row, duration_ns)),
	TABLE_COLUMN("dataloader_ns", "Dataloader", TABLE_TIME,
		TABLE_MEMBER(shown_row, phase_ns[PHASE_DATALOADER])),
	TABLE_COLUMN("forward_ns", "Forward", TABLE_TIME,
		TABLE_MEMBER(shown_row, phase_ns[PHASE_FORWARD])),
	TABLE_COLUMN("backward_ns", "Backward", TABLE_TIME,
		TABLE_MEMBER(shown_row, phase_ns[PHASE_BACKWARD])),
	TABLE_COLUMN("optimization_ns", "Optimization", TABLE_TIME,
		TABLE_MEMBER(shown_row, phase_ns[PHASE_OPTIMIZATION])),
	TABLE_COLUMN("others_ns", "Others", TABLE_TIME, .help = "in no phase",
		TABLE_MEMBER(shown_row, phase_ns[PHASE_OTHERS])),
	TABLE_COLUMN("gpu_ns", "GPU", TABLE_TIME,
		.help = "sum of the GPU activities that the step launched",
		TABLE_MEMBER(shown_row, gpu_ns)),
	TABLE_COLUMN("interval_ns", "Interval", TABLE_TIME, .is_wide_only = true,
		.help = "to the first Forward", TABLE_MEMBER(shown_row, interval_ns)),
	TABLE_COLUMN("fp_bp_ns", "Forward+Backward", TABLE_TIME, .is_wide_only = true,
		.help = "to the end of the last Backward", TABLE_MEMBER(shown_row, fp_bp_ns)),
	TABLE_COLUMN("tail_ns", "Tail", TABLE_TIME, .is_wide_only = true, .help = "the rest",
		TABLE_MEMBER(shown_row, tail_ns)),
	TABLE_COLUMN("rule", "Found by", TABLE_TEXT, .is_minor = true,
		.help = "what marks the end of a step", TABLE_MEMBER(shown_row, rule)),
};

static void fill_steps(void *state, struct table *table)
{
	static const char *const phase_keys[] = {
		"dataloader", "forward", "backward", "optimization", "others"};
	struct steps_view *view = state;

	for (unsigned int i = 0; i < sizeof(phase_keys) / sizeof(phase_keys[0]); i++) {
		table_set_wide(table, phase_keys[i], !view->has_phases);
	}
	table_set_wide(table, "gpu_ns", !view->has_gpu);
	table->is_aside = !view->has_phases && view->has_events; /* else it is all there is */
	for (size_t i = 0; i < view->nr_rows; i++) {
		add_row(&view->rows[i], table);
	}
	if (view->has_open) {
		table_note(table, "The last step has no end.");
	}
	if (view->remark) {
		table_note(table, "%s", view->remark);
	}
	if (view->noted) {
		view_note_steps(table, view->noted);
	}
	draw(view, table);
}

struct window_row {
	const struct process *process;
	uint64_t window, step, start_ns;
	const char *state;
};

static const struct table_column windows_columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(window_row, process)),
	TABLE_COLUMN("window", "Window", TABLE_ID, .help = "number of the record window",
		TABLE_MEMBER(window_row, window)),
	TABLE_COLUMN("step", "From step", TABLE_ID, TABLE_MEMBER(window_row, step)),
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .help = "since the start of the recording",
		TABLE_MEMBER(window_row, start_ns)),
	TABLE_COLUMN("state", "State", TABLE_TEXT, TABLE_MEMBER(window_row, state)),
};

static void fill_windows(void *state, struct table *table)
{
	static const char *const states[] = {[GPROF_WINDOW_CLOSED] = "closed",
		[GPROF_WINDOW_READY] = "ready",
		[GPROF_WINDOW_RECORD] = "record"};
	struct steps_view *view = state;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		struct process *process = view->input.processes[i];

		for (size_t k = 0; k < process->nr_windows; k++) {
			const struct model_window *window = &process->windows[k];

			table_add(table, &(struct window_row){process, window->window, window->step,
						 start_of(process, window->tick),
						 name_of(states, 3, window->state)});
		}
	}
}

VIEW(steps, 30) = {
	.name = "steps",
	.subject = VIEW_ABOUT_STEPS,
	.help = "steps, how long they took, and their phases",
	.about = "The first step starts with its first phase, if that is known; what ran before it "
		 "is in no step. "
		 "Statistics of the steps are in the view step-stats.",
	.title = "Steps",
	VIEW_COLUMNS(steps_columns),
	VIEW_STATE(struct steps_view),
	.ops = {.end = end},
	.fill = fill_steps,
	.fini = fini,
};

VIEW(windows, 460) = {
	.name = "windows",
	.subject = VIEW_ABOUT_RECORDING,
	.help = "when the schedule recorded and when not",
	.title = "Recording windows",
	VIEW_COLUMNS(windows_columns),
	VIEW_STATE(struct steps_view),
	.fill = fill_windows,
	.fini = fini,
};
