/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How early slices can begin in the blocks that a walk comes to, so that a sink which needs them in
 * the order of their begins holds few of them. Blocks have rows by their ends. So long rows would
 * hold up all others: they are few, and a walk of their own takes them first.
 */
#ifndef REPORT_TIMELINE_SLICE_ORDER_H
#define REPORT_TIMELINE_SLICE_ORDER_H

#include "report/timeline/slice.h"

struct slice_order {
	struct slice_lengths lengths;
	bool *has_long;	     /* by block: long rows of SLICES_HOST or SLICES_GPU */
	uint64_t *begins_ns; /* by block: short ones of it and of later blocks begin no earlier */
};

/* For the current process. Reads begins and lengths of long runs. */
void slice_order_find(struct slice_order *order, struct timeline *timeline);
void slice_order_fini(struct slice_order *order);

#endif
