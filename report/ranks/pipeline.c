/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that pass work on to each other (pipeline.h), and their bubbles: how long their devices
 * computed nothing while a send or receive waited for its other side. Only all ranks together
 * show who waited, so NCCL's operations are read before the scan.
 */
#include <math.h>
#include <stdlib.h>

#include "report/util/intervals.h"
#include "report/comm/nccl_match.h"
#include "report/comm/pipeline.h"
#include "report/model/select.h"
#include "report/gpu/overlap.h"
#include "report/analysis/view.h"
#include "report/util/sort.h"

/* The wait of an operation, until its last other side came. */
struct pipeline_wait {
	uint32_t process, device;
	uint64_t begin_ns, end_ns;
};

/* A device in a step. */
struct pipeline_row {
	const struct process *process;
	const struct pipeline_rank *rank;
	uint32_t device;
	size_t place; /* in process.steps */
	uint64_t begin_ns, end_ns, computation_ns, bubble_ns;
};

struct pipeline_view {
	struct view_input input;
	struct pipeline pipeline;
	struct pipeline_wait *waits; /* by process */
	size_t nr_waits, waits_capacity;
	struct pipeline_row *rows; /* of a device together, by step */
	size_t nr_rows, rows_capacity;
	struct overlap overlap;
	uint32_t process;	  /* the current one */
	size_t first_wait, nr_at; /* its waits */
};

/* ---- waits ---- */

static int by_process(const void *a, const void *b)
{
	const struct pipeline_wait *x = a, *y = b;

	return COMPARE(x->process, y->process);
}

static void add_waits(struct pipeline_view *view, const struct nccl_ops *ops)
{
	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];

		if (!nccl_op_is_p2p(op) || !op->wait_ns ||
			!view->pipeline.ranks[op->process].nr_neighbours) {
			continue;
		}
		view->waits = array_grow(
			view->waits, view->nr_waits, &view->waits_capacity, sizeof(*view->waits));
		view->waits[view->nr_waits++] = (struct pipeline_wait){
			op->process, op->device, op->begin_ns, op->begin_ns + op->wait_ns};
	}
	if (view->nr_waits) {
		qsort(view->waits, view->nr_waits, sizeof(*view->waits), by_process);
	}
}

static void init(void *state)
{
	struct pipeline_view *view = state;

	struct nccl_ops ops = {0};
	struct nccl_match match;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		nccl_ops_read(&ops, view->input.processes[i]);
	}
	nccl_match(&ops, &match);
	pipeline_find(&view->pipeline, &ops);
	add_waits(view, &ops);
	nccl_ops_fini(&ops);
}

/* ---- devices ---- */

/* The overlap shows what ran between the marks of steps and the ends of waits. */
static void begin(void *context, struct process *process)
{
	struct pipeline_view *view = context;
	uint64_t *bounds;
	size_t nr;

	overlap_begin(&view->overlap, process);
	view->first_wait += view->nr_at;
	view->nr_at = 0;
	while (view->first_wait + view->nr_at < view->nr_waits &&
		view->waits[view->first_wait + view->nr_at].process == view->process) {
		view->nr_at++;
	}
	nr = view->overlap.nr_bounds;
	bounds = mem_zeroed(nr + 2 * view->nr_at + 1, sizeof(*bounds));
	for (size_t i = 0; i < nr; i++) {
		bounds[i] = view->overlap.bounds[i];
	}
	for (size_t i = 0; i < view->nr_at; i++) {
		bounds[nr++] = view->waits[view->first_wait + i].begin_ns;
		bounds[nr++] = view->waits[view->first_wait + i].end_ns;
	}
	qsort(bounds, nr, sizeof(*bounds), by_u64);
	overlap_set_bounds(&view->overlap, bounds, nr);
	free(bounds);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	overlap_take(&((struct pipeline_view *)context)->overlap, activity);
}

