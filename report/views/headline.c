/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first screen: what ran, how long a step takes, where its time goes,
 * how much it computes, and what would save most. One row for the whole run.
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "report/analysis/headline.h"
#include "report/analysis/view.h"
#include "report/budget/code_samples.h"
#include "report/ops/flops.h"
#include "report/model/run_state.h"
#include "report/table/figure_lines.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/verdict/top.h"
#include "report/verdict/verdict.h"

#define MIN_PROGRAM 12u

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
		headline_add_no_gpu(&rest, figures);
	}
	if (figures->has_steps) {
		add_count(&rest, headline_nr_steps(figures),
			figures->is_selected ? "selected step" : "step", "s");
	}
	text_time(time, (double)figures->span_ns);
	buf_printf(
		&rest, "%s%s", figures->has_steps && !figures->is_selected ? " in " : ", ", time);
	if (lines->width != SIZE_MAX) {
		left = lines->width > rest.nr_bytes + MIN_PROGRAM ? lines->width - rest.nr_bytes
								  : MIN_PROGRAM;
	}
	run_state_add_program(&lines->text, figures->first, left == SIZE_MAX ? 0 : left);
	buf_char(&rest, '\0');
	text_add_shown(&lines->text, rest.bytes, rest.nr_bytes - 1,
		left == MIN_PROGRAM ? lines->width - left : 0);
	figure_lines_end(lines);
	lines->nr++;
	buf_fini(&rest);
}

/* ---- what it computes ---- */

#define MIN_GPU_FLOPS 1e9

static void add_flops(struct figure_lines *lines, const struct headline_figures *figures)
{
	static const char *const prefixes[] = {"", "K", "M", "G", "T", "P", "E"};
	double value = figures->flops_per_s;
	char item[96];
	size_t i = 0;

	if (figures->lacks_sizes) {
		figure_lines_begin(lines, "Compute");
		figure_lines_add(lines, "n/a (strides of convolutions are not recorded)");
		figure_lines_end(lines);
	}
	/* So little of a GPU is the rest: what computed had no shapes, as kernels of a graph. */
	if (value <= 0 || (figures->has_gpu && value < MIN_GPU_FLOPS)) {
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
			figures->mfu_pct < 0.1 ? "estimated MFU below 0.1 %%"
					       : "estimated MFU %.1f %%",
			figures->mfu_pct);
		figure_lines_add(lines, item);
	}
	figure_lines_end(lines);
}

/* ---- a program without a GPU ---- */

#define MAX_LINES 3u
/* Places with a smaller share of the samples, in percent, are none of the first screen's. */
#define MIN_SHARE_PCT 1.0

/* The places with most samples, as findings have them; returns whether there are any. */
static bool add_places(
	struct figure_lines *lines, const struct code_place *top, const struct code_sum *all)
{
	unsigned int nr = 0;

	for (; nr < MAX_LINES && top[nr].sum.nr; nr++) {
		double share_pct = 100 * (double)top[nr].sum.nr / (double)all->nr;
		struct buf item = {0};
		size_t nr_bytes;
		const char *text = string_pool_text(top[nr].place, &nr_bytes);

		if (share_pct < MIN_SHARE_PCT) {
			break;
		}
		if (!nr) {
			figure_lines_begin(lines, "Python");
		}
		buf_printf(&item, "%.1f %%%s at ", share_pct, nr ? "" : " of Python's CPU samples");
		text_add_cut(&item, text, nr_bytes, VERDICT_CODE_WIDTH);
		buf_char(&item, '\0');
		figure_lines_add(lines, item.bytes);
		buf_fini(&item);
	}
	if (nr) {
		figure_lines_end(lines);
	}
	return nr != 0;
}

static bool add_python_lines(struct figure_lines *lines, const struct view_input *input)
{
	struct code_place top[MAX_LINES] = {{0}};
	struct code_sum all = {0};
	struct idmap places;

	idmap_init(&places, sizeof(struct code_place));
	code_samples_sum_python(input->processes, input->nr_processes, &places, &all);
	for (size_t i = 0; i < places.nr; i++) {
		top_add(top, MAX_LINES, sizeof(top[0]), idmap_at(&places, i),
			offsetof(struct code_place, sum.nr));
	}
	idmap_fini(&places);
	return add_places(lines, top, &all);
}

