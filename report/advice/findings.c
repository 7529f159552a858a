/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice/findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/what_if.h"

/* Of longer steps nothing is predicted, so that the first screen takes little memory: 100 MB. */
#define MOST_STEP_EVENTS 500000u

/* Findings that save less, or that cannot save more, are not shown. */
#define LEAST_SAVED_PCT 1.0

/* What is replayed for each change: what is taken out, or how long what has the scale takes. */
static const struct {
	const char *saver; /* who saves the time, for a sentence */
	enum replay_removal removal;
	double factor;
	const char *assumption; /* of a factor */
} changes[NR_ADVICE_CHANGES] = {
	[ADVICE_CHANGE_LOADER] = {"batches that are ready in time", REPLAY_NO_LOADER, 1, NULL},
	[ADVICE_CHANGE_SYNC] = {"not waiting", REPLAY_NO_SYNC, 1, NULL},
	[ADVICE_CHANGE_COPIES] = {"copies that overlap with everything", REPLAY_NO_COPIES, 1, NULL},
	[ADVICE_CHANGE_COMMUNICATION] = {"hiding all communication", REPLAY_NO_COMM, 1, NULL},
	[ADVICE_CHANGE_STRAGGLERS] = {"ranks of the same pace", REPLAY_NO_STRAGGLERS, 1, NULL},
	[ADVICE_CHANGE_LAUNCHES] = {"CUDA graphs", REPLAY_NO_LAUNCHES, 1, NULL},
	[ADVICE_CHANGE_GAPS] = {"closing all gaps", REPLAY_NO_GAPS, 1, NULL},
	[ADVICE_CHANGE_TENSOR_CORES] = {"tensor cores that halve the time of these kernels",
		NR_REPLAY_REMOVALS, 0.5, "these kernels take half their time"},
	[ADVICE_CHANGE_ALLOCATION] = {"reusing memory", NR_REPLAY_REMOVALS, 0,
		"these calls take no time"},
};

static uint32_t scales_of(void *context, uint32_t name, enum replay_item item)
{
	const struct advice *advice = context;
	const uint32_t *found =
		item == REPLAY_ITEM_OPERATOR ? NULL : idmap_get(&advice->at->changed, name);

	return found ? *found : 0;
}

/* Its number is the scale that a change may have; all but ADVICE_CHANGE_NONE are tried. */
void advice_choose_changes(struct advice *advice)
{
	struct prediction *prediction = &advice->prediction;

	for (unsigned int i = 1; i < NR_ADVICE_CHANGES; i++) {
		struct replay_change *change = &prediction->changes[prediction->nr_changes++];

		if (changes[i].removal < NR_REPLAY_REMOVALS) {
			change->removals = 1u << changes[i].removal;
		} else {
			change->scales = 1u << i;
			change->factors[i] = changes[i].factor;
		}
	}
	prediction->load.most_events = MOST_STEP_EVENTS;
	prediction->has_no_limits = true;
	prediction->scales_of = scales_of;
	prediction->context = advice;
}

/* ---- each rule, of the process that it costs most ---- */

double finding_saved_pct(const struct finding *finding)
{
	const struct predicted *predicted = finding->predicted;

	return predicted && predicted->step_ns > 0 ? 100 * finding->saved_ns / predicted->step_ns
						   : 0;
}

const char *finding_assumption(const struct finding *finding)
{
	enum advice_change change = finding->rule->change;

	return changes[change].removal < NR_REPLAY_REMOVALS
		       ? what_if_assumptions[changes[change].removal]
		       : changes[change].assumption;
}

static void predict(const struct advice *advice, struct finding *finding)
{
	const struct prediction *prediction = &advice->prediction;
	enum advice_change change = finding->rule->change;
	const struct predicted *predicted =
		prediction_of(prediction, (size_t)(finding->facts - advice->facts));

	if (change == ADVICE_CHANGE_NONE) {
		finding->why_not = "no change that the replay knows concerns it";
	} else if (!predicted->nr_steps) {
		finding->why_not = "no step was replayed";
	} else if (!prediction_is_known(predicted)) {
		finding->why_not = "the replay of the unchanged steps is off by more than 3 %";
	} else if (change == ADVICE_CHANGE_STRAGGLERS && !prediction->is_joined) {
		finding->why_not = "the ranks' collectives do not match";
	} else {
		finding->predicted = predicted;
		finding->saved_ns = prediction_saved_ns(predicted, change - 1);
		finding->is_of_process =
			advice->input.nr_processes > 1 && predicted != &prediction->job;
	}
}

/* Even the most that it can save is little. */
static bool is_small(const struct finding *finding)
{
	const struct advice_result *result = &finding->result;

	if (finding->predicted) {
		return finding_saved_pct(finding) < LEAST_SAVED_PCT;
	}
	return result->has_stake &&
	       (double)result->stake_ns < LEAST_SAVED_PCT / 100 * (double)result->stake_whole_ns;
}

