/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps warm up, and whether steps get longer. */
#include "report/stats/step_series.h"

#include <string.h>

#include "test/unit/unit.h"

enum { NR = 60 };

static uint64_t ns[NR];

/* Around 100 us, with noise of that many percent. */
static void make(size_t nr, unsigned int noise_pct)
{
	uint64_t seed = 7;

	for (size_t i = 0; i < nr; i++) {
		ns[i] = 100000 + unit_random(&seed) % (1000 * noise_pct + 1);
	}
}

START_TEST(steps_of_the_same_length_do_not_warm_up)
{
	make(NR, 0);
	ck_assert_uint_eq(step_series_of(ns, NR).nr_warm_up, 0);
	make(NR, 20);
	ck_assert_uint_eq(step_series_of(ns, NR).nr_warm_up, 0);
	ck_assert_uint_eq(step_series_of(ns, 1).nr_warm_up, 0);
	ns[0] = 900000;
	ck_assert_uint_eq(step_series_of(ns, 3).nr_warm_up, 0);
	ck_assert_uint_eq(step_series_of(ns, 0).nr_warm_up, 0);
}
END_TEST

START_TEST(the_first_steps_warm_up_while_they_are_longer_than_all_later_ones)
{
	make(NR, 2);
	ns[0] = 900000;
	ns[1] = 150000;
	ns[3] = 300000; /* behind one that is not longer: a slow step, and no warm-up */
	ck_assert_uint_eq(step_series_of(ns, NR).nr_warm_up, 2);
	ns[NR - 1] = 200000; /* so long may steps be later, too */
	ck_assert_uint_eq(step_series_of(ns, NR).nr_warm_up, 1);
}
END_TEST

START_TEST(little_is_no_warm_up)
{
	make(NR, 0);
	ns[0] = 124000;
	ck_assert_uint_eq(step_series_of(ns, NR).nr_warm_up, 0);
	ns[0] = 126000;
	ck_assert_uint_eq(step_series_of(ns, NR).nr_warm_up, 1);
}
END_TEST

START_TEST(at_most_the_first_half_warms_up)
{
	make(4, 0);
	ns[0] = ns[1] = ns[2] = 500000;
	ck_assert_uint_eq(step_series_of(ns, 4).nr_warm_up, 0);
	ns[2] = 100000;
	ck_assert_uint_eq(step_series_of(ns, 4).nr_warm_up, 2);
}
END_TEST

START_TEST(validations_are_outliers)
{
	struct step_series series;

	make(NR, 20);
	ck_assert_uint_eq(step_series_of(ns, NR).nr_outliers, 0);
	ns[5] = 700000;
	ns[20] = 900000;
	ns[40] = 1100000;
	series = step_series_of(ns, NR);
	ck_assert_uint_eq(series.nr_warm_up, 0);
	ck_assert_uint_eq(series.nr_outliers, 3);
	ck_assert_uint_eq(series.outliers_ns, 2700000);
	ck_assert_uint_eq(series.shortest_ns, 700000);
	ck_assert_uint_eq(series.longest_ns, 1100000);
	for (size_t i = 0; i < NR; i++) {
		ck_assert_int_eq(step_series_counts(&series, i, ns[i]), ns[i] < 700000);
	}
}
END_TEST

/* An outlier in the second half does not make a step that warms up usual. */
START_TEST(outliers_do_not_hide_the_warm_up)
{
	struct step_series series;

	make(NR, 10);
	ns[0] = 150000;
	ns[50] = 900000;
	series = step_series_of(ns, NR);
	ck_assert_uint_eq(series.nr_warm_up, 1);
	ck_assert_uint_eq(series.nr_outliers, 1);
	ck_assert(!step_series_counts(&series, 0, ns[0]));
}
END_TEST

START_TEST(what_comes_often_is_no_outlier)
{
	make(NR, 0);
	for (size_t i = 0; i < NR; i += 4) {
		ns[i] = 900000;
	}
	ck_assert_uint_eq(step_series_of(ns, NR).nr_outliers, 0);
	make(4, 0);
	ns[3] = 900000;
	ck_assert_uint_eq(step_series_of(ns, 4).nr_outliers, 0);
	ck_assert_uint_eq(step_series_of(ns, 0).nr_outliers, 0);
}
END_TEST

/* Twice the median is not far off where steps differ as much. */
START_TEST(steps_that_differ_have_outliers_only_far_off)
{
	make(NR, 200);
	ns[30] = 410000;
	ck_assert_uint_eq(step_series_of(ns, NR).nr_outliers, 0);
	ns[30] = 4100000;
	ck_assert_uint_eq(step_series_of(ns, NR).nr_outliers, 1);
}
END_TEST

START_TEST(steps_without_length_have_no_outliers)
{
	memset(ns, 0, sizeof(ns));
	ns[30] = 7;
	ck_assert_uint_eq(step_series_of(ns, NR).nr_outliers, 0);
}
END_TEST

START_TEST(a_trend_is_what_chance_does_not_explain)
{
	double percent = 0;

	make(NR, 10);
	ck_assert(!step_series_trend(ns, NR, &percent));
	for (size_t i = 0; i < NR; i++) {
		ns[i] += 300 * i;
	}
	ck_assert(step_series_trend(ns, NR, &percent));
	ck_assert(percent > 8 && percent < 16);
	ck_assert(!step_series_trend(ns, STEP_SERIES_MIN - 1, &percent));
}
END_TEST

START_TEST(a_long_series_is_thinned_out)
{
	static uint64_t many[100000];
	double percent = 0;

	for (size_t i = 0; i < 100000; i++) {
		many[i] = 1000000 - i;
	}
	ck_assert(step_series_trend(many, 100000, &percent));
	ck_assert(percent < -6 && percent > -8);
}
END_TEST

UNIT_SUITE("report/step_series", steps_of_the_same_length_do_not_warm_up,
	the_first_steps_warm_up_while_they_are_longer_than_all_later_ones, little_is_no_warm_up,
	at_most_the_first_half_warms_up, validations_are_outliers, outliers_do_not_hide_the_warm_up,
	what_comes_often_is_no_outlier, steps_that_differ_have_outliers_only_far_off,
	steps_without_length_have_no_outliers, a_trend_is_what_chance_does_not_explain,
	a_long_series_is_thinned_out)
