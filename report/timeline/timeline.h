/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that every timeline has, whatever its format: the filter that the user set, the time
 * axis of all processes, and the process that is being read. slice.h turns its rows into slices.
 */
#ifndef REPORT_TIMELINE_TIMELINE_H
#define REPORT_TIMELINE_TIMELINE_H

#include "report/model/model.h"
#include "report/model/occupancy.h"
#include "report/ops/compiled_code.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"

/* ---- filter ---- */

/* Kinds of tracks, one bit each; timeline_tracks has their words. */
enum timeline_track {
	TIMELINE_API = 1,
	TIMELINE_OPS = 2,
	TIMELINE_NVTX = 4,
	TIMELINE_PYTHON = 8,
	TIMELINE_GPU = 16,
	TIMELINE_COUNTERS = 32,
	TIMELINE_STEPS = 64,
	TIMELINE_MARKS = 128,
};
extern const char *const timeline_tracks[]; /* ends with NULL */

/* By time, length and kind of track; model/select.h selects steps and windows. All zeros: all. */
struct timeline_filter {
	bool has_time;
	uint64_t begin_ns, end_ns; /* since time 0, see time_axis.h; end is exclusive */
	uint64_t min_ns;	   /* shorter slices are left out; instants stay */
	uint32_t tracks;	   /* enum timeline_track; 0: all */
	bool is_for_hta;	   /* JSON without what HolisticTraceAnalysis miscounts */
	bool is_for_tensorboard;   /* JSON with the calls of older versions of Kineto */
};

/* "1.2s", "300ms"; a number without a unit is in seconds. False: not a time. */
bool timeline_parse_time(const char *text, uint64_t *ns);

/* "1.2s-1.4s", "300ms-", "-5us"; a number without a unit is in seconds. False: not a span. */
bool timeline_filter_parse_time(struct timeline_filter *filter, const char *text);

/* "gpu,api". False if a word is unknown. */
bool timeline_filter_parse_tracks(struct timeline_filter *filter, const char *list);

/* A span of the time axis: an event belongs to the part that it begins in. */
struct timeline_part {
	uint64_t begin_ns, end_ns; /* the first part begins at 0, the last one has no end */
	size_t nr, nr_parts;	   /* from 1 on; 0 of 0: the whole */
};

#define TIMELINE_SPANS 65536u

/* The bytes of a file that the events of each span of time take. Starts with all zeros. */
struct timeline_sizes {
	uint64_t begin_ns, span_ns;
	uint64_t bytes[TIMELINE_SPANS];
};

/* ---- the time axis and the current process ---- */

/* Every process gets this many device numbers; the last one stands for an unknown device. */
#define TIMELINE_DEVICES 64u

struct timeline {
	const struct timeline_filter *filter; /* NULL: everything */
	const struct timeline_part *part;     /* NULL: everything */
	uint64_t base_ns;		      /* CLOCK_REALTIME where the axis begins */
	uint64_t origin_ns;		      /* CLOCK_REALTIME of time 0, see time_axis.h */
	uint64_t all_first_ns, all_last_ns;   /* time 0 and the last event, on the axis */
	uint64_t nr_all;		      /* events of all processes */
	/* of the current process */
	struct process *process;
	int64_t offset_ns; /* from CLOCK_MONOTONIC of its machine to CLOCK_REALTIME */
	uint64_t first_id; /* of its flows: ids are unique in the file */
	uint32_t pid;	   /* in the file, where it is unique */
	uint32_t first_device_pid;
	uint64_t first_ns; /* its first event, on the axis */
	/* Correlation IDs of calls and of GPU activities; empty without timeline_read_launches. */
	struct idset *called, *launched;
	struct idset *early; /* of those of calls that begin after what they launched */
	struct occupancy_device device;
	uint32_t device_id;		/* of `device`; UINT32_MAX: none yet */
	struct compiled_code *compiled; /* NULL: torch.compile generated none that is known */
};

