/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another tool's preloaded library, which stands before or after ours: counts what it sees and
 * says so at the end, in the file named by INTERPOSER_OUT.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int nr_calls, nr_threads;

int cudaGetDevice(int *device);

int cudaGetDevice(int *device)
{
	static int (*_Atomic real)(int *);

	if (!real) {
		real = (int (*)(int *))dlsym(RTLD_NEXT, "cudaGetDevice");
	}
	atomic_fetch_add(&nr_calls, 1);
	return real(device);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	static __typeof__(&pthread_create) _Atomic real;

	if (!real) {
		real = (__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
	}
	atomic_fetch_add(&nr_threads, 1);
	return real(thread, attr, start, arg);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("INTERPOSER_OUT");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (file) {
		fprintf(file, "calls %d threads %d\n", nr_calls, nr_threads);
		fclose(file);
	}
}
