/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of the rules of advice.def: what each would save, the evidence, and what to try. Of
 * several processes the view shows the one where it saves most.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice/findings.h"
#include "report/util/text.h"
#include "report/analysis/view.h"

static const struct scan_want wants[] = {
	UTILIZATION_WANTS,
	{GPROF_TABLE_alloc,
		COL_BIT(COL_alloc_time) | COL_BIT(COL_alloc_allocated_bytes) |
			COL_BIT(COL_alloc_reserved_bytes) | COL_BIT(COL_alloc_device_type) |
			COL_BIT(COL_alloc_device),
		0},
};

static void init(void *state)
{
	struct advice *advice = state;

	advice->facts = mem_zeroed(advice->input.nr_processes + 1, sizeof(*advice->facts));
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		advice_facts_init(&advice->facts[i], advice->input.processes[i]);
	}
	advice_choose_changes(advice);
	prediction_init(&advice->prediction, &advice->input);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	struct advice *advice = context;

	gaps_take(&advice->at->gaps, activity);
	overlap_take(&advice->overlap, activity);
	utilization_take(&advice->usage, activity);
}

static void begin(void *context, struct process *process)
{
	struct advice *advice = context;

	advice->at = &advice->facts[advice->nr_scanned++];
	overlap_begin(&advice->overlap, process);
	utilization_begin(&advice->usage, process);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct advice *advice = context;

	(void)process;
	if (batch->table == GPROF_TABLE_alloc) {
		advice_facts_take_allocs(advice->at, batch);
	} else {
		utilization_take_samples(&advice->usage, batch);
	}
}

static void end(void *context, struct process *process)
{
	struct advice *advice = context;

	(void)process;
	gaps_end(&advice->at->gaps);
	overlap_end(&advice->overlap);
	utilization_end(&advice->usage);
	straggler_steps_add(&advice->stragglers, &advice->overlap, &advice->usage);
}

static void begin_ops(void *context, struct process *process)
{
	struct advice *advice = context;

	(void)process;
	advice->at = &advice->facts[advice->nr_walked++];
	advice_facts_begin(advice->at);
}

static void on_op(void *context, const struct op *op)
{
	advice_facts_take_op(((struct advice *)context)->at, op);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	advice_facts_take_call(((struct advice *)context)->at, call, op);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	advice_facts_take_record(((struct advice *)context)->at, record, call, op);
}

static void end_ops(void *context, struct process *process, const struct phases *phases)
{
	struct advice *advice = context;

	straggler_steps_add_phases(&advice->stragglers, &advice->overlap, process, phases);
	advice_total(advice->at, phases, &advice->overlap, &advice->usage);
	advice->at->is_training = phases_is_training(phases);
	advice->at->is_judged = advice->at->has_gpu || phases_has_loop(phases);
	advice->has_loops |= advice->at->is_judged;
}

/* ---- the table ---- */

enum column {
	VERDICT,
	RULE,
	FINDING,
	SAVED,
	SAVED_SHARE,
	STEP,
	PREDICTION,
	EVIDENCE_OF,
	ALSO,
	SHOWN,
	STAKE,
	STAKE_SHARE,
	STAKE_OF,
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

static void add_sites(const struct finding *finding, struct buf *out)
{
	if (finding->result.cause < NR_ADVICE_CAUSES) {
		advice_sites_add_text(&finding->facts->sites, finding->result.cause,
			finding->result.mask, finding->facts->process, out);
	}
}

/* What it saves by the replay, and what was seen. Rules about more than time have neither. */
static void fill_saving(const struct finding *finding, struct table_cell *cells)
{
	const struct advice_result *result = &finding->result;
	const struct predicted *predicted = finding->predicted;
	struct buf sentence = {0};

	finding_add_sentence(finding, &sentence);
	table_set_text(&cells[FINDING], sentence.bytes, sentence.nr_bytes);
	buf_fini(&sentence);
	if (predicted) {
		table_set_number(&cells[SAVED], finding->saved_ns);
		table_set_number(&cells[SAVED_SHARE], finding_saved_pct(finding));
		table_set_number(&cells[STEP], predicted->step_ns);
	}
	table_set_string(
		&cells[PREDICTION], predicted ? finding_assumption(finding) : finding->why_not);
	if (result->has_stake) {
		table_set_integer(&cells[STAKE], result->stake_ns);
		table_set_share(&cells[STAKE_SHARE], (double)result->stake_ns,
			(double)result->stake_whole_ns);
		table_set_string(&cells[STAKE_OF], result->stake_of);
	}
	if (finding->same_as) {
		table_set_string(&cells[EVIDENCE_OF], finding->same_as->name);
	}
	table_set_string(&cells[SHOWN], finding->is_shown ? "yes" : "no");
}

/* The rules that are its evidence: "loader-starvation (gprof), gpu_gaps (nsys)". */
static void fill_also(
	const struct findings *findings, const struct finding *finding, struct table_cell *cell)
{
	struct buf also = {0};

	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *other = &findings->items[i];

		if (other->same_as == finding->rule) {
			buf_printf(&also, "%s%s (%.*s)", also.nr_bytes ? ", " : "",
				other->rule->name, (int)strcspn(other->rule->source, ":"),
				other->rule->source);
		}
	}
	if (also.nr_bytes) {
		table_set_text(cell, also.bytes, also.nr_bytes);
	}
	buf_fini(&also);
}

