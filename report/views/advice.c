/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of the verdict, in its order, each with the rules of advice.def that are evidence of
 * it. What a rule says is no saving: that is the finding's alone. Of several processes a rule has
 * the one where it finds most.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/util/text.h"
#include "report/verdict/verdict.h"

/* A finding, or a rule. */
struct shown_row {
	const char *verdict, *cause, *rule, *of, *source, *threshold, *remedy;
	const struct process *process;
	double reach_ns, saved_ns, saved_pct, step_ns, share_pct;
	uint64_t nr_processes;
	struct buf finding, sites;
	const struct buf *evidence;
};

static const struct shown_row nothing_known = {.reach_ns = NAN,
	.saved_ns = NAN,
	.saved_pct = NAN,
	.step_ns = NAN,
	.share_pct = NAN,
	.nr_processes = UINT64_MAX};

static void advice_set_evidence(const void *member, struct table_cell *cell)
{
	const struct buf *evidence = *(const struct buf *const *)member;

	if (evidence) {
		table_set_text(cell, evidence->bytes, evidence->nr_bytes);
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("verdict", "Verdict", TABLE_TEXT, .is_wide_only = true,
		.help = "finding, also of the rules that are its evidence; of other rules: no time "
			"to gain (it applies, but no finding is of its cause), passed, or not "
			"judged because data is missing",
		TABLE_MEMBER(shown_row, verdict)),
	TABLE_COLUMN("cause", "Cause", TABLE_TEXT, .help = "as in the view findings",
		TABLE_MEMBER(shown_row, cause)),
	TABLE_COLUMN("rule", "Rule", TABLE_TEXT,
		.help = "that is evidence of the finding above; none: the finding itself",
		TABLE_MEMBER(shown_row, rule)),
	TABLE_COLUMN("finding", "Finding", TABLE_TEXT, .is_wide_only = true,
		.help = "the cause and what a change saves; of a rule, what it finds",
		TABLE_BUF(shown_row, finding)),
	TABLE_COLUMN("reach_ns", "Costs", TABLE_MEAN_TIME,
		.help = "parts of the time budget that the cause explains: the most that a change "
			"can save",
		TABLE_MEMBER(shown_row, reach_ns)),
	TABLE_COLUMN("saved_ns", "Saved", TABLE_MEAN_TIME,
		.help = "what a step takes less, by the replay, and at most what the cause costs; "
			"unknown where the replay cannot say",
		TABLE_MEMBER(shown_row, saved_ns)),
	TABLE_COLUMN("saved_pct", "Saved %", TABLE_PERCENT, .help = "of the step",
		TABLE_MEMBER(shown_row, saved_pct)),
	TABLE_COLUMN("step_ns", "Step", TABLE_MEAN_TIME,
		.help = "mean; without steps, the recording", TABLE_MEMBER(shown_row, step_ns)),
	TABLE_COLUMN("share_pct", "Measured %", TABLE_PERCENT, .is_wide_only = true,
		.help = "share that the rule compares with its threshold",
		TABLE_MEMBER(shown_row, share_pct)),
	TABLE_COLUMN("of", "Measured of", TABLE_TEXT, .is_wide_only = true,
		.help = "what the measured value is a share of", TABLE_MEMBER(shown_row, of)),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_wide_only = true, VIEW_PID(shown_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_wide_only = true, VIEW_RANK(shown_row, process)),
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, .is_wide_only = true,
		.help = "processes that the rule applies to",
		TABLE_MEMBER(shown_row, nr_processes)),
	TABLE_COLUMN("source", "Source", TABLE_TEXT, .is_wide_only = true,
		.help = "tool whose rule it is", TABLE_MEMBER(shown_row, source)),
	TABLE_COLUMN("threshold", "Applies when", TABLE_TEXT, .is_wide_only = true,
		.help = "condition under which the rule applies",
		TABLE_MEMBER(shown_row, threshold)),
	TABLE_COLUMN("evidence", "Evidence", TABLE_TEXT, .is_wide_only = true,
		.help = "measurements that the rule's verdict follows from",
		TABLE_SET(shown_row, evidence, advice_set_evidence)),
	TABLE_COLUMN("sites", "Where", TABLE_TEXT, .is_wide_only = true,
		.help = "operators and Python lines where it happens: of a finding, what of its "
			"cost is "
			"theirs, per step as well",
		TABLE_BUF(shown_row, sites)),
	TABLE_COLUMN("try", "What to try", TABLE_TEXT, .is_wide_only = true,
		.help = "what to do about it", TABLE_MEMBER(shown_row, remedy)),
};

static void add_row(struct table *table, struct shown_row *row)
{
	table_add(table, row);
	buf_fini(&row->finding);
	buf_fini(&row->sites);
}

/* ---- findings ---- */

static void add_finding_row(
	const struct verdict *verdict, const struct verdict_finding *finding, struct table *table)
{
	struct shown_row row = nothing_known;

	row.verdict = advice_verdict_names[ADVICE_FINDING];
	row.cause = verdict_cause_names[finding->cause];
	verdict_add_sentence(verdict, finding, &row.finding);
	verdict_add_places(verdict, finding, &row.sites);
	row.reach_ns = finding->reach_ns;
	row.step_ns = finding->step_ns;
	if (finding->saved_ns >= 0) {
		row.saved_ns = finding->saved_ns;
		row.saved_pct = verdict_share_pct(finding);
	}
	add_row(table, &row);
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
static void set_result(const struct judgement *judgement, struct shown_row *row)
{
	const struct advice_result *result = &judgement->result;

	row->evidence = &result->evidence;
	if (result->verdict != ADVICE_NOT_JUDGED && result->share >= 0 && result->of) {
		row->share_pct = result->share;
		row->of = result->of;
	}
	if (result->verdict == ADVICE_FINDING) {
		add_problem(result, &row->finding);
		row->nr_processes = judgement->nr_processes;
	}
	if (result->verdict == ADVICE_FINDING && result->cause < NR_ADVICE_CAUSES) {
		advice_sites_add_text(&judgement->facts->sites, result->cause, result->mask,
			judgement->facts->process, NULL, &row->sites);
	}
}

static void add_rule_row(const struct judgement *judgement, enum verdict_cause cause,
	const char *verdict, struct table *table)
{
	struct shown_row row = nothing_known;

	row.verdict = verdict;
	row.cause = cause < NR_VERDICT_CAUSES ? verdict_cause_names[cause] : NULL;
	row.rule = judgement->rule->name;
	row.source = judgement->rule->source;
	row.threshold = judgement->rule->fires;
	row.remedy = judgement->result.remedy;
	row.process = judgement->facts->process;
	set_result(judgement, &row);
	add_row(table, &row);
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

		add_finding_row(verdict, finding, table);
		add_finding(verdict, finding, figure);
		for (size_t k = 0; k < advice_nr_rules; k++) {
			if (is_evidence(&judgements[k], finding)) {
				add_rule_row(&judgements[k], finding->cause,
					advice_verdict_names[ADVICE_FINDING], table);
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
				add_rule_row(&judgements[k], judgements[k].rule->evidence_of,
					which == ADVICE_FINDING ? "no time to gain"
								: advice_verdict_names[which],
					table);
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
	bool has_ranks = false;

	for (size_t i = 0; i < input->nr_processes; i++) {
		has_ranks |= input->processes[i]->rank >= 0;
	}
	table_set_wide(table, "verdict", !input->is_all);
	table_set_wide(table, "rank", !has_ranks);
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
