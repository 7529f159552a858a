/* SPDX-License-Identifier: Apache-2.0 */
/* s_threads NR MS: so many threads launch work at the same time, each for that long. */
#include "test/prog/prog.h"

#include <pthread.h>
#include <time.h>

enum { N = 64, MAX_THREADS = 64 };

static int *d;
static long ms;

KERNEL2(threads_kernel, int *, x, int, by)
{
	x[index] += by;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *launch(void *unused)
{
	long end = now_ms() + ms;
	int by = 1;

	while (now_ms() < end) {
		LAUNCH(threads_kernel, 1, N, (cudaStream_t)0, &d, &by);
		CHECK(cudaDeviceSynchronize());
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	int nr = argc > 2 ? atoi(argv[1]) : 2;

	ms = argc > 2 ? atol(argv[2]) : 100;
	CHECK(cudaMalloc((void **)&d, N * sizeof(*d)));
	for (int i = 0; i < nr && i < MAX_THREADS; i++) {
		pthread_create(&threads[i], NULL, launch, NULL);
	}
	for (int i = 0; i < nr && i < MAX_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	CHECK(cudaFree(d));
	return 0;
}
