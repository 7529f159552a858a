/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: nodes and their order, executable copies, and launching those. */
#include "test/sim/graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint32_t next_graph_id = 1;
static _Atomic uint64_t next_node_id = 1;

struct sim_graph *sim_graph_of(void *handle)
{
	struct sim_graph *g = handle;

	return g && g->magic == SIM_GRAPH_MAGIC ? g : NULL;
}

int sim_graph_create(void **out)
{
	struct sim_graph *g = calloc(1, sizeof(*g));

	if (!g) {
		return SIM_OUT_OF_MEMORY;
	}
	g->magic = SIM_GRAPH_MAGIC;
	g->id = atomic_fetch_add(&next_graph_id, 1);
	*out = g;
	return SIM_OK;
}

static void node_free(struct sim_node *n)
{
	sim_args_drop(&n->op);
	if (n->child) {
		sim_graph_destroy(n->child);
	}
	free(n->deps);
	free(n);
}

int sim_graph_destroy(void *handle)
{
	struct sim_graph *g = sim_graph_of(handle);

	if (!g) {
		return SIM_INVALID_VALUE;
	}
	for (size_t i = 0; i < g->nr_nodes; i++) {
		node_free(g->nodes[i]);
	}
	free(g->nodes);
	g->magic = 0;
	free(g);
	return SIM_OK;
}

static int node_depend(struct sim_node *n, struct sim_node *on)
{
	struct sim_node **deps = realloc(n->deps, (n->nr_deps + 1) * sizeof(*deps));

	if (!deps) {
		return SIM_OUT_OF_MEMORY;
	}
	n->deps = deps;
	n->deps[n->nr_deps++] = on;
	return SIM_OK;
}

static bool has_node(const struct sim_graph *g, const void *node)
{
	for (size_t i = 0; i < g->nr_nodes; i++) {
		if (g->nodes[i] == node) {
			return true;
		}
	}
	return false;
}

int sim_node_add(struct sim_node **out, void *graph, void *const *deps, size_t nr_deps,
	const struct sim_op *op, void *child)
{
	struct sim_graph *g = sim_graph_of(graph);

	if (!g || (nr_deps && !deps)) {
		return SIM_INVALID_VALUE;
	}
	/* A graph outlives its caller's arguments, which cannot be kept without their sizes. */
	if (op->kind == SIM_OP_KERNEL && op->function->cpu && op->function->nr_args < 0) {
		return SIM_NOT_SUPPORTED;
	}
	struct sim_node *n = calloc(1, sizeof(*n));
	struct sim_node **nodes = realloc(g->nodes, (g->nr_nodes + 1) * sizeof(*nodes));

	if (nodes) {
		g->nodes = nodes;
	}
	if (!n || !nodes) {
		free(n);
		return SIM_OUT_OF_MEMORY;
	}
	n->op = *op;
	n->graph = g;
	n->id = atomic_fetch_add(&next_node_id, 1);
	n->is_enabled = true;
	int r = op->kind == SIM_OP_KERNEL ? sim_args_keep(&n->op) : SIM_OK;

	if (r == SIM_OK && child) {
		r = sim_graph_copy(&n->child, child);
	}
	for (size_t i = 0; r == SIM_OK && i < nr_deps; i++) {
		r = has_node(g, deps[i]) ? node_depend(n, deps[i]) : SIM_INVALID_VALUE;
	}
	if (r != SIM_OK) {
		free(n->deps);
		free(n);
		return r;
	}
	g->nodes[g->nr_nodes++] = n;
	*out = n;
	return SIM_OK;
}

void sim_node_announce(struct sim_node *n, uint32_t cbid)
{
	struct sim_trace *trace = atomic_load(&sim_core.trace);

	if (trace) {
		trace->graph_node(cbid, n);
	}
}

void sim_node_announce_new(struct sim_node *n)
{
	sim_node_announce(n, CUPTI_RESOURCE_GRAPHNODE_CREATED);
	if (n->child) {
		sim_graph_announce_copies(n->child);
	}
}

