/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the CUDA runtime and driver ABI that the hooks and the simulator need, in our own
 * declarations, so that gprof builds where no toolkit is installed. The ABI test compares every
 * name, size and offset with the real headers.
 *
 * These are typedefs, unlike elsewhere in gprof: the ABI test expands hooks.def a second time with
 * the same names standing for the real types, so that the compiler itself compares the prototypes.
 * Handles are void pointers, enumerations are int, and a structure that we never look into is void
 * (it is only ever passed by address).
 *
 * Includes nothing but <stddef.h> and <stdint.h>; no name of it collides with the real headers.
 * Everything here is pure; any thread may use it.
 */
#ifndef PRELOAD_ABI_CUDA_ABI_H
#define PRELOAD_ABI_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Return codes that gprof itself returns or tests. */
enum cuda_code {
	CUDA_CODE_SUCCESS = 0,
	CUDA_CODE_NOT_FOUND = 500, /* cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND */
	CUDA_CODE_NOT_READY = 600,
};

/* Direction of a copy: the values of cudaMemcpyKind. */
enum cuda_copy {
	CUDA_COPY_H2H = 0,
	CUDA_COPY_H2D = 1,
	CUDA_COPY_D2H = 2,
	CUDA_COPY_D2D = 3,
	CUDA_COPY_DEFAULT = 4, /* the addresses decide */
};

/* Values of CUmemorytype. */
enum cu_memory {
	CU_MEMORY_HOST = 1,
	CU_MEMORY_DEVICE = 2,
	CU_MEMORY_ARRAY = 3,
	CU_MEMORY_UNIFIED = 4,
};

/* Stream handles with a meaning of their own, in both APIs. */
#define CUDA_STREAM_LEGACY     ((void *)1)
#define CUDA_STREAM_PER_THREAD ((void *)2)

/* The stream that a _ptsz function uses when it is given @stream. */
#define CUDA_STREAM_PTSZ(stream) ((stream) ? (stream) : CUDA_STREAM_PER_THREAD)

/* ---- runtime: scalars and handles ---- */

typedef int cudart_error;
typedef int cudart_memcpy_kind;
typedef int cudart_device_attr;
typedef int cudart_device_p2p_attr;
typedef int cudart_flush_gpu_direct_rdma_writes_scope;
typedef int cudart_flush_gpu_direct_rdma_writes_target;
typedef int cudart_func_attribute;
typedef int cudart_func_cache;
typedef int cudart_jit_option;
typedef int cudart_launch_attribute_id;
typedef int cudart_library_option;
typedef int cudart_limit;
typedef int cudart_mem_allocation_handle_type;
typedef int cudart_mem_pool_attr;
typedef int cudart_memory_advise;
typedef int cudart_shared_mem_config;
typedef int cudart_stream_capture_mode;
typedef int cudart_stream_capture_status;
typedef unsigned long long cudart_graph_conditional_handle;

typedef void *cudart_stream;
typedef void *cudart_event;
typedef void *cudart_graph;
typedef void *cudart_graph_exec;
typedef void *cudart_graph_node;
typedef void *cudart_array;
typedef const void *cudart_array_const;
typedef void *cudart_mipmapped_array;
typedef void *cudart_mem_pool;
typedef void *cudart_kernel;
typedef void *cudart_function;
typedef void *cudart_library;
typedef void *cudart_external_memory;
typedef void *cudart_external_semaphore;

typedef void (*cudart_host_fn)(void *user_data);
typedef void (*cudart_stream_callback)(cudart_stream stream, cudart_error status, void *user_data);

/* ---- runtime: structures passed by address, opaque to us ---- */

typedef void cudart_device_prop;
typedef void cudart_external_memory_handle_desc;
typedef void cudart_external_semaphore_signal_params;
typedef void cudart_external_semaphore_wait_params;
typedef void cudart_graph_edge_data;
typedef void cudart_graph_instantiate_params;
typedef void cudart_launch_attribute_value;
typedef void cudart_launch_params;
typedef void cudart_mem_access_desc;
typedef void cudart_mem_pool_props;
typedef void cudart_mem_pool_ptr_export_data;
/* Only the simulator reads their fields (test/sim/cuda_abi.h). */
typedef struct cudart_func_attributes cudart_func_attributes;
typedef struct cudart_host_node_params cudart_host_node_params;
typedef struct cudart_kernel_node_params cudart_kernel_node_params;
typedef struct cudart_mem_alloc_node_params cudart_mem_alloc_node_params;
typedef struct cudart_memset_params cudart_memset_params;
typedef struct cudart_pointer_attributes cudart_pointer_attributes;

