/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Welch's t-test by the formulas of the header, for diff. The only hard part
 * is the incomplete beta function: its continued fraction converges fast on one side of the mean,
 * and the symmetry I(x; a, b) = 1 - I(1 - x; b, a) gives the other side. The interval has no closed
 * form: it halves t until p is 0.01.
 */
#include "report/stats/welch_ttest.h"

#include <math.h>

#define MAX_TERMS    500
#define PRECISION    1e-14
#define TINY	     1e-300
#define MAX_T	     64 /* 63.7 with one degree of freedom */
#define MAX_HALVINGS 60

static double away_from_0(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/* The continued fraction of I(x; a, b), by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m < MAX_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / away_from_0(1 + even * d);
		c = away_from_0(1 + even / c);
		value *= c * d;
		d = 1 / away_from_0(1 + odd * d);
		c = away_from_0(1 + odd / c);
		value *= c * d;
		if (fabs(c * d - 1) < PRECISION) {
			break;
		}
	}
	return value;
}

/* I(x; a, b). The fraction converges fast on only one side of the mean. */
static double beta_share(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1) {
		return x <= 0 ? 0 : 1;
	}
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
					 : 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* The variance of the difference of both means, and its degrees of freedom if that is not 0. */
static double find_variance(const struct welch_sample *a, const struct welch_sample *b, double *df)
{
	double of_a = a->variance / (double)a->nr, of_b = b->variance / (double)b->nr;

	*df = (of_a + of_b) * (of_a + of_b) /
	      (of_a * of_a / (double)(a->nr - 1) + of_b * of_b / (double)(b->nr - 1));
	return of_a + of_b;
}

static double p_of(double t_squared, double df)
{
	return fmin(1, fmax(0, beta_share(df / (df + t_squared), df / 2, 0.5)));
}

bool welch_p(const struct welch_sample *a, const struct welch_sample *b, double *p)
{
	double difference = b->mean - a->mean, variance, df;

	if (a->nr < 2 || b->nr < 2) {
		return false;
	}
	variance = find_variance(a, b, &df);
	if (!(variance > 0)) { /* both variances are 0 */
		*p = difference == 0 ? 1 : 0;
		return true;
	}
	*p = p_of(difference * difference / variance, df);
	return true;
}

/*
 * The quantile of t has no closed form: halving finds the t whose p is 0.01. The upper bound is
 * taken, so that the interval is not too narrow.
 */
bool welch_interval(const struct welch_sample *a, const struct welch_sample *b, double *half)
{
	double low = 0, high = MAX_T, variance, df;

	if (a->nr < 2 || b->nr < 2) {
		return false;
	}
	variance = find_variance(a, b, &df);
	if (!(variance > 0)) {
		*half = 0;
		return true;
	}
	for (int i = 0; i < MAX_HALVINGS; i++) {
		double t = (low + high) / 2;

		if (p_of(t * t, df) > 0.01) {
			low = t;
		} else {
			high = t;
		}
	}
	*half = high * sqrt(variance);
	return true;
}
