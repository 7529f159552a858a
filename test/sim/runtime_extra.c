/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of the simulated runtime that are not hooked: launch syntax, texts, profiler control. */
#include "test/sim/runtime.h"

#include <dlfcn.h>
#include <string.h>

#include "test/sim/code.h"

enum { MAX_NESTED = 8 };

/* What <<<>>> pushes and the kernel's host stub pops. */
static __thread struct {
	cudart_dim3 grid, block;
	size_t shared_bytes;
	void *stream;
} pushed[MAX_NESTED];
static __thread int nr_pushed;

SIM_EXPORT unsigned int __cudaPushCallConfiguration(
	cudart_dim3 grid, cudart_dim3 block, size_t shared_bytes, void *stream);
SIM_EXPORT int __cudaPopCallConfiguration(
	cudart_dim3 *grid, cudart_dim3 *block, size_t *shared_bytes, void *stream);
SIM_EXPORT const char *cudaGetErrorName(int code);
SIM_EXPORT const char *cudaGetErrorString(int code);
SIM_EXPORT int cudaProfilerStart(void);
SIM_EXPORT int cudaProfilerStop(void);
SIM_EXPORT cudart_channel_format_desc cudaCreateChannelDesc(int x, int y, int z, int w, int format);
SIM_EXPORT int cudaArrayGetInfo(
	cudart_channel_format_desc *desc, cudart_extent *extent, unsigned int *flags, void *array);
SIM_EXPORT int cudaGetDriverEntryPoint(
	const char *symbol, void **fn, unsigned long long flags, int *status);
SIM_EXPORT int cudaGetDriverEntryPointByVersion(
	const char *symbol, void **fn, unsigned int version, unsigned long long flags, int *status);

SIM_EXPORT unsigned int __cudaPushCallConfiguration(
	cudart_dim3 grid, cudart_dim3 block, size_t shared_bytes, void *stream)
{
	if (nr_pushed == MAX_NESTED) {
		return 1;
	}
	pushed[nr_pushed].grid = grid;
	pushed[nr_pushed].block = block;
	pushed[nr_pushed].shared_bytes = shared_bytes;
	pushed[nr_pushed].stream = stream;
	nr_pushed++;
	return 0;
}

SIM_EXPORT int __cudaPopCallConfiguration(
	cudart_dim3 *grid, cudart_dim3 *block, size_t *shared_bytes, void *stream)
{
	if (nr_pushed == 0) {
		return 52; /* cudaErrorMissingConfiguration */
	}
	nr_pushed--;
	*grid = pushed[nr_pushed].grid;
	*block = pushed[nr_pushed].block;
	*shared_bytes = pushed[nr_pushed].shared_bytes;
	*(void **)stream = pushed[nr_pushed].stream;
	return SIM_OK;
}

SIM_EXPORT const char *cudaGetErrorName(int code)
{
	return sim_code_name(code, "unrecognized error code");
}

SIM_EXPORT const char *cudaGetErrorString(int code)
{
	return sim_code_text(code);
}

SIM_EXPORT int cudaProfilerStart(void)
{
	return runtime_core() ? SIM_OK : SIM_INSUFFICIENT_DRIVER;
}

SIM_EXPORT int cudaProfilerStop(void)
{
	return runtime_core() ? SIM_OK : SIM_INSUFFICIENT_DRIVER;
}

SIM_EXPORT cudart_channel_format_desc cudaCreateChannelDesc(int x, int y, int z, int w, int format)
{
	return (cudart_channel_format_desc){x, y, z, w, format};
}

SIM_EXPORT int cudaArrayGetInfo(
	cudart_channel_format_desc *desc, cudart_extent *extent, unsigned int *flags, void *array)
{
	const struct sim_array *a = array;

	if (!a) {
		return SIM_INVALID_HANDLE;
	}
	if (desc) {
		*desc = a->desc;
	}
	if (extent) {
		*extent = (cudart_extent){a->width, a->height, a->depth};
	}
	if (flags) {
		*flags = 0;
	}
	return SIM_OK;
}

SIM_EXPORT int cudaGetDriverEntryPointByVersion(
	const char *symbol, void **fn, unsigned int version, unsigned long long flags, int *status)
{
	int (*look_up)(const char *name, void **p, int level, uint64_t bits, int *state);
	void *driver = runtime_core() ? dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY) : NULL;

	*(void **)&look_up = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
	return look_up ? look_up(symbol, fn, (int)version, flags, status) : SIM_INSUFFICIENT_DRIVER;
}

SIM_EXPORT int cudaGetDriverEntryPoint(
	const char *symbol, void **fn, unsigned long long flags, int *status)
{
	return cudaGetDriverEntryPointByVersion(symbol, fn, (unsigned int)runtime_level, flags,
		runtime_level >= 12000 ? status : NULL);
}
