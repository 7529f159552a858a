/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path of a step: what its length was made of, from its end back to its begin, each
 * time to what came last of what was waited for. Every ns of the step is in exactly one segment.
 *
 *     on a thread     the innermost operator or call; back to its begin. Where the thread is in
 *                     none, another thread is followed that is (the loop's first), since who waits
 *                     for whom is not recorded; where no thread is in any, the host as such, by
 *                     the innermost range that the loop's thread is in.
 *     a call waits    (dependencies.h): the time from the end of what it waits for is its return,
 *                     and the path goes on with that work.
 *     on a device     the activity; then what let it begin: its launch, or what it waited for. The
 *                     last of these to end is followed, the launch where it is no earlier, and the
 *                     time from there is the launch's or the stream's delay.
 *
 * HolisticTraceAnalysis looks for the longest path through such a graph; here it is followed from
 * its end, so that it has no holes and its length is the step's. All times are ns of one clock.
 */
#ifndef REPORT_REPLAY_CRITICAL_H
#define REPORT_REPLAY_CRITICAL_H

#include <stddef.h>
#include <stdint.h>

struct step_events;

enum critical_kind {
	CRITICAL_OPERATOR,
	CRITICAL_HOST, /* in no operator and no call */
	CRITICAL_CALL,
	CRITICAL_RETURN, /* of a call that waited, from when it could */
	CRITICAL_LAUNCH, /* from the end of a launching call to the begin of the work */
	CRITICAL_STREAM, /* from the end of other work to the begin */
	CRITICAL_KERNEL,
	CRITICAL_COPY, /* and sets */
	NR_CRITICAL_KINDS,
};

extern const char *const critical_kind_names[NR_CRITICAL_KINDS];

/*
 * `take` gets each piece of steps that came together (step_events.h), from the last to the first;
 * name 0: none.
 */
void critical_run(struct step_events *steps, size_t nr_steps,
	void (*take)(void *context, enum critical_kind kind, uint32_t name, uint64_t begin,
		uint64_t end),
	void *context);

#endif
