/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps of a process count for medians, means and shares: the whole ones, but for those that
 * warm up and for outliers (step_series.h), unless the user chose the steps.
 */
#ifndef REPORT_OPS_COUNTED_STEPS_H
#define REPORT_OPS_COUNTED_STEPS_H

#include "report/ops/phase.h"
#include "report/table/table.h"

struct counted_steps {
	bool *counts; /* by step as phases count them; [0]: where there are no steps */
	size_t nr_warm_up, nr_outliers;
};

/* After phases_finish. */
void counted_steps_init(struct counted_steps *counted, const struct phases *phases);
void counted_steps_fini(struct counted_steps *counted);

/* The length of a whole step. */
uint64_t counted_steps_ns(const struct phases *phases, uint32_t step);

/* Adds the sentence that says which steps are left out, if any are. */
void counted_steps_note(size_t nr_warm_up, size_t nr_outliers, struct table *table);

#endif
