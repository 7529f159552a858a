/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step in three parts, as MindInsight's step trace has it:
 *
 *     interval  from the step's begin to the begin of its first Forward
 *     compute   to the end of its last Backward; of inference, of its last Forward
 *     tail      to the step's end: optimizer, what waits for it, logging
 *
 * They sum up to the step. Times are of the host: where the device is behind it, what was launched
 * in a part may run later.
 */
#ifndef REPORT_OPS_STEP_TRACE_H
#define REPORT_OPS_STEP_TRACE_H

#include "report/ops/phase.h"

struct step_trace {
	uint64_t begin, forward, backward, end; /* ticks, rising */
	bool is_known; /* the step is whole, and has a Forward or a Backward */
};

/* For each step of phases, nr_steps in all; the caller frees it. After phases_finish. */
struct step_trace *step_trace_create(const struct phases *phases);

#endif
