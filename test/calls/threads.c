/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads THREADS: that many threads come and go, each with one call of CUDA, in a program that has
 * used up the keys of thread-local data whose values need no memory. Prints how many of the calls
 * have allocated something. Built with -DKEYS it is the library that takes the keys, before gprof
 * comes to it.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#ifdef KEYS

__attribute__((constructor)) static void take_keys(void)
{
	for (int i = 0; i < NR_KEYS; i++) {
		pthread_key_t key;

		pthread_key_create(&key, NULL);
	}
}

#else

int cudaGetDevice(int *device);

static _Atomic int nr_grown;

/* The C library's own allocations go to no other allocator, so the sum of all is looked at. */
static size_t allocated_bytes(void)
{
	return mallinfo2().uordblks;
}

/* Made round pthread_create: gprof first sees it in its call. */
static int run(void *unused)
{
	size_t before = allocated_bytes();
	int device;

	cudaGetDevice(&device);
	nr_grown += allocated_bytes() != before;
	return unused != NULL;
}

int main(int argc, char **argv)
{
	int nr_threads = argc > 1 ? atoi(argv[1]) : 1, device;
	thrd_t thread;

	cudaGetDevice(&device); /* the recorder starts by its own thread */
	for (int i = 0; i < nr_threads; i++) {
		thrd_create(&thread, run, NULL);
		thrd_join(thread, NULL);
	}
	printf("%d\n", nr_grown);
	return 0;
}

#endif
