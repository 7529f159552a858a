/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For phase.c: which phase each segment is, by what comes before and after it. Segments are in the
 * order of time.
 */
#ifndef REPORT_OPS_PHASE_RUNS_H
#define REPORT_OPS_PHASE_RUNS_H

#include "report/ops/phase.h"

/* Makes one segment of a Backward and the gradients of other processes that end it. */
void phase_runs_join(struct phases *phases);

/* Sets `phase` of all. */
void phase_runs_name(struct phases *phases);

#endif
