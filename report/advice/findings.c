/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice/findings.h"

#include <stdlib.h>
#include <string.h>

#include "report/table/print.h"
#include "report/util/text.h"

/* Findings that save less, or that cannot save more, are not shown. */
#define LEAST_SAVED_PCT 1.0

/* Who saves it, for a sentence. */
static const char *const savers[NR_ADVICE_CHANGES] = {
	[ADVICE_CHANGE_LOADER] = "batches that are ready in time",
	[ADVICE_CHANGE_SYNC] = "not waiting",
	[ADVICE_CHANGE_COPIES] = "copies that overlap with everything else",
	[ADVICE_CHANGE_COMMUNICATION] = "hiding all communication",
	[ADVICE_CHANGE_STRAGGLERS] = "ranks of the same pace",
	[ADVICE_CHANGE_LAUNCHES] = "CUDA graphs",
	[ADVICE_CHANGE_TENSOR_CORES] = "tensor cores that halve the time of these kernels",
	[ADVICE_CHANGE_OCCUPANCY] = "kernels that take half the time",
	[ADVICE_CHANGE_ALLOCATION] = "calls that take no time",
};

/* ---- each rule, of the process that it costs most ---- */

static double saved_pct(const struct finding *finding)
{
	return finding->step_ns > 0 ? 100 * finding->saved_ns / finding->step_ns : 0;
}

/* A finding before good, what is predicted before what is not, and the costlier one. */
static bool is_worse(const struct finding *new, const struct finding *old)
{
	if (!old->facts || new->result.verdict != old->result.verdict) {
		return !old->facts || new->result.verdict < old->result.verdict;
	}
	if (new->is_predicted != old->is_predicted) {
		return new->is_predicted;
	}
	if (new->is_predicted && saved_pct(new) != saved_pct(old)) {
		return saved_pct(new) > saved_pct(old);
	}
	return new->result.stake_ns > old->result.stake_ns;
}

static void judge(
	const struct advice *advice, const struct advice_rule *rule, struct finding *finding)
{
	size_t nr_processes = 0;

	*finding = (struct finding){.rule = rule};
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		struct finding new = {.rule = rule, .facts = &advice->facts[i]};

		if (advice->has_loops && !advice->facts[i].is_judged) {
			continue; /* a helper */
		}
		advice_judge(rule, advice->facts, advice->input.nr_processes, i, &new.result);
		nr_processes += new.result.verdict == ADVICE_FINDING;
		if (is_worse(&new, finding)) {
			buf_fini(&finding->result.evidence);
			*finding = new;
		} else {
			buf_fini(&new.result.evidence);
		}
	}
	finding->nr_processes = nr_processes;
}

/* ---- causes and what is evidence of them ---- */

static bool is_symptom(const struct finding *finding)
{
	return finding->rule->time & ADVICE_TIME_SYMPTOM;
}

static bool is_lead(const struct finding *finding)
{
	return finding->result.verdict == ADVICE_FINDING && !finding->same_as;
}

/* Even the most that it can save is little. */
static bool is_small(const struct finding *finding)
{
	const struct advice_result *result = &finding->result;

	if (finding->is_predicted) {
		return saved_pct(finding) < LEAST_SAVED_PCT;
	}
	return result->has_stake &&
	       (double)result->stake_ns < LEAST_SAVED_PCT / 100 * (double)result->stake_whole_ns;
}

