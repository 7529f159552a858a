/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each device of a process had nothing to do, and why: the gaps in the union of its kernels,
 * copies and sets over all its streams, each told by the call that launched the record that ends
 * it (of several that begin together the one with the lowest correlation id).
 *
 *     dependency  from when it was launched (the end of the call, or the begin of the gap if that
 *                 is later) it took more than IDLE_LAUNCH_NS, and longer than what came before the
 *                 call: it waited for something else, an event of another stream or device, a host
 *                 function, another process
 *     host        else, where the call began in the gap: the device had run dry
 *     launch      else: the time that it takes to get there, or from one to the next
 *     unknown     the stream has no call of it
 *
 * Unlike HolisticTraceAnalysis it is not asked of each stream alone: a stream that has nothing to
 * do while another one works is no idle device. What lies before the first and behind the last
 * record is no gap.
 *
 * Memory: that of gpu_activities.h and of two caches of recent calls, 190 MB at most whatever the
 * size and whether there are checkpoints, but for the 64 KB of each part in a file that
 * gpu_activities.h tells.
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
	uint32_t correlation; /* of the record that ends it */
	uint8_t cause;	      /* enum idle_cause */
};

struct idle {
	struct gpu_activities works;
	struct recent_calls calls,
		gaps;	    /* that have not met yet; `number` of a gap is its device */
	struct idmap until; /* uint64_t: busy until then, by device */
	void (*take)(void *context, const struct idle_gap *gap);
	void *context;
};

/* What a view's scan must want. */
#define IDLE_NR_WANTS (GPU_ACTIVITIES_NR_WANTS + 4u)
extern const struct scan_want idle_wants[IDLE_NR_WANTS];

/* As in gpu_activities.h; `take` gets each gap once, those of a device mostly in order. */
void idle_begin(struct idle *idle, struct process *process,
	void (*take)(void *context, const struct idle_gap *gap), void *context);
void idle_take(struct idle *idle, const struct batch *batch);
void idle_end(struct idle *idle);

#endif
