/* SPDX-License-Identifier: Apache-2.0 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull

/* A call of thread 1 at `at` microseconds after the start. */
static void *call(struct gen *gen, unsigned int table, uint16_t id, uint32_t at_us, uint32_t dur_us,
	uint32_t correlation)
{
	struct gprof_row_api *row = gen_row(gen, table);

	row->begin = START_NS + at_us * 1000ull;
	row->dur = row->begin + dur_us * 1000ull;
	row->thread = 1;
	row->call = id;
	row->correlation = correlation;
	return row;
}

static void *work(struct gen *gen, unsigned int table, uint32_t place, uint32_t at_us,
	uint32_t dur_us, uint32_t correlation)
{
	struct gprof_row_kernel *row = gen_row(gen, table);

	row->begin = START_NS + GEN_CUPTI_OFFSET_NS + at_us * 1000ull;
	row->dur = row->begin + dur_us * 1000ull;
	row->place = place;
	row->correlation = correlation;
	return row;
}

static uint32_t shape(struct gen *gen, uint32_t id, const char *name, uint32_t grid)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *row = gen_row(gen, GPROF_TABLE_shape);

	row->id = id;
	row->name = string;
	row->grid_x = grid;
	row->grid_y = row->grid_z = row->block_y = row->block_z = 1;
	row->block_x = 256;
	row->registers = 32;
	row->dynamic_shared_bytes = 1024;
	return id;
}

static void nvtx(struct gen *gen, uint8_t op, uint32_t at_us, uint32_t name, uint64_t range)
{
	struct gprof_row_nvtx *row = gen_row(gen, GPROF_TABLE_nvtx);

	row->time = START_NS + at_us * 1000ull;
	row->thread = 1;
	row->name = name;
	row->range = range;
	row->op = op;
}

static void add_facts(struct gen *gen)
{
	struct gprof_row_thread *thread;
	uint32_t name = gen_string(gen, "python");

	gen_info_bytes(gen, "process.command", "python\0train.py\0--lr\0001e-3", 25);
	gen_info(gen, "host.name", "node7");
	gen_info(gen, "rank.world", "1");
	gen_info(gen, "rank.world_size", "2");
	gen_device(gen, 0, "NVIDIA Test 1");
	thread = gen_row(gen, GPROF_TABLE_thread);
	thread->tick = START_NS;
	thread->thread = 1;
	thread->tid = GEN_PID;
	thread->name = name;
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, START_NS + 1000000, START_NS + 1000000,
		START_NS + GEN_CUPTI_OFFSET_NS + 1000000);
}

static void add_kernels(struct gen *gen, uint32_t place)
{
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	uint32_t gemm = shape(gen, 1, "_Z4gemmIfEvPKT_S2_PS0_i", 128);
	uint32_t odd = shape(gen, 2, "=cmd|' /C calc'!A0\x1b[31m\xff \"quoted\" \xe2\x80\xae", 1);

	for (uint32_t i = 0; i < 5; i++) {
		struct gprof_row_api_launch *row =
			call(gen, GPROF_TABLE_api_launch, launch, 10 + 20 * i, 5, 101 + i);
		struct gprof_row_kernel *kernel =
			work(gen, GPROF_TABLE_kernel, place, 20 + 20 * i, 10 + i, 101 + i);

		row->shape = i < 4 ? gemm : odd;
		kernel->shape = row->shape;
	}
	/* A kernel whose call is not in the stream, overlapping the last one. */
	((struct gprof_row_kernel *)work(gen, GPROF_TABLE_kernel, place, 105, 20, 999))->shape =
		gemm;
}

static void add_memory(struct gen *gen, uint32_t place)
{
	uint16_t id = gen_call(gen, "cudaMemcpyAsync", GPROF_API_RUNTIME);
	struct gprof_row_api_copy *copy = call(gen, GPROF_TABLE_api_copy, id, 200, 8, 201);
	struct gprof_row_memcpy *record = work(gen, GPROF_TABLE_memcpy, place, 210, 50, 201);
	struct gprof_row_api_set *set;
	struct gprof_row_memset *filled;

	copy->copy_kind = 1;
	copy->bytes = 1000000;
	record->bytes = 1000000;
	record->copy_kind = 1;
	record->src_kind = 2;
	record->dst_kind = 3;
	record->flags = 1;
	id = gen_call(gen, "cudaMemsetAsync", GPROF_API_RUNTIME);
	set = call(gen, GPROF_TABLE_api_set, id, 300, 4, 301);
	set->bytes = 4096;
	filled = work(gen, GPROF_TABLE_memset, place, 310, 2, 301);
	filled->bytes = 4096;
	filled->memory_kind = 3;
}

static void add_waits(struct gen *gen)
{
	uint16_t id = gen_call(gen, "cudaStreamSynchronize", GPROF_API_RUNTIME);
	struct gprof_row_api_sync *wait = call(gen, GPROF_TABLE_api_sync, id, 320, 100, 401);
	struct gprof_row_sync *seen = work(gen, GPROF_TABLE_sync, 1, 321, 98, 401);
	struct gprof_row_overhead *overhead = gen_row(gen, GPROF_TABLE_overhead);

	wait->result = 700;
	seen->type = 3;
	overhead->begin = START_NS + GEN_CUPTI_OFFSET_NS + 500000;
	overhead->dur = overhead->begin + 7000;
	overhead->overhead_kind = 1u << 16;
}

static void add_ranges(struct gen *gen)
{
	uint32_t step = gen_string(gen, "step");
	uint32_t copies = gen_string(gen, "copies");

	nvtx(gen, GPROF_NVTX_PUSH, 5, step, 0);
	nvtx(gen, GPROF_NVTX_START, 190, copies, 77);
	nvtx(gen, GPROF_NVTX_POP, 150, 0, 0);
	nvtx(gen, GPROF_NVTX_END, 330, 0, 77);
	nvtx(gen, GPROF_NVTX_POP, 340, 0, 0); /* never pushed */
	for (uint32_t i = 0; i < 3; i++) {
		gen_step(gen, i, START_NS + (4 + 200 * i) * 1000ull);
	}
}

void gen_small(struct gen *gen)
{
	uint32_t place = gen_place(gen, 0, 1, 7);

	add_facts(gen);
	add_kernels(gen, place);
	add_memory(gen, place);
	add_waits(gen);
	add_ranges(gen);
	gen_flush(gen);
}
