/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By how much are the values of B larger than those of A? The estimates hold for any distribution
 * and hardly move if a few values are far off.
 *
 *     estimate  the median of all n_a n_b differences b - a (Hodges and Lehmann, 1963)
 *     interval  from the k-th smallest of the differences to the k-th largest (Moses, 1965):
 *               k = floor(n_a n_b / 2 - z s), s^2 = n_a n_b (n_a + n_b + 1) / 12,
 *               z = 2.576 for 99 %; there is none if k < 1: the samples are too small
 *     p         of the test by Mann and Whitney (1947), both sides, normal approximation with
 *               corrections for ties and continuity; U = number of pairs b > a, ties half
 *     outliers  values more than 1.5 interquartile ranges beyond the quartiles (Tukey, 1977)
 *
 * Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, chapter 4, has the first three.
 * Time: O((n_a + n_b) log of the largest value); nothing is allocated.
 */
#ifndef REPORT_STATS_SHIFT_H
#define REPORT_STATS_SHIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Do samples of these sizes have an interval? Fewer values show no change at 1 %. */
bool shift_has_interval(size_t nr_a, size_t nr_b);

struct shift {
	double estimate;
	double low, high;
	bool has_interval;
	double p;
};

/* Both samples are sorted and have a value at least; all values are below 2^62. */
void shift_find(
	const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b, struct shift *shift);

/* The p of these alone, in O(n_a + n_b). */
double shift_p(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b);

/* Counts the outliers among sorted values. */
size_t shift_count_outliers(const uint64_t *values, size_t nr);

#endif
