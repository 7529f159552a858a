/* SPDX-License-Identifier: Apache-2.0 */
/* Divides a stretch of a step among the parts of the time budget. */
#ifndef REPORT_BUDGET_BUDGET_SWEEP_H
#define REPORT_BUDGET_BUDGET_SWEEP_H

#include "report/budget/budget.h"

/* Keeps an activity of the GPU: if it is the first one behind a gap, its launch ends that. */
void budget_sweep_add_work(struct budget *budget, const struct budget_work *work);

/*
 * Adds the time from begin to end, in ns, to the parts of the step, and hands each gap to on_gap.
 * All events that reach into it have been seen. Stretches come from the last one to the first;
 * events behind `begin` are forgotten.
 */
void budget_sweep(struct budget *budget, struct budget_step *step, uint64_t begin, uint64_t end);

/* The i-th of budget.nr_works, in no order. */
static inline const struct budget_work *budget_sweep_work(const struct budget *budget, size_t i)
{
	for (unsigned int k = 0; k < BUDGET_RUNS; k++) {
		size_t nr = budget->runs[k].nr - budget->runs[k].head;

		if (i < nr) {
			return &budget->runs[k].items[budget->runs[k].head + i];
		}
		i -= nr;
	}
	return &budget->stray_works.items[i];
}

#endif
