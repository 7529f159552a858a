/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks, the slices on them, and the sink that takes both: a format of a timeline is such a sink.
 */
#ifndef REPORT_TIMELINE_TRACK_SINK_H
#define REPORT_TIMELINE_TRACK_SINK_H

#include "report/timeline/slice_args.h"

/* Flows of calls are process and correlation ID; those of autograd have this bit. */
#define AUTOGRAD_FLOW (1ull << 63)

#define TRACK_SLICE_FLOWS 4u

struct track_slice {
	uint64_t track, ns;
	uint64_t dur_ns;
	uint32_t name;	/* of string_pool.h */
	uint32_t depth; /* open slices of the track, which this one is nested in */
	uint8_t category;
	uint8_t nr_flows;
	uint64_t flows[TRACK_SLICE_FLOWS]; /* both ends of a flow have the same number */
	struct slice_args args;
};

enum track_kind { TRACK_PROCESS, TRACK_THREAD, TRACK_OTHER };

struct track {
	uint64_t id, parent;	 /* parent 0: none */
	uint64_t process;	 /* of a GPU: the track of its process; else 0 */
	const char *name;	 /* UTF-8 */
	const char *label;	 /* of a process; else NULL */
	const char *thread_name; /* of a thread: without its number; NULL: none */
	int32_t rank;		 /* order among its siblings */
	enum track_kind kind;
	uint32_t pid, tid; /* of a process or thread */
};

/*
 * Takes tracks before the slices on them, and the slices of a track in order: an end closes the
 * innermost slice that is open. A sink without `count` gets no counters; `slice_end`, `share` and
 * `take_bare` may be NULL.
 */
struct track_sink {
	bool has_launch_flows; /* flows join calls with what they launched */
	void (*track)(void *context, const struct track *track);
	void (*slice)(void *context, const struct track_slice *slice, bool is_instant);
	/*
	 * Called before the arguments and flows of a slice are made, which is most of the work.
	 * True: the sink needs none of them and has taken the slice. False: `slice` gets it, with
	 * them. A slice that a flow between operators ends at goes to `slice` at once.
	 */
	bool (*take_bare)(void *context, const struct track_slice *slice);
	void (*slice_end)(void *context, uint64_t track, uint64_t ns); /* instants have none */
	/* Before the first slice that has them. */
	void (*share)(void *context, struct shared_args *args);
	void (*counter_track)(void *context, const struct track *track, const char *unit);
	void (*count)(void *context, uint64_t track, uint64_t ns, double value);
	/* First of all: times count from base_ns (CLOCK_REALTIME); the first and the last event. */
	void (*begin)(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns);
	void *context;
};

#endif
