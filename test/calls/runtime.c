/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that plays CUDA's runtime, driver, CUPTI and NCCL, as far as it takes to say which copy
 * of it a call has reached: ID. Handles are tagged with it, and foreign ones refused.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

#ifdef IS_LARGE
/* Its functions lie elsewhere than those of the others. */
__asm__(".text\n.space 16384");
#endif

struct handle {
	int id;
};

__attribute__((destructor)) static void unload(void)
{
#ifndef QUIET
	printf("runtime %d is unloaded\n", ID);
#endif
}

static void check(void **handle)
{
	int id = ((struct handle *)(void *)handle)->id;

	if (id != ID) {
		printf("runtime %d got a handle of runtime %d\n", ID, id);
	}
}

EXPORT int cudaGetDevice(int *device)
{
	*device = ID;
	return 0;
}

EXPORT int cudaGetDeviceCount(int *count)
{
	*count = ID;
	return 0;
}

/* On some machines what is so large is passed by its address, and each function makes a copy. */
struct extent {
	size_t width, height, depth;
};

EXPORT int cudaMalloc3D(void *pitched, struct extent extent)
{
	*(int *)pitched = extent.width + extent.height + extent.depth == 6 ? ID : -1;
	return 0;
}

/* What a program wants to happen in the middle of a call. */
EXPORT void (*runtime_inside)(void);

EXPORT int cudaDeviceSynchronize(void)
{
	if (runtime_inside) {
		runtime_inside();
	}
	return 0;
}

EXPORT void **__cudaRegisterFatBinary(void *binary)
{
	struct handle *handle = malloc(sizeof(*handle));

	(void)binary;
	handle->id = ID;
	return (void **)(void *)handle;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
	check(handle);
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, void *block_dim,
	void *grid_dim, int *warp_size)
{
	(void)host_fun;
	(void)device_fun;
	(void)device_name;
	(void)thread_limit;
	(void)tid;
	(void)bid;
	(void)block_dim;
	(void)grid_dim;
	(void)warp_size;
	check(handle);
}

EXPORT void __cudaUnregisterFatBinary(void **handle)
{
	check(handle);
	free(handle);
}

struct dim3 {
	unsigned int x, y, z;
};

EXPORT int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args,
	size_t shared_bytes, void *stream)
{
	(void)function;
	(void)grid;
	(void)block;
	(void)args;
	(void)shared_bytes;
	(void)stream;
	return 0;
}

/* No memory of its own: what a program gets is not what it gave. */
EXPORT int __cudaGetKernel(const void **kernel, const void *function)
{
	*kernel = (const char *)function + 1;
	return 0;
}

EXPORT int cuCtxGetDevice(int *device)
{
	*device = ID;
	return 0;
}

EXPORT uint32_t cuptiGetCallbackState(
	uint32_t *enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
	(void)subscriber;
	(void)domain;
	(void)cbid;
	*enable = ID;
	return 0;
}

EXPORT int ncclAllReduce(
	const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream)
{
	(void)send;
	(void)count;
	(void)type;
	(void)op;
	(void)comm;
	(void)stream;
	*(int *)recv = ID;
	if (runtime_inside) {
		runtime_inside();
	}
	return 0;
}

/* ---- a communicator that is complete some time after it was made ---- */

static int comm;
static bool is_complete;

EXPORT int ncclCommSplit(void *parent, int color, int key, void **made, void *config)
{
	(void)parent;
	(void)color;
	(void)key;
	(void)config;
	*made = &comm;
	return 7; /* in progress */
}

static int ask(int *value)
{
	if (!is_complete) {
		puts("a communicator was asked before it was complete");
	}
	*value = 1;
	return 0;
}

EXPORT int ncclCommUserRank(const void *handle, int *rank)
{
	return handle ? ask(rank) : 4;
}

EXPORT int ncclCommCount(const void *handle, int *count)
{
	return handle ? ask(count) : 4;
}

EXPORT int ncclGroupStart(void)
{
	return 0;
}

EXPORT int ncclGroupEnd(void)
{
	is_complete = true;
	return 0;
}
