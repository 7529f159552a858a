/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats/histogram.h"

#include <math.h>
#include <stdlib.h>

#include "test/unit/unit.h"

START_TEST(a_few_values_have_exact_statistics)
{
	static const uint64_t values[] = {5, 1, 4, 2};
	struct histogram stat;

	histogram_init(&stat);
	histogram_grow(&stat, 1);
	for (int i = 0; i < 4; i++) {
		histogram_add(&stat, 1, values[i]);
	}
	histogram_finish(&stat);
	ck_assert_uint_eq(stat.groups[1].count, 4);
	ck_assert_uint_eq(histogram_sum(&stat.groups[1]), 12);
	ck_assert_uint_eq(stat.groups[1].min, 1);
	ck_assert_uint_eq(stat.groups[1].max, 5);
	ck_assert_double_eq(histogram_mean(&stat.groups[1]), 3);
	ck_assert_double_eq(histogram_median(&stat.groups[1]), 3);
	ck_assert_double_eq_tol(histogram_deviation(&stat.groups[1]), 1.825742, 1e-6);
	ck_assert_double_eq(histogram_mean(&stat.groups[0]), 0);
	ck_assert_double_eq(histogram_median(&stat.groups[0]), 0);
	histogram_fini(&stat);
}
END_TEST

START_TEST(one_value_has_no_deviation_and_is_its_own_median)
{
	struct histogram stat;

	histogram_init(&stat);
	histogram_grow(&stat, 0);
	histogram_add(&stat, 0, 7);
	histogram_finish(&stat);
	ck_assert_double_eq(histogram_deviation(&stat.groups[0]), 0);
	ck_assert_double_eq(histogram_median(&stat.groups[0]), 7);
	histogram_fini(&stat);
}
END_TEST

START_TEST(sums_do_not_overflow_and_large_values_keep_their_deviation)
{
	struct histogram stat;

	histogram_init(&stat);
	histogram_grow(&stat, 0);
	histogram_add(&stat, 0, UINT64_MAX);
	histogram_add(&stat, 0, UINT64_MAX);
	histogram_finish(&stat);
	ck_assert_uint_eq(histogram_sum(&stat.groups[0]), UINT64_MAX);
	ck_assert_double_eq_tol(histogram_mean(&stat.groups[0]), 1.8446744e19, 1e13);
	ck_assert(isfinite(histogram_deviation(&stat.groups[0])));
	ck_assert_double_eq(histogram_median(&stat.groups[0]), (double)UINT64_MAX);
	histogram_fini(&stat);
	histogram_init(&stat);
	histogram_grow(&stat, 0);
	histogram_add(&stat, 0, 1ull << 63);
	histogram_finish(&stat);
	ck_assert_double_eq(histogram_median(&stat.groups[0]), (double)(1ull << 63));
	histogram_fini(&stat);
	/* Close together and far from zero: differences, not squares, must show. */
	histogram_init(&stat);
	histogram_grow(&stat, 0);
	histogram_add(&stat, 0, 1000000000000ull);
	histogram_add(&stat, 0, 1000000000002ull);
	ck_assert_double_eq_tol(histogram_deviation(&stat.groups[0]), 1.414213, 1e-3);
	histogram_fini(&stat);
}
END_TEST

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

START_TEST(medians_of_random_values_are_those_of_the_sorted_ones)
{
	uint64_t seed = 3;

	for (size_t n = 1; n < 300; n += 13) {
		uint64_t values[300];
		struct histogram stat;
		double expected;

		histogram_init(&stat);
		histogram_grow(&stat, 0);
		for (size_t i = 0; i < n; i++) {
			values[i] = unit_random(&seed) % 50;
			histogram_add(&stat, 0, values[i]);
		}
		histogram_finish(&stat);
		qsort(values, n, sizeof(values[0]), compare);
		expected = n % 2 ? (double)values[n / 2]
				 : ((double)values[n / 2 - 1] + (double)values[n / 2]) / 2;
		ck_assert_double_eq(histogram_median(&stat.groups[0]), expected);
		/* The nearest rank: ceil(0.99 n), from 1. */
		ck_assert_uint_eq(histogram_p99(&stat, 0), values[(99 * n + 99) / 100 - 1]);
		histogram_fini(&stat);
	}
}
END_TEST

