/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's memory functions, over the model. */
#include "test/sim/api.h"
#include "test/sim/model.h"

#define PTR(p) ((void *)(uintptr_t)(p))

static int driver_alloc(cu_deviceptr *dptr, size_t bytes, int space, bool is_async, void *stream)
{
	void *p = NULL;

	if (!dptr || !bytes) {
		return SIM_INVALID_VALUE;
	}
	int r = sim_alloc(&p, bytes, space, is_async, stream);

	*dptr = (uintptr_t)p;
	return r;
}

cu_result api_cuMemAlloc_v2(cu_deviceptr *dptr, size_t bytes)
{
	return driver_alloc(dptr, bytes, SIM_DEVICE, false, NULL);
}

cu_result api_cuMemAllocPitch_v2(cu_deviceptr *dptr, size_t *p_pitch, size_t width_in_bytes,
	size_t height, unsigned int element_size_bytes)
{
	(void)element_size_bytes;
	if (!p_pitch) {
		return SIM_INVALID_VALUE;
	}
	*p_pitch = (width_in_bytes + 511) / 512 * 512;
	return driver_alloc(dptr, *p_pitch * height, SIM_DEVICE, false, NULL);
}

cu_result api_cuMemAllocManaged(cu_deviceptr *dptr, size_t bytes, unsigned int flags)
{
	(void)flags;
	return driver_alloc(dptr, bytes, SIM_MANAGED, false, NULL);
}

cu_result api_cuMemAllocHost_v2(void **pp, size_t bytes)
{
	return sim_alloc(pp, bytes, SIM_PINNED, false, NULL);
}

cu_result api_cuMemHostAlloc(void **pp, size_t bytes, unsigned int flags)
{
	(void)flags;
	return sim_alloc(pp, bytes, SIM_PINNED, false, NULL);
}

cu_result api_cuMemHostRegister_v2(void *p, size_t bytes, unsigned int flags)
{
	(void)flags;
	return sim_host_register(p, bytes);
}

cu_result api_cuMemHostUnregister(void *p)
{
	return sim_host_unregister(p);
}

cu_result api_cuMemAllocAsync(cu_deviceptr *dptr, size_t bytes, cu_stream stream)
{
	return driver_alloc(dptr, bytes, SIM_DEVICE, true, stream);
}

cu_result api_cuMemFree_v2(cu_deviceptr dptr)
{
	return sim_release(PTR(dptr), SIM_DEVICE, false, NULL);
}

cu_result api_cuMemFreeHost(void *p)
{
	return sim_release(p, SIM_PINNED, false, NULL);
}

cu_result api_cuMemFreeAsync(cu_deviceptr dptr, cu_stream stream)
{
	return sim_release(PTR(dptr), SIM_DEVICE, true, stream);
}

cu_result api_cuMemGetInfo_v2(size_t *mem_free, size_t *total)
{
	struct sim_context *c = sim_context();

	if (!c || !mem_free || !total) {
		return c ? SIM_INVALID_VALUE : SIM_NOT_INITIALIZED;
	}
	pthread_mutex_lock(&sim_lock);
	*total = c->device->memory_bytes;
	*mem_free = *total - c->device->used_bytes;
	pthread_mutex_unlock(&sim_lock);
	return SIM_OK;
}

cu_result api_cuMemGetAddressRange_v2(cu_deviceptr *pbase, size_t *psize, cu_deviceptr dptr)
{
	void *base = NULL;
	size_t bytes = 0;

	if (sim_space_of(PTR(dptr), NULL, &base, &bytes) == SIM_PAGEABLE) {
		return SIM_SYMBOL_NOT_FOUND;
	}
	if (pbase) {
		*pbase = (uintptr_t)base;
	}
	if (psize) {
		*psize = bytes;
	}
	return SIM_OK;
}

cu_result api_cuMemHostGetDevicePointer_v2(cu_deviceptr *pdptr, void *p, unsigned int flags)
{
	(void)flags;
	if (!pdptr || sim_space_of(p, NULL, NULL, NULL) != SIM_PINNED) {
		return SIM_INVALID_VALUE;
	}
	*pdptr = (uintptr_t)p;
	return SIM_OK;
}

