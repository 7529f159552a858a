/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules of advice.def find in a run, what saves most first. Each cause is one finding; the
 * other rules that found the same are its evidence. struct advice is the state of view_advice: who
 * wants the findings beside other views runs that view with them.
 */
#ifndef REPORT_ADVICE_FINDINGS_H
#define REPORT_ADVICE_FINDINGS_H

#include "report/advice/advice.h"
#include "report/analysis/prediction.h"
#include "report/analysis/straggler_steps.h"
#include "report/analysis/view.h"

struct finding {
	const struct advice_rule *rule;
	struct advice_result result;
	const struct advice_facts *facts;  /* whose */
	size_t nr_processes;		   /* that the rule applies to */
	const struct advice_rule *same_as; /* the finding that this is evidence of, or NULL */
	bool is_shown; /* a finding, no evidence, and not known to save less than 1 % */
	/* What the replay says of the rule's change; else result.stake_ns is the most to save. */
	const struct predicted *predicted; /* NULL: nothing, for this reason: */
	const char *why_not;
	double saved_ns;    /* per step of predicted->step_ns */
	bool is_of_process; /* of several, and not of the job */
};

struct findings {
	struct finding *items;	       /* of all rules: those that are shown, then the others */
	size_t nr, nr_shown, nr_small; /* nr_small: findings that save less than 1 % */
};

/* The state of view_advice. */
struct advice {
	struct view_input input;
	struct advice_facts *facts; /* of each process */
	struct overlap overlap;
	struct utilization usage;
	struct straggler_steps stragglers;
	size_t nr_scanned, nr_walked;
	struct advice_facts *at; /* of the process at hand */
	bool has_loops;		 /* some process has a loop or work of devices */
	struct prediction prediction;
	struct findings findings;
};

/* Which changes the prediction tries. */
void advice_choose_changes(struct advice *advice);

/* After the scan; the findings live as long as the state. */
const struct findings *advice_findings(struct advice *advice);
void advice_findings_fini(struct advice *advice);

/* Of the step, in percent. */
double finding_saved_pct(const struct finding *finding);

/* What is assumed for the prediction: "each batch is ready when the loop asks for it". */
const char *finding_assumption(const struct finding *finding);

/* Appends the problem and what solving it saves, as one sentence without a full stop. */
void finding_add_sentence(const struct finding *finding, struct buf *out);

#endif
