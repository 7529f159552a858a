/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level of detail of the page's timeline: the longest slices one by one, as many as there is room
 * for. The others become sums in buckets of time, a grid for each row: their time is kept, their
 * position in the bucket is not. Memory is bounded by the room for slices and by
 * HTML_LOD_GRID_BYTES.
 */
#ifndef REPORT_HTML_TIMELINE_LOD_H
#define REPORT_HTML_TIMELINE_LOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTML_LOD_GRID_BYTES (32u << 20)

/* Buckets of a row at first, and at least. */
#define HTML_LOD_BUCKETS     4096u
#define HTML_LOD_MIN_BUCKETS 64u

struct html_slice {
	uint64_t begin_ns, dur_ns;
	uint64_t number; /* its set says of what */
	uint64_t correlation;
	uint32_t row, name, set;
	uint32_t flow : 31;	 /* both ends of a flow have the same number; 0: none */
	uint32_t is_instant : 1; /* dur_ns is 0; dropped like a slice of a millisecond */
};

struct html_bucket {
	uint64_t busy_ns; /* of slices that were dropped */
	uint64_t longest_ns;
	uint32_t name; /* of that longest one */
	uint32_t nr;   /* slices and instants that begin in it */
};

struct html_lod {
	struct html_slice *slices; /* by arrival, until html_lod_sort */
	size_t nr, capacity;
	uint64_t nr_dropped, longest_dropped_ns;
	uint64_t first_ns;  /* of the grids; slices outside count to their edges */
	unsigned int shift; /* a bucket is 2^shift ns */
	size_t nr_buckets;
	struct html_bucket **grids; /* by row, NULL: nothing was dropped */
	size_t nr_rows, nr_grids;
	uint32_t least; /* slices of less weight are dropped */
	uint32_t *histogram;
};

/* capacity: how many slices at most. */
void html_lod_init(struct html_lod *lod, size_t capacity, uint64_t first_ns, uint64_t last_ns);
void html_lod_fini(struct html_lod *lod);

/*
 * Drops a slice that is too short to be kept: its time is added to the grid. False: it is to be
 * kept, by html_lod_keep. Only times, row, name and is_instant have to be set.
 */
bool html_lod_drop(struct html_lod *lod, const struct html_slice *slice);

/* Keeps a slice for which html_lod_drop has just returned false. */
void html_lod_keep(struct html_lod *lod, const struct html_slice *slice);

/* Drops the shortest slices until nr are left; slices of about the same length are thinned out
 * evenly. */
void html_lod_cut(struct html_lod *lod, size_t nr);

/* Doubles the width of buckets. */
void html_lod_widen(struct html_lod *lod);

/* By row, then begin. */
void html_lod_sort(struct html_lod *lod);

#endif
