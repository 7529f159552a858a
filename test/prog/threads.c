/* SPDX-License-Identifier: Apache-2.0 */
/* Four named threads, each with a stream of its own, launching at the same time. */
#include "test/prog/prog.h"

#include <pthread.h>

enum { NR_THREADS = 4, NR_LAUNCHES = 50, N = 256 };

KERNEL2(count_up, int *, x, int, by)
{
	x[index] += by;
}

struct job {
	pthread_t thread;
	int number;
	int result;
};

static void *work(void *arg)
{
	struct job *job = (struct job *)arg;
	int by = job->number + 1, host[N], *d;
	cudaStream_t stream;
	char name[16];

	snprintf(name, sizeof(name), "launcher-%d", job->number);
	pthread_setname_np(pthread_self(), name);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&d, sizeof(host)));
	CHECK(cudaMemsetAsync(d, 0, sizeof(host), stream));
	for (int i = 0; i < NR_LAUNCHES; i++) {
		LAUNCH(count_up, 2, N / 2, stream, &d, &by);
	}
	CHECK(cudaMemcpyAsync(host, d, sizeof(host), cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	job->result = host[0] + host[N - 1];
	CHECK(cudaFree(d));
	CHECK(cudaStreamDestroy(stream));
	return NULL;
}

int main(void)
{
	struct job jobs[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		jobs[i].number = i;
		if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) != 0) {
			return 1;
		}
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(jobs[i].thread, NULL);
		printf("thread %d result %d\n", i, jobs[i].result);
	}
	return 0;
}
