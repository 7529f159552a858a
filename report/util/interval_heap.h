/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of intervals as a heap with the last end on top: what is late is taken out in logarithmic
 * time, and what is earlier never looked at. It is made by these functions alone, from zeros.
 */
#ifndef REPORT_UTIL_INTERVAL_HEAP_H
#define REPORT_UTIL_INTERVAL_HEAP_H

#include "report/util/intervals.h"

void interval_heap_push(struct intervals *heap, struct busy_interval item);

/* Takes out the one with the last end; there must be one. */
struct busy_interval interval_heap_pop(struct intervals *heap);

/* Joins those that overlap, to have fewer. */
void interval_heap_join(struct intervals *heap);

#endif
