/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any view over ranks: it is made of each rank by itself, and of one of its columns each row has
 * the least value, the median, the largest, and whose these are. Rows are the same if their names,
 * texts and numbers of steps are, and those of what they lie in.
 *
 * Memory: the rows of all ranks, some 100 bytes each.
 */
#ifndef REPORT_SESSION_RANK_SPREAD_H
#define REPORT_SESSION_RANK_SPREAD_H

#include "report/analysis/view.h"

/*
 * column: its key; NULL: the first that is a time, or else the first number. Returns NULL with the
 * reason in *wrong if that cannot be made; else the table, which the caller destroys.
 */
struct table *rank_spread_table(const struct view_class *class, const struct view_input *input,
	const char *column, const char **wrong);

#endif
