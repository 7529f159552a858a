/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that are kept whole, as there are few of them (one a step): mean, deviation of the sample,
 * median, and any other quantile. For values by the million see stat.h. Takes 8 bytes a value.
 */
#ifndef REPORT_TABLE_SAMPLES_H
#define REPORT_TABLE_SAMPLES_H

#include "report/table/table.h"

/* Starts with all zeros. */
struct samples {
	uint64_t *values;
	size_t nr, capacity;
	bool is_sorted;
};

void samples_fini(struct samples *samples);
void samples_add(struct samples *samples, uint64_t value);

/* All below are 0 without values. The sum is clipped to what fits. */
uint64_t samples_sum(const struct samples *samples);
double samples_mean(const struct samples *samples);
double samples_deviation(
	const struct samples *samples); /* of the sample, by n - 1; 0 of a single value */

/* Sorts once. The mean of the two in the middle; the smallest value that `share` of all (above 0,
 * at most 1) are not above: the nearest rank, so always a value that was there.
 */
double samples_median(struct samples *samples);
uint64_t samples_quantile(struct samples *samples, double share);

/* Mean, median, p99, deviation, min, max; all stay unknown without values, and the deviation with
 * one. */
#define SAMPLES_COLUMNS                                                                          \
	{"avg_ns", "Avg", TABLE_MEAN_TIME, false}, {"median_ns", "Med", TABLE_MEAN_TIME, false}, \
		{"p99_ns", "p99", TABLE_TIME, false},                                            \
		{"stddev_ns", "StdDev", TABLE_MEAN_TIME, false},                                 \
		{"min_ns", "Min", TABLE_TIME, false},                                            \
	{                                                                                        \
		"max_ns", "Max", TABLE_TIME, false                                               \
	}
#define SAMPLES_NR_COLUMNS 6u

void samples_fill(struct samples *samples, struct table_cell *cells);

#endif
