/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel names its node and the launch of the graph. What the node stood for then depends on the
 * time of the launch, since a graph may be updated; so kernels whose node may be one of NCCL's are
 * gathered first, then the calls that launched them are read.
 */
#include "report/comm/nccl_graph.h"

#include <stdlib.h>

#include "report/model/select.h"
#include "report/ops/phase.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

#define KERNEL_MASK COLS(kernel, begin, dur, place, correlation, graph_node)
#define CALL_MASK   (COLS(api, begin, correlation))

/* A kernel of a graph. */
struct replay {
	uint64_t correlation, node, begin_ns, end_ns;
	uint64_t tick;	  /* of the launch */
	uint32_t created; /* index of its node; UINT32_MAX: not of NCCL, or without a launch */
	uint32_t op;	  /* index in nccl_graph.captured */
	uint32_t again;	  /* how often the launch ran the node before */
	uint32_t device;
};

struct replays {
	struct replay *items;
	size_t nr, capacity;
};

/* ---- nodes ---- */

static int by_thread(const void *a, const void *b)
{
	const struct graph_node *x = *(const struct graph_node *const *)a;
	const struct graph_node *y = *(const struct graph_node *const *)b;

	return ORDER(COMPARE(x->thread, y->thread), COMPARE(x->tick, y->tick));
}

void nccl_graph_read(struct nccl_graph *graph, struct process *process)
{
	size_t nr;

	graph_nodes_read(&graph->nodes, process);
	nr = graph->nodes.nr_nodes;
	if (!nr) {
		return;
	}
	graph->created = mem_zeroed(nr, sizeof(*graph->created));
	graph->op_of = mem_zeroed(nr, sizeof(*graph->op_of));
	for (size_t i = 0; i < nr; i++) {
		graph->created[i] = &graph->nodes.nodes[i];
	}
	qsort(graph->created, nr, sizeof(*graph->created), by_thread);
}

void nccl_graph_fini(struct nccl_graph *graph)
{
	graph_nodes_fini(&graph->nodes);
	free(graph->created);
	free(graph->op_of);
	free(graph->captured);
	*graph = (struct nccl_graph){0};
}

/* The first node of the thread from a tick on, or what follows. */
static size_t first_from(const struct nccl_graph *graph, uint32_t thread, uint64_t tick)
{
	const struct graph_node *const *nodes = graph->created;
	size_t at;

	BISECT(at, 0, graph->nodes.nr_nodes,
		nodes[at]->thread < thread ||
			(nodes[at]->thread == thread && nodes[at]->tick < tick));
	return at;
}

static bool is_between(const struct nccl_graph *graph, size_t at, uint32_t thread, uint64_t end)
{
	return at < graph->nodes.nr_nodes && graph->created[at]->thread == thread &&
	       graph->created[at]->tick <= end;
}

bool nccl_graph_has(const struct nccl_graph *graph, uint32_t thread, uint64_t begin, uint64_t end)
{
	return is_between(graph, first_from(graph, thread, begin), thread, end);
}

void nccl_graph_add(struct nccl_graph *graph, uint32_t thread, uint64_t begin, uint64_t end,
	const struct nccl_op *op)
{
	graph->captured = array_grow(
		graph->captured, graph->nr_captured, &graph->capacity, sizeof(*graph->captured));
	graph->captured[graph->nr_captured++] = *op;
	for (size_t at = first_from(graph, thread, begin); is_between(graph, at, thread, end);
		at++) {
		graph->op_of[graph->created[at] - graph->nodes.nodes] =
			(uint32_t)graph->nr_captured;
	}
}

/* ---- kernels ---- */

static void note_id(void *context, uint64_t id, const struct graph_node *node)
{
	struct idmap *ids = ((void **)context)[0];
	const struct nccl_graph *graph = ((void **)context)[1];

	if (graph->op_of[node - graph->nodes.nodes]) {
		*(uint8_t *)idmap_put(ids, id) = 1;
	}
}

static void read_kernels(struct replays *replays, const struct idmap *ids, struct process *process)
{
	struct stream *stream = process->stream;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch b;

		if (stream_block_table(stream, i) != GPROF_TABLE_kernel ||
			stream_load(stream, i, KERNEL_MASK, 0, &b)) {
			continue;
		}
		for (uint32_t row = 0; row < b.nr_rows; row++) {
			uint64_t node = b.col[COL_kernel_graph_node][row], begin;

			if (!node || !idmap_get(ids, node)) {
				continue;
			}
			begin = clock_map_time(
				&process->device_clock, b.col[COL_kernel_begin][row]);
			replays->items = array_grow(replays->items, replays->nr, &replays->capacity,
				sizeof(*replays->items));
			replays->items[replays->nr++] =
				(struct replay){.correlation = b.col[COL_kernel_correlation][row],
					.node = node,
					.begin_ns = begin,
					.end_ns = begin + b.col[COL_kernel_dur][row],
					.created = UINT32_MAX,
					.device = process_place(
						process, (uint32_t)b.col[COL_kernel_place][row])
							  .device};
		}
	}
}

/* ---- launches ---- */

