/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX's pushed ranges in a pass from the last event to the first (op_walk.h): a pop opens one, the
 * push before it closes it, and what its thread launched meanwhile was launched in it. They nest by
 * thread and domain, whatever other domains and operators do.
 */
#ifndef REPORT_MODEL_RANGE_WALK_H
#define REPORT_MODEL_RANGE_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* At a moment: what the thread launched from there to the last event. */
struct range_mark {
	uint64_t tick;
	uint64_t gpu_ns, nr_works;
};

/* Starts with all zeros. */
struct range_walk {
	struct range_pops *pops;
};

void range_walk_fini(struct range_walk *walk);

/* domain: NVTX's number. */
void range_walk_pop(
	struct range_walk *walk, uint32_t thread, uint32_t domain, const struct range_mark *pop);

/* Takes out the pop that ends what is pushed there; false if that never ended. */
bool range_walk_push(
	struct range_walk *walk, uint32_t thread, uint32_t domain, struct range_mark *pop);

#endif
