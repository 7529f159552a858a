/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of one command, one below the other: the figures of the first screen, and whether the
 * time of a step differs from that of the run before, by the test of `diff`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/headline.h"
#include "report/memory/memory.h"
#include "report/analysis/view.h"
#include "report/cli/cmd_runs.h"
#include "report/diff/diff.h"
#include "report/ops/op_walk.h"

/* All bits set, and NAN, are unknown. */
struct trend_row {
	struct cmd_run run;
	uint64_t nr_steps, peak_bytes;
	double median_ns, change_pct, mfu_pct, communication_pct;
	const char *significance;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("run", "Run", TABLE_ID, .help = "its number for --run",
		TABLE_MEMBER(trend_row, run.number)),
	TABLE_COLUMN(
		"median_ns", "Median step", TABLE_MEAN_TIME, TABLE_MEMBER(trend_row, median_ns)),
	TABLE_COLUMN("change_pct", "Change %", TABLE_PERCENT,
		.help = "of the median, from the run before", TABLE_MEMBER(trend_row, change_pct)),
	TABLE_COLUMN("significance", "Significance", TABLE_TEXT,
		.help = "faster or slower where p < 0.01, else not significant",
		TABLE_MEMBER(trend_row, significance)),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, TABLE_MEMBER(trend_row, nr_steps)),
	TABLE_COLUMN("mfu_pct", "MFU %", TABLE_PERCENT, TABLE_MEMBER(trend_row, mfu_pct)),
	TABLE_COLUMN("exposed_communication_pct", "Exposed communication %", TABLE_PERCENT,
		.help = "of the steps", TABLE_MEMBER(trend_row, communication_pct)),
	TABLE_COLUMN("peak_memory_bytes", "Peak GPU memory", TABLE_SIZE,
		.help = "of the GPU that has the most: of the framework's allocator, else of "
			"cudaMalloc",
		TABLE_MEMBER(trend_row, peak_bytes)),
	TABLE_COLUMN("began", "Began", TABLE_TEXT, .help = "in local time",
		TABLE_SET(trend_row, run, cmd_runs_set_begin)),
};
#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* ---- a run ---- */

static void set_figures(struct trend_row *row, const struct headline_figures *figures)
{
	bool has_parts = figures->has_gpu && figures->has_parts;

	row->nr_steps = figures->has_steps ? headline_nr_steps(figures) : UINT64_MAX;
	row->median_ns = figures->has_steps ? figures->median_ns : NAN;
	row->mfu_pct = figures->mfu_pct >= 0 ? figures->mfu_pct : NAN;
	row->communication_pct = has_parts
					 ? table_share((double)budget_communication(figures->parts),
						   (double)figures->parts_ns)
					 : NAN;
}

static uint64_t peak_of(const void *memory)
{
	uint64_t peaks[NR_MEMORY_PEAKS];

	for (unsigned int i = 0; i < NR_MEMORY_PEAKS; i++) {
		peaks[i] = UINT64_MAX;
	}
	view_memory_curve.merge.get_facts(memory, peaks);
	return peaks[MEMORY_PEAK_ALLOCATED] != UINT64_MAX ? peaks[MEMORY_PEAK_ALLOCATED]
							  : peaks[MEMORY_PEAK_CUDA_MALLOC];
}

static struct trend_row row_of(const struct cmd_run *run)
{
	static const struct view_class *const classes[] = {&view_memory_curve};
	const struct view_input input = {
		.processes = run->processes, .nr_processes = run->nr_processes};
	struct trend_row row = {.run = *run, .change_pct = NAN};
	struct headline headline = {0};
	const struct op_walk walk = {&headline_ops, &headline};
	struct headline_figures figures;
	void *memory;

	view_run_with(&input, classes, 1, &memory, &walk, 1);
	headline_figures(&headline, &figures);
	set_figures(&row, &figures);
	row.peak_bytes = peak_of(memory);
	view_destroy(classes[0], memory);
	headline_fini(&headline);
	return row;
}

/* ---- beside the one before ---- */

static const struct diff_row *step_time(const struct diff_rows *rows)
{
	for (size_t i = 0; i < rows->nr_rows; i++) {
		const struct diff_row *row = &rows->rows[i];

		if (row->name_a && row->name_b &&
			strcmp(string_pool_text(row->name_a, NULL), "step_time") == 0) {
			return row;
		}
	}
	return NULL;
}

static void set_change(
	struct trend_row *row, const struct diff_side *before, const struct diff_side *now)
{
	struct diff_rows rows = diff_rows_make(before, now, DIFF_STEP);
	const struct diff_row *step = step_time(&rows);

	if (step && step->median_a > 0) {
		bool is_significant = strcmp(diff_row_significance(step), "significant") == 0;

		row->change_pct = 100 * (step->median_b / step->median_a - 1);
		row->significance = !is_significant		      ? diff_row_significance(step)
				    : step->median_b > step->median_a ? "slower"
								      : "faster";
	}
	free(rows.rows);
}

/* The steps of a run, to be compared with those of the next. */
struct beside {
	struct diff_side side;
	bool has_steps; /* else there is no side */
};

static struct beside beside_of(const struct cmd_run *run)
{
	const struct cmd_input input = {
		.processes = run->processes, .nr_processes = run->nr_processes};
	struct beside beside = {.has_steps = diff_has_steps(&input)};

	if (beside.has_steps) {
		diff_side_read(&beside.side, &input, true, 0);
	}
	return beside;
}

static void forget(struct beside *beside)
{
	if (beside->has_steps) {
		diff_side_fini(&beside->side);
	}
	*beside = (struct beside){0};
}

/* ---- all of them ---- */

static const char *command_of(const struct cmd_run *run)
{
	const struct process *first = run->processes[0];

	/* Launchers have no rank, and come first. */
	for (size_t i = 0; i < run->nr_processes && first->rank < 0; i++) {
		first = run->processes[i]->rank >= 0 ? run->processes[i] : first;
	}
	return process_fact(first, "process.command", "");
}

/* Only runs of the newest run's command are rows; each change is to the row before. */
struct table *cmd_runs_trend(const struct cmd_runs *runs, size_t top)
{
	struct table *table = table_create("history", "History", columns, NR_COLUMNS);
	const char *command = runs->nr ? command_of(&runs->runs[runs->nr - 1]) : "";
	struct beside before = {0};
	size_t nr_left = 0;

	for (size_t i = 0; i < runs->nr; i++) {
		nr_left += strcmp(command_of(&runs->runs[i]), command) == 0;
	}
	for (size_t i = 0; i < runs->nr; i++) {
		const struct cmd_run *run = &runs->runs[i];
		struct trend_row row;
		struct beside now;

		if (strcmp(command_of(run), command) != 0 || (nr_left-- > top && top)) {
			continue;
		}
		cmd_runs_prepare(run);
		row = row_of(run);
		now = beside_of(run);
		if (before.has_steps && now.has_steps) {
			set_change(&row, &before.side, &now.side);
		}
		table_add(table, &row);
		forget(&before);
		before = now;
	}
	forget(&before);
	return table;
}
