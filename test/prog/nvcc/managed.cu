/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that host and device share, allocated and declared, with advice and prefetching. */
#include "test/prog/nvcc/event_time.h"

enum { N = 8192, NR_ROUNDS = 6 };

__managed__ int nr_rounds;

KERNEL3(smooth, const float *, from, float *, to, int, n)
{
	if (index > 0 && index < n - 1) {
		to[index] = 0.5f * from[index] + 0.25f * (from[index - 1] + from[index + 1]);
	}
}

int main(int argc, char **argv)
{
	float *a, *b;
	double sum = 0;
	int device;
	cudaMemLocation here = {cudaMemLocationTypeDevice, 0};

	CHECK(cudaGetDevice(&device));
	CHECK(cudaMallocManaged(&a, N * sizeof(float)));
	CHECK(cudaMallocManaged(&b, N * sizeof(float)));
	for (int i = 0; i < N; i++) {
		a[i] = b[i] = i == N / 2 ? (float)N : 0;
	}
	here.id = device;
	CHECK(cudaMemAdvise(a, N * sizeof(float), cudaMemAdviseSetPreferredLocation, here));
	CHECK(cudaMemPrefetchAsync(a, N * sizeof(float), here, 0, cudaStreamPerThread));
	for (int i = 0; i < NR_ROUNDS; i++) {
		smooth<<<N / 256, 256>>>(i % 2 ? b : a, i % 2 ? a : b, N);
		nr_rounds++;
	}
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++) {
		sum += a[i];
	}
	printf("rounds %d sum %.1f middle %.3f\n", nr_rounds, sum, a[N / 2]);
	if (argc > 1) {
		print_event_time(0, [&] { timed<<<N / 256, 256>>>(); });
	}
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	return argv[0] == nullptr;
}
