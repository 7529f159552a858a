/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracks of a Perfetto trace that slices stand in. Slices of one track must lie in each other
 * or apart; what overlaps partly gets a further track beside, so that nothing is lost and every
 * end closes the slice that it is of.
 */
#ifndef REPORT_TIMELINE_PERFETTO_LANE_H
#define REPORT_TIMELINE_PERFETTO_LANE_H

#include "report/timeline/perfetto_out.h"

/* What slices of a row are: the key to find it by. */
enum perfetto_row_kind {
	PERFETTO_ROW_THREAD,
	PERFETTO_ROW_NVTX,   /* thread, domain */
	PERFETTO_ROW_PYTHON, /* thread */
	PERFETTO_ROW_DEVICE, /* device; has no slices */
	PERFETTO_ROW_STREAM, /* device, stream */
	PERFETTO_ROW_WAITS,  /* device, stream */
	PERFETTO_ROW_STEPS,
	PERFETTO_ROW_WINDOWS,
	PERFETTO_ROW_MARKS,
	PERFETTO_ROW_OVERHEAD, /* tid */
	PERFETTO_ROW_COMM,     /* communicator */
};

struct perfetto_lane {
	uint64_t track;
	uint64_t *ends; /* of open slices, the innermost last */
	size_t nr, capacity;
};

/* A row as the viewer shows it: a track, and more of them where slices overlap. */
struct perfetto_row {
	uint8_t kind;
	bool is_apart;	/* slices in each other stand apart, too: work on a device */
	bool is_named;	/* its first track was written */
	uint32_t a, b;	/* see perfetto_row_kind */
	uint64_t track; /* of its first lane, and parent of rows in it */
	uint64_t parent;
	char *name;
	int32_t rank;
	struct perfetto_lane *lanes;
	size_t nr_lanes, capacity;
};

struct perfetto_rows {
	struct perfetto_row *rows;
	size_t nr, capacity;
	struct perfetto_row_key *keys; /* a hash */
	uint64_t *next_track;	       /* the caller's: numbers of tracks are of the file */
};

/* Starts with all zeros but for next_track. */
void perfetto_rows_fini(struct perfetto_rows *rows);

/* The place of a row; -1: there is none yet. */
int64_t perfetto_rows_find(
	const struct perfetto_rows *rows, enum perfetto_row_kind kind, uint32_t a, uint32_t b);

/* Adds one; its name is taken over. Returns its place. */
size_t perfetto_rows_add(struct perfetto_rows *rows, enum perfetto_row_kind kind, uint32_t a,
	uint32_t b, uint64_t parent, char *name);

/*
 * The track for a slice that begins no earlier than those before; of those that begin together the
 * longest comes first. Writes the ends of slices that are over, and a new track if one is needed.
 */
uint64_t perfetto_rows_place(struct perfetto_rows *rows, size_t row, struct perfetto_out *out,
	uint64_t begin_ns, uint64_t end_ns);

/* The track for moments. */
uint64_t perfetto_rows_track(struct perfetto_rows *rows, size_t row, struct perfetto_out *out);

/* Writes the ends that are left. */
void perfetto_rows_close(struct perfetto_rows *rows, struct perfetto_out *out);

#endif
