/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s_idle THREADS CALLS: creates threads that wait, makes CUDA calls, and has one of the threads
 * make one, too.
 */
#include "test/prog/prog.h"

#include <pthread.h>

enum { STACK_BYTES = 128 << 10 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int nr_waiting;
	int is_over;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *wait_for_work(void *calls)
{
	int device;

	pthread_setname_np(pthread_self(), calls ? "late" : "idle");
	pthread_mutex_lock(&state.lock);
	state.nr_waiting++;
	pthread_cond_broadcast(&state.changed);
	while (!state.is_over) {
		pthread_cond_wait(&state.changed, &state.lock);
	}
	pthread_mutex_unlock(&state.lock);
	if (calls) {
		CHECK(cudaGetDevice(&device));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1, nr_calls = argc > 2 ? atoi(argv[2]) : 1, device;
	pthread_t *threads = calloc((size_t)nr, sizeof(*threads));
	pthread_attr_t attr;

	CHECK(cudaGetDevice(&device));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 0; i < nr; i++) {
		if (pthread_create(&threads[i], &attr, wait_for_work, i == nr / 2 ? &nr : NULL)) {
			return 1;
		}
	}
	pthread_mutex_lock(&state.lock);
	while (state.nr_waiting < nr) {
		pthread_cond_wait(&state.changed, &state.lock);
	}
	pthread_mutex_unlock(&state.lock);
	for (int i = 1; i < nr_calls; i++) {
		CHECK(cudaGetDevice(&device));
	}
	pthread_mutex_lock(&state.lock);
	state.is_over = 1;
	pthread_cond_broadcast(&state.changed);
	pthread_mutex_unlock(&state.lock);
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
	}
	free(threads);
	return 0;
}