/* CU_POINTER_ATTRIBUTE_CONTEXT 1, _MEMORY_TYPE 2, _DEVICE_POINTER 3, _IS_MANAGED 8, _ORDINAL 9. */
cu_result api_cuPointerGetAttribute(void *data, cu_pointer_attribute attribute, cu_deviceptr ptr)
{
	int device = 0;
	int space = sim_space_of(PTR(ptr), &device, NULL, NULL);

	if (!data || space == SIM_PAGEABLE) {
		return SIM_INVALID_VALUE;
	}
	switch (attribute) {
	case 2:
		*(unsigned int *)data = space == SIM_PINNED ? CU_MEMORY_HOST : CU_MEMORY_DEVICE;
		return SIM_OK;
	case 3:
		*(cu_deviceptr *)data = ptr;
		return SIM_OK;
	case 8:
		*(unsigned int *)data = space == SIM_MANAGED;
		return SIM_OK;
	case 9:
		*(int *)data = device;
		return SIM_OK;
	default:
		return SIM_NOT_SUPPORTED;
	}
}

static int row(void *dst, const void *src, size_t bytes, int kind, bool is_async, void *stream)
{
	struct sim_copy c = SIM_ROW(dst, src, bytes);

	return sim_copy(&c, kind, is_async, stream);
}

cu_result api_cuMemcpy(cu_deviceptr dst, cu_deviceptr src, size_t bytes)
{
	return row(PTR(dst), PTR(src), bytes, CUDA_COPY_DEFAULT, false, NULL);
}

cu_result api_cuMemcpyAsync(cu_deviceptr dst, cu_deviceptr src, size_t bytes, cu_stream stream)
{
	return row(PTR(dst), PTR(src), bytes, CUDA_COPY_DEFAULT, true, stream);
}

cu_result api_cuMemcpyHtoD_v2(cu_deviceptr dst_device, const void *src_host, size_t bytes)
{
	return row(PTR(dst_device), src_host, bytes, CUDA_COPY_H2D, false, NULL);
}

cu_result api_cuMemcpyHtoDAsync_v2(
	cu_deviceptr dst_device, const void *src_host, size_t bytes, cu_stream stream)
{
	return row(PTR(dst_device), src_host, bytes, CUDA_COPY_H2D, true, stream);
}

cu_result api_cuMemcpyDtoH_v2(void *dst_host, cu_deviceptr src_device, size_t bytes)
{
	return row(dst_host, PTR(src_device), bytes, CUDA_COPY_D2H, false, NULL);
}

cu_result api_cuMemcpyDtoHAsync_v2(
	void *dst_host, cu_deviceptr src_device, size_t bytes, cu_stream stream)
{
	return row(dst_host, PTR(src_device), bytes, CUDA_COPY_D2H, true, stream);
}

cu_result api_cuMemcpyDtoD_v2(cu_deviceptr dst_device, cu_deviceptr src_device, size_t bytes)
{
	return row(PTR(dst_device), PTR(src_device), bytes, CUDA_COPY_D2D, false, NULL);
}

cu_result api_cuMemcpyDtoDAsync_v2(
	cu_deviceptr dst_device, cu_deviceptr src_device, size_t bytes, cu_stream stream)
{
	return row(PTR(dst_device), PTR(src_device), bytes, CUDA_COPY_D2D, true, stream);
}

static int peer(cu_deviceptr dst, void *dst_context, cu_deviceptr src, void *src_context,
	size_t bytes, bool is_async, void *stream)
{
	struct sim_copy c = SIM_ROW(PTR(dst), PTR(src), bytes);
	struct sim_context *to = dst_context, *from = src_context;

	if (!to || !from) {
		return SIM_INVALID_CONTEXT;
	}
	return sim_copy_peer(&c, to->device->index, from->device->index, is_async, stream);
}

cu_result api_cuMemcpyPeer(cu_deviceptr dst_device, cu_context dst_context, cu_deviceptr src_device,
	cu_context src_context, size_t bytes)
{
	return peer(dst_device, dst_context, src_device, src_context, bytes, false, NULL);
}

cu_result api_cuMemcpyPeerAsync(cu_deviceptr dst_device, cu_context dst_context,
	cu_deviceptr src_device, cu_context src_context, size_t bytes, cu_stream stream)
{
	return peer(dst_device, dst_context, src_device, src_context, bytes, true, stream);
}

static int copy_2d(const cu_memcpy2d *p, bool is_async, void *stream)
{
	if (!p || p->dst_type == CU_MEMORY_ARRAY || p->src_type == CU_MEMORY_ARRAY) {
		return p ? SIM_NOT_SUPPORTED : SIM_INVALID_VALUE;
	}
	char *dst = PTR(cu_copy2d_dst(p));
	const char *src = PTR(cu_copy2d_src(p));
	struct sim_copy c = SIM_ROWS(dst + p->dst_y * p->dst_pitch_bytes + p->dst_x_bytes,
		p->dst_pitch_bytes, src + p->src_y * p->src_pitch_bytes + p->src_x_bytes,
		p->src_pitch_bytes, p->width_bytes, p->height);

	return sim_copy(&c, cu_copy2d_kind(p), is_async, stream);
}