/* ---- runtime: structures passed by value or read ---- */

typedef struct cudart_dim3 {
	unsigned int x, y, z;
} cudart_dim3;

/* Width is in bytes for linear memory and in elements where an array takes part. */
typedef struct cudart_extent {
	size_t width, height, depth;
} cudart_extent;

typedef struct cudart_pos {
	size_t x, y, z;
} cudart_pos;

typedef struct cudart_pitched_ptr {
	void *ptr;
	size_t pitch, xsize, ysize; /* bytes, elements, elements */
} cudart_pitched_ptr;

typedef struct cudart_mem_location {
	int type;
	int id;
} cudart_mem_location;

typedef struct cudart_ipc_mem_handle {
	char reserved[64];
} cudart_ipc_mem_handle;

typedef struct cudart_ipc_event_handle {
	char reserved[64];
} cudart_ipc_event_handle;

/* Bits of each channel. */
typedef struct cudart_channel_format_desc {
	int x, y, z, w;
	int format;
} cudart_channel_format_desc;

typedef struct cudart_memcpy3d_parms {
	cudart_array src_array;
	cudart_pos src_pos;
	cudart_pitched_ptr src_ptr;
	cudart_array dst_array;
	cudart_pos dst_pos;
	cudart_pitched_ptr dst_ptr;
	cudart_extent extent;
	cudart_memcpy_kind kind;
} cudart_memcpy3d_parms;

typedef struct cudart_memcpy3d_peer_parms {
	cudart_array src_array;
	cudart_pos src_pos;
	cudart_pitched_ptr src_ptr;
	int src_device;
	cudart_array dst_array;
	cudart_pos dst_pos;
	cudart_pitched_ptr dst_ptr;
	int dst_device;
	cudart_extent extent;
} cudart_memcpy3d_peer_parms;

typedef struct cudart_launch_config {
	cudart_dim3 grid;
	cudart_dim3 block;
	size_t shared_bytes;
	cudart_stream stream;
	void *attrs;
	unsigned int nr_attrs;
} cudart_launch_config;

/* ---- driver: scalars and handles ---- */

typedef int cu_result;
typedef int cu_device;
typedef unsigned long long cu_deviceptr;
typedef unsigned long long cu_mem_generic_allocation_handle;
typedef int cu_device_attribute;
typedef int cu_device_p2p_attribute;
typedef int cu_func_cache;
typedef int cu_function_attribute;
typedef int cu_graph_exec_update_result;
typedef int cu_jit_input_type;
typedef int cu_jit_option;
typedef int cu_library_option;
typedef int cu_limit;
typedef int cu_mem_advise;
typedef int cu_mem_allocation_handle_type;
typedef int cu_mem_pool_attribute;
typedef int cu_pointer_attribute;
typedef int cu_sharedconfig;
typedef int cu_stream_attr_id;
typedef int cu_stream_capture_mode;
typedef int cu_stream_capture_status;

typedef void *cu_context;
typedef void *cu_module;
typedef void *cu_function;
typedef void *cu_kernel;
typedef void *cu_library;
typedef void *cu_array;
typedef void *cu_mipmapped_array;
typedef void *cu_stream;
typedef void *cu_event;
typedef void *cu_graph;
typedef void *cu_graph_exec;
typedef void *cu_graph_node;
typedef void *cu_green_ctx;
typedef void *cu_dev_resource_desc;
typedef void *cu_memory_pool;
typedef void *cu_link_state;
typedef void *cu_external_semaphore;

typedef void (*cu_host_fn)(void *user_data);
typedef void (*cu_stream_callback)(cu_stream stream, cu_result status, void *user_data);
typedef size_t (*cu_occupancy_b2d_size)(int block_size);

/* ---- driver: structures passed by address, opaque to us ---- */

typedef void cu_ctx_create_params;
typedef void cu_exec_affinity_param;
typedef void cu_external_semaphore_signal_params;
typedef void cu_external_semaphore_wait_params;
typedef void cu_graph_edge_data;
typedef void cu_graph_exec_update_result_info;
typedef void cu_graph_instantiate_params;
typedef void cu_graph_node_params;
typedef void cu_host_node_params;
typedef void cu_kernel_node_params;
typedef void cu_kernel_node_params_v1;
typedef void cu_launch_params;
typedef void cu_mem_access_desc;
typedef void cu_mem_alloc_node_params;
typedef void cu_mem_allocation_prop;
typedef void cu_mem_decompress_params;
typedef void cu_mem_pool_props;
typedef void cu_mem_pool_ptr_export_data;
typedef void cu_memcpy3d_batch_op;
typedef void cu_memcpy_attributes;
typedef void cu_memset_node_params;
typedef void cu_multicast_object_prop;
typedef void cu_stream_attr_value;
typedef void cu_stream_batch_mem_op_params;

