/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row about a node becomes a link: what node it stands for from then on. Each link is resolved
 * once, to the node that the program created, so that an activity needs one search. Operators are
 * copied when the first node in them is met, and shared by all nodes in them.
 */
#include "report/ops/graph_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "report/stream/stream.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

#define NO_NODE UINT32_MAX

/* From `tick` on, the ID `node` stands for `original`; 0: it was created then. */
struct graph_link {
	uint64_t node, tick, original;
	size_t row;	    /* its place in the stream, since ticks may be equal */
	uint32_t graph;	    /* CUPTI's ID, 0: unknown */
	uint32_t nr_copies; /* made of it; only while members are found */
	uint32_t created;   /* index in graph_nodes.nodes, NO_NODE: unknown */
	uint8_t kind;	    /* CUgraphNodeType */
};

/* ---- reading ---- */

static void add_row(struct graph_nodes *graphs, const struct batch *b, uint32_t row)
{
	struct graph_link link = {.node = b->col[COL_graph_node_node][row],
		.tick = b->col[COL_graph_node_time][row],
		.original = b->col[COL_graph_node_original][row],
		.row = graphs->nr_links,
		.graph = (uint32_t)b->col[COL_graph_node_graph][row],
		.created = NO_NODE,
		.kind = (uint8_t)b->col[COL_graph_node_kind][row]};

	if (!link.original && graphs->nr_nodes < NO_NODE) {
		graphs->nodes = array_grow(graphs->nodes, graphs->nr_nodes, &graphs->node_capacity,
			sizeof(*graphs->nodes));
		link.created = (uint32_t)graphs->nr_nodes;
		graphs->nodes[graphs->nr_nodes++] = (struct graph_node){.id = link.node,
			.tick = link.tick,
			.thread = (uint32_t)b->col[COL_graph_node_thread][row],
			.segment = UINT32_MAX,
			.phase = PHASE_OTHERS};
	}
	graphs->links = array_grow(
		graphs->links, graphs->nr_links, &graphs->link_capacity, sizeof(*graphs->links));
	graphs->links[graphs->nr_links++] = link;
}

static int compare_times(const struct graph_link *x, const struct graph_link *y)
{
	return ORDER(COMPARE(x->tick, y->tick), COMPARE(x->row, y->row));
}

static int by_node(const void *a, const void *b)
{
	const struct graph_link *x = a, *y = b;

	return ORDER(COMPARE(x->node, y->node), compare_times(x, y));
}

static int by_time(const void *a, const void *b)
{
	return compare_times(*(struct graph_link *const *)a, *(struct graph_link *const *)b);
}

/* The last link of a node up to a tick, NULL if there is none. */
static struct graph_link *find_link(const struct graph_nodes *graphs, uint64_t node, uint64_t tick)
{
	struct graph_link *links = graphs->links;
	size_t at;

	BISECT(at, 0, graphs->nr_links,
		links[at].node < node || (links[at].node == node && links[at].tick <= tick));
	return at && links[at - 1].node == node ? &links[at - 1] : NULL;
}

/*
 * A copy stands for what its original stood for when it was made. In the order of time the original
 * is known by then, however long the chain is.
 */
static void resolve_links(struct graph_nodes *graphs)
{
	struct graph_link **order = mem_resize(NULL, graphs->nr_links, sizeof(struct graph_link *));

	for (size_t i = 0; i < graphs->nr_links; i++) {
		order[i] = &graphs->links[i];
	}
	qsort(order, graphs->nr_links, sizeof(*order), by_time);
	for (size_t i = 0; i < graphs->nr_links; i++) {
		struct graph_link *link = order[i];

		if (link->original) {
			const struct graph_link *original =
				find_link(graphs, link->original, link->tick);

			link->created = original ? original->created : NO_NODE;
		}
	}
	free(order);
}

void graph_nodes_read(struct graph_nodes *graphs, struct process *process)
{
	struct stream *stream = process->stream;

	graphs->is_known = !stream->is_trace && stream_table(stream, GPROF_TABLE_graph_node);
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) != GPROF_TABLE_graph_node ||
			stream_load(stream, i, COL_ALL(NR_COL_graph_node), 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			add_row(graphs, &batch, row);
		}
	}
	if (!graphs->nr_links) {
		return;
	}
	qsort(graphs->links, graphs->nr_links, sizeof(*graphs->links), by_node);
	resolve_links(graphs);
}

