/* SPDX-License-Identifier: Apache-2.0 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define STEP_US	 1000u
#define NR_STEPS 4u

/* Shapes of kernels, by ID. */
enum { GEMM = 1, RELU, UPDATE, LATE };

static uint64_t time_at(uint32_t us)
{
	return START_NS + us * 1000ull;
}

static void op(struct gen *gen, const char *name, uint32_t at_us, uint32_t end_us, uint32_t thread,
	uint8_t scope, const char *inputs)
{
	uint32_t shape = inputs ? gen_op_shape(gen, inputs) : 0;
	struct gprof_row_op *row = gen_op(gen, name, time_at(at_us), time_at(end_us));

	row->thread = row->end_thread = thread;
	row->scope = scope;
	row->op_shape = shape;
	row->sequence = scope == 1;
}

static void module(struct gen *gen, const char *name, uint32_t at_us, uint32_t end_us)
{
	struct gprof_row_op *row = gen_op(gen, name, time_at(at_us), time_at(end_us));

	row->framework = GPROF_FRAMEWORK_PYTHON;
	row->scope = GPROF_PYTHON_MODULE;
}

static struct gprof_row_api *call(struct gen *gen, unsigned int table, const char *name,
	uint32_t at_us, uint32_t dur_us, uint32_t correlation)
{
	uint16_t id = gen_call(gen, name, GPROF_API_RUNTIME);
	struct gprof_row_api *row = gen_row(gen, table);

	row->begin = time_at(at_us);
	row->dur = row->begin + dur_us * 1000ull;
	row->thread = 1;
	row->call = id;
	row->correlation = correlation;
	return row;
}

/* original 0: the program created it. */
static void node(struct gen *gen, uint64_t id, uint64_t original, uint32_t graph, uint32_t at_us,
	uint32_t thread)
{
	struct gprof_row_graph_node *row = gen_row(gen, GPROF_TABLE_graph_node);

	row->time = time_at(at_us);
	row->node = id;
	row->original = original;
	row->graph = graph;
	row->thread = thread;
	row->kind = id % 10 == 3;
}

static void kernel(struct gen *gen, uint32_t shape, uint64_t graph_node, uint32_t at_us,
	uint32_t dur_us, uint32_t correlation)
{
	struct gprof_row_kernel *row = gen_row(gen, GPROF_TABLE_kernel);

	row->begin = time_at(at_us) + GEN_CUPTI_OFFSET_NS;
	row->dur = row->begin + dur_us * 1000ull;
	row->place = 1;
	row->correlation = correlation;
	row->graph = graph_node ? 1 + graph_node / 50 : 0;
	row->graph_node = graph_node;
	row->shape = shape;
}

static void copy(struct gen *gen, uint64_t graph_node, uint32_t at_us, uint32_t correlation)
{
	struct gprof_row_memcpy *row = gen_row(gen, GPROF_TABLE_memcpy);

	row->begin = time_at(at_us) + GEN_CUPTI_OFFSET_NS;
	row->dur = row->begin + 20000;
	row->place = 1;
	row->correlation = correlation;
	row->graph = 1;
	row->graph_node = graph_node;
	row->bytes = 4096;
	row->copy_kind = 8;
	row->src_kind = row->dst_kind = 3;
	row->flags = GPROF_COPY_ASYNC;
}

static void python(struct gen *gen)
{
	gen_py_file(gen, 1, "model.py");
	gen_py_code(gen, 1, 1, 10, "forward");
	gen_py_stack(gen, 1, 0, 1, 12);
}

static void shape(struct gen *gen, uint32_t id, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *row = gen_row(gen, GPROF_TABLE_shape);

	row->id = id;
	row->name = string;
	row->grid_x = row->grid_y = row->grid_z = row->block_y = row->block_z = 1;
	row->block_x = 256;
}

static void begin(struct gen *gen)
{
	struct gprof_row_thread *thread;

	gen_info(gen, "process.command", "python train.py");
	gen_device(gen, 0, "NVIDIA Test 1");
	gen_place(gen, 0, 1, 7);
	for (uint32_t i = 1; i <= 2; i++) {
		thread = gen_row(gen, GPROF_TABLE_thread);
		thread->tick = START_NS;
		thread->thread = i;
		thread->tid = GEN_PID + i - 1;
	}
	gen_anchor(gen, START_NS, START_NS, START_NS + GEN_CUPTI_OFFSET_NS);
	shape(gen, GEMM, "gemm");
	shape(gen, RELU, "relu");
	shape(gen, UPDATE, "update");
	shape(gen, LATE, "late");
	python(gen);
}

