/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names KERNELS: registers so many kernels and launches them, every other one by its handle, and
 * between them those of modules that are unmapped again with their names. Prints how many of the
 * first kind and of the second there were.
 *
 * names handles: asks for more handles than there is room for, and launches by the last ones.
 *
 * names long LETTERS: a kernel whose name is so long that it is read in pieces, registered after
 * one without a host address.
 *
 * names again: three modules, one after the other, whose kernels have the same host address.
 *
 * names exit: a kernel whose module leaves by an exit handler, as those of programs do.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_BYTES 64
#define MAX_NAMES  70000

struct dim3 {
	unsigned int x, y, z;
};

int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args,
	size_t shared_bytes, void *stream);
int __cudaGetKernel(const void **kernel, const void *function);
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFunction(void **handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, void *block_dim,
	void *grid_dim, int *warp_size);
void __cudaUnregisterFatBinary(void **handle);

static char names[MAX_NAMES][NAME_BYTES]; /* their addresses stand for host functions, too */
static char places[MAX_NAMES][2];

static void add(void **handle, char *name, int number)
{
	snprintf(name, NAME_BYTES, "kernel_%d", number);
	__cudaRegisterFunction(handle,
		number < MAX_NAMES ? names[number] : places[number - MAX_NAMES], name, name, -1,
		NULL, NULL, NULL, NULL, NULL);
}

static void launch(const void *function, bool is_by_handle)
{
	const struct dim3 one = {1, 1, 1};

	if (is_by_handle) {
		__cudaGetKernel(&function, function);
	}
	cudaLaunchKernel(function, one, one, NULL, 0, NULL);
}

static void come_and_go(int number)
{
	void **handle = __cudaRegisterFatBinary(NULL);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Its host function is none of the others', which stay. */
	add(handle, page + 4096 - NAME_BYTES, MAX_NAMES + number);
	launch(places[number % MAX_NAMES], false);
	__cudaUnregisterFatBinary(handle);
	munmap(page, 4096);
}

/* The recorder may not have read the name before it goes. */
static void replace(const char *name, int nr_launches)
{
	void **handle = __cudaRegisterFatBinary(NULL);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	strcpy(page, name);
	__cudaRegisterFunction(handle, names[0], page, page, -1, NULL, NULL, NULL, NULL, NULL);
	for (int i = 0; i < nr_launches; i++) {
		launch(names[0], false);
	}
	__cudaUnregisterFatBinary(handle);
	munmap(page, 4096);
}

static void ask_for_handles(void)
{
	static char functions[100000][2];
	void **handle = __cudaRegisterFatBinary(NULL);

	for (int i = 0; i < 100000; i++) {
		const void *kernel = functions[i];

		__cudaGetKernel(&kernel, kernel);
	}
	for (int i = 99000; i < 100000; i++) {
		__cudaRegisterFunction(handle, functions[i], functions[i], "kernel", -1, NULL, NULL,
			NULL, NULL, NULL);
		launch(functions[i], true);
	}
	usleep(300000);
	__cudaUnregisterFatBinary(handle);
}

static void launch_long(size_t nr_letters)
{
	static char name[10000];
	void **handle = __cudaRegisterFatBinary(NULL);

	for (size_t i = 0; i < nr_letters; i++) {
		name[i] = (char)('a' + i % 26);
	}
	__cudaRegisterFunction(handle, NULL, name, name, -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, name, name, name, -1, NULL, NULL, NULL, NULL, NULL);
	launch(name, false);
	__cudaUnregisterFatBinary(handle);
}

static void **left;

static void leave(void)
{
	__cudaUnregisterFatBinary(left);
}

static void launch_last(void)
{
	left = __cudaRegisterFatBinary(NULL);
	atexit(leave);
	add(left, names[0], 0);
	add(left, names[1], 1);
	launch(names[0], false); /* starts the recorder */
	usleep(100000);
	launch(names[1], false);
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1000, nr_gone = 0;
	void **handle;

	if (argc > 1 && !strcmp(argv[1], "handles")) {
		ask_for_handles();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "long")) {
		launch_long((size_t)atoi(argv[2]));
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "exit")) {
		launch_last();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "again")) {
		replace("kernel_first", 10);
		replace("kernel_second", 30);
		replace("kernel_third", 20);
		return 0;
	}
	handle = __cudaRegisterFatBinary(NULL);
	for (int i = 0; i < nr && i < MAX_NAMES; i++) {
		add(handle, names[i], i);
		launch(names[i], i % 2);
		if (i % 8 == 0) {
			come_and_go(nr_gone++);
		}
	}
	printf("%d %d\n", nr, nr_gone);
	__cudaUnregisterFatBinary(handle);
	return 0;
}