cu_result api_cuMemcpy2D_v2(const cu_memcpy2d *p_copy)
{
	return copy_2d(p_copy, false, NULL);
}

cu_result api_cuMemcpy2DUnaligned_v2(const cu_memcpy2d *p_copy)
{
	return copy_2d(p_copy, false, NULL);
}

cu_result api_cuMemcpy2DAsync_v2(const cu_memcpy2d *p_copy, cu_stream stream)
{
	return copy_2d(p_copy, true, stream);
}

int sim_driver_copy_3d(struct sim_copy *c, const cu_memcpy3d *p)
{
	if (!p || p->dst_type == CU_MEMORY_ARRAY || p->src_type == CU_MEMORY_ARRAY) {
		return p ? SIM_NOT_SUPPORTED : SIM_INVALID_VALUE;
	}
	char *dst = PTR(cu_copy3d_dst(p));
	const char *src = PTR(cu_copy3d_src(p));
	size_t dst_slice = p->dst_pitch_bytes * p->dst_height;
	size_t src_slice = p->src_pitch_bytes * p->src_height;

	*c = (struct sim_copy)SIM_ROWS(
		dst + p->dst_z * dst_slice + p->dst_y * p->dst_pitch_bytes + p->dst_x_bytes,
		p->dst_pitch_bytes,
		src + p->src_z * src_slice + p->src_y * p->src_pitch_bytes + p->src_x_bytes,
		p->src_pitch_bytes, p->width_bytes, p->height);
	c->depth = p->depth;
	c->dst_slice = dst_slice;
	c->src_slice = src_slice;
	return SIM_OK;
}

static int copy_3d(const cu_memcpy3d *p, bool is_async, void *stream)
{
	struct sim_copy c;
	int r = sim_driver_copy_3d(&c, p);

	return r == SIM_OK ? sim_copy(&c, cu_copy3d_kind(p), is_async, stream) : r;
}

cu_result api_cuMemcpy3D_v2(const cu_memcpy3d *p_copy)
{
	return copy_3d(p_copy, false, NULL);
}

cu_result api_cuMemcpy3DAsync_v2(const cu_memcpy3d *p_copy, cu_stream stream)
{
	return copy_3d(p_copy, true, stream);
}

cu_result api_cuMemcpyBatchAsync_v2(cu_deviceptr *dsts, cu_deviceptr *srcs, size_t *sizes,
	size_t nr_items, cu_memcpy_attributes *attrs, size_t *attrs_idxs, size_t num_attrs,
	cu_stream stream)
{
	int r = SIM_OK;

	(void)attrs;
	(void)attrs_idxs;
	(void)num_attrs;
	for (size_t i = 0; r == SIM_OK && i < nr_items; i++) {
		r = row(PTR(dsts[i]), PTR(srcs[i]), sizes[i], CUDA_COPY_DEFAULT, true, stream);
	}
	return r;
}

static int fill(cu_deviceptr dst, uint32_t value, uint32_t element, size_t pitch, size_t width,
	size_t height, bool is_async, void *stream)
{
	struct sim_copy c = SIM_ROWS(PTR(dst), pitch, NULL, 0, width * element, height);

	return sim_set(&c, value, element, is_async, stream);
}

#define FILLS(bits, type, arg)                                                                    \
	cu_result api_cuMemsetD##bits##_v2(cu_deviceptr dst_device, type arg, size_t nr_items)    \
	{                                                                                         \
		return fill(dst_device, arg, bits / 8, 0, nr_items, 1, false, NULL);              \
	}                                                                                         \
	cu_result api_cuMemsetD##bits##Async(                                                     \
		cu_deviceptr dst_device, type arg, size_t nr_items, cu_stream stream)             \
	{                                                                                         \
		return fill(dst_device, arg, bits / 8, 0, nr_items, 1, true, stream);             \
	}                                                                                         \
	cu_result api_cuMemsetD2D##bits##_v2(                                                     \
		cu_deviceptr dst_device, size_t dst_pitch, type arg, size_t width, size_t height) \
	{                                                                                         \
		return fill(dst_device, arg, bits / 8, dst_pitch, width, height, false, NULL);    \
	}                                                                                         \
	cu_result api_cuMemsetD2D##bits##Async(cu_deviceptr dst_device, size_t dst_pitch,         \
		type arg, size_t width, size_t height, cu_stream stream)                          \
	{                                                                                         \
		return fill(dst_device, arg, bits / 8, dst_pitch, width, height, true, stream);   \
	}

FILLS(8, unsigned char, uc)
FILLS(16, unsigned short, us)
FILLS(32, unsigned int, ui)
