/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of the verdict, in its order, each with the rules of advice.def that are evidence of
 * it. What a rule says is no saving: that is the finding's alone. Of several processes a rule has
 * the one where it finds most.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/util/text.h"
#include "report/verdict/verdict.h"

enum column {
	VERDICT,
	CAUSE,
	RULE,
	FINDING,
	REACH,
	SAVED,
	SAVED_SHARE,
	STEP,
	SHARE,
	OF,
	PID,
	RANK,
	PROCESSES,
	SOURCE,
	THRESHOLD,
	EVIDENCE,
	SITES,
	TRY,
};

static const struct table_column columns[] = {
	TABLE_COLUMN("verdict", "Verdict", TABLE_TEXT, .is_wide_only = true,
		.help = "finding, also of the rules that are its evidence; of other rules: no time "
			"to gain (it applies, but no finding is of its cause), passed, or not "
			"judged because data is missing"),
	TABLE_COLUMN("cause", "Cause", TABLE_TEXT, .help = "as in the view findings"),
	TABLE_COLUMN("rule", "Rule", TABLE_TEXT,
		.help = "that is evidence of the finding above; none: the finding itself"),
	TABLE_COLUMN("finding", "Finding", TABLE_TEXT, .is_wide_only = true,
		.help = "the cause and what a change saves; of a rule, what it finds"),
	TABLE_COLUMN("reach_ns", "Costs", TABLE_MEAN_TIME,
		.help = "parts of the time budget that the cause explains: the most that a change "
			"can save"),
	TABLE_COLUMN("saved_ns", "Saved", TABLE_MEAN_TIME,
		.help = "what a step takes less, by the replay, and at most what the cause costs; "
			"unknown where the replay cannot say"),
	TABLE_COLUMN("saved_pct", "Saved %", TABLE_PERCENT, .help = "of the step"),
	TABLE_COLUMN(
		"step_ns", "Step", TABLE_MEAN_TIME, .help = "mean; without steps, the recording"),
	TABLE_COLUMN("share_pct", "Measured %", TABLE_PERCENT, .is_wide_only = true,
		.help = "share that the rule compares with its threshold"),
	TABLE_COLUMN("of", "Measured of", TABLE_TEXT, .is_wide_only = true,
		.help = "what the measured value is a share of"),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_wide_only = true),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_wide_only = true),
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, .is_wide_only = true,
		.help = "processes that the rule applies to"),
	TABLE_COLUMN("source", "Source", TABLE_TEXT, .is_wide_only = true,
		.help = "tool whose rule it is"),
	TABLE_COLUMN("threshold", "Applies when", TABLE_TEXT, .is_wide_only = true,
		.help = "condition under which the rule applies"),
	TABLE_COLUMN("evidence", "Evidence", TABLE_TEXT, .is_wide_only = true,
		.help = "measurements that the rule's verdict follows from"),
	TABLE_COLUMN("sites", "Where", TABLE_TEXT, .is_wide_only = true,
		.help = "operators and Python lines where it happens: of a finding, what of its "
			"cost is "
			"theirs, per step as well"),
	TABLE_COLUMN("try", "What to try", TABLE_TEXT, .is_wide_only = true,
		.help = "what to do about it"),
};

static void set_buf(struct table_cell *cell, struct buf *text)
{
	if (text->nr_bytes) {
		table_set_text(cell, text->bytes, text->nr_bytes);
	}
	buf_fini(text);
}

/* ---- findings ---- */

static void fill_finding(const struct verdict *verdict, const struct verdict_finding *finding,
	struct table_cell *cells)
{
	struct buf sentence = {0}, places = {0};

	table_set_string(&cells[VERDICT], advice_verdict_names[ADVICE_FINDING]);
	table_set_string(&cells[CAUSE], verdict_cause_names[finding->cause]);
	verdict_add_sentence(verdict, finding, &sentence);
	set_buf(&cells[FINDING], &sentence);
	verdict_add_places(verdict, finding, &places);
	set_buf(&cells[SITES], &places);
	table_set_number(&cells[REACH], finding->reach_ns);
	table_set_number(&cells[STEP], finding->step_ns);
	if (finding->saved_ns >= 0) {
		table_set_number(&cells[SAVED], finding->saved_ns);
		table_set_number(&cells[SAVED_SHARE], verdict_share_pct(finding));
	}
}

