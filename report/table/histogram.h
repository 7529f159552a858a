/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count, sum, extremes, deviation, median and p99 of many values in groups. Sums are exact (128
 * bits). Medians and p99 are exact up to HISTOGRAM_EXACT values in all; beyond, they come from a
 * histogram with 32 steps per power of two (at most 1.6 % off), so that memory is bounded, and
 * `is_exact` says so.
 */
#ifndef REPORT_TABLE_HISTOGRAM_H
#define REPORT_TABLE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_EXACT (1u << 20)
#define HISTOGRAM_STEPS 1952u

/* 64 bytes, a cache line. */
struct histogram_group {
	uint64_t count;
	uint64_t min, max;
	uint64_t
		twice_median; /* after histogram_finish; twice, for the mean of two in the middle */
	unsigned __int128 sum;
	unsigned __int128 sum_squares;
};

struct histogram {
	struct histogram_group *groups;
	size_t nr_groups, group_capacity;
	uint64_t *p99s;	      /* of the groups, after histogram_finish */
	uint32_t *histograms; /* HISTOGRAM_STEPS for each group once the medians are not exact */
	size_t histogram_capacity; /* in groups */
	uint32_t *value_groups;	   /* the values so far, while the medians are exact */
	uint64_t *values;
	size_t nr_values, value_capacity;
	bool is_exact;
};

void histogram_init(struct histogram *stat);
void histogram_fini(struct histogram *stat);

/* Makes groups up to and including `group`. */
void histogram_grow(struct histogram *stat, uint32_t group);

/* All groups must have been made. */
void histogram_add(struct histogram *stat, uint32_t group, uint64_t value);
void histogram_add_many(
	struct histogram *stat, const uint32_t *groups, const uint64_t *values, uint32_t nr_values);

/* The same for 32-bit values. */
void histogram_add_small(
	struct histogram *stat, const uint32_t *groups, const uint32_t *values, uint32_t nr_values);

/* Adds all values of a group of another stat, finished or not, to a group that was made. */
void histogram_merge(
	struct histogram *stat, uint32_t group, const struct histogram *from, uint32_t from_group);

/* While it is exact: all values, those of a group together, groups in order; to be freed. */
uint64_t *histogram_values(const struct histogram *stat);

/* How many of so many values are not above their p99. */
uint64_t histogram_p99_rank(uint64_t count);

/* Computes medians and p99; no more values may be added. */
void histogram_finish(struct histogram *stat);

/* Of a group; all 0 for an empty one. Sums and doubles are clipped to what fits. */
uint64_t histogram_sum(const struct histogram_group *group);
double histogram_mean(const struct histogram_group *group);
double histogram_deviation(
	const struct histogram_group *group); /* of the sample; 0 for a single value */
double histogram_median(const struct histogram_group *group);

/* Of a group: the smallest value that 99 % of all are not above (the nearest rank). */
uint64_t histogram_p99(const struct histogram *stat, size_t group);

/* The steps of histograms: 32 for each power of two, so that a value is at most 1.6 % off. */

#define HISTOGRAM_STEP_BITS 5u

_Static_assert(HISTOGRAM_STEPS == ((64u - HISTOGRAM_STEP_BITS + 2u) << HISTOGRAM_STEP_BITS),
	"the last step is that of 2^64 - 1");

/* Below 64 a step is a value; above, the leading bit and the five behind it. Without a branch. */
static inline unsigned int histogram_bin(uint64_t value)
{
	unsigned int shift = 63u - HISTOGRAM_STEP_BITS - (unsigned int)__builtin_clzll(value | 32u);

	return (shift << HISTOGRAM_STEP_BITS) + (unsigned int)(value >> shift);
}

/* The value in the middle of a step. */
static inline uint64_t histogram_bin_value(unsigned int step)
{
	unsigned int shift;

	if (step < (2u << HISTOGRAM_STEP_BITS)) {
		return step;
	}
	shift = (step >> HISTOGRAM_STEP_BITS) - 1u;
	return ((uint64_t)(step - (shift << HISTOGRAM_STEP_BITS)) << shift) + (1ull << shift) / 2;
}

#endif
