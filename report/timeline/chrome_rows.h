/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of Chrome JSON. Viewers drop slices that overlap partly in one row (a tid), so these get
 * further rows, called lanes, beside it.
 */
#ifndef REPORT_TIMELINE_CHROME_ROWS_H
#define REPORT_TIMELINE_CHROME_ROWS_H

#include "report/model/model.h"
#include "report/timeline/chrome_launches.h"

/* ---- threads ---- */

/*
 * Calls and operators of a thread nest. Steps and ranges may begin or end within them, and move to
 * another lane. Which ones do is known once all slices are in the order of their begins: they are
 * walked twice. Memory: an external sort, and 16 bytes for each slice that moves.
 */
struct chrome_lanes;

enum chrome_lane_kind {
	/* these stay in their thread's row */
	CHROME_LANE_CALL,
	CHROME_LANE_OP,
	CHROME_LANE_ANNOTATION, /* a framework's range */
	CHROME_LANE_OTHER,
	/* these move */
	CHROME_LANE_RANGE,
	CHROME_LANE_STEP, /* with all others of the thread: tools read one row's */
};

struct chrome_lane_slice {
	enum chrome_lane_kind kind;
	uint64_t what; /* correlation ID of a call; name of a range, annotation or step */
	uint64_t begin_ns, end_ns;
};

struct chrome_lanes *chrome_lanes_create(void);
void chrome_lanes_destroy(struct chrome_lanes *lanes);

/* Between the two walks. Adds the slices to `launches`, too; NULL: no one wants them. */
void chrome_lanes_find(struct chrome_lanes *lanes, struct chrome_launches *launches);

/*
 * For each slice in each walk, in the same order: 0 in the first walk. In the second one its
 * number, with *tid its row.
 */
uint32_t chrome_lanes_place(
	struct chrome_lanes *lanes, const struct chrome_lane_slice *slice, uint32_t *tid);

/* Rows that have slices, by index; the number of lanes of a row, and the tid of a lane. */
size_t chrome_lanes_nr_rows(const struct chrome_lanes *lanes);
uint32_t chrome_lanes_row(const struct chrome_lanes *lanes, size_t place);
size_t chrome_lanes_nr(const struct chrome_lanes *lanes, uint32_t tid);
uint32_t chrome_lanes_tid(uint32_t tid, size_t lane);

/* ---- streams ---- */

/* Lanes of a stream; activities that overlap more often share the last one. */
#define CHROME_STREAM_LANES 256u

/* Rows of a stream, from top to bottom. */
enum chrome_stream_kind { CHROME_STREAM_RANGES, CHROME_STREAM_WORK, CHROME_STREAM_WAITS };

/* Activities of one stream may overlap: graphs, programmatic launches. */
struct chrome_stream_row {
	uint32_t device, stream, lane, tid;
	enum chrome_stream_kind kind;
	uint64_t end_ns; /* of the last slice in it */
};

struct chrome_streams {
	struct chrome_stream_row *rows;
	size_t nr, capacity;
	struct chrome_stream *streams; /* a hash */
};

/* Starts with all zeros. */
void chrome_streams_fini(struct chrome_streams *streams);

/* The tid for a slice, which must not begin before earlier ones of the same kind. */
uint32_t chrome_streams_place(struct chrome_streams *streams, const struct model_place *place,
	enum chrome_stream_kind kind, uint64_t begin_ns, uint64_t end_ns);

/* The stream that stands for an unknown one, and the ones above it. */
bool chrome_stream_is_unknown(uint32_t stream);

#endif
