/* SPDX-License-Identifier: Apache-2.0 */
/* What `reduce` keeps of a stream, by the views of `summary`. */
#ifndef REPORT_REDUCE_REDUCE_H
#define REPORT_REDUCE_REDUCE_H

#include "report/model/model.h"
#include "report/reduce/reduced.h"
#include "report/analysis/view.h"

/* Makes it of one process, into an empty one. */
void reduce_process(struct reduced *reduced, struct process *process);

/* Rows of a process with their times, and the other sums of reduced.h. */
struct reduce_sums {
	uint64_t sums[NR_REDUCED_SUMS];
};

struct reduce_rows {
	struct keyed_stats tally;
	struct reduce_sums *sums; /* of its rows */
	size_t capacity;
};

/* For reduce.c: operators by name, and NCCL's operations. */
extern const struct view_class reduce_operators, reduce_communication;
const struct reduce_rows *reduce_operators_rows(void *view);
const struct reduce_rows *reduce_communication_rows(void *view);

/* Peaks of memory; takes them over into those of enum reduced_fact, which start unknown. */
extern const struct view_class reduce_memory;
void reduce_memory_facts(void *view, uint64_t *facts);

#endif
