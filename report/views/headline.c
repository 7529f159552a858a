/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first screen in at most eight lines: what ran, how long a step takes, where its time goes,
 * how much it computes, and what would save most. One row for the whole run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/advice/findings.h"
#include "report/analysis/headline.h"
#include "report/analysis/view.h"
#include "report/model/run_state.h"
#include "report/table/figure_lines.h"
#include "report/util/text.h"

#define MOST_LINES    8u
#define NR_FINDINGS   3u
#define FINDING_WIDTH 3u
#define LEAST_PROGRAM 12u

struct headline_view {
	struct view_input input;
	struct view_used advice;
	struct headline headline;
};

static void begin(void *context, struct process *process)
{
	headline_begin(&((struct headline_view *)context)->headline, process);
}

static void enter(void *context, const struct op *op)
{
	headline_enter(&((struct headline_view *)context)->headline, op);
}

static void on_op(void *context, const struct op *op)
{
	headline_op(&((struct headline_view *)context)->headline, op);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	(void)op;
	headline_call(&((struct headline_view *)context)->headline, call);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	(void)op;
	headline_record(&((struct headline_view *)context)->headline, record, call);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	(void)process;
	headline_end(&((struct headline_view *)context)->headline, phases);
}

static void fini(void *state)
{
	headline_fini(&((struct headline_view *)state)->headline);
}

/* ---- what ran ---- */

static void add_count(struct buf *out, size_t nr, const char *what, const char *plural)
{
	buf_printf(out, ", %zu %s%s", nr, what, nr == 1 ? "" : plural);
}

static void add_run(struct figure_lines *lines, const struct headline_figures *figures)
{
	struct buf rest = {0};
	size_t left = SIZE_MAX;
	char time[TEXT_TIME_BYTES];

	if (figures->nr_ranks > 1) {
		add_count(&rest, figures->nr_ranks, "rank", "s");
	} else if (figures->nr_processes > 1) {
		add_count(&rest, figures->nr_processes, "process", "es");
	} else if (figures->first->rank >= 0 && figures->first->world > 1) {
		buf_printf(&rest, ", rank %lld of %lld", (long long)figures->first->rank,
			(long long)figures->first->world);
	}
	if (figures->nr_hosts > 1) {
		buf_printf(&rest, " on %zu hosts", figures->nr_hosts);
	}
	if (figures->nr_helpers) {
		add_count(&rest, figures->nr_helpers, "helper", "s");
	}
	if (figures->nr_gpus == 1 || (figures->nr_gpus && figures->gpu_name)) {
		const char *name = string_pool_text(figures->gpu_name, NULL);

		buf_printf(&rest, figures->nr_gpus > 1 ? ", %zu x " : ", ", figures->nr_gpus);
		text_add_shown(&rest, name, strlen(name), 32);
	} else if (figures->nr_gpus) {
		add_count(&rest, figures->nr_gpus, "GPU", "s");
	} else {
		buf_text(&rest, ", no GPU");
	}
	if (figures->has_steps) {
		add_count(&rest, figures->nr_steps + figures->nr_warm_up,
			figures->is_selected ? "selected step" : "step", "s");
	}
	text_time(time, (double)figures->span_ns);
	buf_printf(
		&rest, "%s%s", figures->has_steps && !figures->is_selected ? " in " : ", ", time);
	if (lines->width != SIZE_MAX) {
		left = lines->width > rest.nr_bytes + LEAST_PROGRAM ? lines->width - rest.nr_bytes
								    : LEAST_PROGRAM;
	}
	run_state_add_program(&lines->text, figures->first, left == SIZE_MAX ? 0 : left);
	buf_char(&rest, '\0');
	text_add_shown(&lines->text, rest.bytes, rest.nr_bytes - 1,
		left == LEAST_PROGRAM ? lines->width - left : 0);
	figure_lines_end(lines);
	lines->nr++;
	buf_fini(&rest);
}

/* ---- what it computes ---- */

static void add_flops(struct figure_lines *lines, const struct headline_figures *figures)
{
	static const char *const prefixes[] = {"", "K", "M", "G", "T", "P", "E"};
	double value = figures->flops_per_s;
	char item[96];
	size_t i = 0;

	if (value <= 0) {
		return;
	}
	while (value >= 1000 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
		value /= 1000;
		i++;
	}
	figure_lines_begin(lines, "Compute");
	snprintf(item, sizeof(item), "%.*f %sFLOP/s%s in operators with shapes",
		value < 10    ? 2
		: value < 100 ? 1
			      : 0,
		value, prefixes[i], figures->has_gpu ? " per GPU" : "");
	figure_lines_add(lines, item);
	if (figures->mfu_pct >= 0 && figures->mfu_pct <= 100) {
		snprintf(item, sizeof(item),
			figures->mfu_pct < 0.1 ? "MFU below 0.1 %%" : "MFU %.1f %%",
			figures->mfu_pct);
		figure_lines_add(lines, item);
	}
	figure_lines_end(lines);
}

