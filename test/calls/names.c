/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names KERNELS: registers so many kernels on one thread, and between them modules that are
 * unmapped again with their names, while another thread brings the driver up, whereupon gprof
 * writes all names into the stream. Prints how many of the first kind and of the second there were.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_BYTES 64
#define MAX_NAMES  50000

int cudaGetDevice(int *device);
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, void *block_dim,
	void *grid_dim, int *warp_size);
void __cudaUnregisterFatBinary(void **handle);

static char names[MAX_NAMES][NAME_BYTES];
static _Atomic int nr_registered;

static void add(void **handle, char *name, int number)
{
	snprintf(name, NAME_BYTES, "kernel_%d", number);
	__cudaRegisterFunction(
		handle, names[number % MAX_NAMES], name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void come_and_go(int number)
{
	void **handle = __cudaRegisterFatBinary(NULL);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	add(handle, page + 4096 - NAME_BYTES, MAX_NAMES + number);
	__cudaUnregisterFatBinary(handle);
	munmap(page, 4096);
}

static void *start_driver(void *nr_wanted)
{
	int (*initialize)(void);

	*(void **)&initialize = dlsym(RTLD_DEFAULT, "InitializeInjection");
	while (atomic_load(&nr_registered) < *(int *)nr_wanted / 2) {
	}
	if (initialize) {
		initialize();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1000, nr_gone = 0, device;
	void **handle = __cudaRegisterFatBinary(NULL);
	pthread_t thread;

	cudaGetDevice(&device);
	pthread_create(&thread, NULL, start_driver, &nr);
	for (int i = 0; i < nr && i < MAX_NAMES; i++) {
		add(handle, names[i], i);
		if (i % 8 == 0) {
			come_and_go(nr_gone++);
		}
		atomic_store(&nr_registered, i + 1);
	}
	pthread_join(thread, NULL);
	printf("%d %d\n", nr, nr_gone);
	return 0;
}
