/* SPDX-License-Identifier: Apache-2.0 */
/* For views of reduce.h: rows of a process with their times, and the other sums of reduced.h. */
#ifndef REPORT_REDUCE_REDUCE_ROWS_H
#define REPORT_REDUCE_REDUCE_ROWS_H

#include "report/reduce/reduced.h"
#include "report/table/keyed_stats.h"

struct reduce_sums {
	uint64_t sums[NR_REDUCED_SUMS];
};

struct reduce_rows {
	struct keyed_stats tally;
	struct reduce_sums *sums; /* of its rows */
	size_t capacity;
};

void reduce_rows_init(struct reduce_rows *rows);
void reduce_rows_fini(struct reduce_rows *rows);

/* The row of that name and kind, in *row; returns its sums, good until the next one is found. */
uint64_t *reduce_rows_find(struct reduce_rows *rows, uint32_t name, uint32_t kind, uint32_t *row);

#endif
