/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of many values in many groups at once: the times of all rows of a view. Values are
 * kept as they come, with the number of their group, until there are HISTOGRAM_EXACT of them; then
 * they move into bins for good. Medians are found only at the end, when values of a group lie
 * together. The hot loops are those that add a batch: one pass for sums, one for values, without a
 * branch for the kind of store in between.
 *
 *   exact      values        [v0 v1 v2 ...]   value_groups [g0 g1 g2 ...]     12 bytes a value
 *   afterwards histograms    [group 0: 1952 bins][group 1: 1952 bins]         8 KB a group
 */
#include "report/stats/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

void histogram_init(struct histogram *stat)
{
	*stat = (struct histogram){.is_exact = true};
}

void histogram_fini(struct histogram *stat)
{
	free(stat->p99s);
	free(stat->histograms);
	free(stat->groups);
	free(stat->value_groups);
	free(stat->values);
	*stat = (struct histogram){0};
}

/* ---- histogram ---- */

static uint32_t *histogram_of(const struct histogram *stat, size_t group)
{
	return stat->histograms + group * HISTOGRAM_STEPS;
}

/* Gives a histogram to every group that there is room for. */
static void grow_histograms(struct histogram *stat)
{
	size_t from = stat->histogram_capacity, to = stat->group_capacity;

	if (from < to) {
		stat->histograms = mem_resize(
			stat->histograms, to, HISTOGRAM_STEPS * sizeof(*stat->histograms));
		memset(histogram_of(stat, from), 0,
			(to - from) * HISTOGRAM_STEPS * sizeof(*stat->histograms));
		stat->histogram_capacity = to;
	}
}

static inline void count_step(uint32_t *histograms, uint32_t group, uint64_t value)
{
	uint32_t *count = &histograms[(size_t)group * HISTOGRAM_STEPS + histogram_bin(value)];

	*count += *count != UINT32_MAX;
}

void histogram_grow(struct histogram *stat, uint32_t group)
{
	while (stat->nr_groups <= group) {
		stat->groups = array_grow(stat->groups, stat->nr_groups, &stat->group_capacity,
			sizeof(*stat->groups));
		stat->groups[stat->nr_groups++] = (struct histogram_group){.min = UINT64_MAX};
	}
	if (!stat->is_exact) {
		grow_histograms(stat);
	}
}

/* Moves all values into histograms, from now on the only store. */
static void leave_exact(struct histogram *stat)
{
	grow_histograms(stat);
	for (size_t i = 0; i < stat->nr_values; i++) {
		count_step(stat->histograms, stat->value_groups[i], stat->values[i]);
	}
	free(stat->value_groups);
	free(stat->values);
	stat->value_groups = NULL;
	stat->values = NULL;
	stat->nr_values = 0;
	stat->value_capacity = 0;
	stat->is_exact = false;
}

static void make_room(struct histogram *stat, uint32_t nr_more)
{
	if (stat->nr_values + nr_more > HISTOGRAM_EXACT) {
		leave_exact(stat);
		return;
	}
	while (stat->value_capacity < stat->nr_values + nr_more) {
		stat->value_capacity = stat->value_capacity ? 2 * stat->value_capacity : 1024;
		stat->values = mem_resize(stat->values, stat->value_capacity, sizeof(uint64_t));
		stat->value_groups =
			mem_resize(stat->value_groups, stat->value_capacity, sizeof(uint32_t));
	}
}

/* ---- adding ---- */

static inline void add_to_group(struct histogram_group *group, uint64_t value)
{
	group->count++;
	group->sum += value;
	group->sum_squares += (unsigned __int128)value * value;
	group->min = value < group->min ? value : group->min;
	group->max = value > group->max ? value : group->max;
}

/* Inlined twice, for narrow and for wide values. */
static inline __attribute__((always_inline)) void add_values(struct histogram *stat,
	const uint32_t *groups, const uint64_t *wide, const uint32_t *small, uint32_t nr_values)
{
	struct histogram_group *all = stat->groups;

	if (!nr_values) { /* there may be no arrays yet */
		return;
	}
	if (stat->is_exact) {
		make_room(stat, nr_values);
	}
	if (!stat->is_exact) {
		for (uint32_t i = 0; i < nr_values; i++) {
			uint64_t value = small ? small[i] : wide[i];

			add_to_group(&all[groups[i]], value);
			count_step(stat->histograms, groups[i], value);
		}
		return;
	}
	for (uint32_t i = 0; i < nr_values; i++) {
		add_to_group(&all[groups[i]], small ? small[i] : wide[i]);
	}
	for (uint32_t i = 0; i < nr_values; i++) {
		stat->values[stat->nr_values + i] = small ? small[i] : wide[i];
	}
	memcpy(stat->value_groups + stat->nr_values, groups, nr_values * sizeof(*groups));
	stat->nr_values += nr_values;
}

