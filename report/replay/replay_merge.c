/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the graph of a step smaller: what a thread does from one launch or wait to the next becomes
 * one node, so that a run takes less time and gives the same times.
 */
#include <stdlib.h>

#include "report/replay/replay_graph.h"
#include "report/util/buf.h"

/* The ways in which other nodes depend on a node. */
enum {
	HAS_NEXT = 1,	  /* a node that follows it on its thread */
	HAS_OTHERS = 2,	  /* more than that */
	HAS_BEGIN = 4,	  /* something needs to know when it begins, or how far it is */
	IS_CONTINUED = 8, /* it is not a node of its own: the one before it goes on */
};

struct merging {
	struct replay_graph *graph;
	uint8_t *uses;
	uint32_t *next;	 /* 1 + the node in which it goes on */
	uint32_t *place; /* 1 + its new index; several nodes: at the last, that of the first */
	bool is_any_kind;
};

static void find_uses(struct merging *merging)
{
	const struct replay_graph *graph = merging->graph;
	const struct part *part = graph->parts;
	uint8_t *uses = merging->uses - 1; /* numbers count from 1 */

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		const struct node *node = &graph->nodes[i];

		if (node->after) {
			uses[node->after] |= uses[node->after] & HAS_NEXT ? HAS_OTHERS : HAS_NEXT;
		}
		if (node->cause) {
			uses[node->cause] |=
				HAS_OTHERS | (node->flags & IS_FROM_BEGIN ? HAS_BEGIN : 0);
		}
	}
	for (size_t i = 0; i < graph->nr_events; i++) {
		uses[graph->events[i]] |= HAS_OTHERS;
	}
	if (part->at_begin) {
		uses[part->at_begin] |= HAS_OTHERS | HAS_BEGIN;
	}
	if (part->at_end) {
		uses[part->at_end] |= HAS_OTHERS | HAS_BEGIN;
	}
}

/*
 * Is the node only more of the one before it, whatever changes? Then both run as one: neither has
 * scales, their flags are the same, the second has no cause, nothing else waits for the end of the
 * first, and nothing asks when the second begins.
 */
static bool goes_on(const struct merging *merging, size_t place)
{
	const struct node *node = &merging->graph->nodes[place];
	const struct node *before = &merging->graph->nodes[node->after - 1];

	return node->kind < REPLAY_WAIT && before->kind < REPLAY_WAIT &&
	       (merging->is_any_kind || node->kind == before->kind) &&
	       node->flags == before->flags && !node->scales && !before->scales && !node->cause &&
	       node->begin == before->end && !(merging->uses[place] & HAS_BEGIN) &&
	       !(merging->uses[node->after - 1] & HAS_OTHERS);
}

/*
 * Finds chains of nodes that go on. The first node of a chain stands for it and ends with the last
 * one, and what came after the last one comes after it: other links to nodes within a chain do not
 * exist.
 */
static void merge(struct merging *merging)
{
	struct replay_graph *graph = merging->graph;
	uint32_t nr = 0;

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		if (graph->nodes[i].after && goes_on(merging, i)) {
			merging->next[graph->nodes[i].after - 1] = (uint32_t)i + 1;
			merging->uses[i] |= IS_CONTINUED;
		}
	}
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		size_t last = i;

		if (merging->uses[i] & IS_CONTINUED) {
			continue;
		}
		while (merging->next[last]) {
			last = merging->next[last] - 1;
		}
		graph->nodes[i].end = graph->nodes[last].end;
		merging->place[last] = ++nr;
	}
}

static uint32_t place_of(const struct merging *merging, uint32_t place)
{
	return place ? merging->place[place - 1] : 0;
}

static void renumber(struct merging *merging)
{
	struct replay_graph *graph = merging->graph;
	size_t nr = 0;

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		if (!(merging->uses[i] & IS_CONTINUED)) {
			struct node *node = &graph->nodes[nr++];

			*node = graph->nodes[i];
			node->after = place_of(merging, node->after);
			node->cause = place_of(merging, node->cause);
		}
	}
	graph->nr_nodes = nr;
	for (size_t i = 0; i < graph->nr_events; i++) {
		graph->events[i] = place_of(merging, graph->events[i]);
	}
	graph->parts[0].at_begin = place_of(merging, graph->parts[0].at_begin);
	graph->parts[0].at_end = place_of(merging, graph->parts[0].at_end);
}

void replay_merge(struct replay_graph *graph, bool is_any_kind)
{
	struct merging merging = {.graph = graph,
		.uses = mem_zeroed(graph->nr_nodes + 1, sizeof(uint8_t)),
		.next = mem_zeroed(graph->nr_nodes + 1, sizeof(uint32_t)),
		.place = mem_zeroed(graph->nr_nodes + 1, sizeof(uint32_t)),
		.is_any_kind = is_any_kind};

	find_uses(&merging);
	merge(&merging);
	renumber(&merging);
	free(merging.uses);
	free(merging.next);
	free(merging.place);
}