/* ---- findings ---- */

static void add_findings(const struct verdict *verdict, struct figure_lines *lines)
{
	for (size_t i = 0; i < verdict->nr && i < HEADLINE_NR_FINDINGS; i++) {
		struct buf sentence = {0};
		char label[24];

		snprintf(label, sizeof(label), "%zu. ", i + 1);
		verdict_add_sentence(verdict, &verdict->findings[i], &sentence);
		buf_char(&sentence, '\0');
		figure_lines_add_sentence(lines, label, sentence.bytes);
		lines->nr++;
		buf_fini(&sentence);
	}
}

static void add_shares(struct figure_lines *lines, const struct headline_figures *figures)
{
	if (figures->has_parts && figures->parts_ns) {
		headline_add_cpu_shares(lines, figures);
	}
}

/*
 * A program without a framework has no shares to show, so its lines of Python stand here. With a
 * framework they follow the shares if no finding says what takes the time.
 */
static void add_host(struct figure_lines *lines, const struct verdict *verdict)
{
	const struct headline_figures *figures = &verdict->figures;

	if (figures->has_gpu) {
		add_shares(lines, figures);
	} else if (figures->has_operators) {
		add_shares(lines, figures);
		if (!verdict->nr) {
			add_python_lines(lines, &verdict->advice.input);
		}
	} else if (!add_python_lines(lines, &verdict->advice.input)) {
		add_shares(lines, figures);
	}
}

/* ---- all of it ---- */

static char *make_lines(const struct verdict *verdict, size_t width)
{
	const struct headline_figures *figures = &verdict->figures;
	struct figure_lines lines = {.width = width ? width : SIZE_MAX};

	add_run(&lines, figures);
	headline_add_losses(&lines, figures, verdict->advice.input.processes,
		verdict->advice.input.nr_processes);
	headline_add_step(&lines, figures);
	if (figures->has_parts && figures->parts_ns && figures->has_gpu) {
		headline_add_gpu_shares(&lines, figures);
	} else {
		add_host(&lines, verdict);
	}
	headline_add_outliers(&lines, figures);
	add_flops(&lines, figures);
	add_findings(verdict, &lines);
	buf_char(&lines.text, '\0');
	return lines.text.bytes;
}

/* ---- the row ---- */

static void fill_findings(const struct verdict *verdict, struct table_cell *cells)
{
	enum { SENTENCE, SAVED, SHARE };

	for (size_t i = 0; i < verdict->nr && i < HEADLINE_NR_FINDINGS; i++) {
		const struct verdict_finding *finding = &verdict->findings[i];
		struct table_cell *own = &cells[i * HEADLINE_NR_FINDING_COLUMNS];
		struct buf sentence = {0};

		verdict_add_sentence(verdict, finding, &sentence);
		table_set_text(&own[SENTENCE], sentence.bytes, sentence.nr_bytes);
		buf_fini(&sentence);
		if (finding->saved_ns >= 0) {
			table_set_number(&own[SAVED], finding->saved_ns);
			table_set_number(&own[SHARE], verdict_share_pct(finding));
		}
	}
}

static void fill(void *state, struct table *table)
{
	struct verdict *verdict = state;
	const struct view_input *input = &verdict->advice.input;
	struct table_cell *cells;
	struct buf program = {0};
	uint64_t nr_incomplete = 0;
	char *lines;

	verdict_find(verdict);
	if (!verdict->figures.first) {
		return;
	}
	cells = table_add_row(table);
	run_state_add_program(&program, verdict->figures.first, 0);
	table_set_text(&cells[HEADLINE_PROGRAM], program.bytes, program.nr_bytes);
	buf_fini(&program);
	headline_fill(&verdict->figures, cells);
	fill_findings(verdict, &cells[HEADLINE_FINDINGS]);
	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct headline_process *at = &verdict->headline.processes[i];

		nr_incomplete += !process_is_complete(input->processes[i]) ||
				 (at->is_main && budget_has_lost(&at->launches));
	}
	table_set_integer(&cells[HEADLINE_INCOMPLETE], nr_incomplete);
	table->is_figure_only = true;
	table->figure = make_lines(verdict, input->line_width);
	lines = make_lines(verdict, 0);
	table->figure_json = figure_lines_json(lines);
	free(lines);
}