static void fill(const struct finding *finding, struct table_cell *cells)
{
	const struct advice_result *result = &finding->result;
	const struct process *process = finding->facts->process;
	struct buf sites = {0};

	table_set_string(&cells[VERDICT], advice_verdict_names[result->verdict]);
	table_set_string(&cells[RULE], finding->rule->name);
	table_set_string(&cells[SOURCE], finding->rule->source);
	table_set_string(&cells[THRESHOLD], finding->rule->fires);
	table_set_string(&cells[TRY], result->remedy);
	view_fill_process(process, &cells[PID]);
	table_set_text(&cells[EVIDENCE], result->evidence.bytes, result->evidence.nr_bytes);
	if (result->verdict == ADVICE_NOT_JUDGED) {
		return;
	}
	if (result->share >= 0 && result->of) {
		table_set_number(&cells[SHARE], result->share);
		table_set_string(&cells[OF], result->of);
	}
	if (result->verdict == ADVICE_FINDING) {
		fill_saving(finding, cells);
		table_set_integer(&cells[PROCESSES], finding->nr_processes);
		add_sites(finding, &sites);
		if (sites.nr_bytes) {
			table_set_text(&cells[SITES], sites.bytes, sites.nr_bytes);
		}
		buf_fini(&sites);
	}
}

/* As "host-bound (gprof), rank 3": whose rule it is and of whom, if there are several. */
static void add_rule(const struct advice *advice, const struct finding *finding, struct buf *out)
{
	const struct process *process = finding->facts->process;

	buf_printf(out, " [%s", finding->rule->name);
	if (strncmp(finding->rule->source, "gprof", 5) != 0) {
		buf_printf(out, " of %.*s", (int)strcspn(finding->rule->source, ":"),
			finding->rule->source);
	}
	if (advice->input.nr_processes > 1 && process->rank >= 0) {
		buf_printf(out, ", rank %" PRId64, process->rank);
	}
	buf_char(out, ']');
}

static void add_evidence(
	const struct advice *advice, const struct finding *finding, struct buf *out)
{
	buf_text(out, "\n    evidence  ");
	if (finding->same_as) {
		buf_printf(out, "%s: ", finding->result.problem);
	}
	text_add_shown(out, finding->result.evidence.bytes, finding->result.evidence.nr_bytes, 0);
	add_rule(advice, finding, out);
}

/* A cause in words, with what else was found of it. */
static void add_words(const struct advice *advice, const struct finding *finding, struct buf *out)
{
	const struct findings *findings = &advice->findings;
	struct buf sites = {0};

	buf_text(out, "\n  ");
	finding_add_sentence(finding, out);
	add_evidence(advice, finding, out);
	for (size_t i = 0; i < findings->nr; i++) {
		if (findings->items[i].same_as == finding->rule) {
			add_evidence(advice, &findings->items[i], out);
		}
	}
	if (!finding->predicted) {
		buf_printf(out, "\n    note      not predictable: %s", finding->why_not);
	}
	add_sites(finding, &sites);
	if (sites.nr_bytes) {
		buf_text(out, "\n    where     ");
		buf_add(out, sites.bytes, sites.nr_bytes); /* made fit there */
	}
	buf_printf(out, "\n    try       %s\n", finding->result.remedy);
	buf_fini(&sites);
}

