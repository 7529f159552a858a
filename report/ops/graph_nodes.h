/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code the kernels of CUDA graphs belong to. A graph's launch runs no operator: the operators
 * ran once, when the graph was captured. So a GPU activity of a launch belongs to the operators,
 * modules and ranges that were open inside the capture when its node was created, and these lie in
 * what is open around the launch, as if the captured code ran there again.
 *
 *   captured once        step 0 > BeginCapture, module > aten::mm > launch -> node 7, EndCapture
 *   instantiated         node 7 -> copy 12
 *   launched in step 5   step 5 > cudaGraphLaunch -> kernel of node 12
 *   the kernel's parents step 5 > module > aten::mm
 *
 * Nodes are joined by their IDs alone, through copies of copies. Time only decides between several
 * rows of one node, which updates of an executable graph make it a copy of.
 *
 * op_walk.c fills it in a walk before that of the views, and then asks for the node of each
 * activity.
 */
#ifndef REPORT_OPS_GRAPH_NODES_H
#define REPORT_OPS_GRAPH_NODES_H

#include "report/ops/op_launch.h"
#include "report/ops/phase.h"

/* A node that the program created or captured. */
struct graph_node {
	uint64_t id, tick;
	uint64_t capture_begin; /* tick of the capture it was made in; 0: of none */
	struct op *op;		/* the innermost one inside the capture, a copy; NULL: none */
	struct op
		*outermost; /* around `op`, inside the capture; its parent is set for each launch */
	uint64_t ns;	    /* of activities that its operator has not got yet */
	uint64_t nr_activities;
	uint32_t thread;
	uint32_t py_stack; /* of the call that made it, 0: not recorded */
	uint32_t segment;  /* of phases; UINT32_MAX: none */
	uint8_t phase;	   /* enum phase, of the capture */
	bool has_module;   /* around `op`, inside the capture */
};

/* A capture of a stream into a graph, from the end of its first call to the start of its last. */
struct graph_capture {
	uint64_t begin, end; /* ticks */
	uint64_t last_end;   /* the latest end of this capture and all earlier ones; after
				graph_nodes_finish */
	uint32_t thread;
};

struct graph_link;

/* The graphs of a process. Zero-initialized. */
struct graph_nodes {
	struct graph_link *links; /* by ID, then by time */
	size_t nr_links, link_capacity;
	struct graph_node *nodes; /* created ones, in the order of rows */
	size_t nr_nodes, node_capacity;
	struct graph_capture *captures; /* after graph_nodes_finish, by their begin */
	size_t nr_captures, capture_capacity;
	struct op **ops; /* copies of operators, numbered from 1, outer ones first */
	size_t nr_ops, op_capacity;
	uint32_t *run; /* numbers of those that the current launch ran something of */
	size_t nr_run, run_capacity;
	bool *is_run;
	bool is_known; /* the recorder notes nodes: what has no node was captured before */
};

/* A node of a graph, for views of launches that were recorded without their nodes. */
struct graph_member {
	uint32_t graph;		 /* CUPTI's ID */
	uint8_t kind;		 /* CUgraphNodeType */
	bool is_capture_unknown; /* it is a copy of a node that was created before the recording */
	const struct op *op;	 /* the innermost one inside the capture; NULL: none */
};

/* Reads the rows about nodes. */
void graph_nodes_read(struct graph_nodes *graphs, struct process *process);
void graph_nodes_fini(struct graph_nodes *graphs);

/* The node that was created by that row, NULL if a copy was. */
struct graph_node *graph_nodes_created(struct graph_nodes *graphs, uint64_t id, uint64_t tick);

/* The node that a copy or original with that ID stands for at `tick`; NULL: its capture is unknown.
 */
struct graph_node *graph_nodes_find(struct graph_nodes *graphs, uint64_t id, uint64_t tick);

/* Calls `take` for each ID, original or copy, and each created node that it stood for at a time. */
void graph_nodes_each_id(const struct graph_nodes *graphs,
	void (*take)(void *context, uint64_t id, const struct graph_node *node), void *context);

/* Copies the operators that are open when the node is created, the outermost first. */
void graph_nodes_keep(struct graph_nodes *graphs, struct graph_node *node, struct op *const *open,
	size_t nr_open);

/* Does the process call what begins a capture? */
bool graph_nodes_has_captures(const struct process *process);
void graph_nodes_add_capture(struct graph_nodes *graphs, const struct graph_capture *capture);

/* Is it the name of a call that begins a capture, or ends one? */
bool graph_call_begins_capture(uint32_t name);
bool graph_call_ends_capture(uint32_t name);

/* Leaves out operators around captures, and sets the phases of nodes. */
void graph_nodes_finish(struct graph_nodes *graphs, const struct phases *phases);

/*
 * Adds an activity of the launch at `tick` to the node's operator, which lies for this launch in
 * `around`. Has no effect for a node outside of operators.
 */
void graph_nodes_add_run(struct graph_nodes *graphs, struct graph_node *node,
	const struct op *around, uint64_t tick, uint64_t ns);

/*
 * After all activities of the launch. graph_nodes_next_run() then removes an operator that it ran,
 * inner ones first, and adds its sums to the one around it. NULL: there are no more.
 */
void graph_nodes_end_run(struct graph_nodes *graphs);
const struct op *graph_nodes_next_run(struct graph_nodes *graphs);

/*
 * Calls `take` for each node of each graph whose nodes stayed the same from the first executable
 * copy of the graph on: of others, nobody knows which nodes a launch ran. After
 * graph_nodes_finish().
 */
void graph_nodes_each_member(struct graph_nodes *graphs,
	void (*take)(void *context, const struct graph_member *member), void *context);

/* The capture that is open at a tick, preferably one of that thread; NULL if there is none. */
const struct graph_capture *graph_nodes_capture(
	const struct graph_nodes *graphs, uint64_t tick, uint32_t thread);

#endif
