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
enum sim_cupti_resource {
	CUPTI_RESOURCE_CONTEXT_CREATED = 1,
	CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
	CUPTI_RESOURCE_STREAM_CREATED = 3,
	CUPTI_RESOURCE_STREAM_DESTROY_STARTING = 4, /* FlushAll from here deadlocks */
	CUPTI_RESOURCE_MODULE_LOADED = 6,
};

/* Parameters of a subscription since 13.2. The last field is valid if `size` is larger than the
 * size of the old struct. */
struct cupti_subscriber_params_13_2 {
	struct cupti_subscriber_params base;
	uint8_t allows_others; /* several subscribers, if all of them allow it */
};

/*
 * Enumerations that appear in records, with the names that Kineto prints for them:
 *   X(suffix, value, printed name)
 */
#define CUPTI_COPY_LIST(X)       \
	X(UNKNOWN, 0, "Unknown") \
	X(HTOD, 1, "HtoD")       \
	X(DTOH, 2, "DtoH")       \
	X(HTOA, 3, "HtoA")       \
	X(ATOH, 4, "AtoH")       \
	X(ATOA, 5, "AtoA")       \
	X(ATOD, 6, "AtoD")       \
	X(DTOA, 7, "DtoA")       \
	X(DTOD, 8, "DtoD")       \
	X(HTOH, 9, "HtoH")       \
	X(PTOP, 10, "PtoP")

#define CUPTI_MEMORY_LIST(X)                 \
	X(UNKNOWN, 0, "Unknown")             \
	X(PAGEABLE, 1, "Pageable")           \
	X(PINNED, 2, "Pinned")               \
	X(DEVICE, 3, "Device")               \
	X(ARRAY, 4, "Array")                 \
	X(MANAGED, 5, "Managed")             \
	X(DEVICE_STATIC, 6, "Device Static") \
	X(MANAGED_STATIC, 7, "Managed Static")

#define CUPTI_OVERHEAD_LIST(X)                                                           \
	X(UNKNOWN, 0, "Unknown")                                                         \
	X(DRIVER_COMPILER, 1, "Driver Compiler")                                         \
	X(CUPTI_BUFFER_FLUSH, 0x10000, "Buffer Flush")                                   \
	X(CUPTI_INSTRUMENTATION, 0x20000, "Instrumentation")                             \
	X(CUPTI_RESOURCE, 0x30000, "Resource")                                           \
	X(RUNTIME_TRIGGERED_MODULE_LOADING, 0x40000, "Runtime Triggered Module Loading") \
	X(LAZY_FUNCTION_LOADING, 0x50000, "Lazy Function Loading")                       \
	X(COMMAND_BUFFER_FULL, 0x60000, "Command Buffer Full")                           \
	X(ACTIVITY_BUFFER_REQUEST, 0x70000, "Activity Buffer Request")                   \
	X(UVM_ACTIVITY_INIT, 0x80000, "UVM Activity Init")

#define CUPTI_SYNC_LIST(X)                           \
	X(UNKNOWN, 0, "Unknown")                     \
	X(EVENT_SYNCHRONIZE, 1, "Event Sync")        \
	X(STREAM_WAIT_EVENT, 2, "Stream Wait Event") \
	X(STREAM_SYNCHRONIZE, 3, "Stream Sync")      \
	X(CONTEXT_SYNCHRONIZE, 4, "Context Sync")

#define CUPTI_ENUM_COPY(suffix, value, name)	 CUPTI_COPY_##suffix = (value),
#define CUPTI_ENUM_MEMORY(suffix, value, name)	 CUPTI_MEMORY_##suffix = (value),
#define CUPTI_ENUM_OVERHEAD(suffix, value, name) CUPTI_OVERHEAD_##suffix = (value),
#define CUPTI_ENUM_SYNC(suffix, value, name)	 CUPTI_SYNC_##suffix = (value),

enum cupti_copy_kind { CUPTI_COPY_LIST(CUPTI_ENUM_COPY) };
enum cupti_memory_kind { CUPTI_MEMORY_LIST(CUPTI_ENUM_MEMORY) };
enum cupti_overhead_kind { CUPTI_OVERHEAD_LIST(CUPTI_ENUM_OVERHEAD) };
enum cupti_sync_type { CUPTI_SYNC_LIST(CUPTI_ENUM_SYNC) };

/* CUPTI_KIND_DRIVER, CUPTI_KIND_RUNTIME, CUPTI_KIND_INTERNAL_LAUNCH_API. */
struct cupti_api {
	uint32_t kind;
	uint32_t cbid;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t process_id;
	uint32_t thread_id;
	uint32_t correlation_id;
	uint32_t return_value;
};

struct cupti_name {
	uint32_t kind;
	uint32_t object_kind;
	union cupti_object_id object_id;
	uint32_t pad;
	const char *name;
};

struct cupti_external {
	uint32_t kind;
	uint32_t external_kind; /* enum cupti_external_kind */
	uint64_t external_id;
	uint32_t correlation_id;
	uint32_t reserved;
};

_Static_assert(offsetof(struct cupti_api, correlation_id) == 32, "cupti_api.correlation_id");
_Static_assert(sizeof(struct cupti_api) == 40, "cupti_api");
_Static_assert(offsetof(struct cupti_name, name) == 24, "cupti_name.name");
_Static_assert(sizeof(struct cupti_name) == 32, "cupti_name");
_Static_assert(
	offsetof(struct cupti_external, correlation_id) == 16, "cupti_external.correlation_id");
_Static_assert(sizeof(struct cupti_external) == 24, "cupti_external");

#endif
