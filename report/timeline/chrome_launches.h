/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what Chrome JSON says of a GPU activity's launch: the operator that launched it, and on
 * each stream the span of what a range launched. Slices of the host come first, in the order of
 * their begins; then activities find their call by correlation ID.
 *
 * Memory: 20 bytes for each call, 32 for each range that launched something, 32 for each of its
 * streams.
 */
#ifndef REPORT_TIMELINE_CHROME_LAUNCHES_H
#define REPORT_TIMELINE_CHROME_LAUNCHES_H

#include "report/model/model.h"
#include "report/util/idmap.h"
#include "report/util/idset.h"

struct chrome_launch {
	uint64_t begin_ns; /* of the call */
	uint32_t op;	   /* the number of the innermost operator around it; 0: none */
	uint32_t range;	   /* index of the innermost range + 1; 0: none, or it launched nothing */
};

/* From the first to the last activity on a stream that was launched within a range. */
struct chrome_span {
	uint32_t device, stream;
	uint32_t range, next; /* indexes; next + 1, 0: the last one of the range */
	uint64_t begin_ns, end_ns;
};

struct chrome_range {
	uint64_t begin_ns, end_ns; /* of the host */
	uint32_t name;
	uint32_t outer; /* as chrome_launch.range: what may be open around it */
	uint32_t spans; /* the first one's index + 1 */
};

struct chrome_launches {
	const struct idset *launched; /* correlation IDs of activities */
	struct idmap threads;	      /* struct open_thread, by tid */
	struct idmap calls;	      /* struct chrome_launch, by correlation ID */
	struct chrome_range *ranges;
	size_t nr_ranges, range_capacity;
	uint32_t *steps; /* indexes in ranges */
	size_t nr_steps, step_capacity;
	struct chrome_span *spans;
	size_t nr_spans, span_capacity;
};

void chrome_launches_init(struct chrome_launches *launches, const struct idset *launched);
void chrome_launches_fini(struct chrome_launches *launches);

/* In the order of begins, of all threads; of those that begin together the longest comes first. */
void chrome_launches_add_op(struct chrome_launches *launches, uint32_t tid, uint32_t number,
	uint64_t begin_ns, uint64_t end_ns);
void chrome_launches_add_range(struct chrome_launches *launches, uint32_t tid, uint32_t name,
	uint64_t begin_ns, uint64_t end_ns);
/* A range of all threads. */
void chrome_launches_add_step(
	struct chrome_launches *launches, uint32_t name, uint64_t begin_ns, uint64_t end_ns);
void chrome_launches_add_call(
	struct chrome_launches *launches, uint32_t tid, uint64_t correlation, uint64_t begin_ns);

/* NULL: no such call. */
const struct chrome_launch *chrome_launches_find(
	const struct chrome_launches *launches, uint64_t correlation);

/* Adds an activity to the spans of the ranges that its call is in. */
void chrome_launches_extend(struct chrome_launches *launches, const struct chrome_launch *launch,
	const struct model_place *place, uint64_t begin_ns, uint64_t end_ns);

/* Sorts the spans by stream and begin, the longest first; no activity may follow. */
void chrome_launches_sort(struct chrome_launches *launches);

#endif
