/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices in the order of their begins, laid out on tracks: what Perfetto traces, the page and SVG
 * have in common. Its slices go through a sort, because a track closes its slices from the
 * innermost; the sort hands them out once no earlier one can come (slice_order.h). Memory: the
 * sort, and what is open at one time.
 *
 *     process PID             steps, record windows, dropped events and notices, overhead
 *       thread TID (name)     operators and calls; in it: NVTX [domain], Python
 *       CPU of thread TID     when it was on which CPU, blocked ...
 *       counters
 *     GPU n
 *       stream n, stream n (2)  what overlaps gets another track; waits have their own
 *       counters
 *
 * Flows join calls with what they launched, forward operators with their autograd nodes, and the
 * same collective of several ranks.
 */
#ifndef REPORT_TIMELINE_TRACKS_H
#define REPORT_TIMELINE_TRACKS_H

#include "report/timeline/track_sink.h"

/* Walks over what the filter leaves of some processes; NULL: everything. */
void tracks_walk(struct process *const *processes, size_t nr_processes,
	const struct timeline_filter *filter, const struct track_sink *sink);

/*
 * The same for processes[k] alone, on the axis of all. Reading the collectives takes a pass over
 * all launches: who walks several times reads them once, and calls nccl_ops_fini. They may be
 * empty.
 */
void tracks_walk_process(struct process *const *processes, size_t nr_processes, size_t k,
	const struct nccl_ops *collectives, const struct timeline_filter *filter,
	const struct track_sink *sink);
void tracks_collectives_read(
	struct nccl_ops *ops, struct process *const *processes, size_t nr_processes);

#endif
