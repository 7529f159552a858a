/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows from forward operators of PyTorch to the autograd nodes that they made: the arrows of a
 * timeline. Autograd numbers its nodes, and an operator carries the number of its node.
 */
#ifndef REPORT_TIMELINE_SLICE_FLOWS_H
#define REPORT_TIMELINE_SLICE_FLOWS_H

#include "report/ops/op.h"
#include "report/timeline/slice.h"

struct slice_flows;

/*
 * For the current process, whose blocks of operators it reads once to learn which nodes there are.
 * The sink gets each flow as soon as both of its ends are known, by slice_flows_destroy at the
 * latest. The timeline and the sink stay the caller's.
 */
struct slice_flows *slice_flows_create(struct timeline *timeline, const struct slice_sink *sink);

/* Can an operator have a flow at all? */
bool slice_flows_has_nodes(const struct slice_flows *flows);

/*
 * Row i of a batch of operators, with the columns sequence, forward_thread, framework_thread,
 * framework and scope; `end` is where a flow leaves or enters its slice. Batches come in the order
 * of the stream.
 */
void slice_flows_add(struct slice_flows *flows, const struct batch *b, uint32_t i,
	enum op_class class, const struct slice_flow_end *end);

void slice_flows_destroy(struct slice_flows *flows);

#endif