static const struct table_column columns[] = {
	TABLE_COLUMN("verdict", "Verdict", TABLE_TEXT, .is_wide_only = true,
		.help = "finding, passed, or not judged because data is missing"),
	TABLE_COLUMN("rule", "Rule", TABLE_TEXT),
	TABLE_COLUMN("finding", "Finding", TABLE_TEXT, .is_wide_only = true,
		.help = "the problem, and what solving it saves"),
	TABLE_COLUMN("saved_ns", "Saved", TABLE_MEAN_TIME,
		.help = "what a step takes less, by the replay"),
	TABLE_COLUMN("saved_pct", "Saved %", TABLE_PERCENT, .help = "of the step"),
	TABLE_COLUMN("step_ns", "Step", TABLE_MEAN_TIME,
		.help = "measured; the whole recording where there are no steps"),
	TABLE_COLUMN("prediction", "As if", TABLE_TEXT, .is_wide_only = true,
		.help = "what the replay assumes, or why it cannot predict the saving"),
	TABLE_COLUMN("evidence_of", "Evidence of", TABLE_TEXT, .is_wide_only = true,
		.help = "finding with the same cause"),
	TABLE_COLUMN("also", "Also found by", TABLE_TEXT, .is_wide_only = true,
		.help = "rules that are evidence of this finding, with their tools"),
	TABLE_COLUMN("shown", "Shown", TABLE_TEXT, .is_wide_only = true,
		.help = "no: evidence of another finding, or it saves less than 1 %; only --all "
			"lists it"),
	TABLE_COLUMN("cost_ns", "Seen", TABLE_TIME, .is_wide_only = true,
		.help = "time that the rule found in all steps: what is not predicted saves at "
			"most "
			"that"),
	TABLE_COLUMN("cost_pct", "Seen %", TABLE_PERCENT, .is_wide_only = true,
		.help = "that time, as a share of what the next column names"),
	TABLE_COLUMN("cost_of", "Seen of", TABLE_TEXT, .is_wide_only = true,
		.help = "what the time is a share of"),
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
		.help = "measurements that the verdict follows from"),
	TABLE_COLUMN("sites", "Where", TABLE_TEXT, .is_wide_only = true,
		.help = "operators and Python lines where it happens"),
	TABLE_COLUMN("try", "What to try", TABLE_TEXT, .is_wide_only = true,
		.help = "what to do about it"),
};

static void note_others(const struct advice *advice, struct table *table)
{
	const struct findings *findings = &advice->findings;
	size_t nr_judged = 0, nr_apply = 0;

	for (size_t i = 0; i < findings->nr; i++) {
		nr_judged += findings->items[i].result.verdict != ADVICE_NOT_JUDGED;
		nr_apply += findings->items[i].result.verdict == ADVICE_FINDING;
	}
	if (findings->nr_small) {
		table_note(table, "%zu finding%s would save less than 1 %%%s.", findings->nr_small,
			findings->nr_small == 1 ? "" : "s",
			advice->input.is_all	  ? ""
			: findings->nr_small == 1 ? "; --all lists it"
						  : "; --all lists them");
	}
	table_note(table, "%zu of %zu rules apply; %zu could not be evaluated.", nr_apply,
		findings->nr, findings->nr - nr_judged);
}

static void fill_table(void *state, struct table *table)
{
	struct advice *advice = state;
	const struct findings *findings = advice_findings(advice);
	struct buf figure = {0};

	table->columns[VERDICT].is_wide_only = !advice->input.is_all;
	table->columns[EVIDENCE_OF].is_wide_only = !advice->input.is_all;
	table->columns[RANK].is_wide_only = true;
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		table->columns[RANK].is_wide_only &= advice->input.processes[i]->rank < 0;
	}
	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];

		if (finding->is_shown || advice->input.is_all) {
			struct table_cell *cells = table_add_row(table);

			fill(finding, cells);
			fill_also(findings, finding, &cells[ALSO]);
		}
		if (finding->is_shown) {
			add_words(advice, finding, &figure);
		}
	}
	buf_char(&figure, '\0');
	table->figure = figure.bytes;
	note_others(advice, table);
}

static void fini(void *state)
{
	struct advice *advice = state;

	advice_findings_fini(advice);
	prediction_fini(&advice->prediction);
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		advice_facts_fini(&advice->facts[i]);
	}
	straggler_steps_fini(&advice->stragglers);
	overlap_fini(&advice->overlap);
	utilization_fini(&advice->usage);
	free(advice->facts);
}

VIEW(advice, 410) = {
	.name = "advice",
	.help = "what costs time, the evidence, and what to try",
	.about =
		"Each row is a cause of lost time with what a step would take less without it, as "
		"the replay of whatif predicts. Savings do not add up. What saves less than 1 % of "
		"the step is left out; --all lists every rule with its verdict.",
	.title = "Advice",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct advice),
	/* What a device did in a chosen step may have been launched in another one. */
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end, true,
		on_activity},
	.ops = {.begin = begin_ops,
		.op = on_op,
		.op_wants = advice_facts_wants_op,
		.call = on_call,
		.record = on_record,
		.end = end_ops},
	.part = {&prediction_scan, &prediction_ops, offsetof(struct advice, prediction)},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
