/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/transfers.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/nccl_match.h"
#include "report/model/select.h"

#define MOST_NS (1ull << 56)

struct moves {
	struct nccl_ops *ops;
	struct process *const *processes;
	const struct overlap *overlap;
	/* By process: the place of its first device in overlap.devices; its host, of names.h. */
	size_t *devices;
	uint32_t *hosts;
	struct transfer *items;
	size_t nr, capacity;
};

static int64_t clip(uint64_t ns)
{
	return (int64_t)(ns < MOST_NS ? ns : MOST_NS);
}

static void find_places(struct moves *moves, size_t nr_processes)
{
	const struct overlap *overlap = moves->overlap;
	size_t at = 0;

	moves->devices = mem_zeroed(nr_processes + 1, sizeof(*moves->devices));
	moves->hosts = mem_zeroed(nr_processes + 1, sizeof(*moves->hosts));
	for (size_t i = 0; i < nr_processes; i++) {
		const char *host = process_host(moves->processes[i]);

		moves->hosts[i] = string_pool_intern(host, strlen(host));
		moves->devices[i] = at;
		while (at < overlap->nr_devices &&
			overlap->devices[at].process == moves->processes[i]) {
			at++;
		}
	}
}

/* How long a device of the process communicated in the operation's step without computing. */
static int64_t alone_ns(const struct moves *moves, const struct nccl_op *op)
{
	const struct process *process = moves->processes[op->process];
	uint64_t most = 0;

	for (size_t i = moves->devices[op->process];
		i < moves->overlap->nr_devices && moves->overlap->devices[i].process == process;
		i++) {
		const struct overlap_device *device = &moves->overlap->devices[i];
		const struct overlap_times *times =
			op->step < device->nr_steps ? &device->steps[op->step] : NULL;
		uint64_t ns = times ? overlap_any(times, OVERLAP_COMMUNICATION) -
					      overlap_all(times,
						      OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION)
				    : 0;

		most = ns > most ? ns : most;
	}
	return clip(most);
}

/* Sets the times of its step; false if that is none to count. */
static bool set_step(const struct moves *moves, const struct nccl_op *op, struct transfer *move)
{
	struct process *process = moves->processes[op->process];
	const struct model_step *step;
	uint64_t begin_ns, end_ns;

	if (!op->step || op->step >= process->nr_steps || !select_has_step(process, op->step - 1)) {
		return false;
	}
	step = &process->steps[op->step - 1];
	begin_ns = clock_map_time(&process->host_clock, step->tick);
	end_ns = clock_map_time(&process->host_clock, step[1].tick);
	if (model_step_is_gap(step) || end_ns <= begin_ns) {
		return false;
	}
	move->step = step->step;
	move->step_ns = clip(end_ns - begin_ns);
	move->most_ns = alone_ns(moves, op);
	return true;
}

static void add(struct moves *moves, const struct transfer *move)
{
	moves->items = array_grow(moves->items, moves->nr, &moves->capacity, sizeof(*moves->items));
	moves->items[moves->nr++] = *move;
}

/* ---- collectives ---- */

/* They stand one after the other, by rank. */
static void add_collective(struct moves *moves, const struct nccl_op *ops)
{
	struct transfer move = {.path = {.key = ops->key, .a = -1, .b = -1},
		.bytes = ops->bytes,
		.nr_calls = ops->nr_calls,
		.nr_ranks = ops->nr_ranks,
		.kind = ops->kind};
	const struct nccl_op *last = NULL;

	for (uint32_t i = 0; i < ops->nr_ranks; i++) {
		move.spans_hosts |= moves->hosts[ops[i].process] != moves->hosts[ops->process];
		last = ops[i].is_last ? &ops[i] : last;
	}
	if (last && set_step(moves, last, &move)) {
		move.transfer_ns = clip(last->transfer_ns);
		add(moves, &move);
	}
}

static void add_collectives(struct moves *moves)
{
	const struct nccl_ops *ops = moves->ops;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];

		if (op->is_matched && nccl_op_is_numbered(op)) {
			add_collective(moves, op);
			i += op->nr_ranks - 1;
		}
	}
}

/* ---- sends and receives ---- */

/* Of a group, from the moment when the last of its other sides has come. */
static uint64_t transfer_of(const struct nccl_op *op)
{
	return op->end_ns - op->begin_ns - op->wait_ns;
}

/* A group goes on for its other sides; the pair is through where the first of the two is. */
static void add_pair(struct moves *moves, const struct nccl_pair *pair)
{
	const struct nccl_op *send = &moves->ops->ops[pair->send];
	const struct nccl_op *receive = &moves->ops->ops[pair->receive];
	bool is_up = send->rank < receive->rank;
	const struct nccl_op *a = is_up ? send : receive, *b = is_up ? receive : send;
	struct transfer move = {.path = {send->key, a->rank, b->rank, a->process, b->process},
		.bytes = pair->bytes,
		.nr_calls = send->nr_calls + receive->nr_calls,
		.nr_ranks = send->nr_ranks,
		.kind = NCCL_OPS_SEND_RECV,
		.spans_hosts = moves->hosts[send->process] != moves->hosts[receive->process]};

	if (send->is_matched && receive->is_matched && send->rank != receive->rank &&
		set_step(moves, receive, &move)) {
		uint64_t sent = transfer_of(send), received = transfer_of(receive);

		move.transfer_ns = clip(sent < received ? sent : received);
		add(moves, &move);
	}
}

struct transfer *transfers_make(struct nccl_ops *ops, struct process *const *processes,
	size_t nr_processes, const struct overlap *overlap, size_t *nr_moves)
{
	struct moves moves = {.ops = ops, .processes = processes, .overlap = overlap};
	struct nccl_pairs pairs;

	find_places(&moves, nr_processes);
	add_collectives(&moves);
	nccl_pairs_find(&pairs, ops);
	for (size_t i = 0; i < pairs.nr; i++) {
		add_pair(&moves, &pairs.pairs[i]);
	}
	nccl_pairs_fini(&pairs);
	free(moves.devices);
	free(moves.hosts);
	*nr_moves = moves.nr;
	return moves.items;
}
