/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading of data, step by step: how long the loop waited for batches, how long its GPUs were idle
 * meanwhile, what the workers did, and whether and where the loader held the step back.
 *
 * A step is held back if the loop waits for more than 5 % of it (the threshold of the TensorBoard
 * plugin) and, where that is known, its GPUs are idle as long. A wait that no GPU notices costs
 * nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "report/model/process_tree.h"
#include "report/gpu/gaps.h"
#include "report/analysis/view.h"

#define HELD_PERCENT 5u
#define BUSY_PERCENT 80u      /* workers: more do not help if they already are */
#define READY_NS     1000000u /* a batch that comes within this was there */

struct loader_step {
	uint64_t wait_ns, idle_ns; /* idle: of all GPUs, while the loop waited */
	uint64_t worker_cpu_ns;
	uint64_t nr_batches, nr_ready;
	uint64_t duration_ns;
	bool is_whole;
};

struct loop {
	struct loader_step *steps; /* as phases_step counts */
	size_t nr_steps;
	struct gaps gaps;
	uint32_t nr_workers;  /* with samples of their CPU time */
	unsigned int loaders; /* bits of enum op_loader */
	bool has_loader, has_gpu;
	uint64_t sample_ns, sample_value; /* its own last one */
	size_t step_at;			  /* of its parent, before that one */
	bool is_counted;		  /* among its parent's workers */
};

struct data_loading_steps_view {
	struct view_input input;
	struct process_tree_member *members;
	struct loop *loops; /* of each process */
	size_t nr_scanned, nr_walked;
	struct loop *loop; /* the current one */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_sample, COLS(sample, time, value, metric), 0},
};

static void init(void *state)
{
	struct data_loading_steps_view *view = state;

	view->members = mem_zeroed(view->input.nr_processes + 1, sizeof(*view->members));
	view->loops = mem_zeroed(view->input.nr_processes + 1, sizeof(*view->loops));
	process_tree_find(view->input.processes, view->input.nr_processes, view->members);
	for (size_t i = 0; i < view->input.nr_processes; i++) {
		view->loops[i].nr_steps = view->input.processes[i]->nr_steps + 1;
		view->loops[i].steps =
			mem_zeroed(view->loops[i].nr_steps, sizeof(*view->loops[i].steps));
	}
}

/* ---- the scan: gaps, and CPU time of those that may be workers ---- */

static void begin(void *context, struct process *process)
{
	struct data_loading_steps_view *view = context;

	view->loop = &view->loops[view->nr_scanned++];
	(void)process;
}

/*
 * So much CPU time of a worker from one time to another, in ns of a clock that all processes
 * have. Moments rise: what was before is left behind.
 */
static void spread(struct process *process, struct loop *loop, struct loop *worker, uint64_t end,
	uint64_t cpu_ns)
{
	uint64_t begin = worker->sample_ns;

	for (size_t i = worker->step_at; i + 1 < process->nr_steps; i++) {
		uint64_t from = clock_map_time(&process->host_clock, process->steps[i].tick);
		uint64_t to = clock_map_time(&process->host_clock, process->steps[i + 1].tick);

		if (from >= end) {
			return;
		}
		worker->step_at = to <= begin ? i + 1 : worker->step_at;
		from = from > begin ? from : begin;
		to = to < end ? to : end;
		if (from < to) {
			loop->steps[i + 1].worker_cpu_ns +=
				(uint64_t)((unsigned __int128)cpu_ns * (to - from) / (end - begin));
		}
	}
}

static void take_samples(
	struct data_loading_steps_view *view, struct process *process, const struct batch *b)
{
	struct loop *self = view->loop;
	size_t parent = view->members[view->nr_scanned - 1].parent;

	if (view->members[view->nr_scanned - 1].link == PROCESS_TREE_NONE) {
		return;
	}
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t ns, value = b->col[COL_sample_value][i];

		if (b->col[COL_sample_metric][i] != GPROF_METRIC_PROCESS_CPU_NS) {
			continue;
		}
		ns = clock_map_time(&process->host_clock, b->col[COL_sample_time][i]);
		if (self->sample_ns && ns > self->sample_ns && value >= self->sample_value) {
			view->loops[parent].nr_workers += !self->is_counted;
			self->is_counted = true;
			spread(view->input.processes[parent], &view->loops[parent], self, ns,
				value - self->sample_value);
		}
		self->sample_ns = ns;
		self->sample_value = value;
	}
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	take_samples(context, process, batch);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	gaps_take(&((struct data_loading_steps_view *)context)->loop->gaps, activity);
}

