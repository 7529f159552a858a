/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with its own malloc, dlsym and pthread_create, which the loader finds before anybody
 * else's; ours too. usage: own CALLS
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PROBE_CUDA
extern int cudaGetDevice(int *device);
#else
static int cudaGetDevice(int *device)
{
	return *device = 0;
}
#endif

/* Memory is handed out and never taken back; each block knows its size. */
static char heap[64 << 20] __attribute__((aligned(16)));
static atomic_size_t used;

void *malloc(size_t bytes)
{
	size_t at = atomic_fetch_add(&used, ((bytes + 15) & ~(size_t)15) + 16);

	if (bytes > sizeof(heap) || at + bytes + 32 > sizeof(heap)) {
		errno = ENOMEM;
		return NULL;
	}
	*(size_t *)(heap + at) = bytes;
	return heap + at + 16;
}

void free(void *memory)
{
	(void)memory;
}

void *calloc(size_t nr, size_t bytes)
{
	return malloc(nr * bytes); /* fresh, so zero */
}

void *realloc(void *memory, size_t bytes)
{
	void *fresh = malloc(bytes);

	if (memory && fresh) {
		size_t before = ((size_t *)memory)[-2];

		memcpy(fresh, memory, before < bytes ? before : bytes);
	}
	return fresh;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
	static void *(*_Atomic real)(void *, const char *);

	if (!real) {
		real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
		if (!real) {
			real = (void *(*)(void *, const char *))dlvsym(
				RTLD_NEXT, "dlsym", "GLIBC_2.17");
		}
	}
	return real(handle, name);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	static __typeof__(&pthread_create) _Atomic real;

	if (!real) {
		real = (__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
	}
	return real(thread, attr, start, arg);
}

static int nr_calls;

static void *work(void *arg)
{
	int device;

	for (int i = 0; i < nr_calls; i++) {
		cudaGetDevice(&device);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *result = NULL;

	nr_calls = argc > 1 ? atoi(argv[1]) : 10;
	work(NULL);
	if (pthread_create(&thread, NULL, work, &result) || pthread_join(thread, &result)) {
		return 1;
	}
	printf("joined %d, own memory %d\n", result == (void *)&result, atomic_load(&used) > 0);
	return 0;
}
