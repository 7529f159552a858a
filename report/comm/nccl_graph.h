/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL in CUDA graphs. A call that is captured launches nothing: each launch of the graph runs its
 * kernel again. So a kernel of a graph belongs to the call of NCCL in which its node was created,
 * by CUPTI's IDs of nodes (report/ops/graph_nodes.h), and is an operation of its own. Nothing says
 * which launches of several ranks belong together: such operations have no number.
 */
#ifndef REPORT_COMM_NCCL_GRAPH_H
#define REPORT_COMM_NCCL_GRAPH_H

#include "report/comm/nccl_ops.h"
#include "report/ops/graph_nodes.h"

/* The nodes of a process, and the calls that they were created in. Zero-initialized. */
struct nccl_graph {
	struct graph_nodes nodes;
	const struct graph_node **created; /* by thread, then by time */
	uint32_t *op_of; /* by index of a node: 1 + index in `captured`, 0: none */
	struct nccl_op *captured;
	size_t nr_captured, capacity;
};

void nccl_graph_read(struct nccl_graph *graph, struct process *process);
void nccl_graph_fini(struct nccl_graph *graph);

/* Did the thread create a node between two ticks? */
bool nccl_graph_has(const struct nccl_graph *graph, uint32_t thread, uint64_t begin, uint64_t end);

/* The nodes that the thread created between them are of that operation, which is copied. */
void nccl_graph_add(struct nccl_graph *graph, uint32_t thread, uint64_t begin, uint64_t end,
	const struct nccl_op *op);

/* Adds an operation for each time that a selected launch of a graph ran one of these. */
void nccl_graph_add_replays(
	struct nccl_graph *graph, struct nccl_ops *ops, struct process *process);

#endif
