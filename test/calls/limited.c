/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited THREADS ROUNDS: allocates and frees memory 300,000 times, which a stream of 1 MB has no
 * room for. Then THREADS threads ask ROUNDS times, some ms apart, for the device and the last
 * error.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define NR_BLOCKS 300000
#define APART_US  3000

int cudaMalloc(void **p, size_t bytes);
int cudaFree(void *p);
int cudaGetDevice(int *device);
int cudaGetLastError(void);

static int nr_rounds;

static void *ask(void *unused)
{
	int device;

	(void)unused;
	for (int i = 0; i < nr_rounds; i++) {
		cudaGetDevice(&device);
		cudaGetLastError();
		usleep(APART_US);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr_threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *threads = calloc((size_t)nr_threads, sizeof(*threads));
	void *p = NULL;

	nr_rounds = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < NR_BLOCKS; i++) {
		cudaMalloc(&p, 64);
		cudaFree(p);
	}
	for (int i = 0; i < nr_threads; i++) {
		pthread_create(&threads[i], NULL, ask, NULL);
	}
	for (int i = 0; i < nr_threads; i++) {
		pthread_join(threads[i], NULL);
	}
	free(threads);
	return 0;
}
