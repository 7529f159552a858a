/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A merge sort of the runs that rise or fall already. Events come nearly in order of time, forwards
 * or backwards, so it takes little more than one pass where qsort takes many.
 */
#ifndef REPORT_UTIL_NATURAL_SORT_H
#define REPORT_UTIL_NATURAL_SORT_H

#include <stddef.h>

/* As qsort; elements that compare as equal keep their order. Takes as much memory again. */
void natural_sort(void *items, size_t nr, size_t size, int (*compare)(const void *, const void *));

#endif
