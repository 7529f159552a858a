/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a launch are divided while the records of its activities wait for their views. Nodes
 * that were captured before the recording, and those outside of operators, stay with the launch.
 */
#include "report/ops/graph_launch.h"

const struct op *graph_launch_op(struct graph_node *node, const struct op *around)
{
	if (!node->op) {
		return around;
	}
	node->outermost->parent = around;
	return node->op;
}

static void add_to_operator(struct graph_launch *launch, struct graph_node *node, uint64_t ns)
{
	if (node->op) {
		launch->captured_ns += ns;
		launch->nr_captured++;
		launch->module_ns += node->has_module ? ns : 0;
		graph_nodes_add_run(launch->graphs, node, launch->around, launch->tick, ns);
	}
	if (launch->is_chosen) {
		node->ns += ns;
		node->nr_activities++;
	}
}

/* Where the capture's phase is unknown, that of the launch counts. */
static void add_to_phase(struct graph_launch *launch, const struct graph_node *node,
	const struct op_record *record, uint64_t ns)
{
	const struct phase_gpu gpu = {ns, 1, record->is_communication};

	if (node->phase != PHASE_OTHERS) {
		phases_add_graph_gpu(launch->phases, (enum phase)node->phase, launch->tick, &gpu);
		launch->phased.ns += ns;
		launch->phased.nr_activities++;
	}
}

static void add_to_line(struct graph_launch *launch, struct graph_node *node, uint64_t ns)
{
	const struct op_gpu_call call = {
		ns, 1, node->py_stack ? node->py_stack : launch->own.py_stack};

	if (node->op || node->py_stack) {
		launch->gpu_call(launch->context, &call, graph_launch_op(node, launch->around));
		launch->own.ns -= ns;
		launch->own.nr_activities--;
	}
}

void graph_launch_divide(
	struct graph_launch *launch, const struct op_records *records, uint32_t list)
{
	while (list) {
		const struct op_record *record = &records->items[list - 1];
		struct graph_node *node =
			graph_nodes_find(launch->graphs, record->graph_node, launch->tick);
		uint64_t ns = record->end_ns - record->begin_ns;

		list = record->next;
		if (!record->is_timed) {
			continue;
		}
		if (node) {
			add_to_operator(launch, node, ns);
			add_to_phase(launch, node, record, ns);
			add_to_line(launch, node, ns);
		}
		if ((record->graph_node || record->graph) && !(node && node->op)) {
			launch->graph_ns += ns;
		}
	}
	graph_nodes_end_run(launch->graphs);
}
