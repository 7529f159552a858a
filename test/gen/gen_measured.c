/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training as one rank of two has it, which nobody recorded beside it. NCCL's profiler plugin saw
 * what its transfers waited for. Each step takes 8 ms:
 *
 *     0.1-3.1 ms    the GPU computes
 *     3.1-7.1 ms    AllReduce on two channels. A receive has 50 steps, from 0.3 ms on: NCCL's proxy
 *                   thread has them ready as soon as the host has launched the kernel.
 *       late        The other rank's data come from 5.5 ms on one channel, and from 5.6 ms on the
 *                   other, until 7.08 ms. This rank waits until 5.5 ms, less the time that the
 * first data took. network     They come from 3.2 ms on.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define US	 1000ull
#define MEGABYTE 1000000ull

enum { NR_STEPS = 20, NR_TRANSFER_STEPS = 50, STREAM = 0x5000, FLOAT = 7, SUM = 0 };

static uint32_t make_shape(struct gen *gen, uint32_t id, const char *kernel)
{
	uint32_t name = gen_string(gen, kernel);
	struct gprof_row_shape *row = gen_row(gen, GPROF_TABLE_shape);

	row->id = id;
	row->name = name;
	row->grid_x = row->block_x = 128;
	row->grid_y = row->grid_z = row->block_y = row->block_z = 1;
	return id;
}

static void make_comm(struct gen *gen)
{
	uint32_t name = gen_string(gen, "data parallel");
	struct gprof_row_nccl_comm *comm = gen_row(gen, GPROF_TABLE_nccl_comm);

	comm->tick = START_NS;
	comm->id = 1;
	comm->key = 0xfedcba9876543210;
	comm->nr_ranks = 2;
	comm->name = name;
}

static void launch(
	struct gen *gen, uint64_t at, uint32_t shape, uint32_t id, uint64_t begin, uint64_t end)
{
	struct gen_launched rows = gen_kernel(gen, at, begin, end, id);

	rows.launch->shape = rows.kernel->shape = shape;
}

static void synchronize(struct gen *gen, uint64_t begin, uint64_t end, uint32_t id)
{
	uint16_t call = gen_call(gen, "cudaStreamSynchronize", GPROF_API_RUNTIME);
	struct gprof_row_api *row = gen_row(gen, GPROF_TABLE_api);

	row->begin = begin;
	row->dur = end;
	row->thread = 1;
	row->call = call;
	row->correlation = id;
}

static void call_nccl(struct gen *gen, uint64_t at, uint32_t sequence, uint32_t id)
{
	struct gprof_row_nccl *row = gen_row(gen, GPROF_TABLE_nccl);

	row->begin = at;
	row->dur = at + 20 * US;
	row->thread = 1;
	row->correlation_before = id - 1;
	row->correlation = id;
	row->comm = 1;
	row->sequence = sequence;
	row->group = sequence;
	row->bytes = 100 * MEGABYTE;
	row->stream = STREAM;
	row->peer = -1;
	row->kind = GPROF_NCCL_ALL_REDUCE;
	row->datatype = FLOAT;
	row->redop = SUM;
}

/* The data of a channel: each step of it waits for its own. */
static struct gprof_row_nccl_channel *receive(
	struct gen *gen, uint64_t op, uint8_t channel, uint64_t begin, uint64_t first, uint64_t end)
{
	struct gprof_row_nccl_channel *row = gen_row(gen, GPROF_TABLE_nccl_channel);
	uint64_t usual_ns = (end - first) / (NR_TRANSFER_STEPS - 1);

	row->begin = begin;
	row->dur = end + 20 * US;
	row->op = op;
	row->bytes = 50 * MEGABYTE;
	row->own_gpu_ns = 20 * US;
	row->data_ns = 8 * (end - begin);
	row->first_ns = first - begin;
	row->later_ns = usual_ns * (NR_TRANSFER_STEPS - 1);
	row->pause_ns = usual_ns;
	row->pause_after_ns = first - begin;
	row->steps = NR_TRANSFER_STEPS;
	row->comm = 1;
	row->for_pid = GEN_PID;
	row->peer = 1;
	row->channel = channel;
	row->what = GPROF_NCCL_CHANNEL_RECV;
	return row;
}

static void measure(struct gen *gen, uint64_t at, uint64_t op, uint64_t call, enum gen_measured how)
{
	struct gprof_row_nccl_op *row = gen_row(gen, GPROF_TABLE_nccl_op);
	uint64_t begin = at + 300 * US, end = at + 7080 * US;

	row->time = call + 5 * US;
	row->op = op;
	row->call_begin = call;
	row->sequence = op - 1;
	row->bytes = 100 * MEGABYTE;
	row->comm = 1;
	row->thread = 1;
	row->peer = -1;
	row->kind = GPROF_NCCL_ALL_REDUCE;
	row->datatype = FLOAT;
	row->algorithm = GPROF_NCCL_RING;
	row->protocol = GPROF_NCCL_SIMPLE;
	row->channels = 2;
	row->warps = 16;
	row->version = 6;
	for (uint8_t i = 0; i < 2; i++) {
		uint64_t first = how == GEN_MEASURED_LATE ? 5600u - 100u * i : 3200u;
		struct gprof_row_nccl_channel *channel =
			receive(gen, op, i, begin, at + first * US, end);

		if (how == GEN_MEASURED_EARLY) {
			channel->first_ns = 800 * US;
			channel->later_ns += 2100 * US - channel->pause_ns;
			channel->pause_ns = 2100 * US;
			channel->pause_after_ns = 800 * US;
		}
	}
}

void gen_measured(struct gen *gen, enum gen_measured how)
{
	uint64_t at = START_NS;
	uint32_t compute, reduce, id = 0;

	gen_info(gen, "process.command", "train.py");
	gen_info(gen, "rank.world", "0");
	gen_info(gen, "rank.world_size", "2");
	gen_info(gen, "step.rule", "nvtx:step");
	gen_device(gen, 0, "NVIDIA H100");
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	make_comm(gen);
	compute = make_shape(gen, 1, "gemm");
	reduce = make_shape(gen, 2, "ncclDevKernel_AllReduce_Sum_f32_RING_SIMPLE");
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		uint64_t call = at + 200 * US;

		gen_step(gen, i, at);
		launch(gen, at + 50 * US, compute, ++id, at + 100 * US, at + 3100 * US);
		launch(gen, call + 5 * US, reduce, ++id, at + 3100 * US, at + 7100 * US);
		call_nccl(gen, call, i + 1, id);
		measure(gen, at, i + 1, call, how);
		synchronize(gen, at + 400 * US, at + 7110 * US, ++id);
		at += 8000 * US;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
