/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels or operators that take the time of the steps that count (counted_steps.h): kernels
 * that compute, and in processes without GPU activities operators. Times of operators are their
 * own, without operators in them.
 *
 * Memory: 32 bytes for each name in each process, and a byte for each step of the one that is read.
 */
#ifndef REPORT_VERDICT_WORK_TIMES_H
#define REPORT_VERDICT_WORK_TIMES_H

#include "report/advice/facts.h"
#include "report/analysis/headline.h"
#include "report/ops/counted_steps.h"
#include "report/ops/op_walk.h"
#include "report/util/idmap.h"

struct work_time {
	uint32_t process; /* which of them, in their order */
	uint32_t name;	  /* of string_pool.h */
	uint64_t nr;	  /* of launches or calls */
	uint64_t ns;
};

/* Zero-initialized. */
struct work_times {
	struct work_time *times; /* in the order in which names came */
	size_t nr, capacity;
	/* while they are gathered: of the process that is read */
	struct process *process;
	uint32_t nr_processes;
	bool has_gpu;
	struct counted_steps counted;
	struct idmap at; /* struct work_time by name */
	/* where the last one was, as kernels have time and operators ticks */
	uint64_t step_begin, step_end;
	bool counts;
};

/* The callbacks that a view hands on, see struct view_part. */
extern const struct op_view work_times_ops;

/*
 * Adds to `top`, zero-initialized, the kernels or operators with most time in the processes that
 * count, and the sum of all: the same name in several is one. Names are as a table of them has, of
 * at most name_width columns.
 */
void work_times_top(const struct work_times *times, const struct headline *headline,
	bool are_kernels, unsigned int name_width, struct advice_sites *top);

void work_times_fini(struct work_times *times);

#endif