/* ---- driver: structures passed by value or read ---- */

typedef struct cu_uuid {
	char bytes[16];
} cu_uuid;

typedef struct cu_mem_location {
	int type;
	int id;
} cu_mem_location;

typedef struct cu_ipc_mem_handle {
	char reserved[64];
} cu_ipc_mem_handle;

typedef struct cu_ipc_event_handle {
	char reserved[64];
} cu_ipc_event_handle;

typedef struct cu_memcpy2d {
	size_t src_x_bytes, src_y;
	int src_type; /* enum cu_memory */
	const void *src_host;
	cu_deviceptr src_device;
	cu_array src_array;
	size_t src_pitch_bytes;
	size_t dst_x_bytes, dst_y;
	int dst_type;
	void *dst_host;
	cu_deviceptr dst_device;
	cu_array dst_array;
	size_t dst_pitch_bytes;
	size_t width_bytes, height;
} cu_memcpy2d;

typedef struct cu_memcpy3d {
	size_t src_x_bytes, src_y, src_z, src_lod;
	int src_type; /* enum cu_memory */
	const void *src_host;
	cu_deviceptr src_device;
	cu_array src_array;
	void *src_context; /* peer copies only */
	size_t src_pitch_bytes, src_height;
	size_t dst_x_bytes, dst_y, dst_z, dst_lod;
	int dst_type;
	void *dst_host;
	cu_deviceptr dst_device;
	cu_array dst_array;
	void *dst_context; /* peer copies only */
	size_t dst_pitch_bytes, dst_height;
	size_t width_bytes, height, depth;
} cu_memcpy3d;

typedef cu_memcpy3d cu_memcpy3d_peer;

typedef struct cu_launch_config {
	cudart_dim3 grid;
	cudart_dim3 block;
	unsigned int shared_bytes;
	cu_stream stream;
	void *attrs;
	unsigned int nr_attrs;
} cu_launch_config;

typedef struct cu_array_descriptor {
	size_t width, height;
	int format; /* CUarray_format */
	unsigned int nr_channels;
} cu_array_descriptor;

typedef struct cu_array3d_descriptor {
	size_t width, height, depth;
	int format;
	unsigned int nr_channels;
	unsigned int flags;
} cu_array3d_descriptor;

/*
 * ---- readers for the facts of hooks.def ----
 *
 * Facts are evaluated after the call, also when it failed because of a null argument: every reader
 * takes null and answers with zeros.
 */

/* The configuration, or one of zeros. */
static inline const cudart_launch_config *cudart_config(const cudart_launch_config *config)
{
	static const cudart_launch_config none;

	return config ? config : &none;
}

static inline const cu_launch_config *cu_config(const cu_launch_config *config)
{
	static const cu_launch_config none;

	return config ? config : &none;
}

/* Runtime 3D copies: address or array handle, bytes (elements with an array), kind. */
static inline const void *cudart_copy3d_dst(const cudart_memcpy3d_parms *p)
{
	return !p ? NULL : p->dst_array ? p->dst_array : p->dst_ptr.ptr;
}

static inline const void *cudart_copy3d_src(const cudart_memcpy3d_parms *p)
{
	return !p ? NULL : p->src_array ? p->src_array : p->src_ptr.ptr;
}

static inline size_t cudart_copy3d_bytes(const cudart_memcpy3d_parms *p)
{
	return p ? p->extent.width * p->extent.height * p->extent.depth : 0;
}

static inline int cudart_copy3d_kind(const cudart_memcpy3d_parms *p)
{
	return p ? p->kind : CUDA_COPY_DEFAULT;
}

static inline const void *cudart_copy3d_peer_dst(const cudart_memcpy3d_peer_parms *p)
{
	return !p ? NULL : p->dst_array ? p->dst_array : p->dst_ptr.ptr;
}

static inline const void *cudart_copy3d_peer_src(const cudart_memcpy3d_peer_parms *p)
{
	return !p ? NULL : p->src_array ? p->src_array : p->src_ptr.ptr;
}

