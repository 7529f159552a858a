/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For small CUDA programs that nvcc compiles for the GPU and gcc for the simulator, from one
 *source. Under gcc the runtime's declarations come from hooks.def, so that no toolkit is needed.
 *
 * A kernel is written once, as what one thread does with its index:
 *
 *	KERNEL3(add, const float *, a, const float *, b, float *, c)
 *	{
 *		c[index] = a[index] + b[index];
 *	}
 *
 * It is launched by LAUNCH(add, blocks, threads, stream, &a, &b, &c). On the simulator the same
 *body runs on the CPU, so that results are the same everywhere.
 */
#ifndef GPROF_TEST_PROG_H
#define GPROF_TEST_PROG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <unistd.h>

/*
 * A forked child has the allocator's locks as other threads held them at that moment, and would
 * wait for them for ever when it looks for leaks; so only the process that began looks.
 */
static pid_t prog_pid;

__attribute__((constructor)) static void prog_begin(void)
{
	prog_pid = getpid();
}

__attribute__((weak, visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return getpid() != prog_pid;
}
#endif

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define PROG_BOTH     __host__ __device__
#define PROG_INDEX    ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define PROG_DIM3(x_) dim3(x_)
typedef dim3 prog_dim3;
#else
#include "test/sim/cuda_abi.h"

#define PROG_BOTH
#define PROG_DIM3(x_)		   ((cudart_dim3){(x_), 1, 1})
typedef cudart_dim3 prog_dim3;
typedef cudart_stream cudaStream_t;
typedef cudart_event cudaEvent_t;
typedef cudart_graph cudaGraph_t;
typedef cudart_graph_exec cudaGraphExec_t;
typedef cudart_graph_node cudaGraphNode_t;
typedef cudart_error cudaError_t;
typedef cudart_kernel_node_params prog_kernel_node;
enum {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorNotReady = 600,
	cudaMemcpyHostToHost = 0,
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost = 2,
	cudaMemcpyDeviceToDevice = 3,
	cudaMemcpyDefault = 4,
	cudaStreamNonBlocking = 1,
	cudaStreamCaptureModeGlobal = 0,
	cudaMemAttachGlobal = 1,
};
#define HOOK_RT(ret, name, params) ret name params;
#define HOOK_DRV(ret, name, params)
#define HOOK(api, need, ret, name, params, args, facts) HOOK_##api(ret, name, params)
#define HOOK_MANUAL(api, need, ret, name, params, args)
#include "preload/hook/hooks.def"
const char *cudaGetErrorString(cudaError_t code);
const char *cudaGetErrorName(cudaError_t code);
void **__cudaRegisterFatBinary(void *fat_cubin);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
	int limit, void *tid, void *bid, prog_dim3 *block, prog_dim3 *grid, int *warp);
int cudaProfilerStart(void);
int cudaProfilerStop(void);
#endif

/* Ends the program where a call fails. */
#define CHECK(call)                                                                    \
	do {                                                                           \
		cudaError_t code_ = (cudaError_t)(call);                               \
                                                                                       \
		if (code_ != cudaSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code_)); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

typedef void (*prog_cpu_fn)(void **args, prog_dim3 grid, prog_dim3 block);

/*
 * The simulated runtime's own function; null with the real one. A reference, not a look-up: where
 * two runtimes are in the process it binds to the one that this program or library is linked to.
 */
#ifdef __cplusplus
extern "C"
#endif
	int
	simRegisterKernelArgs(const void *host, prog_cpu_fn cpu, int nr_args,
		const size_t *arg_bytes) __attribute__((weak));

/* Tells the simulator, where it is the runtime, what the kernel computes. */
static inline void prog_register(const void *host, const char *name, char mangled[128],
	prog_cpu_fn cpu, int nr_args, const size_t *arg_bytes)
{
#ifndef __CUDACC__
	static void **handle;

	if (!handle) {
		handle = __cudaRegisterFatBinary(NULL);
	}
	snprintf(mangled, 128, "_Z%zu%sv", strlen(name), name);
	__cudaRegisterFunction(
		handle, (const char *)host, mangled, mangled, -1, NULL, NULL, NULL, NULL, NULL);
#else
	(void)name;
	(void)mangled;
#endif
	if (simRegisterKernelArgs) {
		simRegisterKernelArgs(host, cpu, nr_args, arg_bytes);
	}
}

#ifdef __CUDACC__
#define PROG_ENTRY(name, params, call)  \
	__global__ void name params     \
	{                               \
		int index = PROG_INDEX; \
                                        \
		call;                   \
	}
#else
/* The address is what launches name; nothing calls it. */
#define PROG_ENTRY(name, params, call) \
	void name params;              \
	void name params               \
	{                              \
		int index = 0;         \
                                       \
		call;                  \
	}
#endif

#define PROG_KERNEL(name, nr, params, entry_call, cpu_call, ...)                          \
	static PROG_BOTH void name##_body params;                                         \
	PROG_ENTRY(name, PROG_STRIP params, entry_call)                                   \
	static void name##_cpu(void **args, prog_dim3 grid, prog_dim3 block)              \
	{                                                                                 \
		for (int index = 0; index < (int)(grid.x * block.x); index++) {           \
			cpu_call;                                                         \
		}                                                                         \
	}                                                                                 \
	__attribute__((constructor(200))) static void name##_register(void)               \
	{                                                                                 \
		static const size_t sizes[] = {__VA_ARGS__};                              \
		static char mangled[128]; /* the runtime keeps the address */             \
                                                                                          \
		prog_register((const void *)name, #name, mangled, name##_cpu, nr, sizes); \
	}                                                                                 \
	static PROG_BOTH void name##_body params

/* The body's parameters without the index, which the entry computes. */
#define PROG_STRIP(index_, ...) (__VA_ARGS__)

#define KERNEL2(name, T1, a1, T2, a2)                                               \
	PROG_KERNEL(name, 2, (int index, T1 a1, T2 a2), name##_body(index, a1, a2), \
		name##_body(index, *(T1 *)args[0], *(T2 *)args[1]), sizeof(T1), sizeof(T2))

#define KERNEL3(name, T1, a1, T2, a2, T3, a3)                                                   \
	PROG_KERNEL(name, 3, (int index, T1 a1, T2 a2, T3 a3), name##_body(index, a1, a2, a3),  \
		name##_body(index, *(T1 *)args[0], *(T2 *)args[1], *(T3 *)args[2]), sizeof(T1), \
		sizeof(T2), sizeof(T3))

#define LAUNCH(name, blocks, threads, stream, ...)                                                \
	do {                                                                                      \
		void *args_[] = {__VA_ARGS__};                                                    \
                                                                                                  \
		CHECK(cudaLaunchKernel((const void *)name, PROG_DIM3(blocks), PROG_DIM3(threads), \
			args_, 0, stream));                                                       \
	} while (0)

#endif
