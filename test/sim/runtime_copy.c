/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's copies and sets: rows, planes, symbols, arrays, peers. */
#include "test/sim/runtime.h"

/* Which driver call the runtime makes depends on the direction. */
static int row(void *dst, const void *src, size_t bytes, int kind, bool is_async, void *stream)
{
	cu_deviceptr to = (uintptr_t)dst, from = (uintptr_t)src;

	switch (kind) {
	case CUDA_COPY_H2D:
		return is_async ? runtime_driver.cuMemcpyHtoDAsync_v2(to, src, bytes, stream)
				: runtime_driver.cuMemcpyHtoD_v2(to, src, bytes);
	case CUDA_COPY_D2H:
		return is_async ? runtime_driver.cuMemcpyDtoHAsync_v2(dst, from, bytes, stream)
				: runtime_driver.cuMemcpyDtoH_v2(dst, from, bytes);
	case CUDA_COPY_D2D:
		return is_async ? runtime_driver.cuMemcpyDtoDAsync_v2(to, from, bytes, stream)
				: runtime_driver.cuMemcpyDtoD_v2(to, from, bytes);
	case CUDA_COPY_DEFAULT:
		return is_async ? runtime_driver.cuMemcpyAsync(to, from, bytes, stream)
				: runtime_driver.cuMemcpy(to, from, bytes);
	default: {
		/* From host to host the driver has no function of its own. */
		struct sim_copy c = SIM_ROW(dst, src, bytes);

		return runtime_model->copy(&c, kind, is_async, stream);
	}
	}
}

/* Where memory lies, by cudaMemcpyKind. */
static const int from_types[] = {
	CU_MEMORY_HOST, CU_MEMORY_HOST, CU_MEMORY_DEVICE, CU_MEMORY_DEVICE, CU_MEMORY_UNIFIED};
static const int to_types[] = {
	CU_MEMORY_HOST, CU_MEMORY_DEVICE, CU_MEMORY_HOST, CU_MEMORY_DEVICE, CU_MEMORY_UNIFIED};

/* Rows of linear memory and of arrays, which are linear here. */
static int rows(const struct sim_copy *c, int kind, bool is_async, void *stream)
{
	if (kind < 0 || kind > CUDA_COPY_DEFAULT) {
		return 21;
	}
	cu_memcpy2d p = {.src_type = from_types[kind],
		.src_host = c->src,
		.src_device = (uintptr_t)c->src,
		.src_pitch_bytes = c->src_pitch,
		.dst_type = to_types[kind],
		.dst_host = c->dst,
		.dst_device = (uintptr_t)c->dst,
		.dst_pitch_bytes = c->dst_pitch,
		.width_bytes = c->width,
		.height = c->height};

	return is_async ? runtime_driver.cuMemcpy2DAsync_v2(&p, stream)
			: runtime_driver.cuMemcpy2D_v2(&p);
}

cudart_error api_cudaMemcpy(void *dst, const void *src, size_t bytes, cudart_memcpy_kind kind)
{
	return row(dst, src, bytes, kind, false, NULL);
}

cudart_error api_cudaMemcpyAsync(
	void *dst, const void *src, size_t bytes, cudart_memcpy_kind kind, cudart_stream stream)
{
	return row(dst, src, bytes, kind, true, stream);
}

cudart_error api_cudaMemcpyPeer(
	void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
	struct sim_copy c = SIM_ROW(dst, src, bytes);

	return runtime_model->copy_peer(&c, dst_device, src_device, false, NULL);
}

cudart_error api_cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
	size_t bytes, cudart_stream stream)
{
	struct sim_copy c = SIM_ROW(dst, src, bytes);

	return runtime_model->copy_peer(&c, dst_device, src_device, true, stream);
}

/* Address @offset bytes into a registered variable, NULL where @bytes do not fit. */
static char *symbol_at(const void *symbol, size_t offset, size_t bytes)
{
	size_t whole = 0;
	char *base = runtime_symbol(symbol, &whole);

	return base && offset <= whole && bytes <= whole - offset ? base + offset : NULL;
}

static int to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
	bool is_async, void *stream)
{
	char *dst = symbol_at(symbol, offset, bytes);

	return dst ? row(dst, src, bytes, kind, is_async, stream) : SIM_INVALID_SYMBOL;
}

static int from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
	bool is_async, void *stream)
{
	const char *src = symbol_at(symbol, offset, bytes);

	return src ? row(dst, src, bytes, kind, is_async, stream) : SIM_INVALID_SYMBOL;
}

cudart_error api_cudaMemcpyToSymbol(
	const void *symbol, const void *src, size_t bytes, size_t offset, cudart_memcpy_kind kind)
{
	return to_symbol(symbol, src, bytes, offset, kind, false, NULL);
}

cudart_error api_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
	size_t offset, cudart_memcpy_kind kind, cudart_stream stream)
{
	return to_symbol(symbol, src, bytes, offset, kind, true, stream);
}

