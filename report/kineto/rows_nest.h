/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of a thread that overlap without one containing the other. A thread runs one operator
 * at a time, so a time in the trace is wrong, by rounding or by more (two copies of 75 us within
 * 86 us). Otherwise both count the time that they share. An operator that lies mostly within an
 * earlier one ends with it; any other one ends the earlier one where it begins.
 */
#ifndef REPORT_KINETO_ROWS_NEST_H
#define REPORT_KINETO_ROWS_NEST_H

#include <stddef.h>
#include <stdint.h>

struct kineto_row;

/*
 * Changes the ends of the operators among the rows. Users' ranges and modules stay as they are:
 * they may end on another thread or at any time. Returns how many operators end more than
 * KINETO_EARLY_NS earlier than in the trace: less is a matter of rounding.
 */
uint64_t kineto_rows_nest(struct kineto_row *rows, size_t nr_rows);

#endif
