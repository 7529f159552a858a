/* SPDX-License-Identifier: Apache-2.0 */
/* The times of kernels that share a row, for views by what launched them; and their columns. */
#ifndef REPORT_ANALYSIS_KERNEL_TIMES_H
#define REPORT_ANALYSIS_KERNEL_TIMES_H

#include "report/ops/op_walk.h"
#include "report/stats/min_max_sum.h"
#include "report/table/table.h"

struct kernel_times {
	struct min_max_sum ns; /* of those with times; if there are none, unknown at the end */
	uint64_t nr, untimed, in_graphs;
};

static inline bool kernel_times_is_timed(const struct op_record *record)
{
	return record->is_timed && record->end_ns >= record->begin_ns;
}

static inline void kernel_times_add(struct kernel_times *times, const struct op_record *record)
{
	times->nr++;
	times->in_graphs += record->graph_node != 0;
	if (kernel_times_is_timed(record)) {
		min_max_sum_add(&times->ns, record->end_ns - record->begin_ns);
	} else {
		times->untimed++;
	}
}

/* To be called before the row is added to the table. */
static inline void kernel_times_finish(struct kernel_times *times)
{
	if (!times->ns.nr) {
		times->ns = (struct min_max_sum){0, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	}
}

/* `times` is a member of the row; the view has `total_ns` of all kernels, and `has_graphs`. */
#define KERNEL_TIMES_COLUMNS(row, times, view, ...)                                             \
	TABLE_COLUMN("share_pct", "% of kernel time", TABLE_PERCENT,                            \
		TABLE_SHARE_OF_STATE(row, times.ns.sum, view, total_ns), __VA_ARGS__),          \
		TABLE_COLUMN("total_ns", "Total", TABLE_TIME, TABLE_MEMBER(row, times.ns.sum)), \
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(row, times.nr)),       \
		TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME, .is_minor = true,                \
			TABLE_MEAN(row, times.ns.sum, times.ns.nr)),                            \
		TABLE_COLUMN("max_ns", "Max", TABLE_TIME, .is_wide_only = true,                 \
			TABLE_MEMBER(row, times.ns.max)),                                       \
		TABLE_COLUMN("min_ns", "Min", TABLE_TIME, .is_wide_only = true,                 \
			TABLE_MEMBER(row, times.ns.min)),                                       \
		TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,           \
			.help = "launches without a recorded time",                             \
			TABLE_MEMBER(row, times.untimed)),                                      \
		TABLE_COLUMN("in_graphs", "In graphs", TABLE_COUNT,                             \
			.help = "calls that launches of CUDA graphs ran",                       \
			TABLE_WIDE_UNLESS(view, has_graphs), TABLE_MEMBER(row, times.in_graphs))

#endif
