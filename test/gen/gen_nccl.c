/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's operations as one rank of two has them, on one communicator:
 *
 *                                    rank 0          rank 1
 *     AllReduce of 1 MB              1000-1400 us    1300-1400 us    100 us once both are there
 *     AllGather of 1 MB of each      2000-2200 us    2000-2200 us
 *     two AllReduce of 1 MB at once  3100-3200 us    3000-3200 us    one kernel
 *     Send, Recv of 2 MB             4000-4100 us    4000-4100 us
 *
 * and between them another thread's launches, whose ids lie in between, too.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define MEGABYTE 1000000ull

enum { MAIN = 1, OTHER = 2, FLOAT = 7, SUM = 0, NO_REDOP = 255, STREAM = 0x5000 };

static uint64_t at(uint32_t us)
{
	return START_NS + us * 1000ull;
}

static void add_launch(
	struct gen *gen, uint32_t thread, uint32_t correlation, uint32_t begin, uint32_t end)
{
	uint32_t place = gen_place(gen, 0, 1, 7);
	uint16_t id = gen_call(gen, "cuLaunchKernelEx", GPROF_API_DRIVER);
	struct gprof_row_api *call = gen_row(gen, GPROF_TABLE_api);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	call->begin = at(900);
	call->dur = at(901);
	call->thread = thread;
	call->call = id;
	call->correlation = correlation;
	call->source = GPROF_SOURCE_CALLBACK;
	kernel->begin = at(begin) + GEN_CUPTI_OFFSET_NS;
	kernel->dur = at(end) + GEN_CUPTI_OFFSET_NS;
	kernel->place = place;
	kernel->correlation = correlation;
}

/* Launches have the ids after `after`, up to `last`. */
static struct gprof_row_nccl *add_call(struct gen *gen, uint8_t kind, uint32_t sequence,
	uint64_t group, uint32_t after, uint32_t last)
{
	struct gprof_row_nccl *row = gen_row(gen, GPROF_TABLE_nccl);
	/* One after the other, as a thread makes them. */
	uint32_t begin =
		100 * (uint32_t)group + (kind == GPROF_NCCL_GROUP_END ? 50 : 10 * sequence);

	row->begin = at(begin);
	row->dur = at(begin + 8);
	row->thread = MAIN;
	row->correlation_before = after;
	row->correlation = last;
	row->comm = kind == GPROF_NCCL_GROUP_END ? 0 : 1;
	row->sequence = sequence;
	row->group = group;
	row->bytes = kind == GPROF_NCCL_GROUP_END ? 0 : MEGABYTE;
	row->stream = STREAM;
	row->peer = -1;
	row->kind = kind;
	row->datatype = FLOAT;
	row->redop = kind == GPROF_NCCL_ALL_REDUCE ? SUM : NO_REDOP;
	return row;
}

/* A channel's transfers of an operation, in us of waiting. */
struct transfer {
	uint32_t own_gpu, peer, network, data;
};

static void add_transfer(
	struct gen *gen, uint64_t op, uint8_t channel, uint8_t what, struct transfer waits)
{
	struct gprof_row_nccl_channel *row = gen_row(gen, GPROF_TABLE_nccl_channel);

	row->begin = at(1000 * (uint32_t)op);
	row->dur = at(1000 * (uint32_t)op + 400);
	row->op = op;
	row->bytes = MEGABYTE / 2;
	row->own_gpu_ns = waits.own_gpu * 1000ull;
	row->peer_ns = waits.peer * 1000ull;
	row->network_ns = waits.network * 1000ull;
	row->data_ns = waits.data * 1000ull;
	row->steps = 4;
	row->comm = op ? 1 : 0;
	row->for_pid = GEN_PID;
	row->peer = what == GPROF_NCCL_CHANNEL_SEND ? 1 : 0;
	row->channel = channel;
	row->what = what;
}

/* How an operation ran: on so many channels, of which the last is slow. */
static void add_op(struct gen *gen, uint64_t op, uint8_t kind, uint32_t call_begin,
	uint8_t algorithm, uint8_t channels)
{
	struct gprof_row_nccl_op *row = gen_row(gen, GPROF_TABLE_nccl_op);

	row->time = at(call_begin + 5);
	row->op = op;
	row->call_begin = at(call_begin);
	row->sequence = op - 1;
	row->bytes = MEGABYTE;
	row->comm = 1;
	row->thread = MAIN;
	row->peer = -1;
	row->kind = kind;
	row->datatype = FLOAT;
	row->algorithm = algorithm;
	row->protocol = algorithm == GPROF_NCCL_OTHER ? GPROF_NCCL_OTHER : GPROF_NCCL_LL128;
	row->channels = channels;
	row->warps = 16;
	row->version = 6;
	for (uint8_t i = 0; i < channels; i++) {
		struct gprof_row_nccl_channel *kernel = gen_row(gen, GPROF_TABLE_nccl_channel);

		kernel->begin = at(1000 * (uint32_t)op);
		kernel->dur = at(1000 * (uint32_t)op + 100);
		kernel->op = op;
		kernel->gpu_begin = START_NS + 1000000 * op;
		kernel->gpu_ns = i == 3 ? 190000 : 90000 + 1000u * i;
		kernel->comm = 1;
		kernel->peer = -1;
		kernel->channel = i;
		kernel->what = GPROF_NCCL_CHANNEL_KERNEL;
	}
}

