/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For how long at least one event of a kind was running within the steps of a process that count,
 * and how many began there: the base and rows of Paddle's Overview Summary.
 *
 * Overlapping times count once, and times outside these steps do not count, so a share never
 * exceeds 100 %.
 *
 * Forward events are kept until step_time_advance allows counting; backward ones take 16 bytes for
 * each separate interval, and those by falling ends none.
 */
#ifndef REPORT_OPS_STEP_TIME_H
#define REPORT_OPS_STEP_TIME_H

#include "report/util/busy.h"
#include "report/util/intervals.h"
#include "report/ops/counted_steps.h"

/* The steps of a process that count, on some clock. */
struct step_span {
	struct intervals whole; /* all times if there are no steps */
};

/* In ticks of the host, or in ns of CLOCK_MONOTONIC. */
void step_span_init(struct step_span *span, struct process *process,
	const struct counted_steps *counted, bool is_ns);

/* Contains all times, for events selected by their launch. */
void step_span_init_all(struct step_span *span);
void step_span_fini(struct step_span *span);

struct step_time {
	struct busy busy;	   /* for forward events */
	struct intervals backward; /* mirrored, so that events from the last on are in order */
	size_t next_merge;	   /* when the set has this many */
	size_t last_whole;	   /* the interval of steps of the last event */
	uint64_t time, nr;	   /* time: after step_time_finish */
};

/* Starts with all zeros. */
void step_time_fini(struct step_time *time);

/* An event that ends before it begins counts without time. */
void step_time_add(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end);

/* For events from the last to the first. Do not mix it with the others. */
void step_time_add_backward(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end);

/* For events by falling ends, which need no memory. Do not mix it with the others. */
void step_time_add_by_end(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end);

/* The caller adds no event that begins before `until` any more. */
void step_time_advance(struct step_time *time, uint64_t until);

/* Computes the sums. */
void step_time_finish(struct step_time *time);

/*
 * The three parts of a step in MindInsight's step trace:
 *
 *     interval  from the step's begin to the begin of its first Forward
 *     compute   to the end of its last Backward; of inference, of its last Forward
 *     tail      to the step's end: optimizer, waits, logging
 *
 * The parts add up to the step. Times are of the host: if the GPU lags behind, work launched in
 * a part may run later.
 */

struct step_trace {
	uint64_t begin, forward, backward, end; /* ticks, rising */
	bool is_known; /* the step is whole, and has a Forward or a Backward */
};

/* One for each of the nr_steps steps. The caller frees it. Call it after phases_finish. */
struct step_trace *step_trace_create(const struct phases *phases);

#endif
