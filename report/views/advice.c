/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each rule of advice.def with its verdict, what it costs and the evidence. Of several processes
 * the view shows the one that the rule costs most.
 */
#include <stdlib.h>
#include <string.h>

#include "report/advice/findings.h"
#include "report/util/text.h"
#include "report/analysis/view.h"

static const struct scan_want wants[] = {
	GPU_ACTIVITIES_WANTS,
	{GPROF_TABLE_sample, COL_ALL(NR_COL_sample), 0},
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
}

static void begin(void *context, struct process *process)
{
	struct advice *advice = context;

	advice->at = &advice->facts[advice->nr_scanned++];
	gaps_begin(&advice->at->gaps, process);
	overlap_begin(&advice->overlap, process);
	utilization_begin(&advice->usage, process);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct advice *advice = context;

	if (batch->table == GPROF_TABLE_alloc) {
		advice_facts_take_allocs(advice->at, batch);
		return;
	}
	utilization_take(&advice->usage, process, batch);
	if (batch->table != GPROF_TABLE_sample) {
		gaps_take(&advice->at->gaps, batch);
		overlap_take(&advice->overlap, batch);
	}
}

static void end(void *context, struct process *process)
{
	struct advice *advice = context;

	(void)process;
	gaps_end(&advice->at->gaps);
	overlap_end(&advice->overlap);
	utilization_end(&advice->usage);
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

	(void)process;
	advice_total(advice->at, phases, &advice->overlap, &advice->usage);
	advice->at->is_judged = advice->at->has_gpu || phases_has_loop(phases);
	advice->has_loops |= advice->at->is_judged;
}

/* ---- the table ---- */

enum column {
	VERDICT,
	RULE,
	STAKE,
	STAKE_SHARE,
	STAKE_OF,
	SAME_AS,
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

/* Rules about more than time have none. */
static void fill_stake(const struct finding *finding, struct table_cell *cells)
{
	const struct advice_result *result = &finding->result;

	if (result->has_stake) {
		table_set_integer(&cells[STAKE], result->stake_ns);
		table_set_share(&cells[STAKE_SHARE], (double)result->stake_ns,
			(double)result->stake_whole_ns);
		table_set_string(&cells[STAKE_OF], result->stake_of);
	}
	if (finding->same_as) {
		table_set_string(&cells[SAME_AS], finding->same_as->name);
	}
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
	table_set_string(&cells[TRY], finding->rule->remedy);
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
		fill_stake(finding, cells);
		table_set_integer(&cells[PROCESSES], finding->nr_processes);
		add_sites(finding, &sites);
		if (sites.nr_bytes) {
			table_set_text(&cells[SITES], sites.bytes, sites.nr_bytes);
		}
		buf_fini(&sites);
	}
}

/* A finding in words, for the terminal. */
static void add_words(const struct finding *finding, struct buf *out)
{
	struct buf sites = {0};

	buf_printf(out, "\n  %s: %s\n    evidence  ", finding->rule->name, finding->rule->fires);
	text_add_shown(out, finding->result.evidence.bytes, finding->result.evidence.nr_bytes, 0);
	add_sites(finding, &sites);
	if (sites.nr_bytes) {
		buf_text(out, "\n    where     ");
		buf_add(out, sites.bytes, sites.nr_bytes); /* made fit there */
	}
	if (finding->same_as) {
		buf_printf(out, "\n    same time as %s", finding->same_as->name);
	}
	buf_printf(out, "\n    try       %s\n", finding->rule->remedy);
	buf_fini(&sites);
}

static const struct table_column columns[] = {
	TABLE_COLUMN("verdict", "Verdict", TABLE_TEXT,
		.help = "finding, good, or not judged because data is missing"),
	TABLE_COLUMN("rule", "Rule", TABLE_TEXT),
	TABLE_COLUMN("cost_ns", "Cost up to", TABLE_TIME,
		.help = "upper limit of the time that it costs"),
	TABLE_COLUMN("cost_pct", "Cost %", TABLE_PERCENT,
		.help = "cost, as a share of what the next column names"),
	TABLE_COLUMN("cost_of", "Cost of", TABLE_TEXT, .is_minor = true,
		.help = "what the cost is a share of"),
	TABLE_COLUMN(
		"same_as", "Same time as", TABLE_TEXT, .help = "finding that counts the same time"),
	TABLE_COLUMN("share_pct", "Measured %", TABLE_PERCENT, .is_wide_only = true,
		.help = "share that the rule compares with its threshold"),
	TABLE_COLUMN("of", "Measured of", TABLE_TEXT, .is_wide_only = true,
		.help = "what the measured value is a share of"),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_wide_only = true),
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, .is_wide_only = true),
	TABLE_COLUMN(
		"source", "Source", TABLE_TEXT, .is_minor = true, .help = "tool whose rule it is"),
	TABLE_COLUMN("threshold", "Applies when", TABLE_TEXT, .is_wide_only = true,
		.help = "condition under which the rule applies"),
	TABLE_COLUMN("evidence", "Evidence", TABLE_TEXT, .is_minor = true,
		.help = "measurements that the verdict follows from"),
	TABLE_COLUMN("sites", "Where", TABLE_TEXT, .is_wide_only = true,
		.help = "operators and Python lines where it happens"),
	TABLE_COLUMN("try", "What to try", TABLE_TEXT, .is_wide_only = true,
		.help = "what to do about it"),
};

static void fill_table(void *state, struct table *table)
{
	struct advice *advice = state;
	const struct findings *findings = advice_findings(advice);
	struct buf figure = {0};
	size_t nr_findings = 0, nr_judged = 0;

	table->columns[RANK].is_wide_only = true;
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		table->columns[RANK].is_wide_only &= advice->input.processes[i]->rank < 0;
	}
	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];

		fill(finding, table_add_row(table));
		nr_findings += finding->result.verdict == ADVICE_FINDING;
		nr_judged += finding->result.verdict != ADVICE_NOT_JUDGED;
		if (finding->result.verdict == ADVICE_FINDING) {
			add_words(finding, &figure);
		}
	}
	buf_char(&figure, '\0');
	table->figure = figure.bytes;
	table_note(table, "%zu of %zu rules apply; %zu could not be evaluated.", nr_findings,
		advice_nr_rules, advice_nr_rules - nr_judged);
}

static void fini(void *state)
{
	struct advice *advice = state;

	advice_findings_fini(advice);
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		advice_facts_fini(&advice->facts[i]);
	}
	overlap_fini(&advice->overlap);
	utilization_fini(&advice->usage);
	free(advice->facts);
}

VIEW(advice, 410) = {
	.name = "advice",
	.help = "what costs time, the evidence, and what to try",
	.about = "Each row is a rule. A cost is an upper limit: time on the host or on one GPU. "
		 "Where two findings count the same time, one of them has the cost and the other "
		 "names it under \"Same time as\". The costs of other findings may overlap.",
	.title = "Advice",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct advice),
	/* What a device did in a chosen step may have been launched in another one. */
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end, true},
	.ops = {.begin = begin_ops,
		.op = on_op,
		.call = on_call,
		.record = on_record,
		.end = end_ops},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
