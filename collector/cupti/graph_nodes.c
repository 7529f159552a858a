/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI announces a node while the call that creates it runs, on the thread of that call: so the
 * row's time lies in the call, and in the operators and modules around it. A node of an executable
 * graph is a copy, announced with its original. If CUPTI has no IDs, only these rows are missing.
 */
#include "collector/cupti/graph_nodes.h"

#include <stdatomic.h>
#include <stddef.h>

#include "collector/cupti/cupti.h"
#include "collector/cupti/subscriber.h"
#include "collector/ring/ring.h"
#include "collector/util/clock.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"

static const uint16_t cbids[] = {CUPTI_RESOURCE_GRAPHNODE_CREATED, CUPTI_RESOURCE_GRAPHNODE_CLONED,
	CUPTI_RESOURCE_GRAPHNODE_UPDATED};

static atomic_uint is_missing_told;

static void report_missing(uint32_t rc)
{
	if (notice_is_first(&is_missing_told)) {
		notice_add("nodes of graphs", (int)rc,
			"CUPTI gave no ID for a node of a CUDA graph; its kernel or copy is "
			"recorded, but not which operator it belongs to. A newer CUPTI may help");
	}
}

void graph_nodes_set_enabled(bool is_wanted)
{
	for (size_t i = 0; i < sizeof(cbids) / sizeof(cbids[0]); i++) {
		subscriber_want(CUPTI_DOMAIN_RESOURCE, cbids[i], is_wanted);
	}
}

/* Returns 0 for a node whose ID CUPTI does not know. */
static uint64_t node_id(void *node)
{
	uint64_t id = 0;
	uint32_t rc = cupti.cuptiGetGraphNodeId ? cupti.cuptiGetGraphNodeId(node, &id)
						: (uint32_t)CUPTI_NOT_SUPPORTED;

	if (rc) {
		report_missing(rc);
		return 0;
	}
	return id;
}

static uint32_t graph_id(void *graph)
{
	uint32_t id = 0;

	if (!graph || !cupti.cuptiGetGraphId || cupti.cuptiGetGraphId(graph, &id)) {
		return 0;
	}
	return id;
}

static void add_row(const struct cupti_graph_data *graph, uint64_t node, uint64_t original)
{
	struct ring_tls *self = &ring_tls;
	const uint32_t bytes = sizeof(struct gprof_row_graph_node);
	uint32_t id = graph_id(graph->graph);
	struct gprof_row_graph_node *row;

	row = (struct gprof_row_graph_node *)ring_reserve(self, bytes);
	if (!row) {
		return;
	}
	*row = (struct gprof_row_graph_node){
		.head = {.bytes = bytes, .table = GPROF_TABLE_graph_node},
		.time = clock_raw(),
		.node = node,
		.original = original,
		.graph = id,
		.thread = self->id,
		.kind = (uint8_t)graph->node_type};
	ring_commit(self, row, bytes);
}

/* A copy whose original is unknown says nothing; the reader treats it as one without a row. */
void graph_nodes_take(uint32_t cbid, const void *data)
{
	const struct cupti_resource_data *resource = data;
	const struct cupti_graph_data *graph = resource ? resource->descriptor : NULL;
	bool is_copy = cbid != CUPTI_RESOURCE_GRAPHNODE_CREATED;
	uint64_t node, original = 0;

	if (!graph || !graph->node || (is_copy && !graph->original_node) || !cupti_is_live() ||
		!subscriber_is_wanted(CUPTI_DOMAIN_RESOURCE, cbid) ||
		!(atomic_load_explicit(&collector_mode, memory_order_relaxed) & COLLECTOR_RECORD)) {
		return;
	}
	node = node_id(graph->node);
	original = is_copy ? node_id(graph->original_node) : 0;
	if (node && (original || !is_copy)) {
		add_row(graph, node, original);
	}
}
