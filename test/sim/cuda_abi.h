/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of the CUDA runtime whose fields the simulator and its programs read, but no hook. */
#ifndef TEST_SIM_CUDA_ABI_H
#define TEST_SIM_CUDA_ABI_H

#include "preload/abi/cuda_abi.h"

/* The parameters of a kernel node in a graph. */
struct cudart_kernel_node_params {
	void *func;
	cudart_dim3 grid;
	cudart_dim3 block;
	unsigned int shared_bytes;
	void **args;
	void **extra;
};

struct cudart_memset_params {
	void *dst;
	size_t pitch_bytes;
	unsigned int value;
	unsigned int element_bytes; /* 1, 2 or 4 */
	size_t width;		    /* in elements */
	size_t height;
};

struct cudart_host_node_params {
	cudart_host_fn fn;
	void *user_data;
};

struct cudart_mem_alloc_node_params {
	struct {
		int alloc_type;
		int handle_types;
		cudart_mem_location location;
		void *security_attributes;
		size_t max_bytes;
		unsigned short usage;
		unsigned char reserved[54];
	} pool_props;
	const void *access_descs;
	size_t nr_access_descs;
	size_t bytes;
	void *dptr; /* filled by the call */
};

struct cudart_pointer_attributes {
	int type; /* 0 unregistered, 1 host, 2 device, 3 managed */
	int device;
	void *device_ptr;
	void *host_ptr;
	long reserved[8]; /* since 13.0; older libraries do not write it */
};

struct cudart_func_attributes {
	size_t shared_bytes;
	size_t const_bytes;
	size_t local_bytes;
	int max_threads_per_block;
	int nr_regs;
	int ptx_version;
	int binary_version;
	int cache_mode_ca;
	int max_dynamic_shared_bytes;
	int preferred_shared_carveout;
	int cluster_dim_must_be_set;
	int required_cluster_width;
	int required_cluster_height;
	int required_cluster_depth;
	int cluster_scheduling_policy;
	int non_portable_cluster_allowed;
	int reserved[16];
};

/* cudaGraphNodeParams and CUgraphNodeParams, of a conditional node; since CUDA 12.4. */
struct cuda_conditional_node {
	int type; /* CUDA_NODE_CONDITIONAL */
	int reserved[3];
	unsigned long long handle;
	int condition; /* CUDA_CONDITION_... */
	unsigned int nr_bodies;
	void **bodies; /* set by the call: graphs to fill, which belong to the node */
	long long more[27];
};

enum { CUDA_NODE_CONDITIONAL = 13 };
enum { CUDA_CONDITION_IF, CUDA_CONDITION_WHILE };
enum { CUDA_CONDITION_ASSIGN_DEFAULT = 1 };

#endif
