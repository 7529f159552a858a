/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job to be killed: threads that call CUDA as fast as the device takes it, and count each call in
 *a mapped file once it has returned, so that what they did is known when they are gone.
 *
 *	busy FILE [END_MS [GROW]]
 *
 * FILE: uint64_t, the calls of all threads so far. END_MS: it ends by itself after so long, 0 not
 *at all. GROW: from then on it takes memory until it is killed for that.
 */
#include "test/prog/prog.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N = 64, NR_THREADS = 3, NR_LAUNCHES = 50 };

KERNEL2(busy_kernel, int *, x, int, by)
{
	x[index] += by;
}

static struct {
	_Atomic uint64_t *calls;
	atomic_int is_over;
	int *d;
} state;

static void count(void)
{
	atomic_fetch_add(state.calls, 1);
}

static void *work(void *unused)
{
	int by = 1;

	(void)unused;
	while (!atomic_load(&state.is_over)) {
		for (int i = 0; i < NR_LAUNCHES; i++) {
			LAUNCH(busy_kernel, 1, N, (cudaStream_t)0, &state.d, &by);
			count();
		}
		cudaDeviceSynchronize();
		count();
	}
	return NULL;
}

static void grow(void)
{
	for (;;) {
		char *more = malloc(1u << 20);

		if (more) {
			memset(more, 1, 1u << 20);
		}
	}
}

int main(int argc, char **argv)
{
	long end_ms = argc > 2 ? atol(argv[2]) : 0;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	pthread_t threads[NR_THREADS];

	if (fd < 0 || ftruncate(fd, sizeof(uint64_t))) {
		return 2;
	}
	state.calls = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (state.calls == MAP_FAILED) {
		return 2;
	}
	CHECK(cudaMalloc((void **)&state.d, N * sizeof(int)));
	count();
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_create(&threads[i], NULL, work, NULL);
	}
	if (!end_ms) {
		pause();
	}
	usleep((useconds_t)end_ms * 1000);
	if (argc > 3) {
		grow();
	}
	atomic_store(&state.is_over, 1);
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	return 0;
}
