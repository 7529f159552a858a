/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the training loop waited in its loader's __next__, and how busy the processes were that
 * it started to load data.
 */
#include <stdlib.h>
#include <string.h>

#include "report/model/process_tree.h"
#include "report/ops/counted_steps.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"
#include "report/budget/placement.h"

struct row {
	struct min_max_sum waits; /* ns */
	uint64_t wait_ticks;	  /* in steps that count */
	uint64_t step_ticks;
	uint64_t op_ns;	 /* of operators outside of others and of the loader's __next__ */
	uint64_t cpu_ns; /* by samples */
	bool has_cpu, has_loop;
	struct placement placement;
};

struct data_loading_view {
	struct view_input input;
	struct row *rows;   /* of each process */
	bool has_uncounted; /* steps of a loop that warm up, or outliers */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_sample, COLS(sample, value, metric), 0},
};

static void init(void *state)
{
	struct data_loading_view *view = state;

	view->rows = mem_zeroed(view->input.nr_processes + 1, sizeof(*view->rows));
}

/* The row of the process that is read. */
static struct row *row_of(struct data_loading_view *view)
{
	return &view->rows[view->input.number];
}

/* CPU time counts from the start of the process: the last is all of it. */
static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct row *row = row_of(context);

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->col[COL_sample_metric][i] == GPROF_METRIC_PROCESS_CPU_NS) {
			uint64_t ns = b->col[COL_sample_value][i];

			row->has_cpu = true;
			row->cpu_ns = ns > row->cpu_ns ? ns : row->cpu_ns;
		}
	}
}

/* Ranges of the user's may be around everything. */
static bool is_outermost(const struct op *op)
{
	const struct op *outer = op->parent;

	while (outer && op_class(outer->name, outer->framework, outer->scope) == OP_RANGE) {
		outer = outer->parent;
	}
	return !outer;
}

static void on_op(void *context, const struct op *op)
{
	struct data_loading_view *view = context;
	enum op_class class = op_class(op->name, op->framework, op->scope);

	if (class != OP_RANGE && class != OP_DATALOADER && is_outermost(op)) {
		row_of(view)->op_ns +=
			clock_map_duration(&view->input.process->host_clock, op->end - op->begin);
	}
}

static void add_counted(struct data_loading_view *view, const struct phases *phases)
{
	struct row *row = row_of(view);
	struct counted_steps counted;

	counted_steps_init(&counted, view->input.process, false);
	for (uint32_t step = 0; step < phases->nr_steps; step++) {
		if (counted.counts[step]) {
			row->wait_ticks += phases->steps[step].ticks[PHASE_DATALOADER];
			row->step_ticks += phases_step_ticks(phases, step);
		}
	}
	view->has_uncounted |= row->has_loop && counted.nr_warm_up + counted.nr_outliers;
	counted_steps_fini(&counted);
}

static void end_ops(void *context, struct process *process, const struct phases *phases)
{
	struct data_loading_view *view = context;
	struct row *row = row_of(view);

	row->has_loop = phases->has_loader;
	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];

		if (segment->phase == PHASE_DATALOADER) {
			min_max_sum_add(&row->waits, clock_map_duration(&process->host_clock,
							     segment->end - segment->begin));
		}
	}
	add_counted(view, phases);
}

/* ---- the table ---- */

struct shown_row {
	struct row row;
	uint32_t pid;
	uint64_t parent;
	const char *role;
	int64_t worker;
	uint64_t span_ns;
	uint64_t busy_whole_ns; /* the span, 0 for a loop, whose share is unknown */
};

static void add_rows(const struct data_loading_view *view, struct table *table)
{
	struct process *const *all = view->input.processes;
	size_t nr = view->input.nr_processes;
	struct process_tree_member *members = mem_zeroed(nr + 1, sizeof(*members));

	process_tree_find(all, nr, members);
	for (size_t i = 0; i < nr; i++) {
		int64_t nr_workers, number = process_tree_worker(all[i], &nr_workers);
		bool is_loop = view->rows[i].has_loop;
		bool is_child = members[i].link != PROCESS_TREE_NONE &&
				view->rows[members[i].parent].has_loop;
		uint64_t span_ns = all[i]->first_ns <= all[i]->last_ns
					   ? all[i]->last_ns - all[i]->first_ns
					   : 0;
		struct shown_row shown;

		if (!is_loop && !is_child && number < 0) {
			continue;
		}
		view->rows[i].placement = placement_of(all[i]);
		shown = (struct shown_row){
			.row = view->rows[i],
			.pid = all[i]->pid,
			.parent = !is_loop && is_child ? all[members[i].parent]->pid : UINT64_MAX,
			.role = is_loop	      ? "loop"
				: number >= 0 ? "loader worker"
					      : "started by the loop",
			.worker = number >= 0 ? number : -1,
			.span_ns = span_ns,
			.busy_whole_ns = is_loop ? 0 : span_ns,
		};
		if (!is_loop) {
			shown.row.waits.nr = shown.row.step_ticks = 0;
		}
		table_add(table, &shown);
	}
	free(members);
}

