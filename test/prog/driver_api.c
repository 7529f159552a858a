/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that opens the driver by itself and calls it directly, as a static runtime or Triton
 * does: no call goes through a symbol that a preloaded library could stand in for.
 */
#include <string.h>

#include "test/prog/driver.h"

enum { N = 512 };

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
			  ".visible .entry triple(.param .u64 x, .param .u32 n)\n{\n\tret;\n}\n";

/* Pointers to the functions that are used, named like them. */
#define FUNCTIONS(X)                                                                            \
	X(cuInit, (unsigned int flags))                                                         \
	X(cuDeviceGet, (cu_device * device, int ordinal))                                       \
	X(cuDevicePrimaryCtxRetain, (cu_context * context, cu_device device))                   \
	X(cuCtxSetCurrent, (cu_context context))                                                \
	X(cuModuleLoadData, (cu_module * module, const void *image))                            \
	X(cuModuleGetFunction, (cu_function * function, cu_module module, const char *name))    \
	X(cuModuleUnload, (cu_module module))                                                   \
	X(cuMemAlloc_v2, (cu_deviceptr * p, size_t bytes))                                      \
	X(cuMemFree_v2, (cu_deviceptr p))                                                       \
	X(cuMemcpyHtoDAsync_v2, (cu_deviceptr dst, const void *src, size_t bytes, cu_stream s)) \
	X(cuMemcpyDtoH_v2, (void *dst, cu_deviceptr src, size_t bytes))                         \
	X(cuMemsetD32Async, (cu_deviceptr dst, unsigned int value, size_t n, cu_stream s))      \
	X(cuStreamCreate, (cu_stream * stream, unsigned int flags))                             \
	X(cuStreamSynchronize, (cu_stream stream))                                              \
	X(cuStreamDestroy_v2, (cu_stream stream))                                               \
	X(cuCtxSynchronize, (void))                                                             \
	X(cuLaunchKernel,                                                                       \
		(cu_function f, unsigned int gx, unsigned int gy, unsigned int gz,              \
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared, \
			cu_stream stream, void **args, void **extra))                           \
	X(cuLaunchKernelEx,                                                                     \
		(const cu_launch_config *config, cu_function f, void **args, void **extra))

static struct {
#define POINTER(name, params) cu_result(*name) params;
	FUNCTIONS(POINTER)
} cu;

static void triple_cpu(void **args, cudart_dim3 grid, cudart_dim3 block)
{
	int *x = *(int **)args[0];
	int n = *(int *)args[1];

	for (int i = 0; i < n && i < (int)(grid.x * block.x); i++) {
		x[i] *= 3;
	}
}

static void look_up(void)
{
	void *driver = driver_open();
	int (*tell)(const char *, void (*)(void **, cudart_dim3, cudart_dim3), int, const size_t *);
	static const size_t sizes[] = {sizeof(void *), sizeof(int)};
	char plain[64];

#define LOOK_UP(name, params)                                                \
	snprintf(plain, sizeof(plain), "%s", #name);                         \
	plain[strcspn(plain, "_")] = '\0';                                   \
	*(void **)&cu.name = driver_function(driver, plain, 12000, 0, NULL); \
	if (!cu.name) {                                                      \
		fprintf(stderr, "no %s\n", #name);                           \
		exit(1);                                                     \
	}
	FUNCTIONS(LOOK_UP)
	*(void **)&tell = dlsym(driver, "simRegisterKernelName");
	if (tell) {
		tell("triple", triple_cpu, 2, sizes);
	}
}

int main(void)
{
	int host[N], n = N;
	cu_device device;
	cu_context context;
	cu_module module;
	cu_function triple;
	cu_deviceptr x;
	cu_stream stream;
	long long sum = 0;
	void *args[] = {&x, &n};

	look_up();
	for (int i = 0; i < N; i++) {
		host[i] = i;
	}
	CHECK(cu.cuInit(0));
	CHECK(cu.cuDeviceGet(&device, 0));
	CHECK(cu.cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cu.cuCtxSetCurrent(context));
	CHECK(cu.cuModuleLoadData(&module, ptx));
	CHECK(cu.cuModuleGetFunction(&triple, module, "triple"));
	printf("missing function %d\n", cu.cuModuleGetFunction(&triple, module, "absent"));
	CHECK(cu.cuModuleGetFunction(&triple, module, "triple"));
	CHECK(cu.cuStreamCreate(&stream, 1));
	CHECK(cu.cuMemAlloc_v2(&x, sizeof(host)));
	CHECK(cu.cuMemsetD32Async(x, 7, N, stream));
	CHECK(cu.cuMemcpyHtoDAsync_v2(x, host, sizeof(host), stream));
	CHECK(cu.cuLaunchKernel(triple, N / 128, 1, 1, 128, 1, 1, 0, stream, args, NULL));
	cu_launch_config config = {.grid = {N / 128, 1, 1}, .block = {128, 1, 1}, .stream = stream};

	CHECK(cu.cuLaunchKernelEx(&config, triple, args, NULL));
	CHECK(cu.cuStreamSynchronize(stream));
	CHECK(cu.cuMemcpyDtoH_v2(host, x, sizeof(host)));
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	printf("sum %lld\n", sum);
	CHECK(cu.cuCtxSynchronize());
	CHECK(cu.cuMemFree_v2(x));
	CHECK(cu.cuStreamDestroy_v2(stream));
	CHECK(cu.cuModuleUnload(module));
	return 0;
}