/*
 * Finds base_ns, all_first_ns, all_last_ns and nr_all. The axis begins before_ns before
 * time 0; with 0 it begins at the same time in all files of a job.
 */
void timeline_find_base(struct timeline *timeline, struct process *const *processes,
	size_t nr_processes, uint64_t before_ns);

/* Makes processes[k] the current process, until timeline_leave. */
void timeline_enter(
	struct timeline *timeline, struct process *const *processes, size_t nr_processes, size_t k);
void timeline_leave(struct timeline *timeline);

/* Fills `called`, `launched` and `early` for the current process. */
void timeline_read_launches(struct timeline *timeline);

/*
 * Is there an arrow from a call to what it launched? Both have to be shown. No arrow goes back in
 * time: clocks of host and device may be a little apart, and viewers drop it.
 */
bool timeline_has_flow(const struct timeline *timeline, uint64_t correlation);

/* The pid in the file of processes[k]. */
uint32_t timeline_pid(struct process *const *processes, size_t nr_processes, size_t k);

/* Times of the current process on the axis: of its host clock, and of CUPTI's. */
uint64_t timeline_host_ns(struct timeline *timeline, uint64_t tick);
uint64_t timeline_device_ns(struct timeline *timeline, uint64_t device_ns);

/*
 * Bits of a flow's ID for the calls of one process: enough for a year of 30,000 calls a second. So
 * a double holds the IDs of 8,192 processes.
 */
#define TIMELINE_ID_BITS 40u

/* Returns the ID of the flow from a call to the GPU activities that it launched. */
static inline uint64_t timeline_flow(const struct timeline *timeline, uint64_t correlation)
{
	return timeline->first_id + (correlation & ((1ull << TIMELINE_ID_BITS) - 1));
}

/* The last event of the current process, which has events. */
uint64_t timeline_last_ns(const struct timeline *timeline);

/* The thread's id in the system, if that is known. */
uint32_t timeline_tid(const struct timeline *timeline, uint64_t thread);

/*
 * What a kernel of torch.compile stands for, see compiled_code.h; NULL: unknown, or another kernel.
 */
const struct compiled_work *timeline_compiled_work(
	const struct timeline *timeline, const struct model_shape *shape);

/* The occupancy of a launch on a device; false if it is unknown. */
bool timeline_occupancy(struct timeline *timeline, const struct model_shape *shape, uint32_t device,
	struct occupancy *occupancy);

/* ---- what is shown ---- */

bool timeline_is_for_hta(const struct timeline *timeline);
bool timeline_is_for_tensorboard(const struct timeline *timeline);

/* Is the kind of track shown? */
bool timeline_shows(const struct timeline *timeline, enum timeline_track track);

/* Is a slice shown, or with end_ns == begin_ns an instant? Times are on the axis. */
bool timeline_has(const struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns);

/*
 * As stream_load for the current process, with the rows that are shown. Rows of NVTX are filtered
 * by steps and windows alone: they are no whole ranges yet. False: no rows, or a damaged block.
 */
bool timeline_load(struct timeline *timeline, uint64_t block, uint32_t mask, struct batch *batch);

/* Sources of slices: tables of the stream, a bit each. */
enum timeline_source {
	SLICES_HOST = 1, /* calls, operators, Python, allocations */
	SLICES_NVTX = 2, /* ranges and marks */
	SLICES_GPU = 4,	 /* GPU activities, and CUPTI's overhead */
	SLICES_SAMPLES = 8,
	SLICES_LOSSES = 16,
};

/* 0: tables without slices. */
unsigned int timeline_source_of(unsigned int table);

/*
 * Returns how many slices of processes[k] the time of the filter has at least, by the headers of
 * blocks alone. 0 if steps or windows are selected.
 */
uint64_t timeline_least_events(struct process *const *processes, size_t nr_processes, size_t k,
	const struct timeline_filter *filter);

#endif
