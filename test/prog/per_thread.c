/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default stream of each thread: what code built with --default-stream per-thread calls. gcc's
 * build names those functions itself; nvcc's is built with that option.
 */
#include "test/prog/prog.h"

#include <pthread.h>

#ifndef __CUDACC__
#define cudaMemcpyAsync	      cudaMemcpyAsync_ptsz
#define cudaMemcpy	      cudaMemcpy_ptds
#define cudaMemsetAsync	      cudaMemsetAsync_ptsz
#define cudaLaunchKernel      cudaLaunchKernel_ptsz
#define cudaStreamSynchronize cudaStreamSynchronize_ptsz
#endif

enum { N = 512, NR_THREADS = 2 };

KERNEL2(accumulate, int *, x, int, by)
{
	x[index] += by;
}

static void *work(void *arg)
{
	int by = *(int *)arg, host[N], *d, sum = 0;

	CHECK(cudaMalloc((void **)&d, sizeof(host)));
	CHECK(cudaMemsetAsync(d, 0, sizeof(host), NULL));
	for (int i = 0; i < 10; i++) {
		LAUNCH(accumulate, 4, N / 4, NULL, &d, &by);
	}
	CHECK(cudaStreamSynchronize(NULL));
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	CHECK(cudaFree(d));
	*(int *)arg = sum;
	return NULL;
}

int main(void)
{
	pthread_t threads[NR_THREADS];
	int values[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		values[i] = i + 1;
		if (pthread_create(&threads[i], NULL, work, &values[i]) != 0) {
			return 1;
		}
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("thread %d sum %d\n", i, values[i]);
	}
	return 0;
}