/* A rule of the replay alone applies if that predicts enough. */
static void judge_replay(struct finding *finding)
{
	struct advice_result *result = &finding->result;

	if (!finding->predicted) {
		result->verdict = ADVICE_NOT_JUDGED;
		buf_text(&result->evidence, finding->why_not);
		return;
	}
	result->verdict = is_small(finding) ? ADVICE_PASSED : ADVICE_FINDING;
	buf_text(&result->evidence, "replayed as recorded, the step takes ");
	advice_add_time(&result->evidence, prediction_replayed_ns(finding->predicted));
	buf_text(&result->evidence, "; changed, ");
	advice_add_time(
		&result->evidence, prediction_replayed_ns(finding->predicted) - finding->saved_ns);
}

/*
 * A finding before good, what may save enough before what does not, what is predicted before what
 * is not, and the costlier one.
 */
static bool is_worse(const struct finding *new, const struct finding *old)
{
	if (!old->facts || new->result.verdict != old->result.verdict) {
		return !old->facts || new->result.verdict < old->result.verdict;
	}
	if (is_small(new) != is_small(old)) {
		return is_small(old);
	}
	if (!new->predicted != !old->predicted) {
		return new->predicted != NULL;
	}
	if (new->predicted && finding_saved_pct(new) != finding_saved_pct(old)) {
		return finding_saved_pct(new) > finding_saved_pct(old);
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
		predict(advice, &new);
		if (new.result.is_by_replay) {
			judge_replay(&new);
		}
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

static int by_size(const struct finding *x, const struct finding *y)
{
	if (!x->predicted != !y->predicted) {
		return x->predicted ? -1 : 1;
	}
	if (x->predicted && x->saved_ns != y->saved_ns) {
		return x->saved_ns > y->saved_ns ? -1 : 1;
	}
	if (x->result.stake_ns != y->result.stake_ns) {
		return x->result.stake_ns > y->result.stake_ns ? -1 : 1;
	}
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

/* What may save enough, by what was measured rather than by the replay alone; then symptoms. */
static int by_cause(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (is_symptom(x) != is_symptom(y)) {
		return is_symptom(x) ? 1 : -1;
	}
	if (is_small(x) != is_small(y)) {
		return is_small(x) ? 1 : -1;
	}
	if (x->result.is_by_replay != y->result.is_by_replay) {
		return x->result.is_by_replay ? 1 : -1;
	}
	return by_size(x, y);
}

/* What the same change solves is one cause. A symptom is of the cause that saves most of its time.
 */
static bool is_same(const struct finding *finding, const struct finding *cause)
{
	unsigned int both = finding->rule->time & cause->rule->time & ~ADVICE_TIME_SYMPTOM;
	enum advice_change change = finding->rule->change;

	return (change && change == cause->rule->change) ||
	       (is_symptom(finding) && both && !is_small(finding) && !is_small(cause));
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

/* Of each process the device that others wait for longest. */
static void find_stragglers(struct advice *advice)
{
	straggler_steps_compare(
		&advice->stragglers, advice->input.processes, advice->input.nr_processes);
	for (size_t i = 0; i < advice->stragglers.nr; i++) {
		const struct straggler *straggler = &advice->stragglers.stragglers[i];
		struct advice_facts *facts = advice->facts;

		while (facts->process != advice->overlap.devices[i].process) {
			facts++;
		}
		if (straggler->nr_compared &&
			(!facts->straggler || straggler->delay_ns > facts->straggler->delay_ns)) {
			facts->straggler = straggler;
		}
	}
}

const struct findings *advice_findings(struct advice *advice)
{
	struct findings *findings = &advice->findings;

	if (findings->items || !advice->input.nr_processes) {
		return findings;
	}
	prediction_end(&advice->prediction);
	find_stragglers(advice);
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

static void add_saving(const struct finding *finding, struct buf *out)
{
	const struct process *process = finding->facts->process;

	buf_printf(out, "; %s would save ", changes[finding->rule->change].saver);
	if (finding->saved_ns < 1) {
		buf_text(out, "nothing");
		return;
	}
	advice_add_time(out, finding->saved_ns);
	buf_text(out, process->nr_steps > 1 ? " per step" : " of the recording");
	if (finding->is_of_process && process->rank >= 0) {
		buf_printf(out, " of rank %" PRId64, process->rank);
	} else if (finding->is_of_process) {
		buf_printf(out, " of process %u", process->pid);
	}
	buf_printf(out, " (%.1f %%)", finding_saved_pct(finding));
}

void finding_add_sentence(const struct finding *finding, struct buf *out)
{
	const struct advice_result *result = &finding->result;
	const char *problem = result->problem;

	buf_printf(out, "%c%s", problem[0] & ~0x20, problem + 1);
	if (finding->predicted) {
		add_saving(finding, out);
	} else if (result->has_stake && result->stake_whole_ns) {
		buf_text(out, "; at most ");
		advice_add_time(out, (double)result->stake_ns);
		buf_printf(out, " (%.1f %% of %s) can be saved",
			100 * (double)result->stake_ns / (double)result->stake_whole_ns,
			result->stake_of);
	} else {
		buf_text(out, "; the saving is unknown");
	}
}
