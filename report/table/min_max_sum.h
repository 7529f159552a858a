/* SPDX-License-Identifier: Apache-2.0 */
/* Number, sum and extremes of some values, and the cells of a table for them. */
#ifndef REPORT_TABLE_MIN_MAX_SUM_H
#define REPORT_TABLE_MIN_MAX_SUM_H

#include "report/table/table.h"

struct min_max_sum {
	uint64_t nr, sum, min, max;
};

static inline void min_max_sum_add(struct min_max_sum *spread, uint64_t value)
{
	spread->min = !spread->nr || value < spread->min ? value : spread->min;
	spread->max = value > spread->max ? value : spread->max;
	spread->sum += value;
	spread->nr++;
}

static inline double min_max_sum_mean(const struct min_max_sum *spread)
{
	return spread->nr ? (double)spread->sum / (double)spread->nr : 0;
}

/* Of times: total, avg, max, min; all but the total stay unknown where there are none. */
static inline void min_max_sum_fill(const struct min_max_sum *spread, struct table_cell *cells)
{
	table_set_integer(&cells[0], spread->sum);
	if (spread->nr) {
		table_set_number(&cells[1], min_max_sum_mean(spread));
		table_set_integer(&cells[2], spread->max);
		table_set_integer(&cells[3], spread->min);
	}
}

#endif