/* What no process has takes no room. */
static void hide_unknown(const struct data_loading_view *view, struct table *table)
{
	bool has_reads = false;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		has_reads |= view->rows[i].placement.has_reads;
	}
	table_set_wide(table, "read_bytes", !has_reads);
	table_set_wide(table, "storage_bytes", !has_reads);
	table_set_wide(table, "storage_rate", !has_reads);
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(shown_row, pid)),
	TABLE_COLUMN("parent", "Loop", TABLE_ID, .help = "process ID of the training loop",
		TABLE_MEMBER(shown_row, parent)),
	TABLE_COLUMN("role", "Role", TABLE_TEXT,
		.help = "loop, loader worker, or another process that the loop started",
		TABLE_MEMBER(shown_row, role)),
	TABLE_COLUMN("worker", "Worker", TABLE_ID,
		.help = "number that PyTorch or Paddle gave the worker",
		TABLE_MEMBER(shown_row, worker)),
	TABLE_COLUMN("span_ns", "Span", TABLE_TIME, .help = "from the first event to the last",
		TABLE_MEMBER(shown_row, span_ns)),
	TABLE_COLUMN("cpu_ns", "CPU time", TABLE_TIME, .is_minor = true,
		.help = "CPU time since the start of the process, from samples",
		TABLE_IF(shown_row, row.cpu_ns, row.has_cpu)),
	TABLE_COLUMN("busy_pct", "% of span in operators", TABLE_PERCENT,
		.help = "operators, as a share of the span; can exceed 100 with several threads",
		TABLE_SHARE(shown_row, row.op_ns, busy_whole_ns)),
	TABLE_COLUMN("operators_ns", "Operators", TABLE_TIME, .is_minor = true,
		.help = "time in operators of all threads, without waits",
		TABLE_MEMBER(shown_row, row.op_ns)),
	TABLE_COLUMN("read_bytes", "Read", TABLE_SIZE, .is_minor = true,
		.help = "by calls of all threads, from files, pipes and others, also of the "
			"processes that "
			"it waited for; of a loop: in its steps",
		TABLE_IF(shown_row, row.placement.read_bytes, row.placement.has_reads)),
	TABLE_COLUMN("storage_bytes", "From storage", TABLE_SIZE, .is_minor = true,
		.help = "that storage had to deliver (page cache misses), also for page faults; "
			"FUSE "
			"and some other file systems do not count here",
		TABLE_IF(shown_row, row.placement.storage_bytes, row.placement.has_reads)),
	TABLE_COLUMN("storage_rate", "Storage rate", TABLE_RATE, .is_minor = true,
		.help = "bytes from storage by that time",
		TABLE_PER_SECOND(shown_row, row.placement.storage_bytes, row.placement.read_ns)),
	TABLE_COLUMN("batches", "Batches", TABLE_COUNT, .help = "batches that the loop received",
		TABLE_IF(shown_row, row.waits.nr, row.has_loop)),
	TABLE_COLUMN("wait_ns", "Waiting", TABLE_TIME, .help = "time in __next__ of the loader",
		TABLE_IF(shown_row, row.waits.sum, row.has_loop)),
	TABLE_COLUMN("wait_avg_ns", "Avg wait", TABLE_MEAN_TIME, .is_minor = true,
		.help = "mean wait for a batch",
		TABLE_MEAN(shown_row, row.waits.sum, row.waits.nr)),
	TABLE_COLUMN("wait_max_ns", "Max wait", TABLE_TIME, .is_minor = true,
		.help = "longest wait for a batch",
		TABLE_IF(shown_row, row.waits.max, row.waits.nr)),
	TABLE_COLUMN("wait_min_ns", "Min wait", TABLE_TIME, .is_minor = true,
		.help = "shortest wait for a batch",
		TABLE_IF(shown_row, row.waits.min, row.waits.nr)),
	TABLE_COLUMN("wait_pct", "% of steps", TABLE_PERCENT,
		.help = "waiting in the steps that count, as a share of these",
		TABLE_SHARE(shown_row, row.wait_ticks, row.step_ticks)),
};

static void fill_table(void *state, struct table *table)
{
	struct data_loading_view *view = state;

	add_rows(view, table);
	hide_unknown(view, table);
	if (view->has_uncounted) {
		table_note(table, "Waiting and batches are of all steps, the share of those that "
				  "count; see `help headline`.");
	}
}

static void fini(void *state)
{
	struct data_loading_view *view = state;

	free(view->rows);
}

VIEW(data_loading, 420) = {
	.name = "data-loading",
	.subject = VIEW_ABOUT_STEPS,
	.help = "time spent waiting for data, and the data loader's workers",
	.about = "Waiting is time in __next__ of the loader; without workers it includes the "
		 "loading itself. Operator time adds up over all threads, without waits, so it can "
		 "exceed the span. Other processes that the loop started may be workers, too.",
	.title = "Data loading",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct data_loading_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.ops = {.op = on_op, .end = end_ops},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
