/* SPDX-License-Identifier: Apache-2.0 */
/* The rate of copies, sets and collectives: of one of them, or of the sums of several. */
#ifndef REPORT_UTIL_RATE_H
#define REPORT_UTIL_RATE_H

#include <stdint.h>

/* Bytes per second. Without a duration there is no rate: 0. */
static inline double rate_of(double bytes, uint64_t ns)
{
	return ns ? bytes * 1e9 / (double)ns : 0;
}

/* The same in GB/s. */
static inline double rate_gb_of(double bytes, uint64_t ns)
{
	return ns ? bytes / (double)ns : 0;
}

#endif
