/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The axis of time of all tables, timelines and exports. Time 0 is the first event, step, window,
 * sample or notice of any process that is read. CLOCK_REALTIME aligns processes. If one of several
 * did not read that clock, each axis starts with its own process.
 */
#ifndef REPORT_MODEL_TIME_AXIS_H
#define REPORT_MODEL_TIME_AXIS_H

#include "report/model/model.h"

/*
 * Sets origin_ns of all processes to the same instant. Call it once they are on one clock (see
 * job_clock.h). Returns the CLOCK_REALTIME of that instant.
 */
uint64_t time_axis_set(struct process *const *processes, size_t nr_processes);

/*
 * A CLOCK_MONOTONIC time of the process on the axis. Clocks of a damaged stream may be anything.
 */
static inline uint64_t time_axis_time(const struct process *process, uint64_t ns)
{
	return (int64_t)(ns - process->origin_ns) > 0 ? ns - process->origin_ns : 0;
}

#endif
