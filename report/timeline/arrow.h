/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows of a timeline from forward operators to their autograd nodes. */
#ifndef REPORT_TIMELINE_ARROW_H
#define REPORT_TIMELINE_ARROW_H

#include "report/ops/op.h"
#include "report/timeline/timeline.h"

/* A place is whatever the caller knows a thread by. */
struct arrow_end {
	uint64_t ns;
	uint32_t place;
};

struct arrows;

/*
 * Reads which forward operators of the process at hand have a node; draw is called with both ends
 * of each arrow, nr counting from 1. What waits is an operator without its node yet.
 */
struct arrows *arrows_create(struct timeline *timeline,
	void (*draw)(void *context, uint64_t nr, const struct arrow_end *from,
		const struct arrow_end *to),
	void *context);

/* Draws what is left. */
void arrows_destroy(struct arrows *arrows);

/* Row i of a batch of operators with TIMELINE_OP_MASK. */
void arrows_add(struct arrows *arrows, const struct batch *batch, uint32_t i, enum op_class class,
	const struct arrow_end *end);

#endif
