/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shift between two samples, for diff. The n_a n_b differences are never listed: as both
 * samples are sorted, counting those up to a bound takes one walk over both, and halving the bound
 * finds the one of any rank.
 */
#include "report/stats/shift.h"

#include <math.h>

#define Z_99 2.5758293035489004

/* Pairs whose difference b - a is at most `most`. */
static uint64_t count_up_to(
	const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b, int64_t most)
{
	uint64_t nr = 0;
	size_t k = 0;

	for (size_t i = 0; i < nr_a; i++) {
		while (k < nr_b && (int64_t)(b[k] - a[i]) <= most) {
			k++;
		}
		nr += k;
	}
	return nr;
}

/* The difference of that rank, from 1: differences are integers, so halving their range finds it.
 */
static int64_t difference_at(
	const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b, uint64_t rank)
{
	int64_t low = (int64_t)(b[0] - a[nr_a - 1]), high = (int64_t)(b[nr_b - 1] - a[0]);

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (count_up_to(a, nr_a, b, nr_b, middle) >= rank) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return low;
}

/* The sum of t^3 - t over all sets of t equal values. */
static double sum_ties(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b)
{
	size_t i = 0, k = 0;
	double sum = 0;

	while (i < nr_a || k < nr_b) {
		uint64_t value = k == nr_b || (i < nr_a && a[i] < b[k]) ? a[i] : b[k];
		double nr = 0;

		for (; i < nr_a && a[i] == value; i++) {
			nr++;
		}
		for (; k < nr_b && b[k] == value; k++) {
			nr++;
		}
		sum += nr * nr * nr - nr;
	}
	return sum;
}

/*
 * U counts pairs with b above a, ties half. It comes from two counts: differences up to 0, and up
 * to -1.
 */
double shift_p(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b)
{
	double pairs = (double)nr_a * (double)nr_b, nr = (double)nr_a + (double)nr_b;
	double not_above = (double)count_up_to(a, nr_a, b, nr_b, 0);
	double below = (double)count_up_to(a, nr_a, b, nr_b, -1);
	double u = pairs - not_above + (not_above - below) / 2;
	double ties = sum_ties(a, nr_a, b, nr_b);
	double variance = pairs / 12 * (nr + 1 - ties / (nr * (nr - 1)));
	double off = fabs(u - pairs / 2) - 0.5;

	if (!(variance > 0) || off <= 0) {
		return 1;
	}
	return erfc(off / sqrt(2 * variance));
}

/* The rank of the interval's lower end among all differences; below 1 there is none. */
static double interval_rank(size_t nr_a, size_t nr_b)
{
	double pairs = (double)nr_a * (double)nr_b;
	double deviation = sqrt(pairs * ((double)nr_a + (double)nr_b + 1) / 12);

	return floor(pairs / 2 - Z_99 * deviation);
}

bool shift_has_interval(size_t nr_a, size_t nr_b)
{
	return interval_rank(nr_a, nr_b) >= 1;
}

/* An even number of differences has two in the middle; ranks of the interval are symmetric. */
void shift_find(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b, struct shift *shift)
{
	uint64_t pairs = (uint64_t)nr_a * nr_b;

	shift->estimate = ((double)difference_at(a, nr_a, b, nr_b, (pairs + 1) / 2) +
				  (double)difference_at(a, nr_a, b, nr_b, pairs / 2 + 1)) /
			  2;
	shift->has_interval = shift_has_interval(nr_a, nr_b);
	if (shift->has_interval) {
		uint64_t k = (uint64_t)interval_rank(nr_a, nr_b);

		shift->low = (double)difference_at(a, nr_a, b, nr_b, k);
		shift->high = (double)difference_at(a, nr_a, b, nr_b, pairs + 1 - k);
	}
	shift->p = shift_p(a, nr_a, b, nr_b);
}

/* The value of that share of the sorted values, between the two next to it. */
static double quantile(const uint64_t *values, size_t nr, double share)
{
	double at = share * (double)(nr - 1);
	size_t i = (size_t)at;
	double above = i + 1 < nr ? (double)(values[i + 1] - values[i]) : 0;

	return (double)values[i] + above * (at - (double)i);
}

size_t shift_count_outliers(const uint64_t *values, size_t nr)
{
	size_t nr_outliers = 0;
	double low, high, range;

	if (!nr) {
		return 0;
	}
	low = quantile(values, nr, 0.25);
	high = quantile(values, nr, 0.75);
	range = high - low;
	for (size_t i = 0; i < nr; i++) {
		double value = (double)values[i];

		nr_outliers += value < low - 1.5 * range || value > high + 1.5 * range;
	}
	return nr_outliers;
}