static int by_correlation(const void *a, const void *b)
{
	const struct replay *x = a, *y = b;

	return COMPARE(x->correlation, y->correlation);
}

static void add_launch(
	struct nccl_graph *graph, struct replays *replays, uint64_t correlation, uint64_t tick)
{
	size_t at;

	BISECT(at, 0, replays->nr, replays->items[at].correlation < correlation);
	for (; at < replays->nr && replays->items[at].correlation == correlation; at++) {
		struct replay *replay = &replays->items[at];
		const struct graph_node *node = graph_nodes_find(&graph->nodes, replay->node, tick);
		size_t created = node ? (size_t)(node - graph->nodes.nodes) : 0;

		if (node && graph->op_of[created]) {
			replay->tick = tick;
			replay->created = (uint32_t)created;
			replay->op = graph->op_of[created] - 1;
		}
	}
}

static void read_launches(
	struct nccl_graph *graph, struct replays *replays, struct process *process)
{
	struct stream *stream = process->stream;

	qsort(replays->items, replays->nr, sizeof(*replays->items), by_correlation);
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		struct batch b;

		if ((table != GPROF_TABLE_api && table != GPROF_TABLE_api_launch) ||
			stream_load(stream, i, CALL_MASK, 0, &b)) {
			continue;
		}
		for (uint32_t row = 0; row < b.nr_rows; row++) {
			if (b.col[COL_api_correlation][row]) {
				add_launch(graph, replays, b.col[COL_api_correlation][row],
					b.col[COL_api_begin][row]);
			}
		}
	}
}

/* ---- operations ---- */

static int by_node(const void *a, const void *b)
{
	const struct replay *x = a, *y = b;

	return ORDER(COMPARE(x->created, y->created), COMPARE(x->correlation, y->correlation),
		COMPARE(x->begin_ns, y->begin_ns));
}

static bool is_same_time(const struct replay *x, const struct replay *y)
{
	return x->correlation == y->correlation && x->op == y->op && x->again == y->again;
}

static int by_time(const void *a, const void *b)
{
	const struct replay *x = a, *y = b;

	return ORDER(COMPARE(x->tick, y->tick), COMPARE(x->correlation, y->correlation),
		COMPARE(x->op, y->op), COMPARE(x->again, y->again));
}

/* A launch runs a node several times if it has several copies of it, or a loop. */
static void count_again(struct replays *replays)
{
	qsort(replays->items, replays->nr, sizeof(*replays->items), by_node);
	for (size_t i = 1; i < replays->nr; i++) {
		struct replay *replay = &replays->items[i];

		if (replay->created == replay[-1].created &&
			replay->correlation == replay[-1].correlation) {
			replay->again = replay[-1].again + 1;
		}
	}
}

static struct nccl_op make_op(const struct nccl_graph *graph, const struct nccl_ops *ops,
	struct process *process, const struct replay *replay)
{
	const struct phases steps = {.process = process, .nr_steps = process->nr_steps + 1};
	struct nccl_op op = graph->captured[replay->op];

	op.id = (uint32_t)ops->nr_ops;
	op.process = ops->nr_processes;
	op.sequence = 0;
	op.correlation = 0; /* it is that of all nodes */
	op.is_captured = false;
	op.is_in_graph = true;
	op.step = phases_step(&steps, replay->tick);
	op.device = replay->device;
	op.begin_ns = replay->begin_ns;
	op.end_ns = replay->end_ns;
	return op;
}

static void add_ops(const struct nccl_graph *graph, const struct replays *replays,
	struct nccl_ops *ops, struct process *process)
{
	const struct replay *before = NULL;

	for (size_t i = 0; i < replays->nr; i++) {
		const struct replay *replay = &replays->items[i];
		struct nccl_op *last = before ? &ops->ops[ops->nr_ops - 1] : NULL;

		if (replay->created == UINT32_MAX ||
			(process->select && !select_has_tick(process, replay->tick))) {
			continue;
		}
		if (before && is_same_time(before, replay)) {
			last->begin_ns = replay->begin_ns < last->begin_ns ? replay->begin_ns
									   : last->begin_ns;
			last->end_ns =
				replay->end_ns > last->end_ns ? replay->end_ns : last->end_ns;
		} else {
			ops->ops = array_grow(
				ops->ops, ops->nr_ops, &ops->capacity, sizeof(*ops->ops));
			ops->ops[ops->nr_ops] = make_op(graph, ops, process, replay);
			ops->nr_ops++;
		}
		before = replay;
	}
}

void nccl_graph_add_replays(struct nccl_graph *graph, struct nccl_ops *ops, struct process *process)
{
	struct replays replays = {0};
	struct idmap ids;
	void *context[] = {&ids, graph};

	if (!graph->nr_captured) {
		return;
	}
	idmap_init(&ids, sizeof(uint8_t));
	graph_nodes_each_id(&graph->nodes, note_id, context);
	read_kernels(&replays, &ids, process);
	idmap_fini(&ids);
	if (replays.nr) {
		read_launches(graph, &replays, process);
		count_again(&replays);
		qsort(replays.items, replays.nr, sizeof(*replays.items), by_time);
		add_ops(graph, &replays, ops, process);
	}
	free(replays.items);
}
