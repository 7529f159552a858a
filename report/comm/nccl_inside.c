/* SPDX-License-Identifier: Apache-2.0 */
/* A row of nccl_op finds its call by the call's first tick, and of a group's calls by communicator.
 */
#include "report/comm/nccl_inside.h"

#include <stdlib.h>

#include "report/stream/stream.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

#define OP_MASK COLS(nccl_op, op, call_begin, comm, algorithm, protocol, channels)
#define CHANNEL_MASK \
	(COLS(nccl_channel, op, bytes, own_gpu_ns, peer_ns, network_ns, data_ns, steps))
#define TRANSFER_MASK                                                                       \
	(COLS(nccl_channel, begin, dur, what, first_ns, first_after_ns, later_ns, pause_ns, \
		pause_after_ns))

void nccl_waits_add(struct nccl_waits *sum, const struct nccl_waits *one)
{
	sum->own_gpu_ns += one->own_gpu_ns;
	sum->peer_ns += one->peer_ns;
	sum->network_ns += one->network_ns;
	sum->data_ns += one->data_ns;
	sum->steps += one->steps;
	sum->bytes += one->bytes;
}

const char *nccl_waits_most(const struct nccl_waits *waits)
{
	uint64_t most = waits->own_gpu_ns;
	const char *name = "own GPU";

#define OTHER(ns, text)        \
	if ((ns) > most) {     \
		most = (ns);   \
		name = (text); \
	}
	OTHER(waits->peer_ns, "peer")
	OTHER(waits->data_ns, "data")
	OTHER(waits->network_ns, "network")
#undef OTHER
	return name;
}

static uint8_t join(uint8_t a, uint8_t b, bool is_first)
{
	return is_first || a == b ? b : NCCL_INSIDE_SEVERAL;
}

void nccl_inside_add(struct nccl_inside *sum, const struct nccl_inside *one)
{
	if (one->nr) {
		sum->algorithm = join(sum->algorithm, one->algorithm, !sum->nr);
		sum->protocol = join(sum->protocol, one->protocol, !sum->nr);
		sum->channels = one->channels > sum->channels ? one->channels : sum->channels;
	}
	sum->nr += one->nr;
	nccl_waits_add(&sum->waits, &one->waits);
}

const char *nccl_inside_algorithm(const struct nccl_inside *inside)
{
	static const char *const names[] = {[GPROF_NCCL_TREE] = "tree",
		[GPROF_NCCL_RING] = "ring",
		[GPROF_NCCL_COLLNET_DIRECT] = "CollNet direct",
		[GPROF_NCCL_COLLNET_CHAIN] = "CollNet chain",
		[GPROF_NCCL_NVLS] = "NVLS",
		[GPROF_NCCL_NVLS_TREE] = "NVLS tree",
		[GPROF_NCCL_PAT] = "PAT",
		[GPROF_NCCL_COPY_ENGINE] = "copy engine"};

	if (inside->nr && inside->algorithm == NCCL_INSIDE_SEVERAL) {
		return "several";
	}
	return inside->nr && inside->algorithm < sizeof(names) / sizeof(names[0])
		       ? names[inside->algorithm]
		       : NULL;
}

const char *nccl_inside_protocol(const struct nccl_inside *inside)
{
	static const char *const names[] = {[GPROF_NCCL_LL] = "LL",
		[GPROF_NCCL_LL128] = "LL128",
		[GPROF_NCCL_SIMPLE] = "simple"};

	if (inside->nr && inside->protocol == NCCL_INSIDE_SEVERAL) {
		return "several";
	}
	return inside->nr && inside->protocol < sizeof(names) / sizeof(names[0])
		       ? names[inside->protocol]
		       : NULL;
}

/* ---- the join ---- */

static int by_call(const void *a, const void *b)
{
	const struct nccl_inside_call *x = a, *y = b;

	return ORDER(COMPARE(x->begin, y->begin), COMPARE(x->comm, y->comm));
}

/* Where a batch of either table goes. */
struct joined {
	struct process *process;
	struct measured_transfers *transfers; /* may be NULL */
	const struct nccl_inside_call *calls;
	size_t nr_calls;
	struct idmap ops; /* uint32_t: 1 + the index, by number of nccl_op */
	void (*add)(void *context, uint32_t op, const struct nccl_inside *inside);
	void *context;
};

