/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that slices of host threads stand in. Viewers drop slices that partly overlap in one
 * row, so these get a row of their own beside the thread's. Calls and operators of a thread lie in
 * each other; it is steps and ranges that may end or begin within them, and move aside. Which ones
 * is known once all are in the order of their begins: the host's events are walked twice, first to
 * find that, then to write. Memory: that of a spool, and 16 bytes for each slice that moves.
 */
#ifndef REPORT_TIMELINE_JSON_LANE_H
#define REPORT_TIMELINE_JSON_LANE_H

#include "report/timeline/timeline.h"

enum timeline_lane_kind {
	TIMELINE_LANE_CALL,  /* stays in its thread's row */
	TIMELINE_LANE_RANGE, /* moves */
	TIMELINE_LANE_STEP,  /* moves with all others of the thread: readers take one row's */
};

struct timeline_lanes;

struct timeline_lanes *timeline_lanes_create(void);
void timeline_lanes_destroy(struct timeline_lanes *lanes);

/* Between the two walks. */
void timeline_lanes_find(struct timeline_lanes *lanes);

/* In the first walk nothing but slices is looked at, and nothing written. */
bool timeline_lanes_is_first(const struct timeline_lanes *lanes);

/*
 * For each slice of a host thread in each walk, in the same order: true in the second one, when it
 * is to be written, with *tid its row's.
 */
bool timeline_lanes_place(struct timeline_lanes *lanes, enum timeline_lane_kind kind, uint32_t *tid,
	uint64_t begin_ns, uint64_t end_ns);

/* Writes what all rows are called. */
void timeline_lanes_name(const struct timeline_lanes *lanes, struct timeline *timeline);

/* The row of the Python functions of a thread with that tid. */
#define TIMELINE_PYTHON_ROWS 0x40000000u

#endif
