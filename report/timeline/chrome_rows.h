/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of Chrome JSON. Viewers drop slices that overlap partly in one row (a tid), so these get
 * further rows, called lanes, beside it.
 */
#ifndef REPORT_TIMELINE_CHROME_ROWS_H
#define REPORT_TIMELINE_CHROME_ROWS_H

#include "report/model/model.h"

/* ---- threads ---- */

/*
 * Calls and operators of a thread nest. Steps and ranges may begin or end within them, and move to
 * another lane. Which ones do is known once all slices are in the order of their begins: they are
 * walked twice. Memory: an external sort, and 16 bytes for each slice that moves.
 */
struct chrome_lanes;

enum chrome_lane_kind {
	CHROME_LANE_CALL,  /* stays in its thread's row */
	CHROME_LANE_RANGE, /* moves */
	CHROME_LANE_STEP,  /* moves with all others of the thread: tools read one row's */
};

struct chrome_lanes *chrome_lanes_create(void);
void chrome_lanes_destroy(struct chrome_lanes *lanes);

/* Between the two walks. */
void chrome_lanes_find(struct chrome_lanes *lanes);

/*
 * For each slice in each walk, in the same order: false in the first walk. True in the second one,
 * with *tid the row of the slice.
 */
bool chrome_lanes_place(struct chrome_lanes *lanes, enum chrome_lane_kind kind, uint32_t *tid,
	uint64_t begin_ns, uint64_t end_ns);

/* Rows that have slices, by place; the number of lanes of a row, and the tid of a lane. */
size_t chrome_lanes_nr_rows(const struct chrome_lanes *lanes);
uint32_t chrome_lanes_row(const struct chrome_lanes *lanes, size_t place);
size_t chrome_lanes_nr(const struct chrome_lanes *lanes, uint32_t tid);
uint32_t chrome_lanes_tid(uint32_t tid, size_t lane);

/* ---- streams ---- */

/* Lanes of a stream; activities that overlap more often share the last one. */
#define CHROME_STREAM_LANES 256u

/* Activities of one stream may overlap: graphs, programmatic launches. */
struct chrome_stream_row {
	uint32_t device, stream, lane, tid;
	bool is_for_waits;
	uint64_t end_ns; /* of the last slice in it */
};

struct chrome_streams {
	struct chrome_stream_row *rows;
	size_t nr, capacity;
	struct chrome_stream *streams; /* a hash */
};

/* Starts with all zeros. */
void chrome_streams_fini(struct chrome_streams *streams);

/* The tid for a slice, which must not begin before earlier ones. Waits have rows of their own. */
uint32_t chrome_streams_place(struct chrome_streams *streams, const struct model_place *place,
	bool is_for_waits, uint64_t begin_ns, uint64_t end_ns);

/* The stream that stands for an unknown one, and the ones above it. */
bool chrome_stream_is_unknown(uint32_t stream);

#endif