static void take_op(struct joined *joined, const struct batch *b, uint32_t i)
{
	struct nccl_inside_call wanted = {.begin = b->col[COL_nccl_op_call_begin][i],
		.comm = (uint32_t)b->col[COL_nccl_op_comm][i]};
	const struct nccl_inside_call *call =
		bsearch(&wanted, joined->calls, joined->nr_calls, sizeof(*joined->calls), by_call);

	if (!call) {
		return;
	}
	*(uint32_t *)idmap_put(&joined->ops, b->col[COL_nccl_op_op][i]) = call->op + 1;
	joined->add(joined->context, call->op,
		&(struct nccl_inside){.nr = 1,
			.algorithm = (uint8_t)b->col[COL_nccl_op_algorithm][i],
			.protocol = (uint8_t)b->col[COL_nccl_op_protocol][i],
			.channels = (uint8_t)b->col[COL_nccl_op_channels][i]});
}

static void take_transfer(struct joined *joined, const struct batch *b, uint32_t i, uint32_t op)
{
	struct clock_map *clock = &joined->process->host_clock;
	uint64_t begin = b->col[COL_nccl_channel_begin][i];

	if (b->col[COL_nccl_channel_what][i] == GPROF_NCCL_CHANNEL_KERNEL) {
		return;
	}
	measured_transfers_add(joined->transfers,
		&(struct measured_transfer){.op = op,
			.steps = (uint32_t)b->col[COL_nccl_channel_steps][i],
			.begin_ns = clock_map_time(clock, begin),
			.end_ns = clock_map_time(clock, begin + b->col[COL_nccl_channel_dur][i]),
			.first_ns = b->col[COL_nccl_channel_first_ns][i],
			.first_after_ns = b->col[COL_nccl_channel_first_after_ns][i],
			.later_ns = b->col[COL_nccl_channel_later_ns][i],
			.pause_ns = b->col[COL_nccl_channel_pause_ns][i],
			.pause_after_ns = b->col[COL_nccl_channel_pause_after_ns][i],
			.is_receive = b->col[COL_nccl_channel_what][i] == GPROF_NCCL_CHANNEL_RECV});
}

static void take_channel(struct joined *joined, const struct batch *b, uint32_t i)
{
	const uint32_t *op = idmap_get(&joined->ops, b->col[COL_nccl_channel_op][i]);

	if (op && *op) {
		joined->add(joined->context, *op - 1,
			&(struct nccl_inside){
				.waits = {.own_gpu_ns = b->col[COL_nccl_channel_own_gpu_ns][i],
					.peer_ns = b->col[COL_nccl_channel_peer_ns][i],
					.network_ns = b->col[COL_nccl_channel_network_ns][i],
					.data_ns = b->col[COL_nccl_channel_data_ns][i],
					.steps = b->col[COL_nccl_channel_steps][i],
					.bytes = b->col[COL_nccl_channel_bytes][i]}});
		if (joined->transfers) {
			take_transfer(joined, b, i, *op - 1);
		}
	}
}

static void read_table(struct joined *joined, struct stream *stream, unsigned int table,
	uint32_t mask, void (*take)(struct joined *, const struct batch *, uint32_t))
{
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) != table ||
			stream_load(stream, i, mask, 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			take(joined, &batch, row);
		}
	}
}

void nccl_inside_read(struct process *process, struct nccl_inside_call *calls, size_t nr_calls,
	struct measured_transfers *transfers,
	void (*add)(void *context, uint32_t op, const struct nccl_inside *inside), void *context)
{
	struct joined joined = {.process = process,
		.transfers = transfers,
		.calls = calls,
		.nr_calls = nr_calls,
		.add = add,
		.context = context};

	if (!nr_calls || !stream_table(process->stream, GPROF_TABLE_nccl_op)) {
		return;
	}
	qsort(calls, nr_calls, sizeof(*calls), by_call);
	idmap_init(&joined.ops, sizeof(uint32_t));
	read_table(&joined, process->stream, GPROF_TABLE_nccl_op, OP_MASK, take_op);
	read_table(&joined, process->stream, GPROF_TABLE_nccl_channel,
		CHANNEL_MASK | (transfers ? TRANSFER_MASK : 0), take_channel);
	idmap_fini(&joined.ops);
}