cudart_error api_cudaMemcpyFromSymbol(
	void *dst, const void *symbol, size_t bytes, size_t offset, cudart_memcpy_kind kind)
{
	return from_symbol(dst, symbol, bytes, offset, kind, false, NULL);
}

cudart_error api_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes,
	size_t offset, cudart_memcpy_kind kind, cudart_stream stream)
{
	return from_symbol(dst, symbol, bytes, offset, kind, true, stream);
}

cudart_error api_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch,
	size_t width, size_t height, cudart_memcpy_kind kind)
{
	struct sim_copy c = SIM_ROWS(dst, dpitch, src, spitch, width, height);

	return rows(&c, kind, false, NULL);
}

cudart_error api_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
	size_t width, size_t height, cudart_memcpy_kind kind, cudart_stream stream)
{
	struct sim_copy c = SIM_ROWS(dst, dpitch, src, spitch, width, height);

	return rows(&c, kind, true, stream);
}

static size_t array_pitch(const struct sim_array *a)
{
	return a->element_bytes * a->width;
}

/* Where in an array an offset of bytes and rows lies. */
static char *array_at(const struct sim_array *a, size_t x_bytes, size_t y)
{
	return (char *)a->data + y * array_pitch(a) + x_bytes;
}

static int to_array(struct sim_array *a, size_t x, size_t y, const void *src, size_t spitch,
	size_t width, size_t height, int kind, bool is_async, void *stream)
{
	if (!a || x + width > array_pitch(a) || y + height > (a->height ? a->height : 1)) {
		return SIM_INVALID_VALUE;
	}
	struct sim_copy c = SIM_ROWS(array_at(a, x, y), array_pitch(a), src, spitch, width, height);

	return rows(&c, kind, is_async, stream);
}

static int from_array(void *dst, size_t dpitch, const struct sim_array *a, size_t x, size_t y,
	size_t width, size_t height, int kind, bool is_async, void *stream)
{
	if (!a || x + width > array_pitch(a) || y + height > (a->height ? a->height : 1)) {
		return SIM_INVALID_VALUE;
	}
	struct sim_copy c = SIM_ROWS(dst, dpitch, array_at(a, x, y), array_pitch(a), width, height);

	return rows(&c, kind, is_async, stream);
}

cudart_error api_cudaMemcpy2DToArray(cudart_array dst, size_t w_offset, size_t h_offset,
	const void *src, size_t spitch, size_t width, size_t height, cudart_memcpy_kind kind)
{
	return to_array(dst, w_offset, h_offset, src, spitch, width, height, kind, false, NULL);
}

cudart_error api_cudaMemcpy2DToArrayAsync(cudart_array dst, size_t w_offset, size_t h_offset,
	const void *src, size_t spitch, size_t width, size_t height, cudart_memcpy_kind kind,
	cudart_stream stream)
{
	return to_array(dst, w_offset, h_offset, src, spitch, width, height, kind, true, stream);
}

cudart_error api_cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudart_array_const src,
	size_t w_offset, size_t h_offset, size_t width, size_t height, cudart_memcpy_kind kind)
{
	return from_array(dst, dpitch, src, w_offset, h_offset, width, height, kind, false, NULL);
}

cudart_error api_cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudart_array_const src,
	size_t w_offset, size_t h_offset, size_t width, size_t height, cudart_memcpy_kind kind,
	cudart_stream stream)
{
	return from_array(dst, dpitch, src, w_offset, h_offset, width, height, kind, true, stream);
}

cudart_error api_cudaMemcpyToArray(cudart_array dst, size_t w_offset, size_t h_offset,
	const void *src, size_t bytes, cudart_memcpy_kind kind)
{
	return to_array(dst, w_offset, h_offset, src, bytes, bytes, 1, kind, false, NULL);
}

cudart_error api_cudaMemcpyFromArray(void *dst, cudart_array_const src, size_t w_offset,
	size_t h_offset, size_t bytes, cudart_memcpy_kind kind)
{
	return from_array(dst, bytes, src, w_offset, h_offset, bytes, 1, kind, false, NULL);
}

/* One end of a 3D copy: its address, pitch and plane; extents with an array count elements. */
static char *end_3d(void *array, cudart_pitched_ptr p, cudart_pos at, size_t *pitch, size_t *slice)
{
	const struct sim_array *a = array;

	if (a) {
		*pitch = array_pitch(a);
		*slice = *pitch * (a->height ? a->height : 1);
		return (char *)a->data + at.z * *slice + at.y * *pitch + at.x * a->element_bytes;
	}
	*pitch = p.pitch;
	*slice = p.pitch * p.ysize;
	return (char *)p.ptr + at.z * *slice + at.y * *pitch + at.x;
}

static struct sim_copy copy_of_3d(const cudart_memcpy3d_parms *p)
{
	const struct sim_array *a = p->src_array ? p->src_array : p->dst_array;
	struct sim_copy c = {.width = p->extent.width * (a ? a->element_bytes : 1)};

