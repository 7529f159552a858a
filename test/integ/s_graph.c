/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same steps, with operators as PyTorch reports them and ranges of NVTX, their kernels launched
 * one by one or by a CUDA graph:
 *
 *	s_graph eager|graph|child|update|loop|late STEPS
 *
 *	eager   each step runs the operators
 *	graph   the operators run once, in a capture; each step launches the graph
 *	child   the captured graph is a node of another one, which is captured again
 *	update  the executable graph is made of another capture, then updated with this one
 *	loop    they are captured into the body of a conditional node, which each launch runs twice
 *	late    as graph; cudaProfilerStart comes after the capture
 *
 * The backward part runs on a thread of its own, as PyTorch's does where there are GPUs.
 */
#include "test/prog/prog.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/abi/nvtx_abi.h"

enum { N = 1024, FUNCTION = 0, BACKWARD = 1, USER = 7, NR_SLOTS = 17, NR_TIMES = 2 };

KERNEL2(linear_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

KERNEL2(bias_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

KERNEL2(relu_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

KERNEL2(update_kernel, float *, x, int, by)
{
	if (index == 0) {
		x[0] += (float)by;
	}
}

/* The simulator's cudaGraphSetConditional. */
void simGraphSetConditional(unsigned long long handle, unsigned int value);

KERNEL2(again_kernel, unsigned long long, handle, int *, nr_left)
{
	if (index == 0) {
		*nr_left = *nr_left ? *nr_left - 1 : NR_TIMES - 1;
		simGraphSetConditional(handle, (unsigned int)*nr_left);
	}
}

static struct program {
	void *(*begin)(const char *name, uint8_t scope);
	void (*end)(void *range);
	void (*core[NR_SLOTS])(void);
	nvtx_slot core_slots[NR_SLOTS];
	cudaStream_t stream;
	cudaGraphExec_t exec;
	float *data, *more;
	int *nr_left;
	unsigned long long condition;
} program;

/* ---- ranges ---- */

static int get_table(uint32_t module, nvtx_slot **table, uint32_t *nr_slots)
{
	*table = module == NVTX_MODULE_CORE ? program.core_slots : NULL;
	*nr_slots = 16;
	return *table != NULL;
}

static const void *get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), get_table};

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static void load(void)
{
	void *library = dlopen("libtorch_cpu.so", RTLD_NOW);
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*inject)(nvtx_get_export) = NULL;

	if (!library) {
		fprintf(stderr, "no libtorch_cpu.so\n");
		exit(1);
	}
	*(void **)&program.begin = dlsym(library, "fake_begin");
	*(void **)&program.end = dlsym(library, "fake_end");
	for (int i = 1; i < NR_SLOTS; i++) {
		program.core_slots[i] = &program.core[i];
	}
	if (tool) {
		*(void **)&inject = dlsym(tool, "InitializeInjectionNvtx2");
	}
	if (inject) {
		inject(get_export);
	}
}

static void push(const char *name)
{
	if (program.core[NVTX_CORE_RANGE_PUSH_A]) {
		((int (*)(const char *))program.core[NVTX_CORE_RANGE_PUSH_A])(name);
	}
}

static void pop(void)
{
	if (program.core[NVTX_CORE_RANGE_POP]) {
		((int (*)(void))program.core[NVTX_CORE_RANGE_POP])();
	}
}

/* ---- a step ---- */

static void forward(void)
{
	void *range = program.begin("forward_part", USER), *outer, *inner;
	int by = 1;

	outer = program.begin("aten::linear", FUNCTION);
	inner = program.begin("aten::addmm", FUNCTION);
	LAUNCH(linear_kernel, N / 128, 128, program.stream, &program.data, &by);
	LAUNCH(linear_kernel, N / 128, 128, program.stream, &program.data, &by);
	program.end(inner);
	LAUNCH(bias_kernel, 1, 32, program.stream, &program.data, &by);
	program.end(outer);
	push("activation");
	outer = program.begin("aten::relu", FUNCTION);
	CHECK(cudaMemsetAsync(program.more, 0, N * sizeof(float), program.stream));
	LAUNCH(relu_kernel, 1, 64, program.stream, &program.data, &by);
	program.end(outer);
	pop();
	program.end(range);
}

static void *backward(void *unused)
{
	void *node = program.begin("AddmmBackward0", BACKWARD), *op;
	int by = 1;

	op = program.begin("aten::mm", FUNCTION);
	LAUNCH(linear_kernel, N / 128, 128, program.stream, &program.data, &by);
	program.end(op);
	CHECK(cudaMemcpyAsync(program.more, program.data, N * sizeof(float),
		cudaMemcpyDeviceToDevice, program.stream));
	program.end(node);
	return unused;
}

