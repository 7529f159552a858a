/* SPDX-License-Identifier: Apache-2.0 */
/* What each rule of advice.def says of a run: of the process that it finds most in. */
#ifndef REPORT_ADVICE_JUDGEMENT_H
#define REPORT_ADVICE_JUDGEMENT_H

#include "report/advice/advice.h"
#include "report/analysis/straggler_steps.h"
#include "report/analysis/view.h"

struct judgement {
	const struct advice_rule *rule;
	struct advice_result result;
	const struct advice_facts *facts; /* whose */
	size_t nr_processes;		  /* that the rule applies to */
};

/* What the rules judge, of all processes; starts with zeros but for its input. */
struct advice {
	struct view_input input;
	struct advice_facts *facts; /* of each process */
	struct overlap overlap;
	struct utilization usage;
	struct straggler_steps stragglers;
	size_t nr_scanned, nr_walked;
	struct advice_facts *at; /* of the process at hand */
	bool has_loops;		 /* some process has a loop or work of devices */
};

void advice_init(struct advice *advice);
void advice_fini(struct advice *advice);

/* What a view hands on, see struct view_part; context: the advice. */
extern const struct scan_view advice_scan;
extern const struct op_view advice_ops;

/* After the pass, once. */
void advice_end(struct advice *advice);

/* Does the process count, or is it a helper of others? */
bool advice_counts(const struct advice *advice, size_t process);

/* After advice_end, of at least one process; the caller frees result.evidence. */
void judgement_make(
	const struct advice *advice, const struct advice_rule *rule, struct judgement *judgement);

#endif
