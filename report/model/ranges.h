/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs NVTX rows into ranges: pushes and pops nest per thread and domain, starts and ends match by
 * id.
 */
#ifndef REPORT_MODEL_RANGES_H
#define REPORT_MODEL_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

struct range {
	uint64_t begin, end; /* ticks; equal for a mark */
	uint32_t thread;     /* where it began */
	uint32_t domain;     /* name of the domain, 0: the default (string_pool.h) */
	uint32_t name;	     /* of string_pool.h */
	uint64_t payload;
	uint8_t op;	      /* GPROF_NVTX_PUSH, START or MARK */
	uint8_t payload_type; /* NVTX's, 0: none */
};

struct ranges;

struct ranges *ranges_create(void);
void ranges_destroy(struct ranges *ranges);

/* The columns of table nvtx that this needs. */
#define RANGES_MASK \
	(COLS(nvtx, time, thread, name, range, domain, registered, op, payload, payload_type))

/*
 * Adds a batch, and calls `range` for each complete range by the order of ends. An end on another
 * thread may precede its begin in the stream; such a range comes with its begin.
 */
void ranges_add_batch(struct ranges *ranges, const struct process *process,
	const struct batch *batch, void (*range)(void *context, const struct range *range),
	void *context);

/* Reads only names of domains and registered strings. */
void ranges_add_names(
	struct ranges *ranges, const struct process *process, const struct batch *batch);

/* The name of the range or mark in row i, with its domain ("domain:range"). */
uint32_t ranges_name(const struct ranges *ranges, const struct process *process,
	const struct batch *batch, uint32_t i);

/* The same for a range. */
uint32_t range_full_name(const struct range *range);

/* Ranges that never ended, and ends without a begin. */
uint64_t ranges_nr_open(const struct ranges *ranges);
uint64_t ranges_nr_unmatched(const struct ranges *ranges);

/* ---- from the last event to the first ---- */

/*
 * Pairs pushes and pops in a pass from the last event to the first (op_walk.h). A pop opens a range
 * and its push closes it. What the thread launched in between belongs to it. Ranges nest per thread
 * and domain, independent of other domains and operators.
 */

/* The sum of what the thread launched from this event to the last one. */
struct range_mark {
	uint64_t tick;
	uint64_t gpu_ns, nr_activities;
	uint64_t graph_ns, nr_in_graphs; /* of what was captured, not launched; see graph_nodes.h */
};

/* Zero-initialized. */
struct range_walk {
	struct range_pops *pops;
};

void range_walk_fini(struct range_walk *walk);

/* domain: NVTX's number. */
void range_walk_pop(
	struct range_walk *walk, uint32_t thread, uint32_t domain, const struct range_mark *pop);

/* Removes the pop that matches the push; false if the range never ended. */
bool range_walk_push(
	struct range_walk *walk, uint32_t thread, uint32_t domain, struct range_mark *pop);

#endif
