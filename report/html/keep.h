/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slices that the page's timeline has one by one: the longest ones, as many as were asked for.
 * The others are sums in buckets of time, a grid for each row; no time of theirs is lost, only
 * where in a bucket it was. Memory is bounded by the room for slices and by HTML_KEEP_GRID_BYTES.
 */
#ifndef REPORT_HTML_KEEP_H
#define REPORT_HTML_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTML_KEEP_GRID_BYTES (32u << 20)

/* Buckets of a row at first, and at least. */
#define HTML_KEEP_BUCKETS	4096u
#define HTML_KEEP_LEAST_BUCKETS 64u

struct html_slice {
	uint64_t begin_ns, dur_ns;
	uint64_t number; /* what it is stands in its set */
	uint32_t row, name, set;
	uint32_t correlation;
	uint32_t arrow; /* both ends have the same number; 0 none */
	bool is_moment; /* dur_ns is 0; as hard to drop as a slice of a millisecond */
};

struct html_bucket {
	uint64_t busy_ns; /* of slices that were dropped */
	uint64_t longest_ns;
	uint32_t name; /* of that longest one */
	uint32_t nr;   /* slices and moments that begin in it */
};

struct html_keep {
	struct html_slice *slices; /* by arrival, until html_keep_sort */
	size_t nr, capacity;
	uint64_t nr_dropped, longest_dropped_ns;
	uint64_t first_ns;  /* of the grids; what lies outside counts to their edges */
	unsigned int shift; /* a bucket is 2^shift ns */
	size_t nr_buckets;
	struct html_bucket **grids; /* by row, NULL: nothing was dropped */
	size_t nr_rows, nr_grids;
	uint32_t least; /* what weighs less is dropped */
	uint32_t *histogram;
};

/* capacity: how many slices at most. */
void html_keep_init(struct html_keep *keep, size_t capacity, uint64_t first_ns, uint64_t last_ns);
void html_keep_fini(struct html_keep *keep);

/* Would it be kept? Before the work on what it needs. Of it only times, row and is_moment count. */
bool html_keep_wants(const struct html_keep *keep, const struct html_slice *slice);

/* Takes a slice, or its time into the grid. */
void html_keep_add(struct html_keep *keep, const struct html_slice *slice);

/* Drops the shortest until there are no more than nr; of slices about as long any, evenly. */
void html_keep_cut(struct html_keep *keep, size_t nr);

/* Makes buckets twice as wide. */
void html_keep_widen(struct html_keep *keep);

/* By row, then begin. */
void html_keep_sort(struct html_keep *keep);

#endif