void graph_nodes_fini(struct graph_nodes *graphs)
{
	for (size_t i = 0; i < graphs->nr_ops; i++) {
		free(graphs->ops[i]);
	}
	free(graphs->ops);
	free(graphs->run);
	free(graphs->is_run);
	free(graphs->links);
	free(graphs->nodes);
	free(graphs->captures);
	*graphs = (struct graph_nodes){0};
}

struct graph_node *graph_nodes_find(struct graph_nodes *graphs, uint64_t id, uint64_t tick)
{
	const struct graph_link *link = find_link(graphs, id, tick);

	return link && link->created != NO_NODE ? &graphs->nodes[link->created] : NULL;
}

struct graph_node *graph_nodes_created(struct graph_nodes *graphs, uint64_t id, uint64_t tick)
{
	const struct graph_link *link = find_link(graphs, id, tick);

	return link && !link->original && link->tick == tick && link->created != NO_NODE
		       ? &graphs->nodes[link->created]
		       : NULL;
}

void graph_nodes_each_id(const struct graph_nodes *graphs,
	void (*take)(void *context, uint64_t id, const struct graph_node *node), void *context)
{
	for (size_t i = 0; i < graphs->nr_links; i++) {
		const struct graph_link *link = &graphs->links[i];

		if (link->created != NO_NODE) {
			take(context, link->node, &graphs->nodes[link->created]);
		}
	}
}

/* ---- operators ---- */

static struct op *copy_of(struct graph_nodes *graphs, struct op *op, struct op *parent)
{
	struct op *copy;

	if (op->copy) {
		return graphs->ops[op->copy - 1];
	}
	copy = mem_zeroed(1, sizeof(*copy));
	*copy = *op;
	copy->parent = parent;
	graphs->ops =
		array_grow(graphs->ops, graphs->nr_ops, &graphs->op_capacity, sizeof(*graphs->ops));
	graphs->ops[graphs->nr_ops++] = copy;
	op->copy = copy->copy = (uint32_t)graphs->nr_ops;
	return copy;
}

void graph_nodes_keep(
	struct graph_nodes *graphs, struct graph_node *node, struct op *const *open, size_t nr_open)
{
	struct op *parent = NULL;

	for (size_t i = 0; i < nr_open; i++) {
		parent = copy_of(graphs, open[i], parent);
	}
	node->op = parent;
	node->segment = parent ? parent->segment : UINT32_MAX;
}

/* ---- launches ---- */

/* A copy has its number; other operators have none in the walk that calls views. */
static struct op *copy_around(struct graph_nodes *graphs, const struct op *op)
{
	return op->parent && op->parent->copy ? graphs->ops[op->parent->copy - 1] : NULL;
}

static void begin_run(struct graph_nodes *graphs, struct op *op, uint64_t tick)
{
	graphs->is_run[op->copy - 1] = true;
	graphs->run = array_grow(
		graphs->run, graphs->nr_run, &graphs->run_capacity, sizeof(*graphs->run));
	graphs->run[graphs->nr_run++] = op->copy;
	op->begin = op->end = tick;
	op->child_ticks = op->part_ticks = op->module_ticks = 0;
	op->nr_activities = op->gpu_self_ns = op->gpu_total_ns = 0;
	op->graph_self_ns = op->module_gpu_ns = 0;
}

void graph_nodes_add_run(struct graph_nodes *graphs, struct graph_node *node,
	const struct op *around, uint64_t tick, uint64_t ns)
{
	struct op *op = node->op;

	if (!op) {
		return;
	}
	if (!graphs->is_run) {
		graphs->is_run = mem_zeroed(graphs->nr_ops, sizeof(*graphs->is_run));
	}
	node->outermost->parent = around;
	for (; op && !graphs->is_run[op->copy - 1]; op = copy_around(graphs, op)) {
		begin_run(graphs, op, tick);
	}
	node->op->nr_activities++;
	node->op->gpu_self_ns += ns;
	node->op->graph_self_ns += ns;
}

