/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a timeline that is too large for viewers: spans of time, an event in the one it begins
 * in. Where they have to be cut is known by how many bytes events of each time took.
 */
#ifndef REPORT_TIMELINE_PART_H
#define REPORT_TIMELINE_PART_H

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_SPANS 65536u

/* Starts with all zeros. */
struct timeline_sizes {
	uint64_t begin_ns, span_ns;
	uint64_t bytes[TIMELINE_SPANS];
};

/* Times are the file's; events at other ones count at the first or the last. */
void timeline_sizes_begin(struct timeline_sizes *sizes, uint64_t begin_ns, uint64_t end_ns);
void timeline_sizes_add(struct timeline_sizes *sizes, uint64_t ns, uint64_t nr_bytes);

struct timeline_part {
	uint64_t begin_ns, end_ns;    /* the first one begins at 0, the last one has no end */
	size_t nr, nr_parts;	      /* from 1 on; 0 of 0: the whole */
	struct timeline_sizes *sizes; /* to be filled, or NULL */
};

/*
 * Parts of about as many bytes at most; more where those of one span of 65536 are. The caller frees
 * them.
 */
struct timeline_part *timeline_sizes_cut(
	const struct timeline_sizes *sizes, uint64_t most_bytes, size_t *nr_parts);

#endif