START_TEST(beyond_the_limit_medians_are_good_to_two_percent_and_say_so)
{
	static uint64_t values[4096];
	static uint32_t groups[4096];
	uint64_t seed = 9;
	struct histogram stat;

	histogram_init(&stat);
	histogram_grow(&stat, 1);
	for (size_t n = 0; n <= HISTOGRAM_EXACT; n += 4096) {
		for (size_t i = 0; i < 4096; i++) {
			groups[i] = i & 1;
			values[i] = i & 1 ? 1000000 + unit_random(&seed) % 200001 : 30 + i % 3;
		}
		histogram_add_many(&stat, groups, values, 4096);
	}
	ck_assert(!stat.is_exact);
	histogram_finish(&stat);
	ck_assert_uint_eq(stat.groups[0].count + stat.groups[1].count, HISTOGRAM_EXACT + 4096);
	ck_assert_double_eq_tol(histogram_median(&stat.groups[1]), 1100000, 22000);
	ck_assert_double_eq(histogram_median(&stat.groups[0]), 31);
	ck_assert_double_eq_tol((double)histogram_p99(&stat, 1), 1198000, 22000);
	ck_assert_uint_eq(histogram_p99(&stat, 0), 32);
	histogram_fini(&stat);
}
END_TEST

START_TEST(narrow_and_wide_values_and_merged_groups_give_the_same)
{
	static const uint32_t groups[] = {0, 1, 0}, small[] = {3, 4, 9};
	static const uint64_t wide[] = {3, 4, 9};
	struct histogram a, b, merged;

	histogram_init(&a);
	histogram_init(&b);
	histogram_init(&merged);
	histogram_grow(&a, 1);
	histogram_grow(&b, 1);
	histogram_grow(&merged, 0);
	histogram_add_small(&a, groups, small, 3);
	histogram_add_many(&b, groups, wide, 3);
	histogram_finish(&a);
	histogram_finish(&b);
	ck_assert_double_eq(a.groups[0].median, b.groups[0].median);
	ck_assert_uint_eq(histogram_sum(&a.groups[0]), 12);
	histogram_merge(&merged, 0, &a, 0);
	histogram_merge(&merged, 0, &b, 1);
	histogram_finish(&merged);
	ck_assert_uint_eq(histogram_sum(&merged.groups[0]), 16);
	ck_assert_double_eq(histogram_median(&merged.groups[0]), 4);
	histogram_fini(&a);
	histogram_fini(&b);
	histogram_fini(&merged);
}
END_TEST

/* Of all groups of one histogram in two: as if each value had been added to both. */
static void check_merged_groups(size_t nr_values, bool is_exact)
{
	static const uint32_t halves[] = {1, 0, 1, 0};
	struct histogram from, merged, wanted;
	uint64_t seed = 7;

	histogram_init(&from);
	histogram_init(&merged);
	histogram_init(&wanted);
	histogram_grow(&from, 3);
	histogram_grow(&merged, 1);
	histogram_grow(&wanted, 1);
	histogram_add(&merged, 0, 17);
	histogram_add(&wanted, 0, 17);
	for (size_t i = 0; i < nr_values; i++) {
		uint32_t group = (uint32_t)unit_below(&seed, 4);
		uint64_t value = unit_below(&seed, 1000000);

		histogram_add(&from, group, value);
		histogram_add(&wanted, halves[group], value);
	}
	histogram_merge_all(&merged, halves, &from);
	ck_assert(merged.is_exact == is_exact && wanted.is_exact == is_exact);
	histogram_finish(&merged);
	histogram_finish(&wanted);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_mem_eq(&merged.groups[i], &wanted.groups[i], sizeof(wanted.groups[i]));
		ck_assert_uint_eq(histogram_p99(&merged, i), histogram_p99(&wanted, i));
	}
	histogram_fini(&from);
	histogram_fini(&merged);
	histogram_fini(&wanted);
}

START_TEST(groups_merge_as_if_each_value_had_been_added)
{
	check_merged_groups(5000, true);
	check_merged_groups(HISTOGRAM_EXACT, false); /* and the one that is there already */
	check_merged_groups(HISTOGRAM_EXACT + 1, false);
}
END_TEST

UNIT_SUITE("report/histogram", groups_merge_as_if_each_value_had_been_added,
	a_few_values_have_exact_statistics, one_value_has_no_deviation_and_is_its_own_median,
	sums_do_not_overflow_and_large_values_keep_their_deviation,
	medians_of_random_values_are_those_of_the_sorted_ones,
	beyond_the_limit_medians_are_good_to_two_percent_and_say_so,
	narrow_and_wide_values_and_merged_groups_give_the_same)
