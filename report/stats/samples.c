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

struct samples_figures samples_figures(struct samples *samples)
{
	if (!samples->nr) {
		return (struct samples_figures){NAN, NAN, UINT64_MAX, NAN, UINT64_MAX, UINT64_MAX};
	}
	return (struct samples_figures){.avg_ns = samples_mean(samples),
		.median_ns = samples_median(samples),
		.p99_ns = samples_quantile(samples, 0.99),
		.stddev_ns = samples->nr > 1 ? samples_deviation(samples) : NAN,
		.min_ns = samples_quantile(samples, 0.0),
		.max_ns = samples_quantile(samples, 1.0)};
}
