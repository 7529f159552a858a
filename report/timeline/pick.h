/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the events a timeline shows: by time, by length, and by kinds of tracks. Steps, windows
 * and processes are chosen beside it, see select.h.
 */
#ifndef REPORT_TIMELINE_PICK_H
#define REPORT_TIMELINE_PICK_H

#include <stdbool.h>
#include <stdint.h>

struct timeline;
struct batch;

/* Kinds of tracks, a bit each; their words are timeline_tracks. */
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

/* Starts with all zeros: everything. */
struct timeline_pick {
	bool has_time;
	uint64_t begin_ns, end_ns; /* since the first event of all processes; end is not in it */
	uint64_t min_ns;	   /* slices shorter than that are left out, not moments */
	uint32_t tracks;	   /* enum timeline_track; 0: all */
	bool is_for_hta;	   /* JSON without what HolisticTraceAnalysis miscounts */
};

/* "1.2s-1.4s", "300ms-", "-5us"; a number alone is of seconds. False if it is none. */
bool timeline_pick_time(struct timeline_pick *pick, const char *text);

/* "gpu,api". False if one of the words is none. */
bool timeline_pick_tracks(struct timeline_pick *pick, const char *list);

/* Is the file for HolisticTraceAnalysis? */
bool timeline_is_for_hta(const struct timeline *timeline);

/* Is the kind of track shown? */
bool timeline_shows(const struct timeline *timeline, enum timeline_track track);

/* Is a slice, or with end_ns == begin_ns a moment, shown? Times are the file's. */
bool timeline_picks(const struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns);

/* Columns of a table of API calls that both formats show; 0 for other tables. */
uint32_t timeline_api_mask(unsigned int table);

/*
 * As stream_load, of the process at hand, with the rows that are chosen (NVTX's, which are no
 * whole ranges yet, by steps and windows alone). False if there are none, or some are damaged.
 */
bool timeline_load(struct timeline *timeline, uint64_t block, uint32_t mask, struct batch *batch);

#endif
