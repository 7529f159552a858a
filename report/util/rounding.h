/* SPDX-License-Identifier: Apache-2.0 */
/* From floating point to integers. */
#ifndef REPORT_UTIL_ROUNDING_H
#define REPORT_UTIL_ROUNDING_H

#include <stdint.h>

/*
 * The whole part of a number. Hostile times and a mean near 2^64 do not fit: too large ones are
 * UINT64_MAX, negative ones and NaN are 0.
 */
static inline uint64_t whole_part(double number)
{
	return number > 0 ? number < 0x1p64 ? (uint64_t)number : UINT64_MAX : 0;
}

#endif
