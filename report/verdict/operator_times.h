/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operators take the time of steps where they compute: in processes without GPU activities.
 * Times are their own, without operators in them. In each step the names that take less than a
 * thousandth of them all are left out.
 *
 * Memory: 24 bytes for each other name in each step.
 */
#ifndef REPORT_VERDICT_OPERATOR_TIMES_H
#define REPORT_VERDICT_OPERATOR_TIMES_H

#include "report/ops/op_walk.h"
#include "report/util/idmap.h"

struct operator_time {
	uint32_t process; /* which of them, in their order */
	uint32_t step;	  /* as process_steps_begun counts; 0: there are none */
	uint32_t name;	  /* of string_pool.h */
	uint32_t nr;	  /* of calls */
	uint64_t ns;
};

/* Zero-initialized. */
struct operator_times {
	struct operator_time *times;
	size_t nr, capacity;
	/* while they are gathered: of the step at hand */
	struct process *process; /* NULL: it has GPU activities */
	uint32_t nr_processes, step;
	uint64_t step_begin, step_end; /* ticks */
	struct idmap at;	       /* struct operator_time by name */
	uint64_t ns;		       /* of all of them */
};

/* What a view hands on, see struct view_part. */
extern const struct op_view operator_times_ops;

void operator_times_fini(struct operator_times *times);

#endif
