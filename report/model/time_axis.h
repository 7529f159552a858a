/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One axis for the times of several processes: ns since the first event of all, put together by
 * CLOCK_REALTIME at the start of each; where a process did not read that clock, since the first
 * event of each.
 */
#ifndef REPORT_MODEL_TIME_AXIS_H
#define REPORT_MODEL_TIME_AXIS_H

#include "report/model/model.h"

/* What begins each one's axis, CLOCK_MONOTONIC, by place; to be freed. */
uint64_t *time_axis_create(struct process *const *processes, size_t nr_processes);

/* A CLOCK_MONOTONIC time on the axis that begins there. Clocks of a damaged stream may be anything.
 */
static inline uint64_t time_axis_time(uint64_t base_ns, uint64_t ns)
{
	return (int64_t)(ns - base_ns) > 0 ? ns - base_ns : 0;
}

#endif
