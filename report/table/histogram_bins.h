/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of histograms: 32 for each power of two, so that a value is at most 1.6 % off. */
#ifndef REPORT_TABLE_HISTOGRAM_BINS_H
#define REPORT_TABLE_HISTOGRAM_BINS_H

#include "report/table/histogram.h"

#define HISTOGRAM_STEP_BITS 5u

_Static_assert(HISTOGRAM_STEPS == ((64u - HISTOGRAM_STEP_BITS + 2u) << HISTOGRAM_STEP_BITS),
	"the last step is that of 2^64 - 1");

/* Below 64 a step is a value; above, the leading bit and the five behind it. Without a branch. */
static inline unsigned int histogram_bin(uint64_t value)
{
	unsigned int shift = 63u - HISTOGRAM_STEP_BITS - (unsigned int)__builtin_clzll(value | 32u);

	return (shift << HISTOGRAM_STEP_BITS) + (unsigned int)(value >> shift);
}

/* The value in the middle of a step. */
static inline uint64_t histogram_bin_value(unsigned int step)
{
	unsigned int shift;

	if (step < (2u << HISTOGRAM_STEP_BITS)) {
		return step;
	}
	shift = (step >> HISTOGRAM_STEP_BITS) - 1u;
	return ((uint64_t)(step - (shift << HISTOGRAM_STEP_BITS)) << shift) + (1ull << shift) / 2;
}

#endif
