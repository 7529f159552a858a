/* SPDX-License-Identifier: Apache-2.0 */
/* The bare pass-through that closed hooks are compared with: a stored pointer and nothing else. */
#include <dlfcn.h>

#include "preload/abi/cuda_abi.h"

static cudart_error (*real_query)(cudart_event event);
static cudart_error (*real_launch)(const void *func, cudart_dim3 grid, cudart_dim3 block,
	void **args, size_t shared_mem, cudart_stream stream);

__attribute__((visibility("default"))) cudart_error cudaEventQuery(cudart_event event);
__attribute__((visibility("default"))) cudart_error cudaLaunchKernel(const void *func,
	cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_mem, cudart_stream stream);

__attribute__((constructor)) static void begin(void)
{
	*(void **)&real_query = dlsym(RTLD_NEXT, "cudaEventQuery");
	*(void **)&real_launch = dlsym(RTLD_NEXT, "cudaLaunchKernel");
}

cudart_error cudaEventQuery(cudart_event event)
{
	return real_query(event);
}

cudart_error cudaLaunchKernel(const void *func, cudart_dim3 grid, cudart_dim3 block, void **args,
	size_t shared_mem, cudart_stream stream)
{
	return real_launch(func, grid, block, args, shared_mem, stream);
}
