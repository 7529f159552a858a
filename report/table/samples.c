/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/samples.h"

#include <math.h>
#include <stdlib.h>

void dist_fini(struct dist *dist)
{
	free(dist->values);
	*dist = (struct dist){0};
}

void dist_add(struct dist *dist, uint64_t value)
{
	dist->values = array_grow(dist->values, dist->nr, &dist->capacity, sizeof(*dist->values));
	dist->values[dist->nr++] = value;
	dist->is_sorted = false;
}

static unsigned __int128 exact_sum(const struct dist *dist)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < dist->nr; i++) {
		sum += dist->values[i];
	}
	return sum;
}

uint64_t dist_sum(const struct dist *dist)
{
	unsigned __int128 sum = exact_sum(dist);

	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

double dist_mean(const struct dist *dist)
{
	return dist->nr ? (double)((long double)exact_sum(dist) / (long double)dist->nr) : 0;
}

double dist_deviation(const struct dist *dist)
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

static void sort(struct dist *dist)
{
	if (!dist->is_sorted && dist->nr) {
		qsort(dist->values, dist->nr, sizeof(*dist->values), by_value);
	}
	dist->is_sorted = true;
}

double dist_median(struct dist *dist)
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

uint64_t dist_quantile(struct dist *dist, double share)
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

void dist_fill(struct dist *dist, struct table_cell *cells)
{
	if (!dist->nr) {
		return;
	}
	table_set_number(&cells[0], dist_mean(dist));
	table_set_number(&cells[1], dist_median(dist));
	table_set_integer(&cells[2], dist_quantile(dist, 0.99));
	if (dist->nr > 1) {
		table_set_number(&cells[3], dist_deviation(dist));
	}
	table_set_integer(&cells[4], dist_quantile(dist, 0.0));
	table_set_integer(&cells[5], dist_quantile(dist, 1.0));
}