static void add_finding(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	struct buf places = {0};

	buf_text(out, "\n  ");
	verdict_add_sentence(verdict, finding, out);
	verdict_add_places(verdict, finding, &places);
	if (places.nr_bytes) {
		buf_text(out, "\n    where     ");
		buf_add(out, places.bytes, places.nr_bytes); /* made fit there */
	}
	buf_fini(&places);
}

/* ---- rules ---- */

static bool is_evidence(const struct judgement *judgement, const struct verdict_finding *finding)
{
	return judgement->result.verdict == ADVICE_FINDING &&
	       judgement->rule->evidence_of == finding->cause;
}

static bool is_found(const struct verdict *verdict, const struct judgement *judgement)
{
	for (size_t i = 0; i < verdict->nr; i++) {
		if (is_evidence(judgement, &verdict->findings[i])) {
			return true;
		}
	}
	return false;
}

static void add_problem(const struct advice_result *result, struct buf *out)
{
	buf_printf(out, "%c%s", result->problem[0] & ~0x20, result->problem + 1);
}

/* Shows the rule's evidence, or why it was not judged. */
static void fill_result(const struct judgement *judgement, struct table_cell *cells)
{
	const struct advice_result *result = &judgement->result;
	struct buf problem = {0}, sites = {0};

	table_set_text(&cells[EVIDENCE], result->evidence.bytes, result->evidence.nr_bytes);
	if (result->verdict != ADVICE_NOT_JUDGED && result->share >= 0 && result->of) {
		table_set_number(&cells[SHARE], result->share);
		table_set_string(&cells[OF], result->of);
	}
	if (result->verdict == ADVICE_FINDING) {
		add_problem(result, &problem);
		set_buf(&cells[FINDING], &problem);
		table_set_integer(&cells[PROCESSES], judgement->nr_processes);
	}
	if (result->verdict == ADVICE_FINDING && result->cause < NR_ADVICE_CAUSES) {
		advice_sites_add_text(&judgement->facts->sites, result->cause, result->mask,
			judgement->facts->process, NULL, &sites);
		set_buf(&cells[SITES], &sites);
	}
}

static void fill_rule(const struct judgement *judgement, enum verdict_cause cause,
	const char *verdict, struct table_cell *cells)
{
	table_set_string(&cells[VERDICT], verdict);
	if (cause < NR_VERDICT_CAUSES) {
		table_set_string(&cells[CAUSE], verdict_cause_names[cause]);
	}
	table_set_string(&cells[RULE], judgement->rule->name);
	table_set_string(&cells[SOURCE], judgement->rule->source);
	table_set_string(&cells[THRESHOLD], judgement->rule->fires);
	table_set_string(&cells[TRY], judgement->result.remedy);
	view_fill_process(judgement->facts->process, &cells[PID]);
	fill_result(judgement, cells);
}

/* As "[pageable-copies, rank 3]": whose rule it is and of whom, if there are several. */
static void add_rule(
	const struct verdict *verdict, const struct judgement *judgement, struct buf *out)
{
	const char *source = judgement->rule->source;
	const struct process *process = judgement->facts->process;

	buf_printf(out, " [%s", judgement->rule->name);
	if (strncmp(source, "gprof", 5) != 0) {
		buf_printf(out, " of %.*s", (int)strcspn(source, ":"), source);
	}
	if (verdict->advice.input.nr_processes > 1 && process->rank >= 0) {
		buf_printf(out, ", rank %" PRId64, process->rank);
	}
	buf_char(out, ']');
}

static void add_evidence(
	const struct verdict *verdict, const struct judgement *judgement, struct buf *out)
{
	const struct advice_result *result = &judgement->result;

	buf_text(out, "\n    evidence  ");
	add_problem(result, out);
	buf_text(out, ": ");
	text_add_shown(out, result->evidence.bytes, result->evidence.nr_bytes, 0);
	add_rule(verdict, judgement, out);
	buf_printf(out, "\n    try       %s", result->remedy);
}

/* ---- all of it ---- */

static void add_findings(const struct verdict *verdict, const struct judgement *judgements,
	struct table *table, struct buf *figure)
{
	for (size_t i = 0; i < verdict->nr; i++) {
		const struct verdict_finding *finding = &verdict->findings[i];

		fill_finding(verdict, finding, table_add_row(table));
		add_finding(verdict, finding, figure);
		for (size_t k = 0; k < advice_nr_rules; k++) {
			if (is_evidence(&judgements[k], finding)) {
				fill_rule(&judgements[k], finding->cause,
					advice_verdict_names[ADVICE_FINDING], table_add_row(table));
				add_evidence(verdict, &judgements[k], figure);
			}
		}
		buf_char(figure, '\n');
	}
}