/* Steps that have an end; returns where its rows begin. */
static size_t add_rows(struct pipeline_view *view, struct process *process, uint32_t device)
{
	size_t first = view->nr_rows;

	for (size_t i = 0; i + 1 < process->nr_steps; i++) {
		const struct model_step *step = &process->steps[i];
		uint64_t begin_ns = clock_map_time(&process->host_clock, step->tick);
		uint64_t end_ns = clock_map_time(&process->host_clock, step[1].tick);

		if (model_step_is_gap(step) || !select_has_step(process, i) || end_ns <= begin_ns ||
			(view->nr_rows > first &&
				begin_ns < view->rows[view->nr_rows - 1].end_ns)) {
			continue;
		}
		view->rows = array_grow(
			view->rows, view->nr_rows, &view->rows_capacity, sizeof(*view->rows));
		view->rows[view->nr_rows++] = (struct pipeline_row){.process = process,
			.rank = &view->pipeline.ranks[view->process],
			.device = device,
			.place = i,
			.begin_ns = begin_ns,
			.end_ns = end_ns};
	}
	return first;
}

/* The time between two bounds of the overlap lies in one step at most, and in one wait or none.
 */
static void fill_rows(struct pipeline_view *view, const struct overlap_device *device,
	const struct intervals *waits, size_t row)
{
	const struct overlap *overlap = &view->overlap;
	size_t wait = 0;

	for (size_t i = 0; i + 1 < overlap->nr_bounds; i++) {
		uint64_t begin_ns = overlap->bounds[i], end_ns = overlap->bounds[i + 1];
		uint64_t computation_ns = 0;

		while (row < view->nr_rows && view->rows[row].end_ns <= begin_ns) {
			row++;
		}
		while (wait < waits->nr && waits->items[wait].end <= begin_ns) {
			wait++;
		}
		if (row == view->nr_rows || view->rows[row].begin_ns > begin_ns) {
			continue;
		}
		if (i + 1 < device->nr_steps) {
			computation_ns = overlap_any(&device->steps[i + 1], OVERLAP_COMPUTATION);
		}
		view->rows[row].computation_ns += computation_ns;
		if (wait < waits->nr && waits->items[wait].begin <= begin_ns) {
			view->rows[row].bubble_ns += end_ns - begin_ns - computation_ns;
		}
	}
}

static void end(void *context, struct process *process)
{
	struct pipeline_view *view = context;

	overlap_end(&view->overlap);
	for (size_t i = view->overlap.first; i < view->overlap.nr_devices; i++) {
		const struct overlap_device *device = &view->overlap.devices[i];
		struct intervals waits = {0};

		if (!view->pipeline.ranks[view->process].nr_neighbours) {
			break;
		}
		for (size_t k = view->first_wait; k < view->first_wait + view->nr_at; k++) {
			if (view->waits[k].device == device->device) {
				intervals_add(
					&waits, view->waits[k].begin_ns, view->waits[k].end_ns);
			}
		}
		intervals_merge(&waits);
		fill_rows(view, device, &waits, add_rows(view, process, device->device));
		intervals_fini(&waits);
	}
	view->process++;
}

/* ---- the table ---- */

/* The rows of a device, or one of them. */
struct device_row {
	const struct process *process;
	uint32_t device;
	int32_t stage;
	uint32_t nr_stages;
	size_t nr;
	uint64_t step, time_ns, computation_ns, bubble_ns;
	double received, ideal_pct;
};

/* Returns the messages that came in a step from one neighbour, the one that sent more. */
static uint32_t nr_received(const struct pipeline_row *row)
{
	const struct pipeline_rank *rank = row->rank;
	size_t step = row->place + 1;
	uint32_t most = 0;

	for (uint32_t i = 0; i < PIPELINE_MAX && step < rank->nr_steps; i++) {
		most = rank->nr_received[step][i] > most ? rank->nr_received[step][i] : most;
	}
	return most;
}

