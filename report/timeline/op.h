/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of the timeline as Kineto has them: slices, arrows from a forward operator to its
 * autograd node, and what allocators did.
 */
#ifndef REPORT_TIMELINE_OP_H
#define REPORT_TIMELINE_OP_H

#include "report/timeline/timeline.h"

struct timeline_ops;

/* Reads which forward operators have a node. */
struct timeline_ops *timeline_ops_create(struct timeline *timeline);
void timeline_ops_destroy(struct timeline_ops *ops);

/* The columns of tables op and alloc that are needed. */
#define TIMELINE_OP_MASK    COL_ALL(NR_COL_op)
#define TIMELINE_ALLOC_MASK COL_ALL(NR_COL_alloc)

void timeline_ops_take(struct timeline_ops *ops, const struct batch *batch);
void timeline_allocs_take(struct timeline_ops *ops, const struct batch *batch);

#endif
