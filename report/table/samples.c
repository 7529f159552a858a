/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/samples.h"

#include <math.h>
#include <stdlib.h>

void samples_fini(struct samples *dist)
{
	free(dist->values);
	*dist = (struct samples){0};
}

void samples_add(struct samples *dist, uint64_t value)
{
	dist->values = array_grow(dist->values, dist->nr, &dist->capacity, sizeof(*dist->values));
	dist->values[dist->nr++] = value;
	dist->is_sorted = false;
}

static unsigned __int128 exact_sum(const struct samples *dist)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < dist->nr; i++) {
		sum += dist->values[i];
	}
	return sum;
}

uint64_t samples_sum(const struct samples *dist)
{
	unsigned __int128 sum = exact_sum(dist);

	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

double samples_mean(const struct samples *dist)
{
	return dist->nr ? (double)((long double)exact_sum(dist) / (long double)dist->nr) : 0;
}

double samples_deviation(const struct samples *dist)
{
	long double mean, squares = 0;

	if (dist->nr < 2) {
		return 0;
	}
	mean = (long double)exact_sum(dist) / (long double)dist->nr;
	for (size_t i = 0; i < dist->nr; i++) {
		long double off = (long double)dist->values[i] - mean;

		squares += off * off;
	}
	return (double)sqrtl(squares / (long double)(dist->nr - 1));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(struct samples *dist)
{
	if (!dist->is_sorted && dist->nr) {
		qsort(dist->values, dist->nr, sizeof(*dist->values), by_value);
	}
	dist->is_sorted = true;
}

double samples_median(struct samples *dist)
{
	uint64_t low, high;

	sort(dist);
	if (!dist->nr) {
		return 0;
	}
	low = dist->values[(dist->nr - 1) / 2];
	high = dist->values[dist->nr / 2];
	return (double)low + (double)(high - low) / 2;
}

uint64_t samples_quantile(struct samples *dist, double share)
{
	size_t rank;

	sort(dist);
	if (!dist->nr) {
		return 0;
	}
	rank = (size_t)ceil(share * (double)dist->nr);
	rank = rank < 1 ? 1 : rank;
	return dist->values[(rank < dist->nr ? rank : dist->nr) - 1];
}

void samples_fill(struct samples *dist, struct table_cell *cells)
{
	if (!dist->nr) {
		return;
	}
	table_set_number(&cells[0], samples_mean(dist));
	table_set_number(&cells[1], samples_median(dist));
	table_set_integer(&cells[2], samples_quantile(dist, 0.99));
	if (dist->nr > 1) {
		table_set_number(&cells[3], samples_deviation(dist));
	}
	table_set_integer(&cells[4], samples_quantile(dist, 0.0));
	table_set_integer(&cells[5], samples_quantile(dist, 1.0));
}
