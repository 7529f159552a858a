/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch of a CUDA graph, divided among the nodes that it ran: each activity goes to the
 * operator, the phase and the Python line of its node's capture (graph_nodes.h), the rest to the
 * launch.
 */
#ifndef REPORT_OPS_GRAPH_LAUNCH_H
#define REPORT_OPS_GRAPH_LAUNCH_H

#include "report/ops/graph_nodes.h"

struct graph_launch {
	/* Set by the caller: */
	struct graph_nodes *graphs;
	struct phases *phases;
	uint64_t tick;		 /* begin of the call */
	const struct op *around; /* the innermost operator around the call, NULL if none */
	bool is_chosen;		 /* the call is selected */
	/* Is called for each node that has an operator or a Python stack, as for a launch. */
	void (*gpu_call)(void *context, const struct op_gpu_call *call, const struct op *op);
	void *context;
	/* Sums: */
	struct op_gpu_call own;	 /* what no gpu_call was about; the caller sets it to all */
	struct phase_gpu phased; /* in phases of captures */
	uint64_t captured_ns, nr_captured; /* in operators inside captures */
	uint64_t module_ns;		   /* of captured_ns: in modules inside captures */
	uint64_t graph_ns;		   /* of the rest: in graphs */
};

/* Divides the records of a list; they stay where they are. */
void graph_launch_divide(
	struct graph_launch *launch, const struct op_records *records, uint32_t list);

/* The operator of a node in the current launch: its own, or `around` if it has none. */
const struct op *graph_launch_op(struct graph_node *node, const struct op *around);

#endif
