/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of what was launched on a stream and has not begun. Slices come in the order of their
 * begins, so which stream a call launched on is known only when its work begins. A stream works off
 * what it was given in turn: by then all its earlier calls are known, and the count is written up
 * to this call. Memory: launches that have not begun, and begins since the call of the last one.
 */
#ifndef REPORT_TIMELINE_PERFETTO_QUEUE_H
#define REPORT_TIMELINE_PERFETTO_QUEUE_H

#include "report/timeline/perfetto_out.h"

struct perfetto_queue {
	uint32_t device, stream;
	uint64_t track; /* 0: the caller has to make it */
	uint64_t length, written_ns;
	uint64_t *begins; /* from `first` on not written yet */
	size_t first, nr, capacity;
};

struct perfetto_queues {
	struct perfetto_queue *queues;
	size_t nr, capacity;
	struct perfetto_launch *launches; /* that have not begun: a hash */
	struct idset *begun;		  /* correlation ids */
};

void perfetto_queues_init(struct perfetto_queues *queues);
void perfetto_queues_fini(struct perfetto_queues *queues);

/* That of a stream, made of zeros if there was none. Valid until the next call. */
struct perfetto_queue *perfetto_queues_find(
	struct perfetto_queues *queues, uint32_t device, uint32_t stream);

/* A call launches. */
void perfetto_queues_call(struct perfetto_queues *queues, uint32_t correlation, uint64_t ns);

/*
 * Work begins: true for the first of its call, with when that was. Of work that seems to begin
 * before its call (clocks of host and device may be a little apart) nothing was ever queued.
 */
bool perfetto_queues_begin(struct perfetto_queues *queues, uint32_t correlation, uint64_t *call_ns);

/* Writes the counts up to the call. Begins must not fall. */
void perfetto_queue_add(struct perfetto_queue *queue, struct perfetto_out *out, uint64_t call_ns,
	uint64_t begin_ns);

/* Writes what is left. */
void perfetto_queues_end(struct perfetto_queues *queues, struct perfetto_out *out);

#endif
