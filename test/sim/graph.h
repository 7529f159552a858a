/* SPDX-License-Identifier: Apache-2.0 */
/* What graphs, their executable copies and stream capture share inside the simulated driver. */
#ifndef GPROF_SIM_GRAPH_H
#define GPROF_SIM_GRAPH_H

#include "test/sim/model.h"

struct sim_node {
	struct sim_graph *graph;
	struct sim_node **deps;
	size_t nr_deps;
	struct sim_op op;
	struct sim_graph *child;   /* a graph inside a node, owned */
	struct sim_node *original; /* in a clone: what it was cloned from */
	uint64_t id;
	uint64_t end_ns; /* of the launch in progress */
	bool is_enabled;
	bool is_placed; /* ordering, and the launch in progress */
};

struct sim_graph {
	uint32_t magic;
	uint32_t id;
	struct sim_node **nodes;
	size_t nr_nodes;
};

/* A launchable copy; its nodes are in an order that respects the dependencies. */
struct sim_exec {
	uint32_t magic;
	struct sim_graph *graph;
	uint32_t graph_id;
	bool needs_worker;
};

struct sim_capture {
	struct sim_graph *graph;
	struct sim_stream *origin;
	unsigned long long id;
	int mode;
	bool is_invalid;
	bool is_foreign; /* the graph was given by the caller */
	/* Per stream that takes part: the nodes that its next node depends on. */
	struct {
		struct sim_stream *stream;
		struct sim_node *last[16];
		size_t nr_last;
	} of[32];
	size_t nr_streams;
};

/* The graph behind a handle, or NULL. */
struct sim_graph *sim_graph_of(void *handle);

#endif