/* The rules that no finding has: those that apply, those that do not, those not judged. */
static void add_others(
	const struct verdict *verdict, const struct judgement *judgements, struct table *table)
{
	for (enum advice_verdict which = ADVICE_FINDING; which <= ADVICE_NOT_JUDGED; which++) {
		for (size_t k = 0; k < advice_nr_rules; k++) {
			if (judgements[k].result.verdict == which &&
				!is_found(verdict, &judgements[k])) {
				fill_rule(&judgements[k], judgements[k].rule->evidence_of,
					which == ADVICE_FINDING ? "no time to gain"
								: advice_verdict_names[which],
					table_add_row(table));
			}
		}
	}
}

static void note_others(
	const struct verdict *verdict, const struct judgement *judgements, struct table *table)
{
	size_t nr_judged = 0, nr_apply = 0, nr_others = 0;

	for (size_t i = 0; i < advice_nr_rules; i++) {
		nr_judged += judgements[i].result.verdict != ADVICE_NOT_JUDGED;
		nr_apply += judgements[i].result.verdict == ADVICE_FINDING;
		nr_others += judgements[i].result.verdict == ADVICE_FINDING &&
			     !is_found(verdict, &judgements[i]);
	}
	table_note(table, "%zu of %zu rules apply; %zu could not be evaluated.", nr_apply,
		advice_nr_rules, advice_nr_rules - nr_judged);
	if (nr_others) {
		table_note(table, "%zu rule%s where the budget has no time to gain%s.", nr_others,
			nr_others == 1 ? " applies" : "s apply",
			verdict->advice.input.is_all ? ""
			: nr_others == 1	     ? "; --all lists it"
						     : "; --all lists them");
	}
}

static void fill_table(void *state, struct table *table)
{
	struct verdict *verdict = state;
	const struct view_input *input = &verdict->advice.input;
	struct judgement *judgements = mem_zeroed(advice_nr_rules, sizeof(*judgements));
	struct buf figure = {0};

	table->columns[VERDICT].is_wide_only = !input->is_all;
	table->columns[RANK].is_wide_only = true;
	for (size_t i = 0; i < input->nr_processes; i++) {
		table->columns[RANK].is_wide_only &= input->processes[i]->rank < 0;
	}
	verdict_find(verdict);
	for (size_t i = 0; i < advice_nr_rules && input->nr_processes; i++) {
		judgement_make(&verdict->advice, &advice_rules[i], &judgements[i]);
	}
	if (input->nr_processes) {
		add_findings(verdict, judgements, table, &figure);
		note_others(verdict, judgements, table);
	}
	if (input->nr_processes && input->is_all) {
		add_others(verdict, judgements, table);
	}
	buf_char(&figure, '\0');
	table->figure = figure.bytes;
	for (size_t i = 0; i < advice_nr_rules; i++) {
		buf_fini(&judgements[i].result.evidence);
	}
	free(judgements);
}

VIEW(advice, 410) = {
	.name = "advice",
	.subject = VIEW_ABOUT_VERDICT,
	.help = "what costs time, the evidence, and what to try",
	.about = "Lists the findings of the view findings in the same order. Under each finding "
		 "stand the rules that support it, from gprof and other tools. Only findings have "
		 "savings. --all adds the other rules and their verdicts. \"No time to gain\" "
		 "means that a rule applies, but the time budget has no finding of its cause. "
		 "Findings are of the steps that count, see `help headline`; rules are of all "
		 "whole steps, as in the tools that they come from.",
	.title = "Advice",
	VIEW_COLUMNS(columns),
	.state = {.size = sizeof(struct verdict), .input = offsetof(struct verdict, advice.input)},
	/* The headline has the budget, whose gaps advice counts at the end. */
	.parts = {{NULL, &headline_ops, offsetof(struct verdict, headline)},
		{&advice_scan, &advice_ops, offsetof(struct verdict, advice), &advice_brief_ops,
			advice_needs_scan},
		{&prediction_scan, &prediction_ops, offsetof(struct verdict, prediction)},
		{NULL, &work_times_ops, offsetof(struct verdict, work_times)}},
	.init = verdict_init,
	.fill = fill_table,
	.fini = verdict_fini,
};
