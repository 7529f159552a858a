/* SPDX-License-Identifier: Apache-2.0 */
/* One array in slices over several streams: copy in, compute, copy out, with an event at the end of each. */
#include "test/prog/nvcc/event_time.h"

enum { NR_STREAMS = 4, N = 1 << 16, SLICE = N / NR_STREAMS };

KERNEL3(add_index, int *, x, int, first, int, n)
{
	if (index < n) {
		x[index] += first + index;
	}
}

int main(int argc, char **argv)
{
	cudaStream_t streams[NR_STREAMS];
	cudaEvent_t done[NR_STREAMS];
	int *host, *device;
	long long sum = 0;

	CHECK(cudaMallocHost(&host, N * sizeof(int)));
	CHECK(cudaMalloc(&device, N * sizeof(int)));
	for (int i = 0; i < N; i++) {
		host[i] = 1;
	}
	for (int i = 0; i < NR_STREAMS; i++) {
		CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	}
	for (int i = 0; i < NR_STREAMS; i++) {
		int first = i * SLICE;
		size_t bytes = SLICE * sizeof(int);

		CHECK(cudaMemcpyAsync(device + first, host + first, bytes, cudaMemcpyHostToDevice,
			streams[i]));
		for (int k = 0; k < 3; k++) {
			add_index<<<SLICE / 256, 256, 0, streams[i]>>>(
				device + first, first, SLICE);
		}
		CHECK(cudaMemcpyAsync(host + first, device + first, bytes, cudaMemcpyDeviceToHost,
			streams[i]));
		CHECK(cudaEventRecord(done[i], streams[i]));
	}
	for (int i = 0; i < NR_STREAMS; i++) {
		CHECK(cudaEventSynchronize(done[i]));
	}
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	printf("sum %lld\n", sum);
	if (argc > 1) {
		print_event_time(streams[0],
			[&] { timed<<<SLICE / 256, 256, 0, streams[0]>>>(); });
	}
	for (int i = 0; i < NR_STREAMS; i++) {
		CHECK(cudaEventDestroy(done[i]));
		CHECK(cudaStreamDestroy(streams[i]));
	}
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(host));
	return argv[0] == nullptr;
}
