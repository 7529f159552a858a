/* SPDX-License-Identifier: Apache-2.0 */
/* Count, sum, minimum and maximum of values, and their table cells. */
#ifndef REPORT_STATS_MIN_MAX_SUM_H
#define REPORT_STATS_MIN_MAX_SUM_H

#include "report/table/table.h"

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

/* Fills total, mean, maximum and minimum of times. Without values only the total is known. */
static inline void min_max_sum_fill(const struct min_max_sum *stats, struct table_cell *cells)
{
	table_set_integer(&cells[0], stats->sum);
	if (stats->nr) {
		table_set_number(&cells[1], min_max_sum_mean(stats));
		table_set_integer(&cells[2], stats->max);
		table_set_integer(&cells[3], stats->min);
	}
}

#endif
