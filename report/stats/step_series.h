/* SPDX-License-Identifier: Apache-2.0 */
/* What the times of successive steps show: which of them warm up, and whether they get longer. */
#ifndef REPORT_STATS_STEP_SERIES_H
#define REPORT_STATS_STEP_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many steps at the begin warm up: caches, autotuning, compilation. Such a step takes over 25 %
 * longer than the median of the second half, and longer than every step there. At most the first
 * half warms up; of fewer than 4 steps none is known to.
 */
size_t step_series_warm_up(const uint64_t *ns, size_t nr);

#define STEP_SERIES_LEAST 8u /* fewer steps show no trend */

/*
 * The median of the last third against that of the first, in percent. False where the steps show no
 * trend: there are fewer than that, it is below 1 %, or chance explains it (Mann and Kendall's
 * test, at 1 %).
 */
bool step_series_trend(const uint64_t *ns, size_t nr, double *percent);

#endif