/* ---- findings ---- */

static const struct findings *findings_of(struct headline_view *view)
{
	static const struct findings none;

	return view->advice.state ? advice_findings(view->advice.state) : &none;
}

/* Where the whole sentence does not fit in a line: the problem and what it costs. */
static void add_short(const struct finding *finding, size_t width, struct buf *out)
{
	struct buf cost = {0};
	char time[TEXT_TIME_BYTES];

	if (finding->predicted) {
		text_time(time, finding->saved_ns);
		buf_printf(&cost, "; a fix saves %s (%.1f %%)", time, finding_saved_pct(finding));
	} else if (finding->result.has_stake && finding->result.stake_whole_ns) {
		text_time(time, (double)finding->result.stake_ns);
		buf_printf(&cost, "; at most %s (%.1f %%)", time,
			100 * (double)finding->result.stake_ns /
				(double)finding->result.stake_whole_ns);
	}
	buf_char(&cost, '\0');
	buf_printf(out, "%c", finding->result.problem[0] & ~0x20);
	text_add_shown(out, finding->result.problem + 1, strlen(finding->result.problem + 1),
		width > cost.nr_bytes + LEAST_PROGRAM ? width - cost.nr_bytes : LEAST_PROGRAM);
	buf_text(out, cost.bytes);
	buf_fini(&cost);
}

static void add_findings(struct headline_view *view, struct figure_lines *lines)
{
	const struct findings *findings = findings_of(view);

	for (size_t i = 0; i < findings->nr_shown && i < NR_FINDINGS && lines->nr < MOST_LINES;
		i++) {
		struct buf sentence = {0};
		size_t width = lines->width - FINDING_WIDTH;

		buf_printf(&lines->text, "%zu. ", i + 1);
		finding_add_sentence(&findings->items[i], &sentence);
		if (sentence.nr_bytes > width) {
			sentence.nr_bytes = 0;
			add_short(&findings->items[i], width, &sentence);
		}
		buf_add(&lines->text, sentence.bytes, sentence.nr_bytes);
		figure_lines_end(lines);
		lines->nr++;
		buf_fini(&sentence);
	}
}

/* ---- all of it ---- */

static char *make_lines(
	struct headline_view *view, const struct headline_figures *figures, size_t width)
{
	struct figure_lines lines = {.width = width ? width : SIZE_MAX};

	add_run(&lines, figures);
	lines.nr += run_state_add_losses(
		&lines.text, view->input.processes, view->input.nr_processes, width);
	headline_add_step(&lines, figures);
	if (figures->has_parts && figures->parts_ns && figures->has_gpu) {
		headline_add_gpu_shares(&lines, figures);
	} else if (figures->has_parts && figures->parts_ns) {
		headline_add_cpu_shares(&lines, figures);
	}
	add_flops(&lines, figures);
	add_findings(view, &lines);
	buf_char(&lines.text, '\0');
	return lines.text.bytes;
}

/* ---- the row ---- */

enum column {
	PROGRAM,
	PROCESSES,
	HELPERS,
	RANKS,
	HOSTS,
	GPUS,
	GPU_NAME,
	SPAN,
	STEPS,
	WARM_UP,
	MEDIAN,
	MEAN,
	P99,
	TREND,
	GPU_SHARES,
	CPU_SHARES = GPU_SHARES + 2 * HEADLINE_NR_GPU_SHARES,
	PHASE_SHARES = CPU_SHARES + 2 * HEADLINE_NR_CPU_SHARES,
	FLOPS = PHASE_SHARES + 2 * HEADLINE_NR_PHASE_SHARES,
	MFU,
	FINDINGS,
	NR_FINDING_COLUMNS = 3,
	INCOMPLETE = FINDINGS + NR_FINDING_COLUMNS * NR_FINDINGS,
	NR_COLUMNS,
};

#define SHARE(key, title, what)                                        \
	TABLE_COLUMN(key "_ns", title, TABLE_MEAN_TIME, .help = what), \
		TABLE_COLUMN(key "_pct", title " %", TABLE_PERCENT, .help = "of the step")

