/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the rules of advice.def. Each rule is judged for every process; the result is that of the
 * process in which the rule finds the most time.
 */
#ifndef REPORT_ADVICE_JUDGEMENT_H
#define REPORT_ADVICE_JUDGEMENT_H

#include "report/advice/advice.h"
#include "report/gpu/straggler_steps.h"
#include "report/analysis/view.h"

struct judgement {
	const struct advice_rule *rule;
	struct advice_result result;
	const struct advice_facts *facts; /* the result is about their process */
	size_t nr_processes;		  /* in which the rule applies */
};

/* The facts of all processes that rules judge. All zeros but for the input at first. */
struct advice {
	struct view_input input;
	struct advice_facts *facts; /* one for each process of the input */
	struct overlap overlap;
	struct utilization usage;
	struct straggler_steps stragglers;
	size_t nr_scanned, nr_walked;
	struct advice_facts *at; /* facts of the process that the pass reads */
	bool has_loops;		 /* some process has a loop or GPU activities */
};

void advice_init(struct advice *advice);
void advice_fini(struct advice *advice);

/* Callbacks for struct view_part. Their context is a struct advice. */
extern const struct scan_view advice_scan;
extern const struct op_view advice_ops;

/* The same for a brief view (view_input): without what only rules judge. */
extern const struct op_view advice_brief_ops;

/* Without rules, the scan is only for the comparison of several devices. */
bool advice_needs_scan(const void *advice);

/* Call it once, after the pass. */
void advice_end(struct advice *advice);

/* False if the process is only a helper of others, such as a loader worker. */
bool advice_counts(const struct advice *advice, size_t process);

/* After advice_end. Needs at least one process. The caller frees result.evidence. */
void judgement_make(
	const struct advice *advice, const struct advice_rule *rule, struct judgement *judgement);

#endif
