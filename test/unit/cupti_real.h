/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests with a real libcupti share, which run without a driver: GPROF_CUPTI_PATH names the
 * library and CUPTI_LAYOUT its layout. Run by test/integ/t030-real-cupti.sh.
 */
#ifndef TEST_UNIT_CUPTI_REAL_H
#define TEST_UNIT_CUPTI_REAL_H

#include <stdbool.h>

/* CUPTI_LAYOUT is that. */
bool cupti_real_is(const char *layout);

/* Loads the library, which must be the one named. */
void cupti_real_load(void);

#endif
