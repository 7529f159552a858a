/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launches of CUDA are of which operation of NCCL: those that a thread made within a call of
 * it, by the correlation ids between its begin and its end. Ids are one row for all threads of a
 * process, so that of another thread may lie between them.
 *
 * Memory: 24 bytes a call that launched anything, and 8 for each launch within one.
 */
#ifndef REPORT_COMM_NCCL_LAUNCH_H
#define REPORT_COMM_NCCL_LAUNCH_H

#include "report/stream/stream.h"

/* The place of an operation that cannot be told. */
#define NCCL_LAUNCH_NONE SIZE_MAX

/* Of what one thread launched in one call; thread 0: it is not known, but its one launch is. */
struct nccl_span {
	uint32_t thread, after, last; /* ids: behind the one, up to the other */
	size_t op;
};

struct nccl_launch {
	uint32_t correlation;
	uint32_t op;
};

/* Starts with all zeros. */
struct nccl_launches {
	struct nccl_span *spans;
	size_t nr_spans, spans_capacity;
	struct nccl_launch *items;
	size_t nr, capacity;
	size_t last_span, last; /* where the last look-ups ended */
};

void nccl_launches_fini(struct nccl_launches *launches);

/* op: the place of the operation. A span without a launch is none. */
void nccl_launches_add(struct nccl_launches *launches, const struct nccl_span *span);

/* All launches of the spans, once these are all there. */
void nccl_launches_read(struct nccl_launches *launches, struct stream *stream);

/* Then: the operation that a launch is of, NCCL_LAUNCH_NONE if it is of none. */
size_t nccl_launches_find(struct nccl_launches *launches, uint32_t correlation);

/* For the next process. */
void nccl_launches_clear(struct nccl_launches *launches);

#endif
