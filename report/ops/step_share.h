/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the share of the steps that the events of a row take: the times of those that begin in
 * steps that count, of the time of these steps, and likewise of the GPU time that was launched in
 * them. Events before and after the training loop thus add nothing, as in Paddle's tables, which
 * are of steps alone.
 */
#ifndef REPORT_OPS_STEP_SHARE_H
#define REPORT_OPS_STEP_SHARE_H

#include "report/ops/step_time.h"
#include "report/util/idmap.h"

struct step_share {
	struct process *process;	 /* the current one */
	struct counted_steps counted;	 /* of it */
	struct step_span span;		 /* these, in ticks */
	struct idmap sums;		 /* by row */
	uint64_t steps_ns, steps_gpu_ns; /* of all processes */
};

void step_share_init(struct step_share *share);
void step_share_fini(struct step_share *share);

/* Around the walk over a process. is_all: all whole steps count. */
void step_share_begin(struct step_share *share, struct process *process, bool is_all);
void step_share_end(struct step_share *share, const struct phases *phases);

/* An event of that row, by the view's own number; UINT64_MAX: that time is unknown. */
void step_share_add(
	struct step_share *share, uint32_t row, uint64_t tick, uint64_t cpu_ns, uint64_t gpu_ns);

/* The parts and wholes of the two shares of a row; the wholes are 0 where there are no steps. */
struct step_times {
	uint64_t cpu_ns, gpu_ns, steps_ns, steps_gpu_ns;
};
struct step_times step_share_times(const struct step_share *share, uint32_t row);

#endif
