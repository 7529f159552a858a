/* SPDX-License-Identifier: Apache-2.0 */
/* A sum over all blocks of a grid that synchronises with itself, in as many blocks as are resident. */
#include "test/prog/nvcc/event_time.h"

#include <cooperative_groups.h>

enum { N = 1 << 14, THREADS = 256 };

__global__ void reduce(const int *x, int *partial, int n)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int sum = 0;

	for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) {
		sum += x[i];
	}
	atomicAdd(&partial[1 + blockIdx.x], sum);
	grid.sync();
	if (grid.thread_rank() == 0) {
		for (unsigned int i = 0; i < gridDim.x; i++) {
			partial[0] += partial[1 + i];
		}
	}
}

static void reduce_cpu(void **args, dim3 grid, dim3 block)
{
	const int *x = *(const int **)args[0];
	int *partial = *(int **)args[1], n = *(int *)args[2];

	for (int i = 0; i < n; i++) {
		partial[1 + (unsigned int)i / block.x % grid.x] += x[i];
	}
	for (unsigned int i = 0; i < grid.x; i++) {
		partial[0] += partial[1 + i];
	}
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {sizeof(int *), sizeof(int *), sizeof(int)};
	int host[N], *x, *partial, n = N, blocks = 0, device, is_supported = 0, sum = 0;
	cudaDeviceProp prop;

	if (simRegisterKernelArgs) {
		simRegisterKernelArgs((const void *)reduce, reduce_cpu, 3, sizes);
	}
	CHECK(cudaGetDevice(&device));
	CHECK(cudaDeviceGetAttribute(&is_supported, cudaDevAttrCooperativeLaunch, device));
	CHECK(cudaGetDeviceProperties(&prop, device));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce, THREADS, 0));
	blocks = blocks * prop.multiProcessorCount < N / THREADS ? blocks * prop.multiProcessorCount
								  : N / THREADS;
	for (int i = 0; i < N; i++) {
		host[i] = i % 7;
	}
	CHECK(cudaMalloc(&x, sizeof(host)));
	CHECK(cudaMalloc(&partial, (N / THREADS + 1) * sizeof(int)));
	CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
	CHECK(cudaMemset(partial, 0, (N / THREADS + 1) * sizeof(int)));
	void *args[] = {&x, &partial, &n};

	CHECK(cudaLaunchCooperativeKernel((const void *)reduce, dim3(blocks), dim3(THREADS), args));
	CHECK(cudaMemcpy(&sum, partial, sizeof(sum), cudaMemcpyDeviceToHost));
	printf("cooperative launch %d sum %d\n", is_supported, sum);
	if (argc > 1) {
		print_event_time(0, [&] {
			CHECK(cudaLaunchCooperativeKernel(
				(const void *)timed, dim3(blocks), dim3(THREADS), nullptr));
		});
	}
	CHECK(cudaFree(x));
	CHECK(cudaFree(partial));
	return argv[0] == nullptr;
}
