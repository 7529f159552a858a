/* SPDX-License-Identifier: Apache-2.0 */
/* One array in slices over several streams: copy in, compute, copy out, with an event at the end of
 * each. */
#include "test/prog/nvcc/event_time.h"

enum { NR_STREAMS = 4, N = 1 << 16, SLICE = N / NR_STREAMS };

KERNEL3(add_index, int *, x, int, first, int, n)
{
	if (index < n) {
		x[index] += first + index;
	}
}

/*
 * A box of 4 x 3 x 2 out of the array, seen as planes of 64 x 32: how many of its numbers differ
 * from those of `host`.
 */
static int wrong_in_box(const int *device, const int *host)
{
	static int box[2][3][4];
	cudaMemcpy3DParms copy = {};
	int nr_wrong = 0;

	copy.srcPtr = make_cudaPitchedPtr((void *)device, 64 * sizeof(int), 64, 32);
	copy.srcPos = make_cudaPos(8 * sizeof(int), 5, 7);
	copy.dstPtr = make_cudaPitchedPtr(box, 4 * sizeof(int), 4, 3);
	copy.extent = make_cudaExtent(4 * sizeof(int), 3, 2);
	copy.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&copy));
	for (int z = 0; z < 2; z++) {
		for (int y = 0; y < 3; y++) {
			for (int x = 0; x < 4; x++) {
				nr_wrong +=
					box[z][y][x] != host[((7 + z) * 32 + 5 + y) * 64 + 8 + x];
			}
		}
	}
	return nr_wrong;
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

		CHECK(cudaMemcpyAsync(
			device + first, host + first, bytes, cudaMemcpyHostToDevice, streams[i]));
		for (int k = 0; k < 3; k++) {
			add_index<<<SLICE / 256, 256, 0, streams[i]>>>(
				device + first, first, SLICE);
		}
		CHECK(cudaMemcpyAsync(
			host + first, device + first, bytes, cudaMemcpyDeviceToHost, streams[i]));
		CHECK(cudaEventRecord(done[i], streams[i]));
	}
	for (int i = 0; i < NR_STREAMS; i++) {
		CHECK(cudaEventSynchronize(done[i]));
	}
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	printf("sum %lld, %d wrong in a box\n", sum, wrong_in_box(device, host));
	if (argc > 1) {
		print_event_time(streams[0], [&] { timed<<<SLICE / 256, 256, 0, streams[0]>>>(); });
	}
	for (int i = 0; i < NR_STREAMS; i++) {
		CHECK(cudaEventDestroy(done[i]));
		CHECK(cudaStreamDestroy(streams[i]));
	}
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(host));
	return argv[0] == nullptr;
}
