/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shift between two samples, beside SciPy 1.17.1 and NumPy: a and b sorted, d all differences
 * b - a, sorted,
 *
 *     estimate  numpy.median(d)
 *     low, high d[k - 1], d[n * m - k], k = floor(n * m / 2 - scipy.stats.norm.ppf(0.995) *
 *               sqrt(n * m * (n + m + 1) / 12))
 *     p         scipy.stats.mannwhitneyu(a, b, method="asymptotic").pvalue
 *     outliers  by numpy.percentile(x, 25), numpy.percentile(x, 75) and scipy.stats.iqr(x)
 *     welch     scipy.stats.ttest_ind_from_stats(..., equal_var=False).pvalue, and
 *               scipy.stats.t.ppf(0.995, df) times the standard error
 */
#include "report/stats/shift.h"

#include "report/stats/welch_ttest.h"
#include "test/unit/unit.h"

enum { MOST = 30 };

static const struct {
	const char *name;
	size_t nr_a, nr_b;
	uint64_t a[MOST], b[MOST];
	double estimate, low, high, p;
	bool has_interval;
	size_t outliers_a, outliers_b;
} cases[] = {
	{"noise", 20, 25,
		{1000, 1002, 1002, 1012, 1023, 1030, 1032, 1034, 1034, 1046, 1052, 1053, 1065, 1070,
			1074, 1089, 1090, 1095, 1095, 1096},
		{1002, 1004, 1013, 1022, 1025, 1028, 1034, 1034, 1036, 1040, 1043, 1054, 1054, 1056,
			1064, 1065, 1072, 1074, 1078, 1082, 1086, 1095, 1095, 1098, 1099},
		4, -24, 32, 0.559906941365, true, 0, 0},
	{"slower", 20, 20,
		{1003, 1004, 1005, 1009, 1009, 1015, 1038, 1038, 1042, 1045, 1059, 1063, 1063, 1075,
			1076, 1079, 1079, 1087, 1089, 1096},
		{1067, 1074, 1074, 1076, 1081, 1084, 1086, 1093, 1095, 1118, 1124, 1125, 1126, 1131,
			1134, 1147, 1148, 1151, 1152, 1157},
		65, 34, 89, 1.16869100047e-05, true, 0, 0},
	{"ties", 8, 10, {10, 10, 11, 12, 12, 12, 13, 15}, {10, 12, 13, 13, 14, 15, 15, 16, 16, 17},
		2.5, -1, 5, 0.0309104691901, true, 1, 0},
	{"outliers", 30, 30,
		{1002, 1005, 1009, 1011, 1014, 1019, 1024, 1028, 1034, 1034, 1040, 1041, 1042, 1050,
			1054, 1055, 1061, 1063, 1064, 1068, 1069, 1071, 1073, 1075, 1077, 1079,
			1088, 1090, 1092, 1093},
		{1002, 1004, 1010, 1011, 1014, 1015, 1015, 1020, 1021, 1025, 1026, 1036, 1039, 1043,
			1043, 1054, 1059, 1061, 1066, 1074, 1075, 1079, 1081, 1084, 1093, 1095,
			1097, 9000, 9500, 20000},
		2, -25, 26, 0.841777588145, true, 0, 3},
	{"few", 3, 3, {1, 2, 3}, {7, 8, 9}, 6, 0, 0, 0.0808555983701, false, 0, 0},
};

START_TEST(shifts_are_those_of_scipy)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shift shift = {0};

		shift_find(cases[i].a, cases[i].nr_a, cases[i].b, cases[i].nr_b, &shift);
		ck_assert_msg(shift.has_interval == cases[i].has_interval, "%s", cases[i].name);
		ck_assert_double_eq(shift.estimate, cases[i].estimate);
		ck_assert_double_eq(shift.low, cases[i].low);
		ck_assert_double_eq(shift.high, cases[i].high);
		ck_assert_double_eq_tol(shift.p, cases[i].p, cases[i].p * 1e-9);
		ck_assert_uint_eq(
			shift_count_outliers(cases[i].a, cases[i].nr_a), cases[i].outliers_a);
		ck_assert_uint_eq(
			shift_count_outliers(cases[i].b, cases[i].nr_b), cases[i].outliers_b);
		shift_find(cases[i].b, cases[i].nr_b, cases[i].a, cases[i].nr_a, &shift);
		ck_assert_double_eq(shift.estimate, -cases[i].estimate);
		ck_assert_double_eq_tol(shift.p, cases[i].p, cases[i].p * 1e-9);
	}
}
END_TEST

START_TEST(equal_and_single_values)
{
	const uint64_t equal[7] = {5, 5, 5, 5, 5, 5, 5}, one[1] = {1ull << 61};
	struct shift shift;

	shift_find(equal, 7, equal, 7, &shift);
	ck_assert_double_eq(shift.estimate, 0);
	ck_assert(shift.has_interval && shift.low == 0 && shift.high == 0);
	ck_assert_double_eq(shift.p, 1);
	shift_find(equal, 1, one, 1, &shift);
	ck_assert_double_eq(shift.estimate, (double)(1ull << 61) - 5);
	ck_assert(!shift.has_interval);
	ck_assert_uint_eq(shift_count_outliers(one, 1), 0);
	ck_assert_uint_eq(shift_count_outliers(one, 0), 0);
}
END_TEST

START_TEST(intervals_of_means_are_those_of_scipy)
{
	static const struct {
		struct welch_sample a, b;
		double p, half;
	} means[] = {{{20, 100, 25}, {15, 103, 16}, 0.0572027243303, 4.16156835592},
		{{5, 10, 1}, {2, 9, 4}, 0.605944226829, 48.4003002022},
		{{1000, 50, 9}, {900, 50.5, 400}, 0.457958949497, 1.73806528828}};
	const struct welch_sample one = {1, 5, 0}, flat = {9, 5, 0};
	double p, half;

	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
		ck_assert(welch_p(&means[i].a, &means[i].b, &p));
		ck_assert_double_eq_tol(p, means[i].p, 1e-9);
		ck_assert(welch_interval(&means[i].a, &means[i].b, &half));
		ck_assert_double_eq_tol(half, means[i].half, means[i].half * 1e-9);
	}
	ck_assert(!welch_interval(&one, &flat, &half));
	ck_assert(welch_interval(&flat, &flat, &half) && half == 0);
}
END_TEST

UNIT_SUITE("report/shift", shifts_are_those_of_scipy, equal_and_single_values,
	intervals_of_means_are_those_of_scipy)
