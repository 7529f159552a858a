/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded after gprof: cudaMalloc and cudaFree take SLOW_MEMORY_US, and the first
 * cudaLaunchKernel SLOW_FIRST_US, as where a module is loaded.
 */
#include "test/prog/prog.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static void wait_for(const char *variable)
{
	const char *us = getenv(variable);

	if (us) {
		usleep((useconds_t)strtoul(us, NULL, 10));
	}
}

int cudaMalloc(void **memory, size_t bytes)
{
	int (*next)(void **, size_t);

	*(void **)&next = dlsym(RTLD_NEXT, "cudaMalloc");
	wait_for("SLOW_MEMORY_US");
	return next(memory, bytes);
}

int cudaFree(void *memory)
{
	int (*next)(void *);

	*(void **)&next = dlsym(RTLD_NEXT, "cudaFree");
	wait_for("SLOW_MEMORY_US");
	return next(memory);
}

int cudaLaunchKernel(const void *kernel, prog_dim3 grid, prog_dim3 block, void **args,
	size_t shared_bytes, cudaStream_t stream)
{
	static atomic_bool was_called;
	int (*next)(const void *, prog_dim3, prog_dim3, void **, size_t, cudaStream_t);

	*(void **)&next = dlsym(RTLD_NEXT, "cudaLaunchKernel");
	if (!atomic_exchange(&was_called, true)) {
		wait_for("SLOW_FIRST_US");
	}
	return next(kernel, grid, block, args, shared_bytes, stream);
}
