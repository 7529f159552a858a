/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_flows_create() reads which nodes there are, so that operators without one need no memory.
 * slice_flows_add() then joins operators and nodes by their number and thread, in the order in
 * which the stream has them.
 */
#include "report/timeline/slice_flows.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

/*
 * The key that an autograd node shares with the operator that made it. Autograd numbers nodes by
 * the thread that computes the forward pass.
 */
struct node_key {
	uint64_t sequence;
	uint64_t thread; /* the framework's number */
};

/* The ends of a flow, until both are known. */
struct flow {
	struct node_key key;
	struct slice_flow_end from, to;
	bool has_from, has_to;
	UT_hash_handle hh;
};

/* Memory: operators whose node has not come yet. */
struct slice_flows {
	const struct slice_sink *sink;
	struct idset *wanted;	      /* keys of nodes; may hold others, see wanted_id */
	uint64_t thread;	      /* of the forward pass, if all nodes have the same */
	bool has_thread, has_threads; /* one, several */
	struct flow *waiting;
	uint64_t nr_drawn;
};

/* Numbers of one thread differ, and few pages of the set hold those of many. */
static uint32_t wanted_id(const struct node_key *key)
{
	return (uint32_t)key->sequence ^ (uint32_t)key->thread << 24;
}

static bool is_node(uint64_t framework, uint64_t scope)
{
	return framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_BACKWARD;
}

static void read_nodes(struct slice_flows *flows, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct node_key key = {
			b->col[COL_op_sequence][i], (uint32_t)b->col[COL_op_forward_thread][i]};

		if (!key.sequence ||
			!is_node(b->col[COL_op_framework][i], b->col[COL_op_scope][i])) {
			continue;
		}
		flows->has_threads |= flows->has_thread && key.thread != flows->thread;
		flows->thread = key.thread;
		flows->has_thread = true;
		idset_add(flows->wanted, wanted_id(&key));
	}
}

struct slice_flows *slice_flows_create(struct timeline *timeline, const struct slice_sink *sink)
{
	static const uint32_t mask = COLS(op, sequence, forward_thread, framework, scope);
	struct slice_flows *flows = mem_zeroed(1, sizeof(*flows));
	struct stream *stream = timeline->process->stream;

	flows->sink = sink;
	flows->wanted = idset_create();
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_op &&
			timeline_load(timeline, i, mask, &batch)) {
			read_nodes(flows, &batch);
		}
	}
	return flows;
}

bool slice_flows_has_nodes(const struct slice_flows *flows)
{
	return flows->has_thread;
}

static void finish(struct slice_flows *flows, struct flow *flow)
{
	if (flow->has_from && flow->has_to) {
		flows->sink->flow(flows->sink->context, ++flows->nr_drawn, &flow->from, &flow->to);
	}
	HASH_DEL(flows->waiting, flow);
	free(flow);
}

void slice_flows_destroy(struct slice_flows *flows)
{
	struct flow *flow, *next;

	HASH_ITER(hh, flows->waiting, flow, next)
	{
		finish(flows, flow);
	}
	idset_destroy(flows->wanted);
	free(flows);
}

static struct flow *find_flow(struct slice_flows *flows, const struct node_key *key)
{
	struct flow *flow;

	hash_put(flows->waiting, key, key, flow);
	return flow;
}

/*
 * Operators carry the number of the next node, whether or not they make it: the last operator that
 * begins with a number made its node. Rows of other threads may come first, so a node may have to
 * wait for its operator.
 */
void slice_flows_add(struct slice_flows *flows, const struct batch *b, uint32_t i,
	enum op_class class, const struct slice_flow_end *end)
{
	bool ends = is_node(b->col[COL_op_framework][i], b->col[COL_op_scope][i]);
	struct node_key key = {
		b->col[COL_op_sequence][i], (uint32_t)(ends ? b->col[COL_op_forward_thread][i]
							    : b->col[COL_op_framework_thread][i])};
	struct flow *flow;

	if (!key.sequence || (!ends && class == OP_BACKWARD)) {
		return;
	}
	/* A forward operator without a thread belongs to the only thread there is. */
	if (!ends && !key.thread && flows->has_thread && !flows->has_threads) {
		key.thread = flows->thread;
	}
	if (!idset_has(flows->wanted, wanted_id(&key))) {
		return;
	}
	flow = find_flow(flows, &key);
	if (!ends && (!flow->has_from || end->ns >= flow->from.ns)) {
		flow->has_from = true;
		flow->from = *end;
	} else if (ends && !flow->has_to) {
		flow->has_to = true;
		flow->to = *end;
		if (flow->has_from) {
			finish(flows, flow);
		}
	}
}
