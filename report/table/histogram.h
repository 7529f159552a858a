/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count, sum, extremes, deviation, median and p99 of many values in groups. Sums are exact (128
 * bits). Medians and p99 are exact up to STAT_EXACT values in all; beyond, they come from a
 * histogram with 32 steps per power of two (at most 1.6 % off), so that memory is bounded, and
 * `is_exact` says so.
 */
#ifndef REPORT_TABLE_HISTOGRAM_H
#define REPORT_TABLE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAT_EXACT (1u << 20)
#define STAT_STEPS 1952u

/* 64 bytes, a cache line. */
struct stat_group {
	uint64_t count;
	uint64_t min, max;
	uint64_t twice_median; /* after stat_finish; twice, for the mean of two in the middle */
	unsigned __int128 sum;
	unsigned __int128 sum_squares;
};

struct stat {
	struct stat_group *groups;
	size_t nr_groups, group_capacity;
	uint64_t *p99s;		   /* of the groups, after stat_finish */
	uint32_t *histograms;	   /* STAT_STEPS for each group once the medians are not exact */
	size_t histogram_capacity; /* in groups */
	uint32_t *value_groups;	   /* the values so far, while the medians are exact */
	uint64_t *values;
	size_t nr_values, value_capacity;
	bool is_exact;
};

void stat_init(struct stat *stat);
void stat_fini(struct stat *stat);

/* Makes groups up to and including `group`. */
void stat_grow(struct stat *stat, uint32_t group);

/* All groups must have been made. */
void stat_add(struct stat *stat, uint32_t group, uint64_t value);
void stat_add_many(
	struct stat *stat, const uint32_t *groups, const uint64_t *values, uint32_t nr_values);

/* The same for 32-bit values. */
void stat_add_small(
	struct stat *stat, const uint32_t *groups, const uint32_t *values, uint32_t nr_values);

/* Adds all values of a group of another stat, finished or not, to a group that was made. */
void stat_merge(struct stat *stat, uint32_t group, const struct stat *from, uint32_t from_group);

/* While it is exact: all values, those of a group together, groups in order; to be freed. */
uint64_t *stat_values(const struct stat *stat);

/* How many of so many values are not above their p99. */
uint64_t stat_p99_rank(uint64_t count);

/* Computes medians and p99; no more values may be added. */
void stat_finish(struct stat *stat);

/* Of a group; all 0 for an empty one. Sums and doubles are clipped to what fits. */
uint64_t stat_sum(const struct stat_group *group);
double stat_mean(const struct stat_group *group);
double stat_deviation(const struct stat_group *group); /* of the sample; 0 for a single value */
double stat_median(const struct stat_group *group);

/* Of a group: the smallest value that 99 % of all are not above (the nearest rank). */
uint64_t stat_p99(const struct stat *stat, size_t group);

#endif
