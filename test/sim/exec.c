/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: instantiation puts nodes in order; a launch places each after its parents. */
#include "test/sim/graph.h"

#include <stdlib.h>

#define EXEC_MAGIC 0x65786563u

static struct sim_exec *exec_of(void *handle)
{
	struct sim_exec *e = handle;

	return e && e->magic == EXEC_MAGIC ? e : NULL;
}

static bool is_ready(const struct sim_node *n)
{
	for (size_t i = 0; i < n->nr_deps; i++) {
		if (!n->deps[i]->is_placed) {
			return false;
		}
	}
	return !n->is_placed;
}

/* Sorts the nodes so that parents come first; false where there is a cycle. */
static bool order(struct sim_graph *g)
{
	struct sim_node **sorted = calloc(g->nr_nodes + 1, sizeof(*sorted));
	size_t nr = 0, before;

	if (!sorted) {
		return false;
	}
	for (size_t i = 0; i < g->nr_nodes; i++) {
		g->nodes[i]->is_placed = false;
	}
	do {
		before = nr;
		for (size_t i = 0; i < g->nr_nodes; i++) {
			if (is_ready(g->nodes[i])) {
				g->nodes[i]->is_placed = true;
				sorted[nr++] = g->nodes[i];
			}
		}
	} while (nr > before && nr < g->nr_nodes);
	bool is_whole = nr == g->nr_nodes;

	for (size_t i = 0; is_whole && i < nr; i++) {
		g->nodes[i] = sorted[i];
	}
	free(sorted);
	return is_whole;
}

static bool graph_needs_worker(const struct sim_graph *g)
{
	for (size_t i = 0; i < g->nr_nodes; i++) {
		if (g->nodes[i]->child ? graph_needs_worker(g->nodes[i]->child)
				       : sim_needs_worker(&g->nodes[i]->op)) {
			return true;
		}
	}
	return false;
}

static bool order_all(struct sim_graph *g)
{
	for (size_t i = 0; i < g->nr_nodes; i++) {
		if (g->nodes[i]->child && !order_all(g->nodes[i]->child)) {
			return false;
		}
	}
	return order(g);
}

int sim_graph_instantiate(void **out, void *graph)
{
	struct sim_graph *g = sim_graph_of(graph);
	struct sim_exec *e = g && out ? calloc(1, sizeof(*e)) : NULL;

	if (!e) {
		return g && out ? SIM_OUT_OF_MEMORY : SIM_INVALID_VALUE;
	}
	int r = sim_graph_clone((void **)&e->graph, g);

	if (r == SIM_OK && !order_all(e->graph)) {
		sim_graph_destroy(e->graph);
		r = SIM_INVALID_VALUE;
	}
	if (r != SIM_OK) {
		free(e);
		return r;
	}
	e->magic = EXEC_MAGIC;
	e->graph_id = g->id;
	e->needs_worker = graph_needs_worker(e->graph);
	*out = e;
	return SIM_OK;
}

/* A launch that is queued has the graph as it was then; the real driver copies, we wait. */
static void wait_for_launches(const struct sim_exec *e)
{
	struct sim_context *context = e->needs_worker ? sim_context() : NULL;

	if (context) {
		pthread_mutex_lock(&sim_lock);
		sim_device_drain_locked(context->device);
		pthread_mutex_unlock(&sim_lock);
	}
}

/* The nodes of an executable graph stay, and get the parameters of others. */
static void keep_identity(struct sim_graph *copy, const struct sim_graph *old)
{
	for (size_t i = 0; i < copy->nr_nodes && i < old->nr_nodes; i++) {
		struct sim_node *n = copy->nodes[i];

		n->id = old->nodes[i]->id;
		if (n->child && old->nodes[i]->child) {
			keep_identity(n->child, old->nodes[i]->child);
		}
	}
}

static void announce_updates(const struct sim_graph *g)
{
	for (size_t i = 0; i < g->nr_nodes; i++) {
		sim_node_announce(g->nodes[i], CUPTI_RESOURCE_GRAPHNODE_UPDATED);
		if (g->nodes[i]->child) {
			announce_updates(g->nodes[i]->child);
		}
	}
}

int sim_graph_update(void *exec, void *graph)
{
	struct sim_exec *e = exec_of(exec);
	struct sim_graph *g = sim_graph_of(graph), *copy;

	if (!e || !g || g->nr_nodes != e->graph->nr_nodes) {
		return e && g ? 910 : SIM_INVALID_VALUE; /* the shape has changed */
	}
	int r = sim_graph_copy(&copy, g);

	if (r != SIM_OK || !order_all(copy)) {
		return r != SIM_OK ? r : SIM_INVALID_VALUE;
	}
	keep_identity(copy, e->graph);
	wait_for_launches(e);
	pthread_mutex_lock(&sim_lock);
	struct sim_graph *old = e->graph;

	e->graph = copy;
	e->needs_worker = graph_needs_worker(copy);
	pthread_mutex_unlock(&sim_lock);
	sim_graph_destroy(old);
	announce_updates(copy);
	return SIM_OK;
}

int sim_graph_exec_destroy(void *exec)
{
	struct sim_exec *e = exec_of(exec);

	if (!e) {
		return SIM_INVALID_VALUE;
	}
	wait_for_launches(e);
	sim_graph_destroy(e->graph);
	e->magic = 0;
	free(e);
	return SIM_OK;
}