static void end(void *context, struct process *process)
{
	(void)process;
	gaps_end(&((struct data_loading_steps_view *)context)->loop->gaps);
}

/* ---- operators ---- */

static void begin_ops(void *context, struct process *process)
{
	struct data_loading_steps_view *view = context;

	(void)process;
	view->loop = &view->loops[view->nr_walked++];
}

static void on_op(void *context, const struct op *op)
{
	struct loop *loop = ((struct data_loading_steps_view *)context)->loop;

	if (op_class(op->name, op->framework, op->scope) == OP_DATALOADER) {
		loop->loaders |= op_loader_of(op->name);
	}
}

static void end_ops(void *context, struct process *process, const struct phases *phases)
{
	struct loop *loop = ((struct data_loading_steps_view *)context)->loop;

	loop->has_loader = phases->has_loader && phases_has_steps(phases);
	loop->has_gpu = loop->gaps.nr_devices != 0;
	for (size_t i = 0; loop->has_loader && i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];
		struct loader_step *step = &loop->steps[segment->step];
		uint64_t from, to, ns;

		if (segment->phase != PHASE_DATALOADER) {
			continue;
		}
		from = clock_map_time(&process->host_clock, segment->begin);
		to = clock_map_time(&process->host_clock, segment->end);
		ns = clock_map_duration(&process->host_clock, segment->end - segment->begin);
		step->wait_ns += ns;
		step->nr_batches += !segment->is_rest;
		step->nr_ready += !segment->is_rest && ns < READY_NS;
		step->idle_ns += gaps_idle_in(&loop->gaps, from, to);
	}
	for (uint32_t i = 1; i < phases->nr_steps; i++) {
		loop->steps[i].is_whole = phases_is_whole(phases, i);
		if (loop->steps[i].is_whole) {
			loop->steps[i].duration_ns = phases_step_ns(phases, i);
		}
	}
}

/* ---- the table ---- */

static bool is_above(uint64_t part, uint64_t whole, unsigned int percent)
{
	return (unsigned __int128)part * 100 > (unsigned __int128)whole * percent;
}

static bool is_held(const struct loop *loop, const struct loader_step *step)
{
	uint64_t devices_ns;

	if (__builtin_mul_overflow(step->duration_ns, loop->gaps.nr_devices, &devices_ns)) {
		devices_ns = UINT64_MAX;
	}
	return is_above(step->wait_ns, step->duration_ns, HELD_PERCENT) &&
	       (!loop->has_gpu || is_above(step->idle_ns, devices_ns, HELD_PERCENT));
}

static const char *stage_of(const struct loop *loop, const struct loader_step *step)
{
	if (loop->loaders & OP_LOADER_IN_LOOP && !(loop->loaders & OP_LOADER_WORKERS)) {
		return "main process: no workers";
	}
	if (!loop->nr_workers) {
		return "unknown: too few samples of the workers";
	}
	return is_above(step->worker_cpu_ns, step->duration_ns * loop->nr_workers, BUSY_PERCENT)
		       ? "workers: all are busy"
		       : "transfer: workers are not busy (storage, queue, pinning)";
}

struct shown_row {
	struct loader_step step;
	const struct process *process;
	uint64_t number, idle_ns, nr_workers, worker_ns;
	double devices_ns, workers_ns; /* the step on all of them */
	const char *is_held, *stage;
};

static void add_step(
	const struct process *process, const struct loop *loop, size_t place, struct table *table)
{
	const struct loader_step *step = &loop->steps[place];
	double ns = (double)step->duration_ns;
	bool held = is_held(loop, step);

	table_add(table, &(struct shown_row){.step = *step,
				 .process = process,
				 .number = process->steps[place - 1].step,
				 .idle_ns = loop->has_gpu ? step->idle_ns : UINT64_MAX,
				 .nr_workers = loop->nr_workers,
				 .worker_ns = loop->nr_workers ? step->worker_cpu_ns : UINT64_MAX,
				 .devices_ns = ns * (double)loop->gaps.nr_devices,
				 .workers_ns = ns * loop->nr_workers,
				 .is_held = held ? "yes" : "no",
				 .stage = held ? stage_of(loop, step) : NULL});
}

