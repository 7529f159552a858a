/* SPDX-License-Identifier: Apache-2.0 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define STEP_US	 1000u
#define MB	 (1ll << 20)

enum thread {
	LOOP = 1,
	AUTOGRAD = 2,
};

struct names {
	uint32_t loader, stack, forward, conv, mm, relu, node, backward, step, zero, foreach;
	uint32_t conv_shape, mm_shape, relu_shape;
	uint32_t place, gemm;
	uint16_t launch;
	uint32_t correlation;
};

static uint64_t at(uint32_t us)
{
	return START_NS + us * 1000ull;
}

/* Microseconds after the start. Rows of one thread must come in the order of their ends. */
static struct gprof_row_op *op(struct gen *gen, enum thread thread, uint32_t name, uint32_t begin,
	uint32_t end, uint16_t depth)
{
	struct gprof_row_op *row = gen_row(gen, GPROF_TABLE_op);

	row->begin = at(begin);
	row->dur = at(end);
	row->thread = row->end_thread = thread;
	row->op_name = name;
	row->depth = depth;
	return row;
}

/* A launch, and the kernel that runs `late` microseconds after it. */
static void launch(struct gen *gen, struct names *n, enum thread thread, uint32_t begin,
	uint32_t late, uint32_t dur)
{
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	call->begin = at(begin);
	call->dur = at(begin + 2);
	call->thread = thread;
	call->call = n->launch;
	call->correlation = ++n->correlation;
	call->shape = n->gemm;
	kernel->begin = at(begin + late) + GEN_CUPTI_OFFSET_NS;
	kernel->dur = kernel->begin + dur * 1000ull;
	kernel->place = n->place;
	kernel->correlation = n->correlation;
	kernel->shape = n->gemm;
}

static void alloc(struct gen *gen, enum thread thread, uint32_t time, uint64_t address,
	int64_t bytes, uint64_t allocated)
{
	struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

	row->time = at(time);
	row->thread = thread;
	row->address = address;
	row->bytes = bytes;
	row->allocated_bytes = allocated;
	row->reserved_bytes = 20 * MB;
	row->device_type = 1;
}

static void sample(struct gen *gen, uint32_t time, uint8_t metric, uint8_t device, uint64_t value)
{
	struct gprof_row_sample *row = gen_row(gen, GPROF_TABLE_sample);

	row->time = at(time);
	row->metric = metric;
	row->device = device;
	row->value = value;
}

static void add_names(struct gen *gen, struct names *n)
{
	uint32_t gemm = gen_string(gen, "_Z4gemmIfEvPKT_S2_PS0_i");
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);

	n->loader = gen_op_name(gen, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	n->stack = gen_op_name(gen, "aten::stack");
	n->forward = gen_op_name(gen, "the model");
	n->conv = gen_op_name(gen, "aten::convolution");
	n->mm = gen_op_name(gen, "aten::mm");
	n->relu = gen_op_name(gen, "aten::relu");
	n->node = gen_op_name(gen, "autograd::engine::evaluate_function: MmBackward0");
	n->backward = gen_op_name(gen, "MmBackward0");
	n->step = gen_op_name(gen, "Optimizer.step#SGD.step");
	n->zero = gen_op_name(gen, "Optimizer.zero_grad#SGD.zero_grad");
	n->foreach = gen_op_name(gen, "aten::_foreach_add_");
	n->conv_shape = gen_op_shape(gen, "float32[4,3,8,8], float32[16,3,3,3], scalar");
	n->mm_shape = gen_op_shape(gen, "float32[4,16], float32[16,10]");
	n->relu_shape = gen_op_shape(gen, "float32[4,16,8,8]");
	n->place = gen_place(gen, 0, 1, 7);
	n->launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	shape->id = n->gemm = 1;
	shape->name = gemm;
	shape->grid_x = shape->grid_y = shape->grid_z = 1;
	shape->block_x = shape->block_y = shape->block_z = 1;
}