static void work(void)
{
	pthread_t thread;

	forward();
	if (pthread_create(&thread, NULL, backward, NULL)) {
		exit(1);
	}
	pthread_join(thread, NULL);
}

static void run_graph(void)
{
	CHECK(cudaGraphLaunch(program.exec, program.stream));
}

static void step(void (*body)(void))
{
	void *range = program.begin("train_step", USER), *op;
	int by = 1;

	push("step");
	body();
	pop();
	op = program.begin("Optimizer.step#SGD.step", USER);
	LAUNCH(update_kernel, 1, 1, program.stream, &program.data, &by);
	program.end(op);
	program.end(range);
}

/* ---- captures ---- */

static cudaGraph_t capture(void (*body)(void))
{
	void *range = program.begin("capture_part", USER);
	cudaGraph_t graph;

	push("step");
	CHECK(cudaStreamBeginCapture(program.stream, cudaStreamCaptureModeGlobal));
	body();
	CHECK(cudaStreamEndCapture(program.stream, &graph));
	pop();
	program.end(range);
	return graph;
}

static void other_work(void)
{
	void *range = program.begin("other_part", USER),
	     *op = program.begin("aten::other", FUNCTION);
	int by = 1;

	for (int i = 0; i < 4; i++) {
		LAUNCH(update_kernel, 1, 1, program.stream, &program.data, &by);
	}
	CHECK(cudaMemsetAsync(program.more, 0, N * sizeof(float), program.stream));
	LAUNCH(update_kernel, 1, 1, program.stream, &program.data, &by);
	CHECK(cudaMemcpyAsync(program.more, program.data, N * sizeof(float),
		cudaMemcpyDeviceToDevice, program.stream));
	program.end(op);
	program.end(range);
}

static void instantiate(cudaGraph_t graph)
{
	CHECK(cudaGraphInstantiateWithFlags(&program.exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

static void capture_loop(void)
{
	struct cuda_conditional_node params = {
		.type = CUDA_NODE_CONDITIONAL, .condition = CUDA_CONDITION_WHILE, .nr_bodies = 1};
	void *range = program.begin("capture_part", USER);
	cudaGraphNode_t node;
	cudaGraph_t graph, body;

	push("step");
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(
		&program.condition, graph, 1, CUDA_CONDITION_ASSIGN_DEFAULT));
	params.handle = program.condition;
	CHECK(cudaGraphAddNode((uintptr_t)&node, (uintptr_t)graph, 0, 0, 0, (uintptr_t)&params));
	CHECK(cudaStreamBeginCaptureToGraph(
		program.stream, params.bodies[0], NULL, NULL, 0, cudaStreamCaptureModeGlobal));
	work();
	LAUNCH(again_kernel, 1, 1, program.stream, &program.condition, &program.nr_left);
	CHECK(cudaStreamEndCapture(program.stream, &body));
	pop();
	program.end(range);
	instantiate(graph);
}

static void prepare(const char *how)
{
	bool is_update = strcmp(how, "update") == 0;

	if (strcmp(how, "loop") == 0) {
		capture_loop();
		return;
	}
	instantiate(capture(is_update ? other_work : work));
	if (strcmp(how, "child") == 0) {
		cudaGraphExec_t inner = program.exec;

		instantiate(capture(run_graph));
		CHECK(cudaGraphExecDestroy(inner));
	} else if (is_update) {
		cudaGraph_t graph = capture(work);
		struct {
			int result;
			void *node, *from;
		} info;

		CHECK(cudaGraphExecUpdate(
			(uintptr_t)program.exec, (uintptr_t)graph, (uintptr_t)&info, 0));
		CHECK(cudaGraphDestroy(graph));
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	bool is_eager = strcmp(how, "eager") == 0;
	float sum = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: s_graph eager|graph|child|update|loop|late STEPS\n");
		return 2;
	}
	load();
	CHECK(cudaStreamCreateWithFlags(&program.stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&program.data, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&program.more, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&program.nr_left, sizeof(int)));
	CHECK(cudaMemset(program.nr_left, 0, sizeof(int)));
	CHECK(cudaMemset(program.data, 0, N * sizeof(float)));
	CHECK(cudaDeviceSynchronize());
	if (!is_eager) {
		prepare(how);
	}
	if (strcmp(how, "late") == 0) {
		CHECK(cudaProfilerStart());
	}
	for (int i = 0; i < atoi(argv[2]); i++) {
		step(is_eager ? work : run_graph);
	}
	CHECK(cudaMemcpyAsync(
		&sum, program.data, sizeof(sum), cudaMemcpyDeviceToHost, program.stream));
	CHECK(cudaStreamSynchronize(program.stream));
	printf("sum %g\n", (double)sum);
	return 0;
}
