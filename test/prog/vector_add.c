/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors added on two streams, with pinned and pageable copies, a set, and events around it. */
#include "test/prog/prog.h"

enum { N = 4096, NR_ROUNDS = 8 };

KERNEL3(vector_add, const float *, a, const float *, b, float *, c)
{
	c[index] = a[index] + b[index];
}

KERNEL2(vector_scale, float *, x, float, by)
{
	x[index] *= by;
}

int main(void)
{
	cudaStream_t streams[2];
	cudaEvent_t start, end, half;
	float *pinned, *a, *b, *c, pageable[N], ms = 0, by = 2.0f;
	double sum = 0;

	CHECK(cudaMallocHost((void **)&pinned, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&a, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&b, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&c, N * sizeof(float)));
	CHECK(cudaStreamCreate(&streams[0]));
	CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaEventCreate(&half));
	for (int i = 0; i < N; i++) {
		pinned[i] = (float)i;
	}
	CHECK(cudaEventRecord(start, streams[0]));
	for (int round = 0; round < NR_ROUNDS; round++) {
		CHECK(cudaMemcpyAsync(
			a, pinned, N * sizeof(float), cudaMemcpyHostToDevice, streams[0]));
		CHECK(cudaMemsetAsync(b, 0, N * sizeof(float), streams[0]));
		LAUNCH(vector_add, N / 256, 256, streams[0], &a, &b, &c);
		CHECK(cudaEventRecord(half, streams[0]));
		CHECK(cudaStreamWaitEvent(streams[1], half, 0));
		LAUNCH(vector_scale, N / 256, 256, streams[1], &c, &by);
		CHECK(cudaEventRecord(half, streams[1]));
		CHECK(cudaStreamWaitEvent(streams[0], half, 0));
	}
	CHECK(cudaEventRecord(end, streams[0]));
	CHECK(cudaStreamSynchronize(streams[0]));
	CHECK(cudaEventElapsedTime(&ms, start, end));
	CHECK(cudaMemcpy(pageable, c, sizeof(pageable), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		sum += pageable[i];
	}
	printf("sum %.1f elapsed %s\n", sum, ms > 0 ? "positive" : "zero");
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventDestroy(start));
	CHECK(cudaEventDestroy(end));
	CHECK(cudaEventDestroy(half));
	CHECK(cudaStreamDestroy(streams[0]));
	CHECK(cudaStreamDestroy(streams[1]));
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	CHECK(cudaFree(c));
	CHECK(cudaFreeHost(pinned));
	return 0;
}
