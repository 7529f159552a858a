/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count, sum, minimum and maximum of values. Columns of tables name the members, by TABLE_IF, and
 * the mean by TABLE_MEAN.
 */
#ifndef REPORT_STATS_MIN_MAX_SUM_H
#define REPORT_STATS_MIN_MAX_SUM_H

#include <stdint.h>

struct min_max_sum {
	uint64_t nr, sum, min, max;
};

static inline void min_max_sum_add(struct min_max_sum *stats, uint64_t value)
{
	stats->min = !stats->nr || value < stats->min ? value : stats->min;
	stats->max = value > stats->max ? value : stats->max;
	stats->sum += value;
	stats->nr++;
}

static inline double min_max_sum_mean(const struct min_max_sum *stats)
{
	return stats->nr ? (double)stats->sum / (double)stats->nr : 0;
}

#endif