	c.height = p->extent.height;
	c.depth = p->extent.depth;
	c.src = end_3d(p->src_array, p->src_ptr, p->src_pos, &c.src_pitch, &c.src_slice);
	c.dst = end_3d(p->dst_array, p->dst_ptr, p->dst_pos, &c.dst_pitch, &c.dst_slice);
	return c;
}

int runtime_copy_3d(cu_memcpy3d *to, const cudart_memcpy3d_parms *p)
{
	if (!p) {
		return SIM_INVALID_VALUE;
	}
	if (p->kind < 0 || p->kind > CUDA_COPY_DEFAULT) {
		return 21;
	}
	struct sim_copy c = copy_of_3d(p);

	*to = (cu_memcpy3d){.src_type = from_types[p->kind],
		.src_host = c.src,
		.src_device = (uintptr_t)c.src,
		.src_pitch_bytes = c.src_pitch,
		.src_height = c.src_pitch ? c.src_slice / c.src_pitch : 0,
		.dst_type = to_types[p->kind],
		.dst_host = c.dst,
		.dst_device = (uintptr_t)c.dst,
		.dst_pitch_bytes = c.dst_pitch,
		.dst_height = c.dst_pitch ? c.dst_slice / c.dst_pitch : 0,
		.width_bytes = c.width,
		.height = c.height,
		.depth = c.depth};
	return SIM_OK;
}

cudart_error api_cudaMemcpy3D(const cudart_memcpy3d_parms *p)
{
	cu_memcpy3d copy;
	int r = runtime_copy_3d(&copy, p);

	return r == SIM_OK ? runtime_driver.cuMemcpy3D_v2(&copy) : r;
}

cudart_error api_cudaMemcpy3DAsync(const cudart_memcpy3d_parms *p, cudart_stream stream)
{
	cu_memcpy3d copy;
	int r = runtime_copy_3d(&copy, p);

	return r == SIM_OK ? runtime_driver.cuMemcpy3DAsync_v2(&copy, stream) : r;
}

/* 12.8 has a ninth argument, failIdx, before the stream. */
cudart_error api_cudaMemcpyBatchAsync(unsigned long long w0, unsigned long long w1,
	unsigned long long w2, unsigned long long w3, unsigned long long w4, unsigned long long w5,
	unsigned long long w6, unsigned long long w7, unsigned long long w8)
{
	void **dsts = (void **)(uintptr_t)w0;
	void **srcs = (void **)(uintptr_t)w1;
	const size_t *sizes = (const size_t *)(uintptr_t)w2;
	void *stream = (void *)(uintptr_t)(runtime_level >= 13000 ? w7 : w8);
	int r = SIM_OK;

	(void)w4;
	(void)w5;
	(void)w6;
	for (size_t i = 0; r == SIM_OK && i < w3; i++) {
		r = row(dsts[i], srcs[i], sizes[i], CUDA_COPY_DEFAULT, true, stream);
	}
	return r;
}

cudart_error api_cudaMemset(void *dev_ptr, int value, size_t bytes)
{
	return runtime_driver.cuMemsetD8_v2((uintptr_t)dev_ptr, (unsigned char)value, bytes);
}

cudart_error api_cudaMemsetAsync(void *dev_ptr, int value, size_t bytes, cudart_stream stream)
{
	return runtime_driver.cuMemsetD8Async(
		(uintptr_t)dev_ptr, (unsigned char)value, bytes, stream);
}

cudart_error api_cudaMemset2D(void *dev_ptr, size_t pitch, int value, size_t width, size_t height)
{
	return runtime_driver.cuMemsetD2D8_v2(
		(uintptr_t)dev_ptr, pitch, (unsigned char)value, width, height);
}

cudart_error api_cudaMemset2DAsync(
	void *dev_ptr, size_t pitch, int value, size_t width, size_t height, cudart_stream stream)
{
	return runtime_driver.cuMemsetD2D8Async(
		(uintptr_t)dev_ptr, pitch, (unsigned char)value, width, height, stream);
}

cudart_error api_cudaMemset3DAsync(
	cudart_pitched_ptr pitched_dev_ptr, int value, cudart_extent extent, cudart_stream stream)
{
	struct sim_copy c = {.dst = pitched_dev_ptr.ptr,
		.width = extent.width,
		.height = extent.height,
		.depth = extent.depth,
		.dst_pitch = pitched_dev_ptr.pitch,
		.dst_slice = pitched_dev_ptr.pitch * pitched_dev_ptr.ysize};

	return runtime_model->set(&c, (uint32_t)value, 1, true, stream);
}

cudart_error api_cudaMemset3D(cudart_pitched_ptr pitched_dev_ptr, int value, cudart_extent extent)
{
	return api_cudaMemset3DAsync(pitched_dev_ptr, value, extent, NULL);
}
