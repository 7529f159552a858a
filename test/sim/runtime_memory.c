/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's allocations, pools and pointers. */
#include "test/sim/runtime.h"

#include <string.h>

#define PITCH_BYTES 512

/* Stores what the driver allocated, NULL if nothing, and returns its result. */
static int store(void **out, const cu_deviceptr *p, int r)
{
	*out = (void *)(uintptr_t)*p;
	return r;
}

/* Nothing is allocated for 0 bytes, which the driver refuses. */
static int allocate(void **out, size_t bytes)
{
	cu_deviceptr p = 0;

	if (!out) {
		return SIM_INVALID_VALUE;
	}
	return store(out, &p, bytes ? runtime_driver.cuMemAlloc_v2(&p, bytes) : SIM_OK);
}

cudart_error api_cudaMalloc(void **dev_ptr, size_t size)
{
	return allocate(dev_ptr, size);
}

cudart_error api_cudaMallocPitch(void **dev_ptr, size_t *pitch, size_t width, size_t height)
{
	if (!pitch) {
		return SIM_INVALID_VALUE;
	}
	*pitch = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
	return allocate(dev_ptr, *pitch * height);
}

cudart_error api_cudaMalloc3D(cudart_pitched_ptr *pitched_dev_ptr, cudart_extent extent)
{
	if (!pitched_dev_ptr) {
		return SIM_INVALID_VALUE;
	}
	pitched_dev_ptr->pitch = (extent.width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
	pitched_dev_ptr->xsize = extent.width;
	pitched_dev_ptr->ysize = extent.height;
	return allocate(
		&pitched_dev_ptr->ptr, pitched_dev_ptr->pitch * extent.height * extent.depth);
}

cudart_error api_cudaMallocArray(cudart_array *array, const cudart_channel_format_desc *desc,
	size_t width, size_t height, unsigned int flags)
{
	(void)flags;
	if (!array || !desc) {
		return SIM_INVALID_VALUE;
	}
	return runtime_model->array_create((struct sim_array **)array, desc, width, height, 0);
}

cudart_error api_cudaMalloc3DArray(cudart_array *array, const cudart_channel_format_desc *desc,
	cudart_extent extent, unsigned int flags)
{
	(void)flags;
	if (!array || !desc) {
		return SIM_INVALID_VALUE;
	}
	return runtime_model->array_create(
		(struct sim_array **)array, desc, extent.width, extent.height, extent.depth);
}

cudart_error api_cudaMallocManaged(void **dev_ptr, size_t size, unsigned int flags)
{
	cu_deviceptr p = 0;

	if (!dev_ptr) {
		return SIM_INVALID_VALUE;
	}
	return store(
		dev_ptr, &p, size ? runtime_driver.cuMemAllocManaged(&p, size, flags) : SIM_OK);
}

cudart_error api_cudaMallocHost(void **ptr, size_t size)
{
	return runtime_driver.cuMemHostAlloc(ptr, size, 0);
}

cudart_error api_cudaHostAlloc(void **p_host, size_t size, unsigned int flags)
{
	return runtime_driver.cuMemHostAlloc(p_host, size, flags);
}

cudart_error api_cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
	return runtime_driver.cuMemHostRegister_v2(ptr, size, flags);
}

cudart_error api_cudaHostUnregister(void *ptr)
{
	return runtime_driver.cuMemHostUnregister(ptr);
}

cudart_error api_cudaMallocAsync(void **dev_ptr, size_t size, cudart_stream stream)
{
	cu_deviceptr p = 0;

	if (!dev_ptr) {
		return SIM_INVALID_VALUE;
	}
	return store(dev_ptr, &p, size ? runtime_driver.cuMemAllocAsync(&p, size, stream) : SIM_OK);
}

cudart_error api_cudaMallocFromPoolAsync(
	void **ptr, size_t size, cudart_mem_pool mem_pool, cudart_stream stream)
{
	return mem_pool ? api_cudaMallocAsync(ptr, size, stream) : SIM_INVALID_VALUE;
}

cudart_error api_cudaFree(void *dev_ptr)
{
	return runtime_driver.cuMemFree_v2((uintptr_t)dev_ptr);
}

cudart_error api_cudaFreeHost(void *ptr)
{
	return runtime_driver.cuMemFreeHost(ptr);
}

cudart_error api_cudaFreeAsync(void *dev_ptr, cudart_stream stream)
{
	return runtime_driver.cuMemFreeAsync((uintptr_t)dev_ptr, stream);
}

cudart_error api_cudaFreeArray(cudart_array array)
{
	return runtime_model->array_destroy(array);
}

cudart_error api_cudaMemGetInfo(size_t *mem_free, size_t *total)
{
	return runtime_driver.cuMemGetInfo_v2(mem_free, total);
}

cudart_error api_cudaPointerGetAttributes(cudart_pointer_attributes *attributes, const void *ptr)
{
	int device = -2;

	if (!attributes) {
		return SIM_INVALID_VALUE;
	}
	int space = runtime_model->space_of(ptr, &device, NULL, NULL);

	memset(attributes, 0, offsetof(cudart_pointer_attributes, reserved));
	attributes->device = device;
	attributes->host_ptr = (void *)(uintptr_t)ptr;
	switch (space) {
	case SIM_PAGEABLE:
		break;
	case SIM_PINNED:
		attributes->type = 1;
		attributes->device_ptr = attributes->host_ptr;
		break;
	case SIM_MANAGED:
	case SIM_MANAGED_STATIC:
		attributes->type = 3;
		attributes->device_ptr = attributes->host_ptr;
		break;
	default:
		attributes->type = 2;
		attributes->device_ptr = attributes->host_ptr;
		attributes->host_ptr = NULL;
		break;
	}
	return SIM_OK;
}