int sim_graph_add(void **out, void *graph, void *const *deps, size_t nr_deps,
	const struct sim_op *op, void *child)
{
	struct sim_node *n;
	int r = sim_node_add(&n, graph, deps, nr_deps, op, child);

	if (r == SIM_OK) {
		sim_node_announce_new(n);
		*out = n;
	}
	return r;
}

int sim_graph_create_condition(
	unsigned long long *handle, void *graph, unsigned int value, bool is_assigned)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct sim_condition *all;
	struct sim_condition *c = sim_graph_of(graph) && handle ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		return SIM_INVALID_VALUE;
	}
	c->value = c->initial = value;
	c->is_assigned = is_assigned;
	pthread_mutex_lock(&lock);
	c->next = all;
	all = c;
	pthread_mutex_unlock(&lock);
	*handle = (uintptr_t)c;
	return SIM_OK;
}

void sim_graph_set_condition(unsigned long long handle, unsigned int value)
{
	((struct sim_condition *)(uintptr_t)handle)->value = value;
}

int sim_graph_add_conditional(void **out, void *graph, void *const *deps, size_t nr_deps,
	unsigned long long handle, int type, void ***bodies)
{
	struct sim_op op = {.kind = SIM_OP_CHILD};
	struct sim_node *n;
	int r = handle && bodies && type <= CUDA_CONDITION_WHILE ? SIM_OK : SIM_INVALID_VALUE;

	if (r == SIM_OK) {
		r = sim_node_add(&n, graph, deps, nr_deps, &op, NULL);
	}
	if (r != SIM_OK) {
		return r;
	}
	n->condition = (struct sim_condition *)(uintptr_t)handle;
	n->is_loop = type == CUDA_CONDITION_WHILE;
	r = sim_graph_create((void **)&n->child);
	if (r != SIM_OK) {
		return r;
	}
	n->body = n->child;
	*bodies = &n->body;
	*out = n;
	sim_node_announce_new(n);
	return SIM_OK;
}

static void node_forget(struct sim_node *n, const struct sim_node *dep)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->nr_deps; i++) {
		if (n->deps[i] != dep) {
			n->deps[kept++] = n->deps[i];
		}
	}
	n->nr_deps = kept;
}

int sim_graph_depend(void *graph, void *const *from, void *const *to, size_t nr, bool add)
{
	struct sim_graph *g = sim_graph_of(graph);
	int r = g ? SIM_OK : SIM_INVALID_VALUE;

	for (size_t i = 0; r == SIM_OK && i < nr; i++) {
		if (!has_node(g, from[i]) || !has_node(g, to[i])) {
			r = SIM_INVALID_VALUE;
		} else if (add) {
			r = node_depend(to[i], from[i]);
		} else {
			node_forget(to[i], from[i]);
		}
	}
	return r;
}

int sim_graph_remove(void *handle)
{
	struct sim_node *n = handle;
	struct sim_graph *g = n ? sim_graph_of(n->graph) : NULL;
	size_t kept = 0;

	if (!g || !has_node(g, n)) {
		return SIM_INVALID_VALUE;
	}
	for (size_t i = 0; i < g->nr_nodes; i++) {
		node_forget(g->nodes[i], n);
		if (g->nodes[i] != n) {
			g->nodes[kept++] = g->nodes[i];
		}
	}
	g->nr_nodes = kept;
	node_free(n);
	return SIM_OK;
}

/* Index of the copy that corresponds to a node; nodes keep their order in a clone. */
static size_t index_of(const struct sim_graph *g, const struct sim_node *n)
{
	size_t i = 0;

	while (i < g->nr_nodes && g->nodes[i] != n) {
		i++;
	}
	return i;
}

