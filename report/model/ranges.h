/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX rows, in the order of their threads, to whole ranges: pushes and pops nest per thread and
 * domain, starts and ends pair by their id. Used by the views and by the timeline.
 */
#ifndef REPORT_MODEL_RANGES_H
#define REPORT_MODEL_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

struct range {
	uint64_t begin, end; /* ticks; equal for a mark */
	uint32_t thread;     /* where it began */
	uint32_t domain;     /* name of the domain, 0 the default one (names.h) */
	uint32_t name;	     /* of names.h */
	uint64_t payload;
	uint8_t op;	      /* GPROF_NVTX_PUSH, START or MARK */
	uint8_t payload_type; /* NVTX's, 0 none */
};

struct ranges;

struct ranges *ranges_create(void);
void ranges_destroy(struct ranges *ranges);

/* The columns of table nvtx that are needed. */
#define RANGES_MASK                                                                               \
	(COL_BIT(COL_nvtx_time) | COL_BIT(COL_nvtx_thread) | COL_BIT(COL_nvtx_name) |             \
		COL_BIT(COL_nvtx_range) | COL_BIT(COL_nvtx_domain) |                              \
		COL_BIT(COL_nvtx_registered) | COL_BIT(COL_nvtx_op) | COL_BIT(COL_nvtx_payload) | \
		COL_BIT(COL_nvtx_payload_type))

/*
 * Takes a batch; calls `range` for each that is complete, in the order of their ends, but for those
 * whose end, on another thread, stands in the stream before their begin.
 */
void ranges_add_batch(struct ranges *ranges, const struct process *process,
	const struct batch *batch, void (*range)(void *context, const struct range *range),
	void *context);

/* Takes only what domains and registered strings are called. */
void ranges_add_names(
	struct ranges *ranges, const struct process *process, const struct batch *batch);

/* What the range or mark in row i is called, with its domain before it ("domain:range"). */
uint32_t ranges_name(const struct ranges *ranges, const struct process *process,
	const struct batch *batch, uint32_t i);

/* The same of a range. */
uint32_t range_full_name(const struct range *range);

/* Ranges that never ended, and ends without a begin. */
uint64_t ranges_nr_open(const struct ranges *ranges);
uint64_t ranges_nr_unmatched(const struct ranges *ranges);

/* ---- from the last event to the first ---- */

/*
 * NVTX's pushed ranges in a pass from the last event to the first (op_walk.h): a pop opens one, the
 * push before it closes it, and what its thread launched meanwhile was launched in it. They nest by
 * thread and domain, whatever other domains and operators do.
 */

/* At a moment: what the thread launched from there to the last event. */
struct range_mark {
	uint64_t tick;
	uint64_t gpu_ns, nr_activities;
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