cudart_error api_cudaHostGetDevicePointer(void **p_device, void *p_host, unsigned int flags)
{
	(void)flags;
	if (!p_device || runtime_model->space_of(p_host, NULL, NULL, NULL) != SIM_PINNED) {
		return SIM_INVALID_VALUE;
	}
	*p_device = p_host;
	return SIM_OK;
}

cudart_error api_cudaHostGetFlags(unsigned int *p_flags, void *p_host)
{
	if (!p_flags || runtime_model->space_of(p_host, NULL, NULL, NULL) != SIM_PINNED) {
		return SIM_INVALID_VALUE;
	}
	*p_flags = 0;
	return SIM_OK;
}

cudart_error api_cudaGetSymbolAddress(void **dev_ptr, const void *symbol)
{
	*dev_ptr = runtime_symbol(symbol, NULL);
	return *dev_ptr ? SIM_OK : SIM_INVALID_SYMBOL;
}

cudart_error api_cudaGetSymbolSize(size_t *size, const void *symbol)
{
	return runtime_symbol(symbol, size) ? SIM_OK : SIM_INVALID_SYMBOL;
}

cudart_error api_cudaStreamAttachMemAsync(
	cudart_stream stream, void *dev_ptr, size_t length, unsigned int flags)
{
	(void)length;
	(void)flags;
	if (!runtime_model->resolve(stream)) {
		return SIM_INVALID_HANDLE;
	}
	int space = runtime_model->space_of(dev_ptr, NULL, NULL, NULL);

	return space == SIM_MANAGED || space == SIM_MANAGED_STATIC ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaDeviceGetDefaultMemPool(cudart_mem_pool *mem_pool, int device)
{
	return runtime_model->pool_default(mem_pool, device);
}

cudart_error api_cudaDeviceGetMemPool(cudart_mem_pool *mem_pool, int device)
{
	return runtime_model->pool_current(mem_pool, device);
}

cudart_error api_cudaDeviceSetMemPool(int device, cudart_mem_pool mem_pool)
{
	return runtime_model->pool_set(mem_pool, device);
}

cudart_error api_cudaMemPoolCreate(
	cudart_mem_pool *mem_pool, const cudart_mem_pool_props *pool_props)
{
	return pool_props ? runtime_model->pool_create(mem_pool) : SIM_INVALID_VALUE;
}

cudart_error api_cudaMemPoolDestroy(cudart_mem_pool mem_pool)
{
	return runtime_model->pool_destroy(mem_pool);
}

cudart_error api_cudaMemPoolTrimTo(cudart_mem_pool mem_pool, size_t min_bytes_to_keep)
{
	(void)min_bytes_to_keep;
	return mem_pool ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaMemPoolSetAttribute(
	cudart_mem_pool mem_pool, cudart_mem_pool_attr attr, void *value)
{
	return runtime_model->pool_attribute(mem_pool, attr, value, true);
}

cudart_error api_cudaMemPoolGetAttribute(
	cudart_mem_pool mem_pool, cudart_mem_pool_attr attr, void *value)
{
	return runtime_model->pool_attribute(mem_pool, attr, value, false);
}

cudart_error api_cudaMemPoolSetAccess(
	cudart_mem_pool mem_pool, const cudart_mem_access_desc *desc_list, size_t bytes)
{
	return mem_pool && (desc_list || !bytes) ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaMemPrefetchAsync(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4)
{
	void *stream = (void *)(uintptr_t)(runtime_level >= 13000 ? w4 : w3);

	(void)w1;
	(void)w2;
	if (!runtime_model->resolve(stream)) {
		return SIM_INVALID_HANDLE;
	}
	int space = runtime_model->space_of((void *)(uintptr_t)w0, NULL, NULL, NULL);

	return space == SIM_MANAGED || space == SIM_MANAGED_STATIC ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaMemAdvise(
	unsigned long long w0, unsigned long long w1, unsigned long long w2, unsigned long long w3)
{
	(void)w1;
	(void)w2;
	(void)w3;
	int space = runtime_model->space_of((void *)(uintptr_t)w0, NULL, NULL, NULL);

	return space == SIM_MANAGED || space == SIM_MANAGED_STATIC ? SIM_OK : SIM_INVALID_VALUE;
}

cudart_error api_cudaIpcGetMemHandle(cudart_ipc_mem_handle *handle, void *dev_ptr)
{
	return handle ? runtime_model->ipc_export(dev_ptr, handle->reserved) : SIM_INVALID_VALUE;
}

cudart_error api_cudaIpcOpenMemHandle(
	void **dev_ptr, cudart_ipc_mem_handle handle, unsigned int flags)
{
	(void)flags;
	return dev_ptr ? runtime_model->ipc_import(dev_ptr, handle.reserved) : SIM_INVALID_VALUE;
}

cudart_error api_cudaIpcCloseMemHandle(void *dev_ptr)
{
	return runtime_model->ipc_close(dev_ptr);
}