static int by_size(const struct finding *x, const struct finding *y)
{
	if (x->is_predicted != y->is_predicted) {
		return x->is_predicted ? -1 : 1;
	}
	if (x->is_predicted && x->saved_ns != y->saved_ns) {
		return x->saved_ns > y->saved_ns ? -1 : 1;
	}
	if (x->result.stake_ns != y->result.stake_ns) {
		return x->result.stake_ns > y->result.stake_ns ? -1 : 1;
	}
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

/* Causes by what they save, then symptoms. */
static int by_cause(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (is_symptom(x) != is_symptom(y)) {
		return is_symptom(x) ? 1 : -1;
	}
	return by_size(x, y);
}

/* A symptom is of the cause that saves most of its time; other rules are of a cause that the same
 * change solves. */
static bool is_same(const struct finding *finding, const struct finding *cause)
{
	unsigned int both = finding->rule->time & cause->rule->time & ~ADVICE_TIME_SYMPTOM;

	return is_symptom(finding)
		       ? both != 0
		       : finding->rule->change && finding->rule->change == cause->rule->change;
}

static void join_causes(struct findings *findings)
{
	struct finding *items = findings->items;

	qsort(items, findings->nr, sizeof(*items), by_cause);
	for (size_t i = 0; i < findings->nr; i++) {
		for (size_t k = 0; k < i && items[i].result.verdict == ADVICE_FINDING; k++) {
			if (!items[i].same_as && is_lead(&items[k]) &&
				is_same(&items[i], &items[k])) {
				items[i].same_as = items[k].rule;
			}
		}
	}
}

/* ---- their order ---- */

/* What is shown, what saves little, evidence, what is good, what is not judged. */
static int class_of(const struct finding *finding)
{
	if (finding->result.verdict != ADVICE_FINDING) {
		return 3 + (int)finding->result.verdict;
	}
	return finding->same_as ? 2 : finding->is_shown ? 0 : 1;
}

static int by_order(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (class_of(x) != class_of(y)) {
		return class_of(x) < class_of(y) ? -1 : 1;
	}
	if (x->result.verdict == ADVICE_FINDING) {
		return by_size(x, y);
	}
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

const struct findings *advice_findings(struct advice *advice)
{
	struct findings *findings = &advice->findings;

	if (findings->items || !advice->input.nr_processes) {
		return findings;
	}
	findings->nr = advice_nr_rules;
	findings->items = mem_zeroed(findings->nr, sizeof(*findings->items));
	for (size_t i = 0; i < findings->nr; i++) {
		judge(advice, &advice_rules[i], &findings->items[i]);
	}
	join_causes(findings);
	for (size_t i = 0; i < findings->nr; i++) {
		struct finding *finding = &findings->items[i];

		finding->is_shown = is_lead(finding) && !is_small(finding);
		findings->nr_shown += finding->is_shown;
		findings->nr_small += is_lead(finding) && !finding->is_shown;
	}
	qsort(findings->items, findings->nr, sizeof(*findings->items), by_order);
	return findings;
}

void advice_findings_fini(struct advice *advice)
{
	for (size_t i = 0; i < advice->findings.nr; i++) {
		buf_fini(&advice->findings.items[i].result.evidence);
	}
	free(advice->findings.items);
}

/* ---- sentences ---- */

/* Times of sentences have three digits: "57.0 ms". */
static void add_time(struct buf *out, double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && ns < units[i].ns) {
		i++;
	}
	ns /= units[i].ns;
	buf_printf(out, "%.*f %s", ns < 10 ? 2 : ns < 100 ? 1 : 0, ns, units[i].name);
}

void finding_add_sentence(const struct finding *finding, struct buf *out)
{
	const struct advice_result *result = &finding->result;
	const char *saver = savers[finding->rule->change];

	buf_printf(out, "%c%s", finding->rule->problem[0] & ~0x20, finding->rule->problem + 1);
	if (finding->is_predicted) {
		buf_printf(out, "; %s would save ", saver);
		add_time(out, finding->saved_ns);
		buf_printf(out, " per step (%.1f %%)", saved_pct(finding));
	} else if (result->has_stake && result->stake_whole_ns) {
		buf_text(out, "; this costs at most ");
		add_time(out, (double)result->stake_ns);
		buf_printf(out, " (%.1f %% of %s)",
			100 * (double)result->stake_ns / (double)result->stake_whole_ns,
			result->stake_of);
	}
}
