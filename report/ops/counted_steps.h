/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says which steps of a process count for medians, means and shares: the whole ones, but for those
 * that warm up and for outliers (step_series.h), unless the user chose the steps. Each process
 * decides by its own steps: what one rank does besides, such as a checkpoint, is an outlier of that
 * rank. All screens that print parts of steps use this.
 */
#ifndef REPORT_OPS_COUNTED_STEPS_H
#define REPORT_OPS_COUNTED_STEPS_H

#include "report/ops/phase.h"
#include "report/table/table.h"

struct counted_steps {
	bool *counts; /* by step as phases count them; [0]: where there are no steps */
	size_t nr_warm_up, nr_outliers;
	uint32_t first; /* the first whole step that does not warm up */
};

/*
 * It is known before any pass over events, as phases_init has it. is_all: all whole steps count, as
 * in tables of other tools.
 */
void counted_steps_init(struct counted_steps *counted, struct process *process, bool is_all);
void counted_steps_fini(struct counted_steps *counted);

/* Returns how many steps count, and sets how long they take together; both are 0 without steps. */
uint64_t counted_steps_sum(
	const struct counted_steps *counted, const struct phases *phases, uint64_t *ns);

/* Is it left out because it takes long, and not because it warms up? */
static inline bool counted_steps_is_outlier(const struct counted_steps *counted, uint32_t step)
{
	return step && !counted->counts[step] && step >= counted->first;
}

/*
 * Is it a whole step? One that ended before the activities of the one before it is, though all its
 * time belongs to that one. 0: of a process without steps, all of the recording.
 */
bool counted_steps_is_one(const struct phases *phases, uint32_t step);

/* Adds the sentence that says which steps are left out, if any are. */
void counted_steps_note(size_t nr_warm_up, size_t nr_outliers, struct table *table);

#endif
