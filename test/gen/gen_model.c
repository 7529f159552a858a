/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "test/gen/gen.h"

#define NR_LAYERS    24u
#define NR_LEAVES    8u /* operators of a layer that launch a kernel */
#define NR_SHAPES    256u
#define NR_KERNELS   120u
#define GROUP_EVENTS 250000u
#define START_NS     1000000000ull

enum { LOOP = 1, AUTOGRAD = 2 };
enum { COMPUTE, COPY, NCCL, NR_STREAMS };

struct model {
	struct gen *gen;
	uint64_t random;
	uint64_t now_ns; /* of the host; the loop waits for autograd, so one time is enough */
	uint64_t device_ns[NR_STREAMS];
	uint64_t nr_events, nr_in_group;
	uint64_t sequence, address;
	uint32_t places[NR_STREAMS], correlation;
	uint32_t ops[16], leaves[2 * NR_LEAVES], shapes[64], layers[NR_LAYERS];
	uint32_t kernels[NR_SHAPES];
	uint16_t usual_ns[NR_SHAPES];
	uint16_t calls[8];
};

enum { OP_LOADER, OP_MODULE, OP_NODE, OP_BACKWARD, OP_STEP, OP_ZERO, OP_FOREACH, OP_TO };
enum { CALL_LAUNCH, CALL_COPY, CALL_SET, CALL_ERROR, CALL_EVENT, CALL_SYNC };

static uint32_t below(struct model *m, uint32_t n)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (uint32_t)((m->random >> 32) * n >> 32);
}

/* Long tails, as durations have them, without a call of exp for each. */
static uint64_t about(struct model *m, uint32_t ns)
{
	uint64_t value = ns / 2 + below(m, ns);

	return below(m, 100) ? value : value * (2 + below(m, 20));
}

static void *add(struct model *m, unsigned int table)
{
	m->nr_events++;
	m->nr_in_group++;
	return gen_row(m->gen, table);
}

static void add_op(struct model *m, uint32_t thread, uint32_t name, uint64_t begin, uint16_t depth,
	uint32_t shape)
{
	struct gprof_row_op *row = add(m, GPROF_TABLE_op);

	m->now_ns += about(m, 200);
	row->begin = begin;
	row->dur = m->now_ns;
	row->thread = row->end_thread = thread;
	row->op_name = name;
	row->op_shape = shape;
	row->depth = depth;
	row->scope = name == m->ops[OP_BACKWARD];
	row->sequence = thread == LOOP ? ++m->sequence : 0;
}

static void add_call(struct model *m, struct gprof_row_api *row, uint32_t thread, unsigned int call)
{
	m->now_ns += about(m, 300);
	row->begin = m->now_ns;
	m->now_ns += about(m, call == CALL_ERROR ? 100 : 2500);
	row->dur = m->now_ns;
	row->thread = thread;
	row->call = m->calls[call];
}

/* When work that was called for just now begins on a stream, which `ns` is then busy. */
static uint64_t run_on(struct model *m, unsigned int stream, uint64_t ns)
{
	uint64_t ready = m->now_ns + GEN_CUPTI_OFFSET_NS + about(m, 3000);
	uint64_t begin = m->device_ns[stream] + 400;

	begin = begin > ready ? begin : ready;
	m->device_ns[stream] = begin + ns;
	return begin;
}

static void add_kernel(struct model *m, uint32_t thread, unsigned int stream, uint32_t shape)
{
	struct gprof_row_api_launch *call = add(m, GPROF_TABLE_api_launch);
	struct gprof_row_kernel *kernel;

	add_call(m, (struct gprof_row_api *)call, thread, CALL_LAUNCH);
	call->correlation = ++m->correlation;
	call->shape = m->kernels[shape];
	kernel = add(m, GPROF_TABLE_kernel);
	kernel->begin = run_on(m, stream, about(m, m->usual_ns[shape]));
	kernel->dur = m->device_ns[stream];
	kernel->place = m->places[stream];
	kernel->correlation = m->correlation;
	kernel->shape = m->kernels[shape];
	add_call(m, add(m, GPROF_TABLE_api), thread, CALL_ERROR);
}