int sim_graph_copy(struct sim_graph **out, void *graph)
{
	struct sim_graph *g = sim_graph_of(graph), *copy;
	int r = g ? sim_graph_create((void **)&copy) : SIM_INVALID_VALUE;

	if (r != SIM_OK) {
		return r;
	}
	for (size_t i = 0; r == SIM_OK && i < g->nr_nodes; i++) {
		struct sim_node *n;

		r = sim_node_add(&n, copy, NULL, 0, &g->nodes[i]->op, g->nodes[i]->child);
		if (r == SIM_OK) {
			n->original = g->nodes[i];
			n->condition = g->nodes[i]->condition;
			n->is_loop = g->nodes[i]->is_loop;
		}
	}
	for (size_t i = 0; r == SIM_OK && i < g->nr_nodes; i++) {
		for (size_t k = 0; r == SIM_OK && k < g->nodes[i]->nr_deps; k++) {
			size_t dep = index_of(g, g->nodes[i]->deps[k]);

			r = node_depend(copy->nodes[i], copy->nodes[dep]);
		}
	}
	if (r != SIM_OK) {
		sim_graph_destroy(copy);
		return r;
	}
	*out = copy;
	return SIM_OK;
}

void sim_graph_announce_copies(const struct sim_graph *g)
{
	for (size_t i = 0; i < g->nr_nodes; i++) {
		sim_node_announce(g->nodes[i], CUPTI_RESOURCE_GRAPHNODE_CLONED);
		if (g->nodes[i]->child) {
			sim_graph_announce_copies(g->nodes[i]->child);
		}
	}
}

int sim_graph_clone(void **out, void *graph)
{
	struct sim_graph *copy;
	int r = sim_graph_copy(&copy, graph);

	if (r == SIM_OK) {
		sim_graph_announce_copies(copy);
		*out = copy;
	}
	return r;
}

/* Lists up to *nr nodes; with no list, counts. */
static int list(struct sim_graph *g, bool roots_only, void **nodes, size_t *nr)
{
	size_t count = 0;

	if (!g || !nr) {
		return SIM_INVALID_VALUE;
	}
	for (size_t i = 0; i < g->nr_nodes; i++) {
		if (roots_only && g->nodes[i]->nr_deps) {
			continue;
		}
		if (nodes && count < *nr) {
			nodes[count] = g->nodes[i];
		}
		count++;
	}
	*nr = nodes && count > *nr ? *nr : count;
	return SIM_OK;
}

int sim_graph_nodes(void *graph, void **nodes, size_t *nr)
{
	return list(sim_graph_of(graph), false, nodes, nr);
}

int sim_graph_roots(void *graph, void **nodes, size_t *nr)
{
	return list(sim_graph_of(graph), true, nodes, nr);
}

int sim_graph_edges(void *graph, void **from, void **to, size_t *nr)
{
	struct sim_graph *g = sim_graph_of(graph);
	size_t count = 0;

	if (!g || !nr) {
		return SIM_INVALID_VALUE;
	}
	for (size_t i = 0; i < g->nr_nodes; i++) {
		for (size_t k = 0; k < g->nodes[i]->nr_deps; k++, count++) {
			if (from && to && count < *nr) {
				from[count] = g->nodes[i]->deps[k];
				to[count] = g->nodes[i];
			}
		}
	}
	*nr = from && count > *nr ? *nr : count;
	return SIM_OK;
}

struct sim_op *sim_graph_node_op(void *node)
{
	struct sim_node *n = node;

	return n && sim_graph_of(n->graph) ? &n->op : NULL;
}

int sim_graph_node_type(void *node, int *type)
{
	/* kernel, copy, set, host, event record, event wait, empty, memory, -, -, child */
	static const int types[] = {0, 1, 2, 3, 7, 6, 5, 10, -1, -1, 4};
	const struct sim_op *op = sim_graph_node_op(node);

	if (!op || !type) {
		return SIM_INVALID_VALUE;
	}
	if (((struct sim_node *)node)->condition) {
		*type = CUDA_NODE_CONDITIONAL;
		return SIM_OK;
	}
	*type = op->kind == SIM_OP_MEMORY && op->is_release ? 11 : types[op->kind];
	return SIM_OK;
}
