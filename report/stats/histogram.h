/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count, sum, extremes, deviation, median and p99 of many values in groups.
 *
 * Sums are exact (128 bits). Medians and p99 are exact up to HISTOGRAM_EXACT values over all
 * groups. Beyond, a histogram with 32 bins per power of two bounds the memory; values are then at
 * most 1.6 % off, and is_exact is false.
 */
#ifndef REPORT_STATS_HISTOGRAM_H
#define REPORT_STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_EXACT (1u << 20)
#define HISTOGRAM_STEPS 1952u

/* 64 bytes, one cache line. */
struct histogram_group {
	uint64_t count;
	uint64_t min, max;
	double median; /* set by histogram_finish */
	unsigned __int128 sum;
	unsigned __int128 sum_squares;
};

struct histogram {
	struct histogram_group *groups;
	size_t nr_groups, group_capacity;
	uint64_t *p99s;		   /* of each group, set by histogram_finish */
	uint32_t *histograms;	   /* HISTOGRAM_STEPS bins a group, once not exact */
	size_t histogram_capacity; /* number of groups */
	uint32_t *value_groups;	   /* all values so far, while medians are exact */
	uint64_t *values;
	size_t nr_values, value_capacity;
	bool is_exact;
};

void histogram_init(struct histogram *stat);
void histogram_fini(struct histogram *stat);

/* Creates all groups up to and including `group`. */
void histogram_grow(struct histogram *stat, uint32_t group);

/* Adds a value; all groups must exist. */
void histogram_add(struct histogram *stat, uint32_t group, uint64_t value);
void histogram_add_many(
	struct histogram *stat, const uint32_t *groups, const uint64_t *values, uint32_t nr_values);

/* Does the same for 32-bit values. */
void histogram_add_small(
	struct histogram *stat, const uint32_t *groups, const uint32_t *values, uint32_t nr_values);

/* Adds all values of a group of another histogram, finished or not, to an existing group. */
void histogram_merge(
	struct histogram *stat, uint32_t group, const struct histogram *from, uint32_t from_group);

/* The same of all groups of the other one: group k goes to groups[k]. */
void histogram_merge_all(
	struct histogram *stat, const uint32_t *groups, const struct histogram *from);

/* While the histogram is exact: all values, by group. The caller frees them. */
uint64_t *histogram_values(const struct histogram *stat);

/* The nearest rank of the p99 of `count` values. */
uint64_t histogram_p99_rank(uint64_t count);

/* Computes medians and p99. Add no values afterwards. */
void histogram_finish(struct histogram *stat);

/* Statistics of a group, all 0 if it is empty. Sums saturate. */
uint64_t histogram_sum(const struct histogram_group *group);
double histogram_mean(const struct histogram_group *group);
double histogram_deviation(
	const struct histogram_group *group); /* of the sample; 0 for a single value */
double histogram_median(const struct histogram_group *group);

/* The median of two values, whose sum may exceed 64 bits. */
static inline double histogram_mean_of_two(uint64_t a, uint64_t b)
{
	return (double)((unsigned __int128)a + b) / 2;
}

/* The p99 of a group by nearest rank: the smallest value that at least 99 % do not exceed. */
uint64_t histogram_p99(const struct histogram *stat, size_t group);

/* The bins of histograms: 32 for each power of two, so that a value is at most 1.6 % off. */

#define HISTOGRAM_STEP_BITS 5u

_Static_assert(HISTOGRAM_STEPS == ((64u - HISTOGRAM_STEP_BITS + 2u) << HISTOGRAM_STEP_BITS),
	"the last step is that of 2^64 - 1");

/*
 * Below 64 each value has a bin; above, the leading bit and the next five select it. There is no
 * branch.
 */
static inline unsigned int histogram_bin(uint64_t value)
{
	unsigned int shift = 63u - HISTOGRAM_STEP_BITS - (unsigned int)__builtin_clzll(value | 32u);

	return (shift << HISTOGRAM_STEP_BITS) + (unsigned int)(value >> shift);
}

/* The value in the middle of a bin. */
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