static inline size_t cudart_copy3d_peer_bytes(const cudart_memcpy3d_peer_parms *p)
{
	return p ? p->extent.width * p->extent.height * p->extent.depth : 0;
}

/* Bytes of an array of @width x @height x @depth elements; a height or depth of 0 means one. */
static inline size_t cudart_array_bytes(
	const cudart_channel_format_desc *desc, size_t width, size_t height, size_t depth)
{
	size_t bits = desc ? (size_t)(desc->x + desc->y + desc->z + desc->w) : 0;

	return bits / 8 * width * (height ? height : 1) * (depth ? depth : 1);
}

/* Driver copies: one end of a copy is a host address, a device address or an array handle. */
static inline cu_deviceptr cu_copy_end(
	int type, const void *host, cu_deviceptr device, const void *array)
{
	switch (type) {
	case CU_MEMORY_HOST:
		return (cu_deviceptr)(uintptr_t)host;
	case CU_MEMORY_ARRAY:
		return (cu_deviceptr)(uintptr_t)array;
	default:
		return device;
	}
}

/* Direction by the memory types of both ends. */
static inline int cu_copy_kind(int dst_type, int src_type)
{
	if (dst_type == CU_MEMORY_UNIFIED || src_type == CU_MEMORY_UNIFIED) {
		return CUDA_COPY_DEFAULT;
	}
	if (src_type == CU_MEMORY_HOST) {
		return dst_type == CU_MEMORY_HOST ? CUDA_COPY_H2H : CUDA_COPY_H2D;
	}
	return dst_type == CU_MEMORY_HOST ? CUDA_COPY_D2H : CUDA_COPY_D2D;
}

static inline cu_deviceptr cu_copy2d_dst(const cu_memcpy2d *p)
{
	return p ? cu_copy_end(p->dst_type, p->dst_host, p->dst_device, p->dst_array) : 0;
}

static inline cu_deviceptr cu_copy2d_src(const cu_memcpy2d *p)
{
	return p ? cu_copy_end(p->src_type, p->src_host, p->src_device, p->src_array) : 0;
}

static inline size_t cu_copy2d_bytes(const cu_memcpy2d *p)
{
	return p ? p->width_bytes * p->height : 0;
}

static inline int cu_copy2d_kind(const cu_memcpy2d *p)
{
	return p ? cu_copy_kind(p->dst_type, p->src_type) : CUDA_COPY_DEFAULT;
}

static inline cu_deviceptr cu_copy3d_dst(const cu_memcpy3d *p)
{
	return p ? cu_copy_end(p->dst_type, p->dst_host, p->dst_device, p->dst_array) : 0;
}

static inline cu_deviceptr cu_copy3d_src(const cu_memcpy3d *p)
{
	return p ? cu_copy_end(p->src_type, p->src_host, p->src_device, p->src_array) : 0;
}

static inline size_t cu_copy3d_bytes(const cu_memcpy3d *p)
{
	return p ? p->width_bytes * p->height * p->depth : 0;
}

static inline int cu_copy3d_kind(const cu_memcpy3d *p)
{
	return p ? cu_copy_kind(p->dst_type, p->src_type) : CUDA_COPY_DEFAULT;
}

/* Sum of @nr_items sizes, 0 where the call failed (@r): the table may be unreadable then. */
static inline size_t cu_batch_bytes(cu_result r, const size_t *sizes, size_t nr_items)
{
	size_t bytes = 0;

	for (size_t i = 0; r == 0 && sizes && i < nr_items; i++) {
		bytes += sizes[i];
	}
	return bytes;
}

/* Bytes of one channel of a CUarray_format; 0 for block-compressed and planar formats. */
static inline size_t cu_format_bytes(int format)
{
	switch (format) {
	case 0x01: /* 8 bits, unsigned and signed */
	case 0x08:
		return 1;
	case 0x02: /* 16 bits: unsigned, signed, half */
	case 0x09:
	case 0x10:
		return 2;
	case 0x03: /* 32 bits: unsigned, signed, float */
	case 0x0a:
	case 0x20:
		return 4;
	default:
		return 0;
	}
}

static inline size_t cu_array_bytes(const cu_array_descriptor *d)
{
	return d ? cu_format_bytes(d->format) * d->nr_channels * d->width *
			       (d->height ? d->height : 1)
		 : 0;
}

static inline size_t cu_array3d_bytes(const cu_array3d_descriptor *d)
{
	return d ? cu_format_bytes(d->format) * d->nr_channels * d->width *
			       (d->height ? d->height : 1) * (d->depth ? d->depth : 1)
		 : 0;
}

#endif
