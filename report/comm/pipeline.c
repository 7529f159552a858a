/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds pipeline stages for the pipeline view, after nccl_match() has sorted the operations. It is
 * a graph problem: processes are nodes, matched sends and receives edges. A node with more than two
 * neighbours is a mesh, and so is all that hangs on it. What is left are rows and rings; a row has
 * ends, and the end that sends before it receives is stage 0.
 *
 *   0 --> 1 --> 2 --> 3      a row: stages 0 to 3
 *   0 --> 1 --> 2 --> 0      a ring: no stage is the first
 */
#include "report/comm/pipeline.h"

#include <stdlib.h>

#include "report/util/buf.h"

/* ---- neighbours ---- */

/* The index of a neighbour, PIPELINE_MAX if there is no room. */
static uint32_t find_neighbour(struct pipeline_rank *rank, uint32_t process)
{
	uint32_t at = 0;

	while (at < rank->nr_neighbours && at < PIPELINE_MAX && rank->neighbours[at] != process) {
		at++;
	}
	if (at == rank->nr_neighbours && at < PIPELINE_MAX) {
		rank->neighbours[at] = process;
		rank->nr_neighbours++;
	} else if (at == PIPELINE_MAX) {
		rank->nr_neighbours = PIPELINE_MAX + 1;
	}
	return at;
}

static void count_received(struct pipeline_rank *rank, uint32_t step, uint32_t neighbour)
{
	if (step >= rank->nr_steps) {
		rank->nr_received =
			mem_resize(rank->nr_received, step + 1, sizeof(*rank->nr_received));
		for (; rank->nr_steps <= step; rank->nr_steps++) {
			for (int i = 0; i < PIPELINE_MAX; i++) {
				rank->nr_received[rank->nr_steps][i] = 0;
			}
		}
	}
	rank->nr_received[step][neighbour]++;
}

static void add_pair(
	struct pipeline *pipeline, const struct nccl_op *send, const struct nccl_op *receive)
{
	uint32_t from;

	if (send->process == receive->process) {
		return;
	}
	find_neighbour(&pipeline->ranks[send->process], receive->process);
	from = find_neighbour(&pipeline->ranks[receive->process], send->process);
	if (from < PIPELINE_MAX) {
		count_received(&pipeline->ranks[receive->process], receive->step, from);
	}
}

/* A neighbour of a process with too many neighbours is in no pipeline either. */
static void leave_meshes(struct pipeline *pipeline)
{
	bool has_more = true;

	while (has_more) {
		has_more = false;
		for (size_t i = 0; i < pipeline->nr; i++) {
			struct pipeline_rank *rank = &pipeline->ranks[i];

			for (uint32_t k = 0;
				rank->nr_neighbours <= PIPELINE_MAX && k < rank->nr_neighbours;
				k++) {
				if (pipeline->ranks[rank->neighbours[k]].nr_neighbours >
					PIPELINE_MAX) {
					rank->nr_neighbours = PIPELINE_MAX + 1;
					has_more = true;
				}
			}
		}
	}
	for (size_t i = 0; i < pipeline->nr; i++) {
		struct pipeline_rank *rank = &pipeline->ranks[i];

		if (rank->nr_neighbours > PIPELINE_MAX) {
			pipeline->nr_meshed++;
			rank->nr_neighbours = 0;
		}
	}
}

/* ---- stages ---- */

/* By process: is the first of its sends and receives outside groups a send? 0: unknown. */
static int8_t *find_firsts(const struct nccl_ops *ops, size_t nr_processes)
{
	int8_t *firsts = mem_zeroed(nr_processes + 1, sizeof(*firsts));
	uint32_t *ids = mem_zeroed(nr_processes + 1, sizeof(*ids));

	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];

		if (nccl_op_is_p2p(op) && (!ids[op->process] || op->id < ids[op->process] - 1)) {
			ids[op->process] = op->id + 1;
			firsts[op->process] = op->kind == GPROF_NCCL_SEND   ? 1
					      : op->kind == GPROF_NCCL_RECV ? -1
									    : 0;
		}
	}
	free(ids);
	return firsts;
}

/* The next process in a row, other than `from`; the process itself at the end. */
static uint32_t next_of(const struct pipeline *pipeline, uint32_t at, uint32_t before)
{
	const struct pipeline_rank *rank = &pipeline->ranks[at];

	for (uint32_t i = 0; i < rank->nr_neighbours; i++) {
		if (rank->neighbours[i] != before) {
			return rank->neighbours[i];
		}
	}
	return at;
}

/*
 * Numbers a row from one of its ends; from the other end if that one is stage 0; -1 if the two ends
 * do not agree on it.
 */
static void number_row(struct pipeline *pipeline, uint32_t end, const int8_t *firsts)
{
	uint32_t nr = 1, at = end, before = end, last;
	bool is_first, is_last;

	for (uint32_t next; (next = next_of(pipeline, at, before)) != at; nr++) {
		before = at;
		at = next;
	}
	last = at;
	is_first = firsts[end] > 0 && firsts[last] < 0;
	is_last = firsts[end] < 0 && firsts[last] > 0;
	at = before = end;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t next = next_of(pipeline, at, before);

		pipeline->ranks[at].nr_stages = nr;
		pipeline->ranks[at].stage = is_first  ? (int32_t)i
					    : is_last ? (int32_t)(nr - 1 - i)
						      : -1;
		before = at;
		at = next;
	}
}

/*
 * A pipeline is a row of ranks that send to each other. Its ends are the ranks with one neighbour,
 * from one of which it is numbered.
 */
void pipeline_find(struct pipeline *pipeline, struct nccl_ops *ops)
{
	int8_t *firsts = find_firsts(ops, ops->nr_processes);
	struct nccl_pairs pairs;

	*pipeline = (struct pipeline){
		.ranks = mem_zeroed(ops->nr_processes + 1, sizeof(*pipeline->ranks)),
		.nr = ops->nr_processes};
	nccl_pairs_find(&pairs, ops);
	for (size_t i = 0; i < pairs.nr; i++) {
		add_pair(pipeline, &ops->ops[pairs.pairs[i].send],
			&ops->ops[pairs.pairs[i].receive]);
	}
	nccl_pairs_fini(&pairs);
	leave_meshes(pipeline);
	for (size_t i = 0; i < pipeline->nr; i++) {
		pipeline->ranks[i].stage = -1;
	}
	for (size_t i = 0; i < pipeline->nr; i++) {
		if (pipeline->ranks[i].nr_neighbours == 1 && !pipeline->ranks[i].nr_stages) {
			number_row(pipeline, (uint32_t)i, firsts);
		}
	}
	free(firsts);
}

void pipeline_fini(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->nr; i++) {
		free(pipeline->ranks[i].nr_received);
	}
	free(pipeline->ranks);
	*pipeline = (struct pipeline){0};
}
