/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of NCCL to network devices, on rank 3 of 8. The operations of communicator 1 have four
 * channels over InfiniBand, each connection with two devices; device 1 of channel 2 takes three
 * times as long as the others. Those of communicator 2 use sockets with three local addresses, of
 * which 10.0.0.3 takes twice as long. Communicator 3 has too few operations for a verdict, and its
 * second device had a much smaller share. The last rows are of another process, and of a network
 * that a later version has.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define MS	 1000000ull
#define MEGABYTE 1000000ull

enum { NR_OPS = 20, NR_REQUESTS = 8 };

static void make_comm(struct gen *gen, uint32_t id, const char *text)
{
	uint32_t name = gen_string(gen, text);
	struct gprof_row_nccl_comm *comm = gen_row(gen, GPROF_TABLE_nccl_comm);

	comm->tick = START_NS;
	comm->id = id;
	comm->key = 0x1000 + id;
	comm->rank = 3;
	comm->nr_ranks = 8;
	comm->name = name;
}

/* us: the mean time of a request. */
static struct gprof_row_nccl_net *add(
	struct gen *gen, uint64_t op, uint32_t comm, uint8_t what, uint64_t us)
{
	struct gprof_row_nccl_net *row = gen_row(gen, GPROF_TABLE_nccl_net);

	row->begin = START_NS + op * MS;
	row->dur = row->begin + us * NR_REQUESTS * 500;
	row->op = op;
	row->bytes = what == GPROF_NCCL_CHANNEL_SEND ? 8 * MEGABYTE : 0;
	row->busy_ns = us * NR_REQUESTS * 1000;
	row->least_ns = us * 800;
	row->most_ns = us * 1500;
	row->requests = NR_REQUESTS;
	row->comm = comm;
	row->peer = what == GPROF_NCCL_CHANNEL_SEND ? 4 : 2;
	row->what = what;
	row->network = GPROF_NCCL_NET_IB;
	return row;
}

static void add_ib(struct gen *gen, uint64_t op)
{
	for (uint8_t channel = 0; channel < 4; channel++) {
		for (int32_t device = 0; device < 2; device++) {
			for (uint8_t what = 1; what <= 2; what++) {
				bool is_slow = channel == 2 && device == 1 && what == 1;
				struct gprof_row_nccl_net *row =
					add(gen, op, 1, what, is_slow ? 300 : 95 + op % 10);

				row->channel = channel;
				row->device = device;
				row->queue = 200 + 2 * channel + (uint32_t)device;
			}
		}
	}
}

static void add_sockets(struct gen *gen, uint64_t op)
{
	for (uint8_t channel = 0; channel < 6; channel++) {
		uint8_t host = (uint8_t)(1 + channel % 3);
		struct gprof_row_nccl_net *row = add(gen, op, 2, 1, host == 3 ? 1000 : 480 + host);

		row->channel = channel;
		row->device = -1;
		row->queue = 40u + channel;
		row->local_low = 0xffff0a000000u | host;
		row->network = GPROF_NCCL_NET_SOCKET;
	}
}

void gen_network(struct gen *gen)
{
	struct gprof_row_nccl_net *row;

	gen_info(gen, "host.boot_id", "one boot");
	gen_info(gen, "rank.world", "3");
	gen_info(gen, "rank.world_size", "8");
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, START_NS + 100 * MS, START_NS + 100 * MS,
		START_NS + 100 * MS + GEN_CUPTI_OFFSET_NS);
	make_comm(gen, 1, "data parallel");
	make_comm(gen, 2, "pipeline");
	make_comm(gen, 3, "new");
	for (uint64_t op = 1; op <= NR_OPS; op++) {
		add_ib(gen, op);
	}
	for (uint64_t op = NR_OPS + 1; op <= 2 * NR_OPS; op++) {
		add_sockets(gen, op);
	}
	for (uint64_t op = 2 * NR_OPS + 1; op < 2 * NR_OPS + 10; op++) {
		add(gen, op, 3, 1, 50);
		add(gen, op, 3, 1, 500)->channel = 1;
		row = add(gen, op, 3, 1, 50);
		row->channel = 2;
		row->bytes = MEGABYTE;
	}
	add(gen, 0, 0, 1, 70);
	row = add(gen, 60, 3, 1, 70);
	row->network = 9;
	row->local_high = 0xfe80000000000000u;
	row->local_low = 0x1234;
	gen_flush(gen);
}
