/* SPDX-License-Identifier: Apache-2.0 */
/* What graphs, their executable copies and stream capture share inside the simulated driver. */
#ifndef GPROF_SIM_GRAPH_H
#define GPROF_SIM_GRAPH_H

#include "test/sim/cupti_abi.h"
#include "test/sim/model.h"

/*
 * What decides whether a conditional node runs its body. Lives as long as the process, since
 * executable graphs share it with the graph that it was made for.
 */
struct sim_condition {
	struct sim_condition *next;
	unsigned int value, initial;
	bool is_assigned; /* `initial`, at each launch */
};

struct sim_node {
	struct sim_graph *graph;
	struct sim_node **deps;
	size_t nr_deps;
	struct sim_op op;
	struct sim_graph *child;   /* a graph inside a node, owned */
	struct sim_node *original; /* in a clone: what it was cloned from */
	uint64_t id;
	uint64_t end_ns;		 /* of the launch in progress */
	struct sim_condition *condition; /* of a conditional node, whose body is `child` */
	bool is_loop;
	void *body; /* the caller's list of bodies */
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

/* Adds a node to a graph without telling the trace; sim_graph_add does both. */
int sim_node_add(struct sim_node **out, void *graph, void *const *deps, size_t nr_deps,
	const struct sim_op *op, void *child);

/*
 * Tells the trace about a node: a callback ID of CUPTI's resource domain; of a new node, also about
 * the nodes of the graph in it. No lock held.
 */
void sim_node_announce(struct sim_node *node, uint32_t cbid);
void sim_node_announce_new(struct sim_node *node);

/*
 * Copies a graph with the graphs in its nodes, without telling the trace; the second tells it of
 * all nodes of the copy. sim_graph_clone does both.
 */
int sim_graph_copy(struct sim_graph **out, void *graph);
void sim_graph_announce_copies(const struct sim_graph *copy);

/* The graph behind a handle, or NULL. */
struct sim_graph *sim_graph_of(void *handle);

#endif
