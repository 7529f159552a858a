/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the times of successive steps: which of them are not like the others, and whether they get
 * longer. All that print a median or shares of steps leave out the same steps.
 */
#ifndef REPORT_STATS_STEP_SERIES_H
#define REPORT_STATS_STEP_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Warm-up: steps at the begin: caches, autotuning, compilation. Such a step takes over 25 % longer
 * than the median of the second half, and longer than every step there that is no outlier. At most
 * the first half warms up; of fewer than 4 steps none is known to.
 *
 * Outliers: later steps that also hold something else, such as a validation or a checkpoint. They
 * take longer than twice the median, and than the median and five times the median distance from it
 * (MAD). What more than one in five steps holds is no exception, so then there are none.
 */
struct step_series {
	size_t nr_warm_up, nr_outliers;
	uint64_t limit_ns;			       /* a step that takes longer is an outlier */
	uint64_t outliers_ns, shortest_ns, longest_ns; /* of the outliers */
};

struct step_series step_series_of(const uint64_t *ns, size_t nr);

/* Is the i-th step, which takes so long, like the others? */
static inline bool step_series_counts(const struct step_series *series, size_t i, uint64_t ns)
{
	return i >= series->nr_warm_up && ns <= series->limit_ns;
}

/* Without exceptions: somebody chose the steps. */
#define STEP_SERIES_ALL ((struct step_series){.limit_ns = UINT64_MAX})

#define STEP_SERIES_MIN 8u /* fewer steps show no trend */

/*
 * The median of the last third against that of the first, in percent. False where the steps show no
 * trend: there are fewer than that, it is below 1 %, or chance explains it (Mann and Kendall's
 * test, at 1 %).
 */
bool step_series_trend(const uint64_t *ns, size_t nr, double *percent);

#endif