/* As NCCL's profiler plugin saw them. Rank 0 waits for data of rank 1, whose GPU is late. */
static void add_inside(struct gen *gen, uint32_t rank)
{
	struct transfer sends = {rank ? 300 : 30, 20, 50, 0},
			receives = {10, 0, 5, rank ? 40 : 330};

	add_op(gen, 1, GPROF_NCCL_ALL_REDUCE, 210, GPROF_NCCL_RING, 4);
	for (uint8_t i = 0; i < 4; i++) {
		sends.network = i == 3 ? 250 : 50;
		add_transfer(gen, 1, i, GPROF_NCCL_CHANNEL_SEND, sends);
		add_transfer(gen, 1, i, GPROF_NCCL_CHANNEL_RECV, receives);
	}
	add_op(gen, 2, GPROF_NCCL_ALL_GATHER, 320, GPROF_NCCL_RING, 4);
	/* Of a group: one from its call, one from the end of the group. */
	add_op(gen, 3, GPROF_NCCL_ALL_REDUCE, 430, GPROF_NCCL_TREE, 4);
	add_op(gen, 4, GPROF_NCCL_ALL_REDUCE, 450, GPROF_NCCL_RING, 4);
	add_op(gen, 5, rank ? GPROF_NCCL_RECV : GPROF_NCCL_SEND, 510, GPROF_NCCL_OTHER, 2);
	add_op(gen, 6, GPROF_NCCL_ALL_REDUCE, 8000, GPROF_NCCL_NVLS, 1); /* of an unknown call */
	/* Of an operation of another process. */
	add_transfer(gen, 0, 1, GPROF_NCCL_CHANNEL_SEND, (struct transfer){1, 2, 3, 0});
}

void gen_nccl(struct gen *gen, uint32_t rank, bool has_inside)
{
	struct gprof_row_nccl_comm *comm;
	struct gprof_row_nccl *p2p;

	gen_info(gen, "host.boot_id", "one boot");
	gen_info(gen, "rank.world", rank ? "1" : "0");
	gen_info(gen, "rank.world_size", "2");
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, at(9000), at(9000), at(9000) + GEN_CUPTI_OFFSET_NS);
	comm = gen_row(gen, GPROF_TABLE_nccl_comm);
	comm->tick = START_NS;
	comm->id = 1;
	comm->key = 0xfedcba9876543210;
	comm->rank = (int32_t)rank;
	comm->nr_ranks = 2;
	add_call(gen, GPROF_NCCL_INIT, 0, 1, 0, 0)->bytes = 0;
	add_call(gen, GPROF_NCCL_ALL_REDUCE, 1, 2, 10, 13);
	add_launch(gen, MAIN, 13, rank ? 1300 : 1000, 1400);
	add_launch(gen, OTHER, 12, 500, 5000);
	add_call(gen, GPROF_NCCL_ALL_GATHER, 2, 3, 13, 14);
	add_launch(gen, MAIN, 14, 2000, 2200);
	add_call(gen, GPROF_NCCL_ALL_REDUCE, 3, 4, 14, 14);
	add_call(gen, GPROF_NCCL_ALL_REDUCE, 4, 4, 14, 14);
	add_call(gen, GPROF_NCCL_GROUP_END, 0, 4, 14, 20);
	add_launch(gen, MAIN, 19, rank ? 3000 : 3100, 3200);
	p2p = add_call(gen, rank ? GPROF_NCCL_RECV : GPROF_NCCL_SEND, 1, 5, 20, 21);
	p2p->peer = rank ? 0 : 1;
	p2p->bytes = 2 * MEGABYTE;
	add_launch(gen, MAIN, 21, 4000, 4100);
	add_launch(gen, MAIN, 22, 5000, 5100); /* of nobody */
	if (has_inside) {
		comm->hash = 0x77;
		comm->name = gen_string(gen, "data parallel");
		add_inside(gen, rank);
	}
	gen_flush(gen);
}
