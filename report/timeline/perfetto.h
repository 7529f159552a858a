/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline as a Perfetto trace: packets of TrackEvent (perfetto.proto) for the tracks of
 * tracks.h. All events are in one sequence, which has each text once: categories and keys at the
 * beginning, names and other texts before the first packet that uses them.
 */
#ifndef REPORT_TIMELINE_PERFETTO_H
#define REPORT_TIMELINE_PERFETTO_H

#include "report/timeline/tracks.h"

/* Counts of what was written so far. */
struct perfetto_written {
	uint64_t nr_slices, nr_instants, nr_counts;
};

/* A whole file of what the filter leaves of some processes; NULL: everything. */
struct perfetto_written perfetto_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_filter *filter, struct buf *out);

/* ---- the sink ---- */

struct perfetto {
	struct buf *out;
	struct idset *names, *texts; /* of string_pool.h, that were written */
	uint8_t *packet;	     /* room for one */
	size_t capacity;
	struct perfetto_written written;
};

void perfetto_init(struct perfetto *perfetto, struct buf *out);
void perfetto_fini(struct perfetto *perfetto);

struct track_sink perfetto_sink(struct perfetto *perfetto);

#endif