VIEW(headline, 5) = {
	.name = "headline",
	.subject = VIEW_ABOUT_VERDICT,
	.help = "the run in a few lines: step time, where it goes, and what would save most",
	.about =
		"One row for the whole run. Times are means per step, and shares are of the step; "
		"those of GPUs sum to 100 %, and so do those of the CPU and those of phases. While "
		"a GPU is idle, the time counts for what the host does. Steps that warm up are "
		"excluded: at the begin, over 25 % longer than the median of the second half, and "
		"longer than every step there. So are outliers, later steps of more than twice the "
		"median and more than five median deviations (MAD) above it, if they are at most "
		"one in five: a line has their number and time.",
	.is_default = true,
	.title = "Headline",
	VIEW_COLUMNS(headline_columns),
	.shows = &view_advice,
	.is_brief = true,
	.fill = fill,
};

/* ---- the findings as a table ---- */

struct finding_row {
	enum verdict_cause cause;
	struct buf sentence, places;
	double saved_ns, share_pct, reach_ns, step_ns;
};

static const struct table_column finding_columns[] = {
	TABLE_COLUMN(
		"cause", "Cause", TABLE_TEXT, TABLE_NAMED(finding_row, cause, verdict_cause_names)),
	TABLE_COLUMN("sentence", "Finding", TABLE_TEXT, .is_sentence = true, .is_below = true,
		TABLE_BUF(finding_row, sentence)),
	TABLE_COLUMN("saved_ns", "Saved", TABLE_MEAN_TIME,
		.help = "predicted by the replay, and at most what the cause costs; unknown where "
			"the replay cannot say",
		TABLE_MEMBER(finding_row, saved_ns)),
	TABLE_COLUMN("share_pct", "% of step", TABLE_PERCENT,
		.help = "what is saved, or what the cause costs where that is unknown",
		TABLE_MEMBER(finding_row, share_pct)),
	TABLE_COLUMN("reach_ns", "Costs", TABLE_MEAN_TIME,
		.help = "parts of the time budget that the cause explains: the most that a change "
			"can save",
		TABLE_MEMBER(finding_row, reach_ns)),
	TABLE_COLUMN("step_ns", "Step", TABLE_MEAN_TIME,
		.help = "mean; without steps, the recording", TABLE_MEMBER(finding_row, step_ns)),
	TABLE_COLUMN("places", "Where", TABLE_TEXT, .is_below = true,
		.help = "places with most of what the cause costs, per step as well",
		TABLE_BUF(finding_row, places)),
};

static void fill_table(void *state, struct table *table)
{
	struct verdict *verdict = state;

	verdict_find(verdict);
	for (size_t i = 0; i < verdict->nr; i++) {
		const struct verdict_finding *finding = &verdict->findings[i];
		struct finding_row row = {.cause = finding->cause,
			.saved_ns = finding->saved_ns >= 0 ? finding->saved_ns : NAN,
			.share_pct = verdict_share_pct(finding),
			.reach_ns = finding->reach_ns,
			.step_ns = finding->step_ns};

		verdict_add_sentence(verdict, finding, &row.sentence);
		verdict_add_places(verdict, finding, &row.places);
		table_add(table, &row);
		buf_fini(&row.sentence);
		buf_fini(&row.places);
	}
}

VIEW(findings, 6) = {
	.name = "findings",
	.subject = VIEW_ABOUT_VERDICT,
	.help = "what would make the run faster: each cause once, what saves most first",
	.about = "A cause is a group of parts of the time budget (view budget) that one change "
		 "removes. Times are means per step of the processes that count, as on the first "
		 "screen.",
	.title = "Findings",
	VIEW_COLUMNS(finding_columns),
	.shows = &view_advice,
	.fill = fill_table,
};
