/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: one captured from two streams, one built node by node, each launched several times. */
#include "test/prog/prog.h"

enum { N = 1024, NR_LAUNCHES = 4 };

KERNEL2(add_one, int *, x, int, n)
{
	if (index < n) {
		x[index] += 1;
	}
}

KERNEL3(add_to, int *, x, const int *, y, int, n)
{
	if (index < n) {
		x[index] += y[index];
	}
}

static int nr_calls;

static void count_call(void *data)
{
	__atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
}

static long long total(int *device, cudaStream_t stream)
{
	static int host[N];
	long long sum = 0;

	CHECK(cudaMemcpyAsync(host, device, sizeof(host), cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	return sum;
}

static void captured(int *a, int *b)
{
	cudaStream_t main_stream, side;
	cudaEvent_t fork_event, join_event;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	size_t nr_nodes = 0;
	int n = N;

	CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&fork_event));
	CHECK(cudaEventCreate(&join_event));
	CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
	LAUNCH(add_one, N / 128, 128, main_stream, &a, &n);
	CHECK(cudaEventRecord(fork_event, main_stream));
	CHECK(cudaStreamWaitEvent(side, fork_event, 0));
	CHECK(cudaMemsetAsync(b, 0, N * sizeof(int), side));
	LAUNCH(add_one, N / 128, 128, side, &b, &n);
	CHECK(cudaEventRecord(join_event, side));
	LAUNCH(add_one, N / 128, 128, main_stream, &a, &n);
	CHECK(cudaStreamWaitEvent(main_stream, join_event, 0));
	LAUNCH(add_to, N / 128, 128, main_stream, &a, &b, &n);
	CHECK(cudaLaunchHostFunc(main_stream, count_call, &nr_calls));
	CHECK(cudaStreamEndCapture(main_stream, &graph));
	CHECK(cudaGraphGetNodes(graph, NULL, &nr_nodes));
	CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < NR_LAUNCHES; i++) {
		CHECK(cudaGraphLaunch(exec, main_stream));
	}
	long long sum = total(a, main_stream);

	printf("captured %zu nodes, sum %lld, host calls %d\n", nr_nodes, sum, nr_calls);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaEventDestroy(fork_event));
	CHECK(cudaEventDestroy(join_event));
	CHECK(cudaStreamDestroy(main_stream));
	CHECK(cudaStreamDestroy(side));
}

static void built(int *a, int *b)
{
	static int host[N];
	cudaStream_t stream;
	cudaGraph_t graph, child;
	cudaGraphExec_t exec;
	cudaGraphNode_t copy, set, kernel, nested, inner;
	int n = N;
	void *args[] = {&a, &b, &n}, *inner_args[] = {&a, &n};
#ifdef __CUDACC__
	struct cudaMemsetParams zero;
	struct cudaKernelNodeParams params, inner_params;
#else
	cudart_memset_params zero;
	cudart_kernel_node_params params, inner_params;
#endif

	memset(&zero, 0, sizeof(zero));
	memset(&params, 0, sizeof(params));
#ifdef __CUDACC__
	zero.elementSize = sizeof(int);
	params.gridDim = PROG_DIM3(N / 128);
	params.blockDim = PROG_DIM3(128);
	params.kernelParams = args;
#else
	zero.element_bytes = sizeof(int);
	params.grid = PROG_DIM3(N / 128);
	params.block = PROG_DIM3(128);
	params.args = args;
#endif
	params.func = (void *)add_to;
	zero.dst = a;
	zero.width = N;
	zero.height = 1;
	inner_params = params;
	inner_params.func = (void *)add_one;
#ifdef __CUDACC__
	inner_params.kernelParams = inner_args;
#else
	inner_params.args = inner_args;
#endif
	for (int i = 0; i < N; i++) {
		host[i] = i;
	}
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphCreate(&child, 0));
	CHECK(cudaGraphAddKernelNode(&inner, child, NULL, 0, &inner_params));
	CHECK(cudaGraphAddMemcpyNode1D(
		&copy, graph, NULL, 0, b, host, sizeof(host), cudaMemcpyHostToDevice));
	CHECK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &zero));
	cudaGraphNode_t both[] = {copy, set};

	CHECK(cudaGraphAddKernelNode(&kernel, graph, both, 2, &params));
	CHECK(cudaGraphAddChildGraphNode(&nested, graph, &kernel, 1, child));
	CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < NR_LAUNCHES; i++) {
		CHECK(cudaGraphLaunch(exec, stream));
	}
	printf("built sum %lld\n", total(a, stream));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(child));
	CHECK(cudaStreamDestroy(stream));
}

int main(void)
{
	int *a, *b;

	CHECK(cudaMalloc((void **)&a, N * sizeof(int)));
	CHECK(cudaMalloc((void **)&b, N * sizeof(int)));
	CHECK(cudaMemset(a, 0, N * sizeof(int)));
	CHECK(cudaDeviceSynchronize());
	captured(a, b);
	built(a, b);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	return 0;
}
