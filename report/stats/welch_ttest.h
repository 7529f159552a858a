/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Welch's t-test: do the means of two samples differ by more than their variance explains? It does
 * not assume equal variances.
 *
 *     t  = (mean_b - mean_a) / sqrt(v_a + v_b),  v = variance of the sample / its size
 *     df = (v_a + v_b)^2 / (v_a^2 / (n_a - 1) + v_b^2 / (n_b - 1))
 *     p  = I(df / (df + t^2); df / 2, 1 / 2)     the regularised incomplete beta function
 *
 * The interval of the difference has all values that the test would not refuse with p < 0.01.
 */
#ifndef REPORT_STATS_WELCH_TTEST_H
#define REPORT_STATS_WELCH_TTEST_H

#include <stdbool.h>
#include <stdint.h>

struct welch_sample {
	uint64_t nr;
	double mean;
	double variance; /* of the sample: divided by nr - 1 */
};

/*
 * The probability of a difference at least as large, in either direction, if the means were equal.
 * False if a sample has fewer than two values.
 */
bool welch_p(const struct welch_sample *a, const struct welch_sample *b, double *p);

/* Half the width of the 99 % confidence interval around mean_b - mean_a. False as above. */
bool welch_interval(const struct welch_sample *a, const struct welch_sample *b, double *half);

#endif
