/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rank 0 of two, which hangs twice, and is killed in the second hang:
 *
 *     1 s     AllReduce of 1 MB, whose kernel ends
 *     2 s     step 7 ended
 *     4 s     recorded: the main thread is in no call, another one is
 *     6 s     step 8 has ended: that was the first hang
 *     7 s     AllGather, whose kernel does not end
 *     12 s    recorded: in ncclGroupEnd, and in a call of CUDA within, called from Python
 */
#include "test/gen/gen.h"

#define SECOND_NS 1000000000ull

enum { MAIN = 1, LOADER = 2, MAIN_TID = 4242, LOADER_TID = 4250, STREAM = 0x5000 };

static struct gprof_row_hang *add_row(struct gen *gen, uint32_t hang, uint8_t item, uint64_t since)
{
	struct gprof_row_hang *row = gen_row(gen, GPROF_TABLE_hang);

	row->tick = hang == 1 ? 4 * SECOND_NS : 12 * SECOND_NS;
	row->since = since;
	row->hang = hang;
	row->step = hang == 1 ? 7 : 8;
	row->item = item;
	return row;
}

static void add_thread(struct gen *gen, uint32_t hang, const char *name, bool is_open,
	uint64_t since, uint32_t tid, const char *text)
{
	uint32_t name_id = *name ? gen_string(gen, name) : 0, text_id = gen_string(gen, text);
	struct gprof_row_hang *row = add_row(gen, hang, GPROF_HANG_THREAD, since);

	row->name = name_id;
	row->text = text_id;
	row->thread = tid == MAIN_TID ? MAIN : tid == LOADER_TID ? LOADER : 0;
	row->task = tid;
	row->is_open = is_open;
}

/* Of the main thread, in the second hang; line 0: unknown, function NULL: how many more. */
static void add_frame(struct gen *gen, const char *file, uint32_t line, const char *function)
{
	uint32_t name_id = function ? gen_string(gen, function) : 0,
		 text_id = gen_string(gen, file);
	struct gprof_row_hang *row = add_row(gen, 2, GPROF_HANG_FRAME, 12 * SECOND_NS);

	row->name = name_id;
	row->text = text_id;
	row->line = line;
	row->thread = MAIN;
	row->task = MAIN_TID;
}

static void add_work(struct gen *gen, uint32_t hang, uint32_t place)
{
	uint32_t name = gen_string(gen, "memcpy");
	struct gprof_row_hang *row = add_row(gen, hang, GPROF_HANG_LAUNCHED, 3 * SECOND_NS);

	row->handle = STREAM;
	row->shape = 1;
	row->thread = MAIN;
	row->correlation = 14;
	row = add_row(gen, hang, GPROF_HANG_FINISHED, row->tick);
	row->place = place;
	row->name = name;
	row->correlation = 12;
	row->work_end = 3 * SECOND_NS / 2 + GEN_CUPTI_OFFSET_NS;
}

static void add_collective(struct gen *gen, uint32_t hang, uint8_t kind, uint64_t since)
{
	struct gprof_row_hang *row = add_row(gen, hang, GPROF_HANG_COLLECTIVE, since);

	row->comm = 1;
	row->sequence = hang;
	row->nccl_kind = kind;
	row->bytes = 1000000;
	row->handle = STREAM;
	row->thread = MAIN;
	row->correlation = 10 + hang;
}

static void add_call(struct gen *gen, uint32_t sequence, uint8_t kind, uint64_t begin)
{
	struct gprof_row_nccl *row = gen_row(gen, GPROF_TABLE_nccl);

	row->begin = begin;
	row->dur = begin + 10000;
	row->thread = MAIN;
	row->correlation_before = 9 + sequence;
	row->correlation = 10 + sequence;
	row->comm = 1;
	row->sequence = sequence;
	row->group = sequence;
	row->bytes = 1000000;
	row->stream = STREAM;
	row->peer = -1;
	row->kind = kind;
}

static void add_kernel(struct gen *gen, uint32_t place)
{
	uint32_t name = gen_string(gen, "ncclDevKernel_AllReduce");
	uint16_t call_id = gen_call(gen, "cuLaunchKernelEx", GPROF_API_DRIVER);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);
	struct gprof_row_api *call = gen_row(gen, GPROF_TABLE_api);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	shape->id = 1;
	shape->name = name;
	call->begin = SECOND_NS + 1000000;
	call->dur = call->begin + 1000;
	call->thread = MAIN;
	call->call = call_id;
	call->correlation = 11;
	kernel->begin = SECOND_NS + 2000000 + GEN_CUPTI_OFFSET_NS;
	kernel->dur = SECOND_NS + 3000000 + GEN_CUPTI_OFFSET_NS;
	kernel->place = place;
	kernel->correlation = 11;
	kernel->shape = 1;
}

void gen_hang(struct gen *gen)
{
	struct gprof_row_nccl_comm *comm;
	uint32_t place, missing;

	gen_info(gen, "rank.world", "0");
	gen_info(gen, "rank.world_size", "2");
	gen_info(gen, "hang.count", "2");
	gen_info(gen, "hang.last",
		"no step has ended for 5 s after step 8, thread 4242 in ncclGroupEnd; it has not "
		"resumed");
	gen_anchor(gen, SECOND_NS, SECOND_NS, SECOND_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, 13 * SECOND_NS, 13 * SECOND_NS, 13 * SECOND_NS + GEN_CUPTI_OFFSET_NS);
	place = gen_place(gen, 0, 1, 7);
	missing = gen_string(gen, "no step has ended");
	comm = gen_row(gen, GPROF_TABLE_nccl_comm);
	comm->tick = SECOND_NS;
	comm->id = 1;
	comm->key = 0xfedcba9876543210;
	comm->nr_ranks = 2;
	add_call(gen, 1, GPROF_NCCL_ALL_REDUCE, SECOND_NS + 1000000 - 5000);
	add_kernel(gen, place);
	add_call(gen, 2, GPROF_NCCL_ALL_GATHER, 7 * SECOND_NS);

	add_row(gen, 1, GPROF_HANG_BEGAN, 2 * SECOND_NS)->text = missing;
	add_thread(gen, 1, "cudaDeviceSynchronize", false, 2 * SECOND_NS, MAIN_TID,
		"python: S in hrtimer_nanosleep, system call 230");
	add_thread(gen, 1, "cudaStreamSynchronize", true, 3 * SECOND_NS, LOADER_TID, "loader: R");
	add_thread(gen, 1, "", false, 4 * SECOND_NS, 4260, "python: S in do_epoll_wait");
	add_work(gen, 1, place);
	add_collective(gen, 1, GPROF_NCCL_ALL_REDUCE, SECOND_NS + 1000000 - 5000);
	add_row(gen, 1, GPROF_HANG_ENDED, 2 * SECOND_NS)->tick = 6 * SECOND_NS;
	add_row(gen, 2, GPROF_HANG_BEGAN, 7 * SECOND_NS)->text = missing;
	add_thread(gen, 2, "ncclGroupEnd", true, 7 * SECOND_NS, MAIN_TID, "python: S in futex");
	add_thread(gen, 2, "cudaMalloc", true, 7 * SECOND_NS + 1, MAIN_TID, "python: S in futex");
	add_frame(gen, "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1532,
		"_call_impl");
	add_frame(gen, "train.py", 42, "train_step");
	add_frame(gen, "<frozen runpy>", 0, "_run_code");
	add_frame(gen, "3 more frames", 0, NULL);
	add_work(gen, 2, place);
	add_collective(gen, 2, GPROF_NCCL_ALL_GATHER, 7 * SECOND_NS);
	gen_flush(gen);
}