static void mark_step(struct gen *gen, uint32_t number)
{
	struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

	row->time = time_at(10 + number * STEP_US);
	row->step = number;
	row->thread = 1;
	row->how = GPROF_STEP_OPTIMIZER;
}

/*
 * A capture of a module with two operators and a copy, and of a backward node on the other thread;
 * around it an operator that the launches do not lie in. The nodes are 1 to 4, their copies 11 to
 * 14.
 */
static void capture(struct gen *gen)
{
	struct gprof_row_api_launch *launch;

	call(gen, GPROF_TABLE_api, "cudaStreamBeginCapture", 100, 5, 0);
	launch = (struct gprof_row_api_launch *)call(
		gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 130, 6, 10);
	launch->shape = GEMM;
	launch->py_stack = 1;
	node(gen, 1, 0, 1, 133, 1);
	op(gen, "aten::mm", 120, 160, 1, 0, "float32[64,32], float32[32,16]");
	call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", 175, 6, 11);
	node(gen, 2, 0, 1, 177, 1);
	op(gen, "aten::relu", 170, 190, 1, 0, "float32[64,16]");
	node(gen, 3, 0, 1, 195, 1);
	module(gen, "nn.Module: Net_0", 110, 200);
	node(gen, 4, 0, 1, 215, 2);
	op(gen, "AddmmBackward0", 210, 220, 2, 1, NULL);
	call(gen, GPROF_TABLE_api, "cudaStreamEndCapture", 230, 5, 0);
	for (uint64_t i = 1; i <= 4; i++) {
		node(gen, 10 + i, i, 2, 240 + (uint32_t)i, 1);
	}
	op(gen, "aten::capture", 90, 250, 1, 0, NULL);
}

/* Another capture, whose node takes the place of node 11 from then on. */
static void update(struct gen *gen, uint32_t at_us)
{
	call(gen, GPROF_TABLE_api, "cudaStreamBeginCapture", at_us, 2, 0);
	node(gen, 5, 0, 3, at_us + 10, 1);
	op(gen, "aten::bmm", at_us + 5, at_us + 20, 1, 0, "float32[2,64,32], float32[2,32,16]");
	call(gen, GPROF_TABLE_api, "cudaStreamEndCapture", at_us + 25, 2, 0);
	node(gen, 11, 5, 2, at_us + 30, 1);
}

/* The launch runs four nodes with gaps between them; `late` also one of a graph from before. */
static void step(struct gen *gen, uint32_t number, bool is_late)
{
	uint32_t at_us = 10 + number * STEP_US, id = 100 + number * 10;

	mark_step(gen, number);
	call(gen, GPROF_TABLE_api_launch, "cudaGraphLaunch", at_us + 320, 10, id);
	kernel(gen, GEMM, 11, at_us + 340, 100, id);
	kernel(gen, RELU, 12, at_us + 445, 40, id);
	copy(gen, 13, at_us + 490, id);
	kernel(gen, GEMM, 14, at_us + 520, 80, id);
	op(gen, "train_step", at_us + 310, at_us + 340, 1, 7, NULL);
	if (is_late) {
		call(gen, GPROF_TABLE_api_launch, "cudaGraphLaunch", at_us + 350, 10, id + 1);
		kernel(gen, LATE, 77, at_us + 610, 50, id + 1);
	}
	call(gen, GPROF_TABLE_api_launch, "cudaLaunchKernel", at_us + 370, 5, id + 2);
	kernel(gen, UPDATE, 0, at_us + 670, 30, id + 2);
	op(gen, "Optimizer.step#SGD.step", at_us + 365, at_us + 380, 1, 7, NULL);
}

void gen_graph(struct gen *gen)
{
	begin(gen);
	capture(gen);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		if (i == 2) {
			update(gen, 10 + i * STEP_US - 100);
		}
		step(gen, i, i == 3);
	}
	mark_step(gen, NR_STEPS);
	gen_flush(gen);
}