static const struct table_column columns[] = {
	VIEW_PROCESS_COLUMNS(shown_row, process, .is_wide_only = true),
	TABLE_COLUMN("step", "Step", TABLE_ID, TABLE_MEMBER(shown_row, number)),
	TABLE_COLUMN(
		"duration_ns", "Duration", TABLE_TIME, TABLE_MEMBER(shown_row, step.duration_ns)),
	TABLE_COLUMN("batches", "Batches", TABLE_COUNT, .help = "batches that the loop received",
		TABLE_MEMBER(shown_row, step.nr_batches)),
	TABLE_COLUMN("ready", "Ready", TABLE_COUNT, .help = "batches that arrived within 1 ms",
		TABLE_MEMBER(shown_row, step.nr_ready)),
	TABLE_COLUMN("wait_ns", "Waiting", TABLE_TIME,
		.help = "time in which the loop waited for data",
		TABLE_MEMBER(shown_row, step.wait_ns)),
	TABLE_COLUMN("wait_pct", "% of step", TABLE_PERCENT,
		.help = "waiting, as a share of the step",
		TABLE_SHARE(shown_row, step.wait_ns, step.duration_ns)),
	TABLE_COLUMN("gpu_idle_ns", "GPU idle meanwhile", TABLE_TIME,
		.help = "GPU idle time while the loop waited", TABLE_MEMBER(shown_row, idle_ns)),
	TABLE_COLUMN("gpu_idle_pct", "% of step on GPUs", TABLE_PERCENT,
		.help = "GPU idle time, as a share of the step on all GPUs of the process",
		TABLE_SHARE(shown_row, idle_ns, devices_ns)),
	TABLE_COLUMN("workers", "Workers", TABLE_COUNT, .help = "workers with at least two samples",
		TABLE_NONZERO(shown_row, nr_workers)),
	TABLE_COLUMN("worker_cpu_ns", "Workers' CPU", TABLE_TIME,
		.help = "CPU time of the workers, from samples",
		TABLE_MEMBER(shown_row, worker_ns)),
	TABLE_COLUMN("worker_cpu_pct", "% of step in workers", TABLE_PERCENT,
		.help = "CPU time of the workers, as a share of the step on all of them",
		TABLE_SHARE(shown_row, worker_ns, workers_ns)),
	TABLE_COLUMN("delayed", "Delayed", TABLE_TEXT,
		.help = "whether the loader delayed the step", TABLE_MEMBER(shown_row, is_held)),
	TABLE_COLUMN("stage", "Cause", TABLE_TEXT, .help = "what delayed it",
		TABLE_MEMBER(shown_row, stage)),
};

static void fill_table(void *state, struct table *table)
{
	struct data_loading_steps_view *view = state;
	uint64_t nr_held = 0, nr_cut = 0;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		struct loop *loop = &view->loops[i];

		loop->has_gpu &= !view_has_lost(&view->input, view->input.processes[i]);
		nr_cut += loop->has_loader && loop->gaps.nr_all > loop->gaps.nr;
		for (size_t k = 1; loop->has_loader && k < loop->nr_steps; k++) {
			if (loop->steps[k].is_whole) {
				add_step(view->input.processes[i], loop, k, table);
				nr_held += is_held(loop, &loop->steps[k]);
			}
		}
	}
	if (table->nr_rows) {
		table_note(table, "%llu of %zu steps were delayed.", (unsigned long long)nr_held,
			table->nr_rows);
	}
	if (nr_cut) {
		table_note(table, "GPU idle time covers only the longest gaps.");
	}
	view_note_lost(table, &view->input);
}

static void fini(void *state)
{
	struct data_loading_steps_view *view = state;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		free(view->loops[i].steps);
		gaps_fini(&view->loops[i].gaps);
	}
	free(view->loops);
	free(view->members);
}

VIEW(data_loading_steps, 430) = {
	.name = "data-loading-steps",
	.subject = VIEW_ABOUT_STEPS,
	.help = "steps that the data loader delayed, and where",
	.about = "A step counts as delayed if the loop waits for data for more than 5 % of it. "
		 "Where GPU times are known, the GPUs must be idle for as long. The CPU time of "
		 "workers comes from samples and is spread evenly between two of them. The length "
		 "of the loader's queues is not recorded.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "Data loading by step",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct data_loading_steps_view),
	/* The work of a device in a chosen step may have been launched in another one. */
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end, true,
		on_activity},
	.ops = {.begin = begin_ops, .op = on_op, .end = end_ops},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