static void add_copy(struct model *m, uint64_t bytes)
{
	struct gprof_row_api_copy *call = add(m, GPROF_TABLE_api_copy);
	struct gprof_row_memcpy *record;

	add_call(m, (struct gprof_row_api *)call, LOOP, CALL_COPY);
	call->correlation = ++m->correlation;
	call->copy_kind = 1;
	call->bytes = bytes;
	record = add(m, GPROF_TABLE_memcpy);
	record->begin = run_on(m, COPY, bytes / 20 + 900);
	record->dur = m->device_ns[COPY];
	record->place = m->places[COPY];
	record->correlation = m->correlation;
	record->bytes = bytes;
	record->copy_kind = 1;
	record->src_kind = 2;
	record->dst_kind = 3;
	record->flags = 1;
}

static void add_alloc(struct model *m, uint32_t thread, int64_t bytes)
{
	struct gprof_row_alloc *row = add(m, GPROF_TABLE_alloc);

	row->time = m->now_ns;
	row->thread = thread;
	row->address = 0x7f0000000000ull + (bytes > 0 ? ++m->address : m->address) % 4096 * 65536;
	row->bytes = bytes;
	row->allocated_bytes = 1ull << 30;
	row->reserved_bytes = 2ull << 30;
	row->device_type = 1;
}

static void mark(struct model *m, uint32_t name)
{
	struct gprof_row_nvtx *row = add(m, GPROF_TABLE_nvtx);

	row->time = m->now_ns;
	row->thread = LOOP;
	row->name = name;
	row->op = name ? GPROF_NVTX_PUSH : GPROF_NVTX_POP;
}

/* An operator that calls another one, which launches. */
static void add_leaf(struct model *m, uint32_t thread, uint16_t depth, uint32_t layer, uint32_t i)
{
	uint64_t outer = m->now_ns += about(m, 500);
	uint64_t inner = m->now_ns += about(m, 700);

	if (i % 2) {
		add_alloc(m, thread, 65536);
	}
	add_kernel(m, thread, COMPUTE, (layer % 4 * 32 + thread * 100 + i * 4) % NR_SHAPES);
	add_op(m, thread, m->leaves[2 * i + 1], inner, depth + 1, m->shapes[layer % 4 * 8 + i]);
	add_op(m, thread, m->leaves[2 * i], outer, depth, m->shapes[layer % 4 * 8 + i]);
	if (i % 2) {
		add_alloc(m, thread, -65536);
	}
}

static void forward(struct model *m)
{
	for (uint32_t layer = 0; layer < NR_LAYERS; layer++) {
		mark(m, m->layers[layer]);
		for (uint32_t i = 0; i < NR_LEAVES; i++) {
			add_leaf(m, LOOP, 0, layer, i);
		}
		mark(m, 0);
	}
}

static void backward(struct model *m)
{
	for (uint32_t layer = NR_LAYERS; layer-- > 0;) {
		for (uint32_t i = 0; i < NR_LEAVES; i++) {
			uint64_t node = m->now_ns += about(m, 400);
			uint64_t inner = m->now_ns += about(m, 400);

			add_leaf(m, AUTOGRAD, 2, layer, i);
			add_op(m, AUTOGRAD, m->ops[OP_BACKWARD], inner, 1, 0);
			add_op(m, AUTOGRAD, m->ops[OP_NODE], node, 0, 0);
		}
		add_kernel(m, AUTOGRAD, NCCL, NR_SHAPES - 1);
		add_call(m, add(m, GPROF_TABLE_api), AUTOGRAD, CALL_EVENT);
	}
}

static void add_step(struct model *m, uint64_t number)
{
	struct gprof_row_step *step = add(m, GPROF_TABLE_step);
	struct gprof_row_api_sync *sync;
	uint64_t begin = m->now_ns += about(m, 20000);

	step->time = begin;
	step->step = number;
	step->thread = LOOP;
	step->how = GPROF_STEP_DATALOADER;
	m->now_ns += about(m, 300000);
	add_op(m, LOOP, m->ops[OP_LOADER], begin, 0, 0);
	begin = m->now_ns += 1000;
	add_copy(m, 1u << 20);
	add_op(m, LOOP, m->ops[OP_TO], begin, 0, 0);
	forward(m);
	backward(m);
	begin = m->now_ns += 2000;
	for (uint32_t i = 0; i < NR_LAYERS; i++) {
		uint64_t inner = m->now_ns += about(m, 2000);

		add_kernel(m, LOOP, COMPUTE, i);
		add_op(m, LOOP, m->ops[OP_FOREACH], inner, 1, 0);
	}
	add_op(m, LOOP, m->ops[OP_STEP], begin, 0, 0);
	sync = add(m, GPROF_TABLE_api_sync);
	add_call(m, (struct gprof_row_api *)sync, LOOP, CALL_SYNC);
	if (m->device_ns[COMPUTE] - GEN_CUPTI_OFFSET_NS > sync->dur) {
		m->now_ns = sync->dur = m->device_ns[COMPUTE] - GEN_CUPTI_OFFSET_NS;
	}
}