static struct sim_node *exec_node(struct sim_exec *e, const void *node)
{
	for (size_t i = 0; e && i < e->graph->nr_nodes; i++) {
		if (e->graph->nodes[i]->original == node) {
			wait_for_launches(e); /* the caller changes the node */
			return e->graph->nodes[i];
		}
	}
	return NULL;
}

struct sim_op *sim_graph_exec_op(void *exec, void *node)
{
	struct sim_node *n = exec_node(exec_of(exec), node);

	return n ? &n->op : NULL;
}

int sim_graph_set_enabled(void *exec, void *node, bool is_enabled)
{
	struct sim_node *n = exec_node(exec_of(exec), node);

	if (!n) {
		return SIM_INVALID_VALUE;
	}
	n->is_enabled = is_enabled;
	return SIM_OK;
}

bool sim_exec_needs_worker(const void *exec)
{
	return ((const struct sim_exec *)exec)->needs_worker;
}

static bool are_nodes_recorded(void)
{
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	return trace && !atomic_load(&trace->whole_graphs);
}

/* One node: host code first, then its place on the time line. Returns when it ends. */
static uint64_t node_run(
	struct sim_node *n, const struct sim_op *launch, uint32_t graph_id, uint64_t earliest)
{
	struct sim_op op = n->op;

	op.stream = launch->stream;
	op.correlation_id = launch->correlation_id;
	op.graph_node_id = n->id;
	op.graph_id = graph_id;
	op.is_async = true;
	op.end_ns = 0;
	sim_op_identify(&op);
	sim_work(&op);
	pthread_mutex_lock(&sim_lock);
	if (op.kind == SIM_OP_RECORD) {
		op.event->time_ns = earliest;
		op.start_ns = op.end_ns = earliest;
	} else if (op.kind == SIM_OP_WAIT) {
		op.start_ns = op.end_ns = sim_max(earliest, op.event->time_ns);
	} else {
		sim_place_locked(&op, earliest);
	}
	pthread_mutex_unlock(&sim_lock);
	if (are_nodes_recorded()) {
		sim_report(&op);
	}
	return op.end_ns;
}

static uint64_t graph_run(
	struct sim_graph *g, const struct sim_op *launch, uint32_t graph_id, uint64_t start);

/* Kernels of the body run at once, so what they set decides about the next time. */
static uint64_t condition_run(
	struct sim_node *n, const struct sim_op *launch, uint32_t graph_id, uint64_t start)
{
	uint64_t end = start;
	bool goes_on = n->condition->value != 0;

	while (goes_on) {
		end = graph_run(n->child, launch, graph_id, end);
		goes_on = n->is_loop && n->condition->value != 0;
	}
	return end;
}

/* At a launch. */
static void assign_conditions(struct sim_graph *g)
{
	for (size_t i = 0; i < g->nr_nodes; i++) {
		struct sim_node *n = g->nodes[i];

		if (n->condition && n->condition->is_assigned) {
			n->condition->value = n->condition->initial;
		}
		if (n->child) {
			assign_conditions(n->child);
		}
	}
}

static uint64_t graph_run(
	struct sim_graph *g, const struct sim_op *launch, uint32_t graph_id, uint64_t start)
{
	uint64_t end = start;

	for (size_t i = 0; i < g->nr_nodes; i++) {
		struct sim_node *n = g->nodes[i];
		uint64_t earliest = start;

		for (size_t k = 0; k < n->nr_deps; k++) {
			earliest = sim_max(earliest, n->deps[k]->end_ns);
		}
		if (!n->is_enabled || n->op.kind == SIM_OP_EMPTY) {
			n->end_ns = earliest;
		} else if (n->condition) {
			n->end_ns = condition_run(n, launch, graph_id, earliest);
		} else if (n->child) {
			n->end_ns = graph_run(n->child, launch, graph_id, earliest);
		} else {
			n->end_ns = node_run(n, launch, graph_id, earliest);
		}
		end = sim_max(end, n->end_ns);
	}
	return end;
}

void sim_exec_run(void *exec, struct sim_op *launch)
{
	struct sim_exec *e = exec;
	struct sim_op whole = *launch;

	/* One launch of a graph at a time; the ends of its nodes are kept in the nodes. */
	static pthread_mutex_t run_lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&run_lock);
	pthread_mutex_lock(&sim_lock);
	uint64_t start = sim_stream_ready_locked(launch->stream, launch->queued_ns);

	pthread_mutex_unlock(&sim_lock);
	assign_conditions(e->graph);
	uint64_t end = graph_run(e->graph, launch, e->graph_id, start);

	pthread_mutex_lock(&sim_lock);
	sim_stream_advance_locked(launch->stream, end);
	launch->stream->last_was_kernel = false;
	pthread_mutex_unlock(&sim_lock);
	pthread_mutex_unlock(&run_lock);
	whole.start_ns = start;
	whole.end_ns = end;
	whole.graph_id = e->graph_id;
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	if (trace && atomic_load(&trace->whole_graphs)) {
		sim_report(&whole);
	}
}

int sim_graph_launch(void *exec, void *stream)
{
	struct sim_op op = {.kind = SIM_OP_GRAPH, .stream = sim_resolve(stream)};
	struct sim_exec *e = exec_of(exec);

	if (!e || !op.stream) {
		return e ? SIM_INVALID_HANDLE : SIM_INVALID_VALUE;
	}
	if (op.stream->capture) {
		op.kind = SIM_OP_CHILD;
	}
	op.host_data = op.kind == SIM_OP_CHILD ? (void *)e->graph : (void *)e;
	return sim_submit(&op);
}
