/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program under the hook bench: calls functions of a CUDA runtime that does nothing, so that
 * what is measured is the way there and back. Prints ns per call, the median of many short rounds.
 * Argument: plain, launch, or tsc (two clock reads in place of the call). Second: threads.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "preload/abi/cuda_abi.h"

#define ROUNDS 400
#define CALLS  20000

cudart_error cudaEventQuery(cudart_event event);
cudart_error cudaLaunchKernel(const void *func, cudart_dim3 grid, cudart_dim3 block, void **args,
	size_t shared_mem, cudart_stream stream);

static const char *what;
static double results[64];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t read_counter(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return now_ns();
#endif
}

static void call_many(uint64_t *sum)
{
	const cudart_dim3 one = {1, 1, 1};

	if (!strcmp(what, "tsc")) {
		for (int i = 0; i < CALLS; i++) {
			uint64_t begin = read_counter();

			*sum += (uint64_t)cudaEventQuery(NULL) + read_counter() - begin;
		}
	} else if (!strcmp(what, "launch")) {
		for (int i = 0; i < CALLS; i++) {
			*sum += (uint64_t)cudaLaunchKernel(
				(const void *)call_many, one, one, NULL, 0, NULL);
		}
	} else {
		for (int i = 0; i < CALLS; i++) {
			*sum += (uint64_t)cudaEventQuery(NULL);
		}
	}
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

static void *measure(void *result)
{
	static __thread double rounds[ROUNDS];
	uint64_t sum = 0;

	call_many(&sum);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begin = now_ns();

		call_many(&sum);
		rounds[i] = (double)(now_ns() - begin) / CALLS;
		if (getenv("PAUSE_US")) { /* so that a drain thread on a shared core keeps up */
			struct timespec pause = {.tv_nsec = atoi(getenv("PAUSE_US")) * 1000L};

			nanosleep(&pause, NULL);
		}
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	*(double *)result = rounds[ROUNDS / 2] + (sum == 1 ? 1e-9 : 0);
	return NULL;
}

int main(int argc, char **argv)
{
	int nr_threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t threads[64];
	double sum = 0;

	what = argc > 1 ? argv[1] : "plain";
	for (int i = 0; i < nr_threads; i++) {
		pthread_create(&threads[i], NULL, measure, &results[i]);
	}
	for (int i = 0; i < nr_threads; i++) {
		pthread_join(threads[i], NULL);
		sum += results[i];
	}
	printf("%.2f\n", sum / nr_threads);
	return 0;
}