void histogram_add_many(
	struct histogram *stat, const uint32_t *groups, const uint64_t *values, uint32_t nr_values)
{
	add_values(stat, groups, values, NULL, nr_values);
}

void histogram_add_small(
	struct histogram *stat, const uint32_t *groups, const uint32_t *values, uint32_t nr_values)
{
	add_values(stat, groups, NULL, values, nr_values);
}

/* Not inlined, so that the other way saves no registers. */
static __attribute__((noinline)) void add_exact(
	struct histogram *stat, uint32_t group, uint64_t value)
{
	make_room(stat, 1);
	add_to_group(&stat->groups[group], value);
	if (stat->is_exact) {
		stat->values[stat->nr_values] = value;
		stat->value_groups[stat->nr_values++] = group;
	} else {
		count_step(stat->histograms, group, value);
	}
}

void histogram_add(struct histogram *stat, uint32_t group, uint64_t value)
{
	if (stat->is_exact) {
		add_exact(stat, group, value);
		return;
	}
	add_to_group(&stat->groups[group], value);
	count_step(stat->histograms, group, value);
}

static void merge_histogram(uint32_t *to, const uint32_t *from)
{
	for (size_t i = 0; i < HISTOGRAM_STEPS; i++) {
		uint64_t sum = (uint64_t)to[i] + from[i];

		to[i] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
	}
}

/*
 * A histogram cannot go back to values, so an exact target leaves its exactness to take bins
 * over.
 */
void histogram_merge(
	struct histogram *stat, uint32_t group, const struct histogram *from, uint32_t from_group)
{
	const struct histogram_group *source = &from->groups[from_group];
	struct histogram_group *target = &stat->groups[group];

	for (size_t i = 0; from->is_exact && i < from->nr_values; i++) {
		if (from->value_groups[i] == from_group) {
			histogram_add(stat, group, from->values[i]);
		}
	}
	if (from->is_exact || !source->count) {
		return;
	}
	if (stat->is_exact) {
		leave_exact(stat);
	}
	target->count += source->count;
	target->sum += source->sum;
	target->sum_squares += source->sum_squares;
	target->min = source->min < target->min ? source->min : target->min;
	target->max = source->max > target->max ? source->max : target->max;
	merge_histogram(histogram_of(stat, group), histogram_of(from, from_group));
}

void histogram_merge_all(
	struct histogram *stat, const uint32_t *groups, const struct histogram *from)
{
	for (size_t i = 0; from->is_exact && i < from->nr_values; i++) {
		histogram_add(stat, groups[from->value_groups[i]], from->values[i]);
	}
	for (size_t i = 0; !from->is_exact && i < from->nr_groups; i++) {
		histogram_merge(stat, groups[i], from, (uint32_t)i);
	}
}

/* ---- medians and p99 ---- */

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t c = *a;

	*a = *b;
	*b = c;
}

/*
 * Moves the k-th smallest value to index k, with smaller ones before it (quickselect by Hoare's
 * partition), in linear time on average.
 */
static void select_kth(uint64_t *values, size_t nr_values, size_t k)
{
	size_t low = 0, high = nr_values - 1;

	while (low < high) {
		uint64_t pivot = values[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (values[i] < pivot) {
				i++;
			}
			while (values[j] > pivot) {
				j--;
			}
			if (i >= j) {
				break;
			}
			swap(&values[i++], &values[j--]);
		}
		/* [low, j] <= pivot <= [j + 1, high] */
		if (k <= j) {
			high = j;
		} else {
			low = j + 1;
		}
	}
}

static double exact_median(uint64_t *values, size_t nr_values)
{
	size_t middle = nr_values / 2;
	uint64_t below = 0;

	select_kth(values, nr_values, middle);
	if (nr_values % 2) {
		return (double)values[middle];
	}
	for (size_t i = 0; i < middle; i++) {
		below = values[i] > below ? values[i] : below;
	}
	return histogram_mean_of_two(below, values[middle]);
}