static void add_to_module(struct graph_nodes *graphs, const struct op *op)
{
	struct op *module = copy_around(graphs, op);

	while (module && !(module->is & OP_IS_MODULE)) {
		module = copy_around(graphs, module);
	}
	if (module) {
		module->module_gpu_ns += op->gpu_total_ns;
	}
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

void graph_nodes_end_run(struct graph_nodes *graphs)
{
	if (graphs->nr_run) {
		qsort(graphs->run, graphs->nr_run, sizeof(*graphs->run), by_number);
	}
}

const struct op *graph_nodes_next_run(struct graph_nodes *graphs)
{
	struct op *op, *outer;

	if (!graphs->nr_run) {
		return NULL;
	}
	op = graphs->ops[graphs->run[--graphs->nr_run] - 1];
	graphs->is_run[op->copy - 1] = false;
	outer = copy_around(graphs, op);
	op->gpu_total_ns += op->gpu_self_ns;
	if (outer) {
		outer->gpu_total_ns += op->gpu_total_ns;
	}
	if (op->is & OP_IS_MODULE) {
		add_to_module(graphs, op);
	}
	return op;
}

/* ---- captures ---- */

static bool has_text(uint32_t name, const char *part)
{
	const char *text = string_pool_text(name, NULL);

	return text && strstr(text, part) != NULL;
}

bool graph_call_begins_capture(uint32_t name)
{
	return has_text(name, "StreamBeginCapture");
}

bool graph_call_ends_capture(uint32_t name)
{
	return has_text(name, "StreamEndCapture");
}

bool graph_nodes_has_captures(const struct process *process)
{
	for (size_t i = 0; i < process->calls.nr; i++) {
		const struct model_call *call = idmap_at(&process->calls, i);

		if (call->name && graph_call_begins_capture(call->name)) {
			return true;
		}
	}
	return false;
}

void graph_nodes_add_capture(struct graph_nodes *graphs, const struct graph_capture *capture)
{
	graphs->captures = array_grow(graphs->captures, graphs->nr_captures,
		&graphs->capture_capacity, sizeof(*graphs->captures));
	graphs->captures[graphs->nr_captures++] = *capture;
}

static int by_begin(const void *a, const void *b)
{
	const struct graph_capture *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

/* A backward pass is captured from another thread than the one that began the capture. */
const struct graph_capture *graph_nodes_capture(
	const struct graph_nodes *graphs, uint64_t tick, uint32_t thread)
{
	const struct graph_capture *found = NULL;
	size_t at;

	BISECT(at, 0, graphs->nr_captures, graphs->captures[at].begin <= tick);
	for (size_t i = at; i-- > 0 && graphs->captures[i].last_end >= tick;) {
		const struct graph_capture *capture = &graphs->captures[i];

		if (tick > capture->end) {
			continue;
		}
		if (capture->thread == thread) {
			return capture;
		}
		found = found ? found : capture;
	}
	return found;
}

/* Leaves out operators that began before the capture: around a launch, others are open. */
static void leave_out(struct graph_node *node, uint64_t begin)
{
	if (node->op && node->op->begin < begin) {
		node->op = NULL;
	}
	for (struct op *op = node->op; op; op = (struct op *)op->parent) {
		if (op->parent && op->parent->begin < begin) {
			op->parent = NULL;
		}
		node->outermost = op;
		node->has_module |= (op->is & OP_IS_MODULE) != 0;
	}
}

void graph_nodes_finish(struct graph_nodes *graphs, const struct phases *phases)
{
	if (graphs->nr_captures) {
		qsort(graphs->captures, graphs->nr_captures, sizeof(*graphs->captures), by_begin);
	}
	for (size_t i = 0; i < graphs->nr_captures; i++) {
		uint64_t before = i ? graphs->captures[i - 1].last_end : 0;
		uint64_t end = graphs->captures[i].end;

		graphs->captures[i].last_end = before > end ? before : end;
	}
	for (size_t i = 0; i < graphs->nr_nodes; i++) {
		struct graph_node *node = &graphs->nodes[i];
		const struct graph_capture *capture =
			graph_nodes_capture(graphs, node->tick, node->thread);

		node->capture_begin = capture ? capture->begin : 0;
		leave_out(node, node->capture_begin);
		if (node->segment < phases->nr_phase_of) {
			node->phase = phases->phase_of[node->segment];
		}
	}
}

/* ---- members ---- */

/* A graph, as the rows of its nodes describe it. */
struct graph_members {
	bool has_nodes;
	uint32_t nr_copies; /* of each node, while that is one number */
	bool is_changed;    /* so a launch may have run other nodes than these */
	bool has_unknown;   /* copies of nodes that have no row */
};

static bool is_first_of_node(const struct graph_nodes *graphs, size_t i)
{
	return !i || graphs->links[i - 1].node != graphs->links[i].node;
}

/* Returns the node that it is a copy of; NULL if that is unknown, as in a stream whose rows
 * contradict each other.
 */
static struct graph_link *copied_from(
	const struct graph_nodes *graphs, const struct graph_link *copy)
{
	struct graph_link *original =
		copy->original ? find_link(graphs, copy->original, copy->tick) : NULL;

	return original && compare_times(original, copy) < 0 ? original : NULL;
}

/* Neither the graph of a copy nor those that it was copied from are what a launch of them runs. */
static void note_change(
	const struct graph_nodes *graphs, struct idmap *members, const struct graph_link *copy)
{
	for (; copy; copy = copied_from(graphs, copy)) {
		((struct graph_members *)idmap_put(members, copy->graph))->is_changed = true;
	}
}

/* An update makes a node a copy of another one than it was made of. */
static void note_update(
	const struct graph_nodes *graphs, struct idmap *members, const struct graph_link *updated)
{
	const struct graph_link *link = updated;

	while (link > graphs->links && link[-1].node == updated->node) {
		link--;
	}
	note_change(graphs, members, link);
}

/*
 * Each instantiation copies all nodes of a graph. So where some have fewer copies than others,
 * nodes were added or removed in between.
 */
static void note_member(
	const struct graph_nodes *graphs, struct idmap *members, const struct graph_link *link)
{
	struct graph_members *graph = idmap_put(members, link->graph);

	if (graph->has_nodes && graph->nr_copies != link->nr_copies) {
		graph->is_changed = true;
	}
	graph->has_nodes = true;
	graph->nr_copies = link->nr_copies;
	graph->has_unknown |= link->original && !copied_from(graphs, link);
}

/* A graph that was captured only in part while gprof recorded has nodes without rows. */
static void note_unknown(const struct graph_nodes *graphs, struct idmap *members)
{
	for (size_t i = 0; i < graphs->nr_links; i++) {
		const struct graph_link *link = &graphs->links[i];
		const struct graph_members *graph = idmap_get(members, link->graph);

		if (graph && graph->has_unknown) {
			note_change(graphs, members, copied_from(graphs, link));
		}
	}
}

static void find_members(struct graph_nodes *graphs, struct idmap *members)
{
	for (size_t i = 0; i < graphs->nr_links; i++) {
		graphs->links[i].nr_copies = 0;
	}
	for (size_t i = 0; i < graphs->nr_links; i++) {
		struct graph_link *original = copied_from(graphs, &graphs->links[i]);

		if (original && is_first_of_node(graphs, i)) {
			original->nr_copies++;
		}
	}
	for (size_t i = 0; i < graphs->nr_links; i++) {
		if (is_first_of_node(graphs, i)) {
			note_member(graphs, members, &graphs->links[i]);
		} else {
			note_update(graphs, members, &graphs->links[i]);
		}
	}
	note_unknown(graphs, members);
}

static struct graph_member member_of(struct graph_nodes *graphs, const struct graph_link *link)
{
	struct graph_member member = {.graph = link->graph,
		.kind = link->kind,
		.is_capture_unknown = link->created == NO_NODE};
	struct graph_node *node = link->created != NO_NODE ? &graphs->nodes[link->created] : NULL;

	if (node && node->op) {
		node->outermost->parent = NULL; /* else it lies in what was around a launch */
		member.op = node->op;
	}
	return member;
}

void graph_nodes_each_member(struct graph_nodes *graphs,
	void (*take)(void *context, const struct graph_member *member), void *context)
{
	struct idmap members;

	idmap_init(&members, sizeof(struct graph_members));
	find_members(graphs, &members);
	for (size_t i = 0; i < graphs->nr_links; i++) {
		const struct graph_link *link = &graphs->links[i];
		const struct graph_members *graph = idmap_get(&members, link->graph);

		if (is_first_of_node(graphs, i) && link->graph && !graph->is_changed) {
			const struct graph_member member = member_of(graphs, link);

			take(context, &member);
		}
	}
	idmap_fini(&members);
}
