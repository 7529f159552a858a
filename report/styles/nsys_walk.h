/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the pushed NVTX ranges that a launch lies in: those of its thread that began before the
 * call did and ended after it, in all domains. Ranges and records are sorted in bounded memory
 * (external_sort.h), then walked together in the order of time; only open ranges are held.
 */
#ifndef REPORT_STYLES_NSYS_WALK_H
#define REPORT_STYLES_NSYS_WALK_H

#include "report/model/ranges.h"
#include "report/analysis/trace.h"

#define NSYS_STACK 16u

/* A range; what is below `name` is known when it ends. */
struct nsys_range {
	struct external_sort_head head; /* its begin on the axis of traces */
	uint64_t end_ns;
	uint32_t process;    /* index in the input */
	uint32_t thread;     /* an id of the stream */
	uint32_t domain;     /* of string_pool.h */
	uint32_t name;	     /* "domain:range", of string_pool.h */
	uint32_t id, parent; /* numbers in the order of begins, from 1; parent 0: none */
	uint32_t level;	     /* ranges of its domain that it lies in */
	uint32_t nr_children;
	uint64_t child_ns;	/* of ranges directly in it, of its domain */
	uint64_t nr_activities; /* launched in it, also in ranges in it; those with times */
	uint64_t proj_begin_ns, proj_end_ns; /* of these on the device, first to last */
	uint32_t stack[NSYS_STACK]; /* ids of the innermost ranges that it lies in, outermost first
				     */
};

struct nsys_walk {
	struct trace *records; /* TRACE_BY_CALL; begun and filled by the owner */
	struct external_sort *ranges;
	struct ranges *pairs; /* of the current process */
	struct process *process;
	uint32_t next_id;
	struct nsys_threads *threads;
};

/* As nsys shows it, "domain:range", ":range" in the default domain; of string_pool.h. */
uint32_t nsys_range_name(const struct range *range);

extern const struct scan_want nsys_walk_wants[1];

struct nsys_walk *nsys_walk_create(const struct view_input *input);
void nsys_walk_destroy(struct nsys_walk *walk);

/*
 * The callbacks of views whose first member is a pointer to their walk: ranges, and every record of
 * work with its call.
 */
void nsys_walk_begin(void *view, struct process *process);
void nsys_walk_take(void *view, struct process *process, const struct batch *batch);
void nsys_walk_end(void *view, struct process *process);
#define NSYS_WALK_SCAN                                                                   \
	{                                                                                \
		nsys_walk_wants, 1, NULL, nsys_walk_begin, nsys_walk_take, nsys_walk_end \
	}
void nsys_walk_begin_ops(void *view, struct process *process);
void nsys_walk_take_record(void *view, const struct op_record *record, const struct op_call *call,
	const struct op *op);

/*
 * After all were taken. `launch`: each record, with the ranges that its call lies in, by their
 * begins; a record without a call lies in none. `closed`: each range. Either may be NULL.
 */
void nsys_walk_run(struct nsys_walk *walk,
	void (*launch)(void *context, const struct trace_event *event,
		const struct nsys_range *ranges, size_t nr_ranges),
	void (*closed)(void *context, const struct nsys_range *range), void *context);

#endif
