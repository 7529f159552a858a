/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracks of a process. A row is what a viewer shows under one name: a thread, a stream. Slices
 * of one track must nest or be apart; a slice that overlaps another partly gets one more track of
 * the same row, so that every end closes the slice that it belongs to.
 */
#ifndef REPORT_TIMELINE_TRACK_ROWS_H
#define REPORT_TIMELINE_TRACK_ROWS_H

#include "report/timeline/track_sink.h"

/* The kinds of rows, with the numbers that find one. */
enum track_row_kind {
	TRACK_ROW_THREAD,
	TRACK_ROW_NVTX,	  /* thread, domain */
	TRACK_ROW_PYTHON, /* thread */
	TRACK_ROW_STATES, /* tid */
	TRACK_ROW_DEVICE, /* device; has no slices */
	TRACK_ROW_STREAM, /* device, stream */
	TRACK_ROW_WAITS,  /* device, stream */
	TRACK_ROW_STEPS,
	TRACK_ROW_WINDOWS,
	TRACK_ROW_MARKS,
	TRACK_ROW_OVERHEAD,
	TRACK_ROW_COMM,	    /* communicator */
	TRACK_ROW_COUNTERS, /* device, or of the process: 0, true; has no slices */
};

/* One track of a row. */
struct track_lane {
	uint64_t track;
	uint64_t *ends; /* of open slices, the innermost last */
	size_t nr, capacity;
};

struct track_row {
	uint8_t kind;
	bool is_apart;	/* nested slices get tracks of their own, too: GPU activities */
	bool is_named;	/* its first track was written */
	uint32_t a, b;	/* see track_row_kind */
	uint64_t track; /* of its first lane, and parent of rows in it */
	uint64_t parent;
	char *name;
	int32_t rank;
	struct track_lane *lanes;
	size_t nr_lanes, capacity;
};

/* For a group of counters: is it the process's? Else it is that of device `a`. */
static inline bool track_row_is_of_process(const struct track_row *row)
{
	return row->b;
}

#define TRACK_ROWS_FOUND 64u

struct track_rows {
	const struct track_sink *sink;
	uint64_t next_track; /* numbers are unique in the file */
	/* of the current process */
	const struct timeline *timeline;
	uint64_t process_track;
	struct track_row *rows;
	size_t nr, capacity;
	struct track_row_key *keys;			     /* a hash */
	const struct track_row_key *found[TRACK_ROWS_FOUND]; /* found last, by kind and numbers */
};

/* Forgets the rows of the current process. */
void track_rows_clear(struct track_rows *rows);

/* Returns the index of a row, which is made when it is first wanted. */
size_t track_rows_thread(struct track_rows *rows, uint64_t thread);
size_t track_rows_nvtx(struct track_rows *rows, uint64_t thread, uint32_t domain);
size_t track_rows_python(struct track_rows *rows, uint64_t thread);
size_t track_rows_states(struct track_rows *rows, uint32_t tid);
size_t track_rows_stream(
	struct track_rows *rows, const struct model_place *place, bool is_for_waits);
/* The group that the counters of a device stand in, or those of the process itself. */
size_t track_rows_device_counters(struct track_rows *rows, uint32_t device);
size_t track_rows_process_counters(struct track_rows *rows);
size_t track_rows_other(
	struct track_rows *rows, enum track_row_kind kind, uint32_t a, const char *name);

/* Adds one; `name` is from the heap and belongs to the row. */
size_t track_rows_add(struct track_rows *rows, enum track_row_kind kind, uint32_t a, uint32_t b,
	uint64_t parent, char *name);

/*
 * Sets track and depth of a slice, which must not begin before earlier ones; of those that begin
 * together the longest comes first. Hands the sink the ends of slices that are over, and new
 * tracks.
 */
void track_rows_place(struct track_rows *rows, size_t row, struct track_slice *slice);

/* The track for instants. */
uint64_t track_rows_track(struct track_rows *rows, size_t row);

/* Hands the sink the ends of all open slices. */
void track_rows_close(struct track_rows *rows);

#endif
