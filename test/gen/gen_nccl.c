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

#define CUPTI_OFFSET_NS 500000000ull
#define START_NS	1000000000ull
#define MEGABYTE	1000000ull

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
	kernel->begin = at(begin) + CUPTI_OFFSET_NS;
	kernel->dur = at(end) + CUPTI_OFFSET_NS;
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

void gen_nccl(struct gen *gen, uint32_t rank)
{
	struct gprof_row_nccl_comm *comm;
	struct gprof_row_nccl *p2p;

	gen_info(gen, "host.boot_id", "one boot");
	gen_info(gen, "rank.world", rank ? "1" : "0");
	gen_info(gen, "rank.world_size", "2");
	gen_anchor(gen, START_NS, START_NS, START_NS + CUPTI_OFFSET_NS);
	gen_anchor(gen, at(9000), at(9000), at(9000) + CUPTI_OFFSET_NS);
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
	gen_flush(gen);
}