static void define_kernels(struct model *m)
{
	static const char *const templates[] = {
		"_ZN2at6native%uelementwise_kernel_%03uILi%uEEEvPKfPfi",
		"ampere_fp16_s16816gemm_fp16_%ux64_sliced1x2_ldg8_f2f_%03u_%u",
		"_ZN7cutlass%uKernel_%03uILi%uEEEvPKfPfi"};

	for (uint32_t i = 0; i < NR_SHAPES; i++) {
		struct gprof_row_shape *shape;
		char name[96];
		uint32_t string;

		snprintf(name, sizeof(name), templates[i % 3], i % 3 == 2 ? 10u : 22u,
			i % NR_KERNELS, i % NR_KERNELS);
		string = gen_string(m->gen,
			i + 1 < NR_SHAPES ? name : "ncclDevKernel_AllReduce_Sum_f16_RING_LL");
		shape = gen_row(m->gen, GPROF_TABLE_shape);
		shape->id = m->kernels[i] = i + 1;
		shape->name = string;
		shape->grid_x = 1 + below(m, 4096);
		shape->grid_y = shape->grid_z = shape->block_y = shape->block_z = 1;
		shape->block_x = 32u << below(m, 5);
		shape->registers = 16 + 8 * below(m, 28);
		m->usual_ns[i] = (uint16_t)(2000 + below(m, 30000));
	}
}

static void define(struct model *m)
{
	static const char *const calls[] = {"cudaLaunchKernel", "cudaMemcpyAsync",
		"cudaMemsetAsync", "cudaGetLastError", "cudaEventRecord", "cudaStreamSynchronize"};
	static const char *const ops[] = {
		"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "the model",
		"autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0",
		"Optimizer.step#AdamW.step", "Optimizer.zero_grad#AdamW.zero_grad",
		"aten::_foreach_add_", "aten::to"};
	static const char *const leaves[2 * NR_LEAVES] = {"aten::linear", "aten::addmm",
		"aten::matmul", "aten::bmm", "aten::softmax", "aten::_softmax", "aten::layer_norm",
		"aten::native_layer_norm", "aten::gelu", "aten::gelu_out", "aten::dropout",
		"aten::native_dropout", "aten::add", "aten::add_out", "aten::contiguous",
		"aten::copy_"};
	char text[64];

	for (uint32_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		m->calls[i] = gen_call(m->gen, calls[i], GPROF_API_RUNTIME);
	}
	for (uint32_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		m->ops[i] = gen_op_name(m->gen, ops[i]);
	}
	for (uint32_t i = 0; i < 2 * NR_LEAVES; i++) {
		m->leaves[i] = gen_op_name(m->gen, leaves[i]);
	}
	for (uint32_t i = 0; i < 64; i++) {
		snprintf(text, sizeof(text), "float16[%u,512,1024], float16[1024,%u]", i, 4 * i);
		m->shapes[i] = gen_op_shape(m->gen, text);
	}
	for (uint32_t i = 0; i < NR_LAYERS; i++) {
		snprintf(text, sizeof(text), "layer%u", i);
		m->layers[i] = gen_string(m->gen, text);
	}
	for (uint32_t i = 0; i < NR_STREAMS; i++) {
		m->places[i] = gen_place(m->gen, 0, 1, 7 + 6 * i);
	}
	gen_device(m->gen, 0, "NVIDIA Test 1");
	define_kernels(m);
}

/* As the recorder's drain closes what it has written. */
static void close_group(struct model *m)
{
	gen_anchor(m->gen, m->now_ns, m->now_ns, m->now_ns + GEN_CUPTI_OFFSET_NS);
	gen_flush(m->gen);
	(void)gen_row(m->gen, GPROF_TABLE_checkpoint);
	gen_flush(m->gen);
	m->nr_in_group = 0;
}

void gen_model(struct gen *gen, uint64_t nr_events, uint64_t seed)
{
	struct model m = {.gen = gen, .random = seed * 2 + 1, .now_ns = START_NS};

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "host.name", "node7");
	gen_info(gen, "host.cpus", "4");
	define(&m);
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	for (uint64_t step = 0; m.nr_events < nr_events; step++) {
		add_step(&m, step);
		if (m.nr_in_group >= GROUP_EVENTS) {
			close_group(&m);
		}
	}
	close_group(&m);
}