uint64_t histogram_p99_rank(uint64_t count)
{
	return count - count / 100;
}

/*
 * The p99 once the median is at its index: larger values lie behind it, so only these are
 * searched.
 */
static uint64_t exact_p99(uint64_t *values, size_t nr_values)
{
	size_t middle = nr_values / 2, place = histogram_p99_rank(nr_values) - 1;

	if (place < middle) { /* the median is one value, or the mean of two */
		return values[place];
	}
	select_kth(values + middle, nr_values - middle, place - middle);
	return values[place];
}

/* A counting sort by group: `first` is where the next value of each group goes. */
uint64_t *histogram_values(const struct histogram *stat)
{
	size_t *first = mem_zeroed(stat->nr_groups + 1, sizeof(*first));
	uint64_t *sorted = mem_zeroed(stat->nr_values, sizeof(*sorted));

	for (size_t i = 0; i < stat->nr_groups; i++) {
		first[i + 1] = first[i] + stat->groups[i].count;
	}
	for (size_t i = 0; i < stat->nr_values; i++) {
		sorted[first[stat->value_groups[i]]++] = stat->values[i];
	}
	free(first);
	return sorted;
}

static void exact_ranks(struct histogram *stat)
{
	uint64_t *sorted = histogram_values(stat), *values = sorted;

	for (size_t i = 0; i < stat->nr_groups; i++) {
		struct histogram_group *group = &stat->groups[i];

		if (group->count) {
			group->median = exact_median(values, group->count);
			stat->p99s[i] = exact_p99(values, group->count);
		}
		values += group->count;
	}
	free(sorted);
}

/* The value of a group that `rank` values do not exceed. */
static uint64_t histogram_value(
	const struct histogram_group *group, const uint32_t *histogram, uint64_t rank)
{
	uint64_t before = 0, value;
	unsigned int step = 0;

	while (before + histogram[step] < rank && step + 1 < HISTOGRAM_STEPS) {
		before += histogram[step++];
	}
	value = histogram_bin_value(step);
	value = value < group->min ? group->min : value;
	return value > group->max ? group->max : value;
}

/* The bins give the same two statistics within the width of a bin. */
void histogram_finish(struct histogram *stat)
{
	stat->p99s = mem_resize(stat->p99s, stat->nr_groups, sizeof(*stat->p99s));
	memset(stat->p99s, 0, stat->nr_groups * sizeof(*stat->p99s));
	if (stat->is_exact) {
		exact_ranks(stat);
		return;
	}
	for (size_t i = 0; i < stat->nr_groups; i++) {
		struct histogram_group *group = &stat->groups[i];
		const uint32_t *histogram = histogram_of(stat, i);
		uint64_t median;

		if (!group->count) {
			continue;
		}
		median = histogram_value(group, histogram, group->count / 2 + 1);
		group->median = (double)median;
		stat->p99s[i] = histogram_value(group, histogram, histogram_p99_rank(group->count));
	}
}

/* ---- results ---- */

uint64_t histogram_sum(const struct histogram_group *group)
{
	return group->sum > UINT64_MAX ? UINT64_MAX : (uint64_t)group->sum;
}

double histogram_mean(const struct histogram_group *group)
{
	return group->count ? (double)((long double)group->sum / (long double)group->count) : 0;
}

double histogram_deviation(const struct histogram_group *group)
{
	unsigned __int128 squares, square;
	long double n = (long double)group->count;
	long double variance;

	if (group->count < 2) {
		return 0;
	}
	/*
	 * In integers while they fit: doubles lose the digits of values close together and far from
	 * zero.
	 */
	if (!__builtin_mul_overflow(
		    group->sum_squares, (unsigned __int128)group->count, &squares) &&
		!__builtin_mul_overflow(group->sum, group->sum, &square)) {
		variance = squares > square ? (long double)(squares - square) / n / (n - 1) : 0;
	} else {
		long double sum = (long double)group->sum;

		variance = ((long double)group->sum_squares - sum * sum / n) / (n - 1);
	}
	return variance > 0 ? (double)sqrtl(variance) : 0;
}

double histogram_median(const struct histogram_group *group)
{
	return group->median;
}

uint64_t histogram_p99(const struct histogram *stat, size_t group)
{
	return stat->p99s ? stat->p99s[group] : 0;
}
