/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of a few values that are kept whole, such as the steps of a run: exact in all of them.
 * It sorts at the first question for a median or quantile, and again only if values came since.
 */
#include "report/stats/samples.h"

#include <math.h>
#include <stdlib.h>

#include "report/util/sort.h"

void samples_fini(struct samples *samples)
{
	free(samples->values);
	*samples = (struct samples){0};
}

void samples_add(struct samples *samples, uint64_t value)
{
	samples->values = array_grow(
		samples->values, samples->nr, &samples->capacity, sizeof(*samples->values));
	samples->values[samples->nr++] = value;
	samples->is_sorted = false;
}

static unsigned __int128 exact_sum(const struct samples *samples)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < samples->nr; i++) {
		sum += samples->values[i];
	}
	return sum;
}

uint64_t samples_sum(const struct samples *samples)
{
	unsigned __int128 sum = exact_sum(samples);

	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

double samples_mean(const struct samples *samples)
{
	return samples->nr ? (double)((long double)exact_sum(samples) / (long double)samples->nr)
			   : 0;
}

/* Two passes, around the mean: sums of squares would lose the digits of values close together. */
double samples_deviation(const struct samples *samples)
{
	long double mean, squares = 0;

	if (samples->nr < 2) {
		return 0;
	}
	mean = (long double)exact_sum(samples) / (long double)samples->nr;
	for (size_t i = 0; i < samples->nr; i++) {
		long double off = (long double)samples->values[i] - mean;

		squares += off * off;
	}
	return (double)sqrtl(squares / (long double)(samples->nr - 1));
}

static void sort(struct samples *samples)
{
	if (!samples->is_sorted && samples->nr) {
		qsort(samples->values, samples->nr, sizeof(*samples->values), by_u64);
	}
	samples->is_sorted = true;
}

double samples_median(struct samples *samples)
{
	uint64_t low, high;

	sort(samples);
	if (!samples->nr) {
		return 0;
	}
	low = samples->values[(samples->nr - 1) / 2];
	high = samples->values[samples->nr / 2];
	return (double)low + (double)(high - low) / 2;
}

uint64_t samples_quantile(struct samples *samples, double share)
{
	size_t rank;

	sort(samples);
	if (!samples->nr) {
		return 0;
	}
	rank = (size_t)ceil(share * (double)samples->nr);
	rank = rank < 1 ? 1 : rank;
	return samples->values[(rank < samples->nr ? rank : samples->nr) - 1];
}

void samples_fill(struct samples *samples, struct table_cell *cells)
{
	if (!samples->nr) {
		return;
	}
	table_set_number(&cells[0], samples_mean(samples));
	table_set_number(&cells[1], samples_median(samples));
	table_set_integer(&cells[2], samples_quantile(samples, 0.99));
	if (samples->nr > 1) {
		table_set_number(&cells[3], samples_deviation(samples));
	}
	table_set_integer(&cells[4], samples_quantile(samples, 0.0));
	table_set_integer(&cells[5], samples_quantile(samples, 1.0));
}