static void add_row(struct table *table, const struct pipeline_row *rows, size_t nr, uint64_t step,
	bool has_lost)
{
	struct device_row row = {.process = rows->process,
		.device = rows->device,
		.stage = rows->rank->stage,
		.nr_stages = rows->rank->nr_stages,
		.nr = nr,
		.step = step,
		.ideal_pct = NAN};

	for (size_t i = 0; i < nr; i++) {
		row.time_ns += rows[i].end_ns - rows[i].begin_ns;
		row.computation_ns += rows[i].computation_ns;
		row.bubble_ns += rows[i].bubble_ns;
		row.received += nr_received(&rows[i]);
	}
	row.received /= (double)nr;
	if (has_lost) {
		row.bubble_ns = UINT64_MAX;
	}
	if (row.received > 0 && row.nr_stages) {
		row.ideal_pct = table_share(row.nr_stages - 1, row.received + row.nr_stages - 1);
	}
	table_add(table, &row);
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS(device_row, process, device),
	TABLE_COLUMN("step", "Step", TABLE_ID, TABLE_MEMBER(device_row, step)),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, TABLE_MEMBER(device_row, nr)),
	TABLE_COLUMN("stage", "Stage", TABLE_ID,
		.help = "position in the pipeline, from 0; n/a in a ring",
		TABLE_MEMBER(device_row, stage)),
	TABLE_COLUMN("stages", "Stages", TABLE_COUNT, .help = "stages of the pipeline",
		TABLE_NONZERO(device_row, nr_stages)),
	TABLE_COLUMN("micro_batches", "Micro-batches", TABLE_NUMBER,
		.help = "messages received from one neighbour per step",
		TABLE_NONZERO(device_row, received)),
	TABLE_COLUMN("time_ns", "Time", TABLE_TIME, TABLE_MEMBER(device_row, time_ns)),
	TABLE_COLUMN("computation_ns", "Computation", TABLE_TIME,
		.help = "union of the computing kernels", TABLE_MEMBER(device_row, computation_ns)),
	TABLE_COLUMN("bubble_ns", "Bubble", TABLE_TIME,
		.help = "nothing computes while a send or receive waits for its other side",
		TABLE_MEMBER(device_row, bubble_ns)),
	TABLE_COLUMN("bubble_pct", "Bubble % of time", TABLE_PERCENT,
		TABLE_SHARE(device_row, bubble_ns, time_ns)),
	TABLE_COLUMN("ideal_pct", "Ideal bubble %", TABLE_PERCENT,
		.help = "(stages - 1) / (micro-batches + stages - 1), of stages that take equally "
			"long",
		TABLE_MEMBER(device_row, ideal_pct)),
};

static void fill_table(void *state, struct table *table)
{
	struct pipeline_view *view = state;

	table_set_wide(table, "step", !view->input.is_detailed);
	table_set_wide(table, "steps", view->input.is_detailed);
	for (size_t at = 0, nr; at < view->nr_rows; at += nr) {
		const struct pipeline_row *first = &view->rows[at];

		for (nr = 1;
			!view->input.is_detailed && at + nr < view->nr_rows &&
			first[nr].process == first->process && first[nr].device == first->device;
			nr++) {
		}
		add_row(table, first, nr,
			view->input.is_detailed ? first->process->steps[first->place].step
						: UINT64_MAX,
			view_has_lost(&view->input, first->process));
	}
	if (view->pipeline.nr_meshed) {
		table_note(table,
			"%zu processes exchange data with more than two others, or with such a "
			"process; they "
			"form no pipeline.",
			view->pipeline.nr_meshed);
	}
	view_note_lost(table, &view->input);
	view_note_ranks(table, view->input.processes, view->input.nr_processes);
	view_note_clock(table, view->input.processes, view->input.nr_processes);
}

static void fini(void *state)
{
	struct pipeline_view *view = state;

	pipeline_fini(&view->pipeline);
	overlap_fini(&view->overlap);
	free(view->waits);
	free(view->rows);
}

VIEW(pipeline, 120) = {
	.name = "pipeline",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "ranks that pass activations to each other: stages and bubbles; by step with "
		"--detail",
	.about = "Covers the steps that have an end. A bubble is time in which a rank computes "
		 "nothing while a send or receive waits for its other side. The ideal bubble is "
		 "that of stages that take equally long.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "Pipeline",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct pipeline_view),
	/* Work in the time of a chosen step may have been launched in another one. */
	.scan = {.begin = begin, .end = end, .ignores_selection = true, .on_activity = on_activity},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
