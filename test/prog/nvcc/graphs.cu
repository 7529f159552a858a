/* SPDX-License-Identifier: Apache-2.0 */
/* A graph captured from two streams, launched several times, then updated by a second capture. */
#include "test/prog/nvcc/event_time.h"

enum { N = 4096, NR_LAUNCHES = 5 };

KERNEL2(increment, int *, x, int, by)
{
	x[index] += by;
}

KERNEL3(combine, int *, x, const int *, y, int, n)
{
	if (index < n) {
		x[index] += y[index];
	}
}

static cudaGraph_t capture(cudaStream_t stream, cudaStream_t side, int *x, int *y, int by)
{
	cudaEvent_t fork_event, join_event;
	cudaGraph_t graph;

	CHECK(cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(fork_event, stream));
	CHECK(cudaStreamWaitEvent(side, fork_event, 0));
	increment<<<N / 256, 256, 0, stream>>>(x, by);
	increment<<<N / 256, 256, 0, side>>>(y, by);
	CHECK(cudaEventRecord(join_event, side));
	CHECK(cudaStreamWaitEvent(stream, join_event, 0));
	combine<<<N / 256, 256, 0, stream>>>(x, y, N);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaEventDestroy(fork_event));
	CHECK(cudaEventDestroy(join_event));
	return graph;
}

int main(int argc, char **argv)
{
	cudaStream_t stream, side;
	cudaGraphExec_t exec;
	cudaGraphExecUpdateResultInfo update;
	int *x, *y, host[N];
	long long sum = 0;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&x, sizeof(host)));
	CHECK(cudaMalloc(&y, sizeof(host)));
	CHECK(cudaMemset(x, 0, sizeof(host)));
	CHECK(cudaMemset(y, 0, sizeof(host)));
	cudaGraph_t one = capture(stream, side, x, y, 1);
	cudaGraph_t ten = capture(stream, side, x, y, 10);

	CHECK(cudaGraphInstantiate(&exec, one, 0));
	for (int i = 0; i < NR_LAUNCHES; i++) {
		CHECK(cudaGraphLaunch(exec, stream));
	}
	CHECK(cudaGraphExecUpdate(exec, ten, &update));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaMemcpyAsync(host, x, sizeof(host), cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	printf("sum %lld\n", sum);
	if (argc > 1) {
		cudaGraph_t single;
		cudaGraphExec_t single_exec;

		CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
		timed<<<N / 256, 256, 0, stream>>>();
		CHECK(cudaStreamEndCapture(stream, &single));
		CHECK(cudaGraphInstantiate(&single_exec, single, 0));
		print_event_time(stream, [&] { CHECK(cudaGraphLaunch(single_exec, stream)); });
		CHECK(cudaGraphExecDestroy(single_exec));
		CHECK(cudaGraphDestroy(single));
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(one));
	CHECK(cudaGraphDestroy(ten));
	CHECK(cudaFree(x));
	CHECK(cudaFree(y));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaStreamDestroy(side));
	return argv[0] == nullptr;
}
