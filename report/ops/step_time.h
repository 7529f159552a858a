/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long, within the steps of a process, at least one thing of a kind was going on, and how many
 * of them began in them: the base and the rows of Paddle's Overview Summary. Times that overlap
 * count once, and what lies outside of whole steps not at all, so that a share is never above 100
 * %.
 *
 * Where the first step begins is known only when its phases are (phases_step_ticks), after all
 * events; so what began in it is kept, 24 bytes each. Of the rest that comes forward an event is
 * kept until step_time_advance says that nothing earlier can come, of what comes backward each
 * stretch that stands alone, 16 bytes.
 */
#ifndef REPORT_OPS_STEP_TIME_H
#define REPORT_OPS_STEP_TIME_H

#include "report/util/busy.h"
#include "report/util/intervals.h"
#include "report/ops/phase.h"

/* The steps of a process, on some clock. */
struct step_span {
	struct intervals whole; /* from the second step on; all times if there are no steps */
	uint64_t first_begin, first_end; /* of the first one; equal: there is none */
};

/* In ticks of the host, or in ns of CLOCK_MONOTONIC. */
void step_span_init(struct step_span *span, struct process *process, bool is_ns);

/* All times: for what was chosen by what launched it. */
void step_span_init_all(struct step_span *span);
void step_span_fini(struct step_span *span);

/* Of whole steps: how many, and how long they are together, in ticks. Without steps 0 of both. */
uint64_t step_span_count(const struct phases *phases, uint64_t *ticks);

struct step_time {
	struct busy busy;	   /* forward */
	struct intervals backward; /* mirrored, so that what comes from the last on is in order */
	size_t next_merge;	   /* when there are as many */
	struct intervals first;	   /* within the first step */
	uint64_t *first_begins;
	size_t nr_first_begins, capacity;
	uint64_t time, nr; /* time: after step_time_finish */
};

/* Starts with all zeros. */
void step_time_fini(struct step_time *time);

/* What ends before it begins only counts as one. */
void step_time_add(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end);

/* The same for events that come from the last to the first; not both. */
void step_time_add_backward(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end);

/* Nothing that begins before `until` will be added any more. */
void step_time_advance(struct step_time *time, uint64_t until);

/* The sums, with the first step from `loop` on (UINT64_MAX: without it). */
void step_time_finish(struct step_time *time, uint64_t loop);

/*
 * A step in three parts, as MindInsight's step trace has it:
 *
 *     interval  from the step's begin to the begin of its first Forward
 *     compute   to the end of its last Backward; of inference, of its last Forward
 *     tail      to the step's end: optimizer, what waits for it, logging
 *
 * They sum up to the step. Times are of the host: where the device is behind it, what was launched
 * in a part may run later.
 */

struct step_trace {
	uint64_t begin, forward, backward, end; /* ticks, rising */
	bool is_known; /* the step is whole, and has a Forward or a Backward */
};

/* For each step of phases, nr_steps in all; the caller frees it. After phases_finish. */
struct step_trace *step_trace_create(const struct phases *phases);

#endif
