/* SPDX-License-Identifier: Apache-2.0 */
/* The few items with the largest numbers, in an array that falls by them. */
#ifndef REPORT_VERDICT_TOP_H
#define REPORT_VERDICT_TOP_H

#include <stddef.h>

/*
 * Puts a copy of an item of nr_bytes among the `nr` in `top`, which are all zeros at first, if its
 * number is one of the largest. The number is a uint64_t at the offset number_at. Items with the
 * same number keep their order.
 */
void top_add(void *top, size_t nr, size_t nr_bytes, const void *item, size_t number_at);

#endif
