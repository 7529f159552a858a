/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which steps count, and whether steps get longer. The headline, counted_steps.c and
 * `reduce` call it, so all screens leave out the same steps. Medians and distances from them judge,
 * not means: a few long steps must not hide themselves. Warm-up is found first, by the second half
 * of the steps, which is taken as normal; outliers are searched in what is left.
 */
#include "report/stats/step_series.h"

#include <math.h>

#include "report/stats/samples.h"
#include "report/util/rounding.h"
#include "report/util/sort.h"

/* The test compares all pairs: longer series are thinned out evenly to about so many. */
#define MAX_COMPARED 1000u

#define MIN_FOR_WARM_UP 4u
#define WARM_UP_FACTOR	1.25

#define MIN_OF_OUTLIERS	  5u /* so many steps for each outlier */
#define OUTLIER_FACTOR	  2.0
#define OUTLIER_DISTANCES 5.0

#define MIN_TREND_PCT  1.0
#define Z_OF_1_PERCENT 2.576

static double median_of(const uint64_t *ns, size_t nr)
{
	struct samples samples = {0};
	double median;

	for (size_t i = 0; i < nr; i++) {
		samples_add(&samples, ns[i]);
	}
	median = samples_median(&samples);
	samples_fini(&samples);
	return median;
}

/* Outliers take longer; UINT64_MAX if there are none. */
static uint64_t limit_of(const uint64_t *ns, size_t nr)
{
	double median = median_of(ns, nr), limit, far;
	struct samples distances = {0};
	size_t nr_above = 0;

	for (size_t i = 0; i < nr; i++) {
		samples_add(&distances, whole_part(fabs((double)ns[i] - median)));
	}
	far = median + OUTLIER_DISTANCES * samples_median(&distances);
	limit = far > OUTLIER_FACTOR * median ? far : OUTLIER_FACTOR * median;
	samples_fini(&distances);
	for (size_t i = 0; i < nr; i++) {
		nr_above += (double)ns[i] > limit;
	}
	return median > 0 && nr_above && MIN_OF_OUTLIERS * nr_above <= nr ? whole_part(limit)
									  : UINT64_MAX;
}

/* Stops at the first step that is like the second half, so warm-up is always a run at the begin. */
static size_t count_warm_up(const uint64_t *ns, size_t nr)
{
	size_t half = nr / 2, nr_warm = 0;
	double median = median_of(ns + half, nr - half);
	uint64_t limit = limit_of(ns + half, nr - half), longest = 0;

	for (size_t i = half; i < nr; i++) {
		longest = ns[i] > longest && ns[i] <= limit ? ns[i] : longest;
	}
	while (nr >= MIN_FOR_WARM_UP && nr_warm < half && ns[nr_warm] > longest &&
		(double)ns[nr_warm] > WARM_UP_FACTOR * median) {
		nr_warm++;
	}
	return nr_warm;
}

struct step_series step_series_of(const uint64_t *ns, size_t nr)
{
	struct step_series series = {.nr_warm_up = count_warm_up(ns, nr)};

	series.limit_ns = limit_of(ns + series.nr_warm_up, nr - series.nr_warm_up);
	for (size_t i = series.nr_warm_up; i < nr; i++) {
		if (step_series_counts(&series, i, ns[i])) {
			continue;
		}
		series.shortest_ns = series.nr_outliers && series.shortest_ns < ns[i]
					     ? series.shortest_ns
					     : ns[i];
		series.longest_ns = series.longest_ns > ns[i] ? series.longest_ns : ns[i];
		series.outliers_ns += ns[i];
		series.nr_outliers++;
	}
	return series;
}

/* The number of pairs that rise, less those that fall, in standard deviations of chance. */
static double kendall_z(const uint64_t *ns, size_t nr)
{
	size_t stride = (nr + MAX_COMPARED - 1) / MAX_COMPARED, nr_compared = 0;
	double s = 0, n;

	for (size_t i = 0; i < nr; i += stride) {
		for (size_t k = i + stride; k < nr; k += stride) {
			s += COMPARE(ns[k], ns[i]);
		}
		nr_compared++;
	}
	n = (double)nr_compared;
	return s / sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

bool step_series_trend(const uint64_t *ns, size_t nr, double *percent)
{
	size_t third = nr / 3;
	double first;

	if (nr < STEP_SERIES_MIN) {
		return false;
	}
	first = median_of(ns, third);
	*percent = first > 0 ? 100 * (median_of(ns + nr - third, third) / first - 1) : 0;
	return fabs(*percent) >= MIN_TREND_PCT && fabs(kendall_z(ns, nr)) >= Z_OF_1_PERCENT;
}
