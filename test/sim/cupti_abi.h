/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of CUPTI for the simulator and tests that the recorder does not need. */
#ifndef TEST_SIM_CUPTI_ABI_H
#define TEST_SIM_CUPTI_ABI_H

#include "collector/cupti/cupti_abi.h"

#define CUPTI_RECORD_ALIGN 8

enum sim_cupti_number {
	CUPTI_LEGACY_PROFILER_NOT_SUPPORTED = 38,
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_INVALID_OPERATION = 7,
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_NAME = 11,
	CUPTI_KIND_MARKER = 12,
	CUPTI_KIND_MARKER_DATA = 13,
	CUPTI_KIND_CDP_KERNEL = 18,
	CUPTI_KIND_PREEMPTION = 19,
	CUPTI_KIND_ENVIRONMENT = 20,
	CUPTI_KIND_UNIFIED_MEMORY_COUNTER = 25,
	CUPTI_KIND_FUNCTION = 26,
	CUPTI_KIND_MODULE = 27,
	CUPTI_KIND_EXTERNAL_CORRELATION = 39,
	CUPTI_KIND_NVLINK = 40,
	CUPTI_KIND_MEMORY = 45,
	CUPTI_KIND_PCIE = 46,
	CUPTI_KIND_INTERNAL_LAUNCH_API = 48,
	CUPTI_KIND_MEMORY_POOL = 50,
	CUPTI_KIND_JIT = 52,
	CUPTI_KIND_DEVICE_GRAPH_TRACE = 53,
	CUPTI_KIND_MEM_DECOMPRESS = 54,
	CUPTI_KIND_CONFIDENTIAL_COMPUTE_ROTATION = 55,
	CUPTI_ATTR_HOST_PINNED = 8,	  /* u8 */
	CUPTI_ATTR_PER_THREAD_BUFFER = 9, /* u8, since 12.3 */
	CUPTI_DOMAIN_RESOURCE = 3,
	CUPTI_DOMAIN_SYNCHRONIZE = 4,
	CUPTI_DOMAIN_NVTX = 5,
};

enum cupti_memory_operation {
	CUPTI_MEMORY_ALLOCATION = 1,
	CUPTI_MEMORY_RELEASE = 2,
};

enum cupti_launch_type {
	CUPTI_LAUNCH_REGULAR = 0,
	CUPTI_LAUNCH_COOPERATIVE = 1,
};

enum cupti_stream_flag {
	CUPTI_STREAM_DEFAULT = 1,
	CUPTI_STREAM_NON_BLOCKING = 2,
	CUPTI_STREAM_NULL = 3,
};

/* Callback ids of CUPTI_DOMAIN_RESOURCE. */
enum cupti_resource {
	CUPTI_RESOURCE_CONTEXT_CREATED = 1,
	CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
	CUPTI_RESOURCE_STREAM_CREATED = 3,
	CUPTI_RESOURCE_STREAM_DESTROY_STARTING = 4, /* FlushAll from here deadlocks */
	CUPTI_RESOURCE_MODULE_LOADED = 6,
};

/* The data of a callback in the resource domain. */
struct cupti_resource_data {
	void *context;
	void *stream;
	void *descriptor;
};

/* Parameters of a subscription since 13.2. The last field is valid if `size` is larger than the
 * size of the old struct. */
struct cupti_subscriber_params_13_2 {
	struct cupti_subscriber_params base;
	uint8_t allows_others; /* several subscribers, if all of them allow it */
};

#endif
