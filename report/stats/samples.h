/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small set of values kept whole (one a step): mean, sample deviation, median and any quantile.
 * Millions of values use histogram.h. Memory: 8 bytes a value.
 */
#ifndef REPORT_STATS_SAMPLES_H
#define REPORT_STATS_SAMPLES_H

#include "report/table/table.h"

/* Zero-initialized. */
struct samples {
	uint64_t *values;
	size_t nr, capacity;
	bool is_sorted;
};

void samples_fini(struct samples *samples);
void samples_add(struct samples *samples, uint64_t value);

/* All functions below return 0 without values. The sum saturates. */
uint64_t samples_sum(const struct samples *samples);
double samples_mean(const struct samples *samples);
double samples_deviation(
	const struct samples *samples); /* of the sample, by n - 1; 0 for a single value */

/*
 * Both sort the values once. The median of an even number is the mean of the two in the middle. A
 * quantile is by nearest rank: the smallest value that a `share` (above 0, at most 1) of all do not
 * exceed.
 */
double samples_median(struct samples *samples);
uint64_t samples_quantile(struct samples *samples, double share);

/* Without values all are unknown; with one value the deviation is. See table_add. */
struct samples_figures {
	double avg_ns, median_ns;
	uint64_t p99_ns;
	double stddev_ns;
	uint64_t min_ns, max_ns;
};
struct samples_figures samples_figures(struct samples *samples);

/* The columns of a row with such a member. */
#define SAMPLES_COLUMNS(row, member)                                                \
	TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME, .help = "mean",              \
		TABLE_MEMBER(row, member.avg_ns)),                                  \
		TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME, .is_minor = true, \
			.help = "median", TABLE_MEMBER(row, member.median_ns)),     \
		TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .is_minor = true,         \
			.help = "99th percentile, nearest rank",                    \
			TABLE_MEMBER(row, member.p99_ns)),                          \
		TABLE_COLUMN("stddev_ns", "StdDev", TABLE_MEAN_TIME,                \
			.help = "standard deviation of the sample",                 \
			TABLE_MEMBER(row, member.stddev_ns)),                       \
		TABLE_COLUMN("min_ns", "Min", TABLE_TIME, .is_minor = true,         \
			TABLE_MEMBER(row, member.min_ns)),                          \
		TABLE_COLUMN("max_ns", "Max", TABLE_TIME, .is_minor = true,         \
			TABLE_MEMBER(row, member.max_ns))

#endif
