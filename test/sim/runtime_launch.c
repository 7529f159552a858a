/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's launches, kernels' attributes and occupancy. */
#include "test/sim/runtime.h"

#include <string.h>

/* A kernel's handle is one for the driver, too; what the driver calls invalid is the configuration.
 */
static int launched(int r)
{
	return r == SIM_INVALID_VALUE ? SIM_INVALID_CONFIGURATION : r;
}

static int launch(const void *func, cudart_dim3 grid, cudart_dim3 block, size_t shared_bytes,
	void *stream, void **args)
{
	struct sim_function *f = runtime_function(func);

	if (!f) {
		return SIM_INVALID_DEVICE_FUNCTION;
	}
	return launched(runtime_driver.cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y,
		block.z, (unsigned int)shared_bytes, stream, args, NULL));
}

cudart_error api_cudaLaunchKernel(const void *func, cudart_dim3 grid_dim, cudart_dim3 block_dim,
	void **args, size_t shared_mem, cudart_stream stream)
{
	return launch(func, grid_dim, block_dim, shared_mem, stream, args);
}

cudart_error api___cudaLaunchKernel(cudart_kernel kernel, cudart_dim3 grid_dim,
	cudart_dim3 block_dim, void **args, size_t shared_mem, cudart_stream stream)
{
	return launch(kernel, grid_dim, block_dim, shared_mem, stream, args);
}

cudart_error api_cudaLaunchKernelExC(
	const cudart_launch_config *config, const void *func, void **args)
{
	struct sim_function *f = runtime_function(func);

	if (!config || !f) {
		return config ? SIM_INVALID_DEVICE_FUNCTION : SIM_INVALID_VALUE;
	}
	cu_launch_config driver_config = {.grid = config->grid,
		.block = config->block,
		.shared_bytes = (unsigned int)config->shared_bytes,
		.stream = config->stream};

	return launched(runtime_driver.cuLaunchKernelEx(&driver_config, f, args, NULL));
}

cudart_error api_cudaLaunchCooperativeKernel(const void *func, cudart_dim3 grid_dim,
	cudart_dim3 block_dim, void **args, size_t shared_mem, cudart_stream stream)
{
	struct sim_function *f = runtime_function(func);

	if (!f) {
		return SIM_INVALID_DEVICE_FUNCTION;
	}
	return launched(runtime_driver.cuLaunchCooperativeKernel(f, grid_dim.x, grid_dim.y,
		grid_dim.z, block_dim.x, block_dim.y, block_dim.z, (unsigned int)shared_mem, stream,
		args));
}

cudart_error api_cudaLaunchHostFunc(cudart_stream stream, cudart_host_fn fn, void *user_data)
{
	return runtime_driver.cuLaunchHostFunc(stream, fn, user_data);
}

cudart_error api___cudaGetKernel(cudart_kernel *kernel, const void *func)
{
	*kernel = runtime_function(func);
	return *kernel ? SIM_OK : SIM_INVALID_DEVICE_FUNCTION;
}

cudart_error api_cudaGetKernel(cudart_kernel *kernel_ptr, const void *entry_func_addr)
{
	return api___cudaGetKernel(kernel_ptr, entry_func_addr);
}

cudart_error api_cudaGetFuncBySymbol(cudart_function *function_ptr, const void *symbol_ptr)
{
	return api___cudaGetKernel(function_ptr, symbol_ptr);
}

cudart_error api_cudaFuncGetName(const char **name, const void *func)
{
	const struct sim_function *f = runtime_function(func);

	if (!f || !name) {
		return f ? SIM_INVALID_VALUE : SIM_INVALID_DEVICE_FUNCTION;
	}
	*name = f->name;
	return SIM_OK;
}

cudart_error api_cudaFuncGetAttributes(cudart_func_attributes *attr, const void *func)
{
	const struct sim_function *f = runtime_function(func);

	if (!f || !attr) {
		return f ? SIM_INVALID_VALUE : SIM_INVALID_DEVICE_FUNCTION;
	}
	/* Libraries before 13 have a shorter structure; this prefix is in all of them. */
	memset(attr, 0, offsetof(cudart_func_attributes, preferred_shared_carveout));
	attr->shared_bytes = (size_t)f->static_shared_bytes;
	attr->max_threads_per_block = f->max_threads;
	attr->nr_regs = f->registers;
	attr->ptx_version = 90;
	attr->binary_version = 90;
	attr->max_dynamic_shared_bytes = f->dynamic_shared_bytes ? f->dynamic_shared_bytes : 49152;
	return SIM_OK;
}

cudart_error api_cudaFuncSetAttribute(const void *func, cudart_func_attribute attr, int value)
{
	struct sim_function *f = runtime_function(func);

	if (!f) {
		return SIM_INVALID_DEVICE_FUNCTION;
	}
	if (attr == 8) {
		f->dynamic_shared_bytes = value;
	}
	return SIM_OK;
}

cudart_error api_cudaFuncSetCacheConfig(const void *func, cudart_func_cache cache_config)
{
	(void)cache_config;
	return runtime_function(func) ? SIM_OK : SIM_INVALID_DEVICE_FUNCTION;
}

cudart_error api_cudaFuncSetSharedMemConfig(const void *func, cudart_shared_mem_config config)
{
	(void)config;
	return runtime_function(func) ? SIM_OK : SIM_INVALID_DEVICE_FUNCTION;
}

cudart_error api_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
	int *num_blocks, const void *func, int block_size, size_t dynamic_s_mem_size)
{
	const struct sim_function *f = runtime_function(func);
	int r = runtime_model->occupancy(num_blocks, f, block_size, dynamic_s_mem_size);

	return f ? r : SIM_INVALID_DEVICE_FUNCTION;
}

cudart_error api_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *num_blocks,
	const void *func, int block_size, size_t dynamic_s_mem_size, unsigned int flags)
{
	(void)flags;
	return api_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
		num_blocks, func, block_size, dynamic_s_mem_size);
}

cudart_error api_cudaOccupancyAvailableDynamicSMemPerBlock(
	size_t *dynamic_smem_size, const void *func, int num_blocks, int block_size)
{
	if (!dynamic_smem_size || num_blocks <= 0 || block_size <= 0) {
		return SIM_INVALID_VALUE;
	}
	*dynamic_smem_size = 233472 / (size_t)num_blocks - 1024;
	return runtime_function(func) ? SIM_OK : SIM_INVALID_DEVICE_FUNCTION;
}
