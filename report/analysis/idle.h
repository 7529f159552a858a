/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each device of a process was idle, and why: the gaps in the union of its kernels, memcpys
 * and memsets over all its streams. The cause depends on the call that launched the record that
 * ends the gap (of several that start together, the one with the lowest correlation ID):
 *
 *     dependency  after its launch (the end of the call, or the start of the gap if that is later)
 *                 the record waited more than IDLE_LAUNCH_NS, and longer than the gap had lasted
 *                 before: for an event of another stream or device, a host function, another
 *                 process
 *     host        otherwise, if the call began in the gap: the device had no work left
 *     launch      otherwise: the delay from the call, or from one record to the next
 *     unknown     the stream has no such call
 *
 * HolisticTraceAnalysis looks at each stream by itself; here a device is idle only if all its
 * streams are. The time before the first record and after the last one is not a gap.
 *
 * Memory: that of gpu_activities.h and of two caches of recent calls, 190 MB at most whatever the
 * size and whether there are checkpoints, and the 64 KB for each part in a file that
 * gpu_activities.h describes.
 */
#ifndef REPORT_ANALYSIS_IDLE_H
#define REPORT_ANALYSIS_IDLE_H

#include "report/ops/gpu_times.h"
#include "report/analysis/gpu_activities.h"

#define IDLE_LAUNCH_NS 10000u

enum idle_cause {
	IDLE_HOST,
	IDLE_LAUNCH,
	IDLE_DEPENDENCY,
	IDLE_UNKNOWN,
	NR_IDLE_CAUSES,
};

extern const char *const idle_cause_names[NR_IDLE_CAUSES];

struct idle_gap {
	struct process *process;
	uint64_t begin, end; /* CLOCK_MONOTONIC ns */
	uint64_t call_begin; /* of the call; not of unknown ones */
	uint32_t device;
	uint64_t correlation; /* of the record that ends it */
	uint8_t cause;	      /* enum idle_cause */
};

struct idle {
	struct process *process;
	struct recent_calls calls,
		gaps;	    /* that have not met yet; `number` of a gap is its device */
	struct idmap until; /* uint64_t: busy until then, by device */
	void (*take)(void *context, const struct idle_gap *gap);
	void *context;
};

/* What a view's scan must want. */
#define IDLE_NR_WANTS 4u
extern const struct scan_want idle_wants[IDLE_NR_WANTS];

/*
 * It takes batches of calls, and activities as on_activity gets them; `take` gets each gap once,
 * those of a device mostly in order.
 */
void idle_begin(struct idle *idle, struct process *process,
	void (*take)(void *context, const struct idle_gap *gap), void *context);
void idle_take_calls(struct idle *idle, const struct batch *batch);
void idle_take(struct idle *idle, const struct gpu_activity *work);
void idle_end(struct idle *idle);

#endif