#define FINDING(nr)                                                                               \
	TABLE_COLUMN("finding_" nr, "Finding " nr, TABLE_TEXT, .help = "what would save time"),   \
		TABLE_COLUMN("finding_" nr "_saved_ns", "Saved by " nr, TABLE_MEAN_TIME,          \
			.help = "predicted by the replay of the steps; unknown where it cannot"), \
		TABLE_COLUMN("finding_" nr "_saved_pct", "Saved by " nr " %", TABLE_PERCENT,      \
			.help = "of the step")

static const struct table_column columns[] = {
	TABLE_COLUMN("program", "Program", TABLE_TEXT),
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, .help = "with the training loop"),
	TABLE_COLUMN("helpers", "Helpers", TABLE_COUNT, .help = "other processes"),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT),
	TABLE_COLUMN("hosts", "Hosts", TABLE_COUNT),
	TABLE_COLUMN("gpus", "GPUs", TABLE_COUNT, .help = "that had work"),
	TABLE_COLUMN("gpu_name", "GPU", TABLE_TEXT, .help = "unknown if they differ"),
	TABLE_COLUMN("span_ns", "Recorded", TABLE_TIME, .help = "of the longest process"),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT,
		.help = "whole ones, without those that warm up; the following are of these"),
	TABLE_COLUMN("warm_up_steps", "Warm-up", TABLE_COUNT, .help = "steps that warm up"),
	TABLE_COLUMN("median_ns", "Median", TABLE_MEAN_TIME,
		.help = "of steps; a step of a job takes the median of its ranks"),
	TABLE_COLUMN("mean_ns", "Mean", TABLE_MEAN_TIME),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .help = "99th percentile, nearest rank"),
	TABLE_COLUMN("trend_pct", "Trend %", TABLE_PERCENT,
		.help = "median of the last third of the steps against the first; unknown if "
			"chance explains it"),
	SHARE("computing", "Computing", "a computing kernel runs"),
	SHARE("exposed_communication", "Exposed communication",
		"communication runs and no other GPU activity"),
	SHARE("exposed_copies", "Exposed copies", "copies or memsets run and no computing kernel"),
	SHARE("idle_dataloader", "Idle, data loader", "the host is in the data loader"),
	SHARE("idle_calls", "Idle, CUDA calls", "the host is in a CUDA call"),
	SHARE("idle_operators", "Idle, CPU operators", "the host is in an operator"),
	SHARE("idle_other", "Idle, other", "the host is elsewhere, such as in Python"),
	SHARE("cpu_operators", "CPU, operators", "without a GPU: in an operator"),
	SHARE("cpu_dataloader", "CPU, data loader", "without a GPU: in the data loader"),
	SHARE("cpu_communication", "CPU, communication", "without a GPU: in a collective"),
	SHARE("cpu_calls", "CPU, CUDA calls", "without a GPU: in a CUDA call"),
	SHARE("cpu_other", "CPU, other", "without a GPU: elsewhere, such as in Python"),
	SHARE("forward", "Forward", "phase of the host"),
	SHARE("backward", "Backward", "phase of the host"),
	SHARE("optimization", "Optimization", "phase of the host"),
	SHARE("dataloader", "Dataloader", "phase of the host"),
	SHARE("others", "Others", "in no phase"),
	TABLE_COLUMN("flops_per_s", "FLOP/s", TABLE_NUMBER,
		.help = "of operators with recorded shapes, per GPU"),
	TABLE_COLUMN("mfu_pct", "MFU %", TABLE_PERCENT,
		.help = "time of these operations at the peak of the GPU for their types of "
			"numbers (TF32 counts as float32), of the step"),
	FINDING("1"),
	FINDING("2"),
	FINDING("3"),
	TABLE_COLUMN("incomplete", "Incomplete", TABLE_COUNT,
		.help = "processes of which anything is missing"),
};

/* Means of all steps of all processes; of the whole recordings where there are no steps. */
static void fill_times(const struct headline_figures *figures, struct table_cell *cells)
{
	double nr = figures->has_steps ? (double)figures->nr_step_rows : 1;

	if (figures->has_parts && figures->has_gpu) {
		figure_shares_fill(headline_gpu_shares, HEADLINE_NR_GPU_SHARES, figures->parts,
			figures->parts_ns, nr, &cells[GPU_SHARES]);
	} else if (figures->has_parts) {
		figure_shares_fill(headline_cpu_shares, HEADLINE_NR_CPU_SHARES, figures->parts,
			figures->parts_ns, nr, &cells[CPU_SHARES]);
	}
	if (figures->has_phases) {
		figure_shares_fill(headline_phase_shares, HEADLINE_NR_PHASE_SHARES, figures->phases,
			figures->phases_ns, nr, &cells[PHASE_SHARES]);
	}
}

