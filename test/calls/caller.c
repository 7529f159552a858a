/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that calls the functions of runtime.c that it is linked with, or finds in its scope, and
 * says which copy answered. With REGISTERS its constructor registers a module, as nvcc's does.
 */
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

int cudaGetDevice(int *device);
int cudaGetDeviceCount(int *count);
struct extent {
	size_t width, height, depth;
};
int cudaMalloc3D(void *pitched, struct extent extent);
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_fun, char *device_fun,
	const char *device_name, int thread_limit, void *tid, void *bid, void *block_dim,
	void *grid_dim, int *warp_size);
void __cudaUnregisterFatBinary(void **handle);
int cuCtxGetDevice(int *device);
uint32_t cuptiGetCallbackState(uint32_t *enable, void *subscriber, uint32_t domain, uint32_t cbid);
int ncclAllReduce(
	const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream);

int ncclCommSplit(void *parent, int color, int key, void **made, void *config);
int ncclGroupStart(void);
int ncclGroupEnd(void);

EXPORT void caller_print(const char *who);
EXPORT int caller_runtime(void);
EXPORT void caller_ask(void);
EXPORT void caller_split(void);

#ifdef REGISTERS
static void **handle;

__attribute__((constructor)) static void begin(void)
{
	handle = __cudaRegisterFatBinary(NULL);
	__cudaRegisterFunction(handle, (const char *)&begin, (char *)"kernel", "kernel", -1, NULL,
		NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(handle);
}

__attribute__((destructor)) static void end(void)
{
	__cudaUnregisterFatBinary(handle);
}
#endif

#ifdef CALLS_AT_END
__attribute__((destructor)) static void call_at_end(void)
{
	caller_runtime();
}
#endif

#ifdef WAITS
extern void (*route_wait)(void);

__attribute__((constructor)) static void wait_for_program(void)
{
	route_wait();
}
#endif

int caller_runtime(void)
{
	int id = 0;

	return cudaGetDevice(&id) ? -1 : id;
}

struct answers {
	int device, count, pitched[8], context, sum;
	uint32_t state;
};

static struct answers ask(void)
{
	struct answers a = {0};

	cudaGetDevice(&a.device);
	cudaGetDeviceCount(&a.count);
	cudaMalloc3D(a.pitched, (struct extent){1, 2, 3});
	cuCtxGetDevice(&a.context);
	cuptiGetCallbackState(&a.state, NULL, 1, 1);
	ncclAllReduce(NULL, &a.sum, 0, 0, 0, NULL, NULL);
	return a;
}

/* Twice, since what was found the first time is remembered. */
void caller_print(const char *who)
{
	for (int i = 0; i < 2; i++) {
		struct answers a = ask();

		printf("%s: runtime %d %d %d, driver %d, CUPTI %u, NCCL %d\n", who, a.device,
			a.count, *a.pitched, a.context, a.state, a.sum);
	}
}

void caller_ask(void)
{
	ask();
}

void caller_split(void)
{
	void *comm;
	int sum;

	ncclCommSplit(NULL, 0, 0, &comm, NULL);
	ncclGroupStart();
	ncclAllReduce(NULL, &sum, 0, 0, 0, comm, NULL);
	ncclGroupEnd();
	ncclAllReduce(NULL, &sum, 0, 0, 0, comm, NULL);
}
