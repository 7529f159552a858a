/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a process: samples, memory of the framework, depth of launch queues, copy bandwidth.
 * Nothing is counted for a sink without counters, or where the filter leaves them out. Queues and
 * copies are counted from all of the recording: events that the filter leaves out happened, too.
 */
#ifndef REPORT_TIMELINE_TRACK_COUNTERS_H
#define REPORT_TIMELINE_TRACK_COUNTERS_H

#include "report/gpu/utilization.h"
#include "report/timeline/track_rows.h"

/* ---- launch queues: what was launched on a stream and has not begun ---- */

/*
 * Slices come in the order of their begins, so the stream of a launch is known only when its work
 * begins. A stream begins its work in the order of the launches: by then all earlier launches of it
 * are known, and the depth is written up to this one. Memory: launches that have not begun, and
 * begins since the last such launch.
 */
struct launch_queue {
	uint32_t device, stream;
	uint64_t track; /* 0: the caller has to set it */
	uint64_t depth, written_ns;
	uint64_t *begins; /* from `first` on not written yet */
	size_t first, nr, capacity;
};

struct launch_queues {
	struct launch_queue *queues;
	size_t nr, capacity;
	struct launch *launches; /* that have not begun: a hash */
	struct idset *begun;	 /* correlation IDs */
};

void launch_queues_init(struct launch_queues *queues);
void launch_queues_fini(struct launch_queues *queues);

/* The queue of a stream; a new one is all zeros. Valid until the next call. */
struct launch_queue *launch_queues_find(
	struct launch_queues *queues, uint32_t device, uint32_t stream);

void launch_queues_launch(struct launch_queues *queues, uint64_t correlation, uint64_t ns);

/*
 * True for the first activity of a launch, with the launch's time. An activity that seems to begin
 * before its launch was never queued: clocks of host and device may be a little apart.
 */
bool launch_queues_begin(struct launch_queues *queues, uint64_t correlation, uint64_t *launch_ns);

/* Counts up to the launch. begin_ns must not fall. */
void launch_queue_add(struct launch_queue *queue, const struct track_sink *sink, uint64_t launch_ns,
	uint64_t begin_ns);

/* Counts the rest. */
void launch_queues_end(struct launch_queues *queues, const struct track_sink *sink);

/* ---- all counters of a process ---- */

struct track_sample {
	uint64_t ns, value; /* ns 0: none */
	uint64_t next;	    /* of a part of all CPUs' time, which comes after it */
	bool has_next;
};

struct track_counters {
	struct track_rows *rows;
	struct track_sink shown; /* takes the counts that the filter shows */
	struct track_counter *counters;
	size_t nr, capacity;
	struct running_copy *copies;
	size_t nr_copies, copy_capacity;
	struct launch_queues queues;
	struct idset *with_totals; /* keys of the memory whose totals are known */
	struct track_sample samples[USAGE_MAX_METRICS]; /* the last ones of metrics that only rise,
							    by metric */
};

void track_counters_init(struct track_counters *counters, struct track_rows *rows);
void track_counters_fini(struct track_counters *counters);

void track_counters_sample(struct track_counters *counters, const struct slice_sample *sample);
void track_counters_alloc(struct track_counters *counters, const struct slice_alloc *alloc);

/*
 * Does the recording say how much of that memory is in use? All totals are 0 where it does not, and
 * after an allocation none is.
 */
bool track_counters_has_totals(struct track_counters *counters, const struct slice_alloc *alloc);

/*
 * Counts launches and copies of the current process. Memory: an external sort of its activities,
 * and 12 bytes for each call that launched some.
 */
void track_counters_walk(struct track_counters *counters);

#endif