static void fill_steps(const struct headline_figures *figures, struct table_cell *cells)
{
	table_set_integer(&cells[STEPS], figures->nr_steps);
	table_set_integer(&cells[WARM_UP], figures->nr_warm_up);
	if (figures->nr_steps) {
		table_set_number(&cells[MEDIAN], figures->median_ns);
		table_set_number(&cells[MEAN], figures->mean_ns);
		table_set_integer(&cells[P99], figures->p99_ns);
	}
	if (figures->has_trend) {
		table_set_number(&cells[TREND], figures->trend_pct);
	}
}

static void fill_run(const struct headline_figures *figures, struct table_cell *cells)
{
	struct buf program = {0};

	run_state_add_program(&program, figures->first, 0);
	table_set_text(&cells[PROGRAM], program.bytes, program.nr_bytes);
	buf_fini(&program);
	table_set_integer(&cells[PROCESSES], figures->nr_processes);
	table_set_integer(&cells[HELPERS], figures->nr_helpers);
	table_set_integer(&cells[RANKS], figures->nr_ranks);
	table_set_integer(&cells[HOSTS], figures->nr_hosts);
	table_set_integer(&cells[GPUS], figures->nr_gpus);
	if (figures->gpu_name) {
		table_set_string(&cells[GPU_NAME], string_pool_text(figures->gpu_name, NULL));
	}
	table_set_integer(&cells[SPAN], figures->span_ns);
}

static void fill_findings(const struct findings *findings, struct table_cell *cells)
{
	for (size_t i = 0; i < findings->nr_shown && i < NR_FINDINGS; i++) {
		const struct finding *finding = &findings->items[i];
		struct buf sentence = {0};

		finding_add_sentence(finding, &sentence);
		table_set_text(cells++, sentence.bytes, sentence.nr_bytes);
		buf_fini(&sentence);
		if (finding->predicted) {
			table_set_number(cells, finding->saved_ns);
			table_set_number(cells + 1, finding_saved_pct(finding));
		}
		cells += NR_FINDING_COLUMNS - 1;
	}
}

static void fill(void *state, struct table *table)
{
	struct headline_view *view = state;
	struct headline_figures figures;
	struct table_cell *cells;
	uint64_t nr_incomplete = 0;
	char *lines;

	headline_figures(&view->headline, &figures);
	if (!figures.first) {
		return;
	}
	cells = table_add_row(table);
	fill_run(&figures, cells);
	fill_steps(&figures, cells);
	fill_times(&figures, cells);
	if (figures.flops_per_s > 0) {
		table_set_number(&cells[FLOPS], figures.flops_per_s);
	}
	if (figures.mfu_pct >= 0) {
		table_set_number(&cells[MFU], figures.mfu_pct);
	}
	fill_findings(findings_of(view), &cells[FINDINGS]);
	for (size_t i = 0; i < view->input.nr_processes; i++) {
		nr_incomplete += !process_is_complete(view->input.processes[i]);
	}
	table_set_integer(&cells[INCOMPLETE], nr_incomplete);
	table->is_figure_only = true;
	table->figure = make_lines(view, &figures, view->input.line_width);
	lines = make_lines(view, &figures, 0);
	table->figure_json = figure_lines_json(lines);
	free(lines);
}

VIEW(headline, 5) = {
	.name = "headline",
	.help = "the run in eight lines: step time, where it goes, and what would save most",
	.about =
		"One row for the whole run. Times are means per step, and shares are of the step; "
		"those of GPUs sum to 100 %, and so do those of the CPU and those of phases. While "
		"a GPU is idle, the time counts for what the host does. Steps that warm up are "
		"excluded: at the begin, over 25 % longer than the median of the second half, and "
		"longer than every step there.",
	.is_default = true,
	.title = "Headline",
	VIEW_COLUMNS(columns),
	.state = {.size = sizeof(struct headline_view),
		.input = offsetof(struct headline_view, input),
		.used = offsetof(struct headline_view, advice)},
	.uses = &view_advice,
	.ops = {.begin = begin,
		.enter = enter,
		.op = on_op,
		.call = on_call,
		.record = on_record,
		.end = end},
	.fill = fill,
	.fini = fini,
};