static void add_facts(struct gen *gen)
{
	static const char *const names[] = {"python", "pt_autograd_0"};

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "host.name", "node7");
	gen_info(gen, "host.cpus", "4");
	gen_info(gen, "config.GPROF_BATCH_SIZE", "4");
	gen_device(gen, 0, "NVIDIA Test 1");
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t name = gen_string(gen, names[i]);
		struct gprof_row_thread *thread = gen_row(gen, GPROF_TABLE_thread);

		thread->tick = START_NS;
		thread->thread = i + 1;
		thread->tid = GEN_PID + i;
		thread->name = name;
	}
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	gen_anchor(gen, at(4000), at(4000), at(4000) + GEN_CUPTI_OFFSET_NS);
}

/* Loader 100, forward 200 in a user's range, backward on its own thread 300, optimizer 50. */
static void add_step(struct gen *gen, struct names *n, uint32_t t, uint64_t number)
{
	struct gprof_row_op *row;

	op(gen, LOOP, n->stack, t + 20, t + 60, 1);
	op(gen, LOOP, n->loader, t, t + 100, 0);
	op(gen, LOOP, n->zero, t + 110, t + 120, 0);
	alloc(gen, LOOP, t + 131, 0x7000 + number, 8 * MB, 8 * MB * (number + 1));
	launch(gen, n, LOOP, t + 140, 50, 60);
	row = op(gen, LOOP, n->conv, t + 130, t + 200, 1);
	row->op_shape = n->conv_shape;
	row->sequence = 2 * number + 1;
	row = op(gen, LOOP, n->relu, t + 205, t + 210, 1);
	row->op_shape = n->relu_shape;
	row->sequence = 2 * number + 2; /* the next node's, which it does not make */
	launch(gen, n, LOOP, t + 230, 100, 20);
	row = op(gen, LOOP, n->mm, t + 220, t + 320, 1);
	row->op_shape = n->mm_shape;
	row->sequence = 2 * number + 2;
	op(gen, LOOP, n->forward, t + 125, t + 325, 0)->scope = 7;
	launch(gen, n, AUTOGRAD, t + 360, 400, 90); /* runs when the optimizer does */
	op(gen, AUTOGRAD, n->mm, t + 350, t + 380, 2)->op_shape = n->mm_shape;
	row = op(gen, AUTOGRAD, n->backward, t + 345, t + 390, 1);
	row->scope = 1;
	row->sequence = 2 * number + 2;
	row->forward_thread = LOOP;
	op(gen, AUTOGRAD, n->node, t + 340, t + 400, 0);
	op(gen, AUTOGRAD, n->node, t + 500, t + 640, 0);
	alloc(gen, AUTOGRAD, t + 641, 0x9000 + number, MB, 8 * MB * (number + 1) + MB);
	alloc(gen, LOOP, t + 650, 0x9000 + number, -MB, 8 * MB * (number + 1));
	launch(gen, n, LOOP, t + 670, 300, 10);
	op(gen, LOOP, n->foreach, t + 660, t + 690, 1);
	op(gen, LOOP, n->step, t + 655, t + 705, 0);
}

static void add_marks(struct gen *gen)
{
	for (uint32_t i = 0; i < 4; i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = at(i ? STEP_US * i - 290 : 0);
		row->step = i;
		row->thread = LOOP;
		row->how = GPROF_STEP_OPTIMIZER;
	}
}

static void add_samples(struct gen *gen)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t t = STEP_US * i;

		sample(gen, t, GPROF_METRIC_PROCESS_CPU_NS, 255, i * 1500000ull);
		sample(gen, t, GPROF_METRIC_PROCESS_RSS_BYTES, 255, (100 + i) * MB);
		sample(gen, t, GPROF_METRIC_HOST_CPU_BUSY_NS, 255, i * 2000000ull);
		sample(gen, t, GPROF_METRIC_HOST_CPU_ALL_NS, 255, i * 4000000ull);
		sample(gen, t, GPROF_METRIC_GPU_BUSY_PERCENT, 0, 10 * i);
		sample(gen, t, GPROF_METRIC_GPU_POWER_MW, 0, 300000 + i);
	}
}

void gen_ops(struct gen *gen)
{
	struct names names = {.correlation = 100};

	add_facts(gen);
	add_names(gen, &names);
	add_marks(gen);
	for (uint32_t i = 0; i < 3; i++) {
		add_step(gen, &names, STEP_US * i, i);
	}
	add_samples(gen);
	gen_flush(gen);
}
