/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A common axis for the times of several processes, in ns since the first event of all. It aligns
 * them by CLOCK_REALTIME at the start of each. If a process did not read that clock, each axis
 * starts at the first event of its process.
 */
#ifndef REPORT_MODEL_TIME_AXIS_H
#define REPORT_MODEL_TIME_AXIS_H

#include "report/model/model.h"

/* The CLOCK_MONOTONIC time at which each process's axis starts, by index. The caller frees it. */
uint64_t *time_axis_create(struct process *const *processes, size_t nr_processes);

/*
 * A CLOCK_MONOTONIC time on the axis that starts at base_ns. Clocks of a damaged stream may be
 * anything.
 */
static inline uint64_t time_axis_time(uint64_t base_ns, uint64_t ns)
{
	return (int64_t)(ns - base_ns) > 0 ? ns - base_ns : 0;
}

#endif
