/* SPDX-License-Identifier: Apache-2.0 */
/* What categories and arguments are called. */
#include "report/timeline/perfetto_out.h"

static const char *const categories[PFTRACE_NR_CATEGORIES] = {
	[PFTRACE_RUNTIME] = "cuda_runtime",
	[PFTRACE_DRIVER] = "cuda_driver",
	[PFTRACE_LIBRARY] = "library",
	[PFTRACE_OPERATOR] = "cpu_op",
	[PFTRACE_ANNOTATION] = "user_annotation",
	[PFTRACE_PYTHON] = "python_function",
	[PFTRACE_KERNEL] = "kernel",
	[PFTRACE_NCCL] = "kernel,nccl",
	[PFTRACE_COPY] = "gpu_memcpy",
	[PFTRACE_SET] = "gpu_memset",
	[PFTRACE_SYNC] = "cuda_sync",
	[PFTRACE_OVERHEAD] = "overhead",
	[PFTRACE_STEP] = "step",
	[PFTRACE_MARK] = "mark",
	[PFTRACE_COMM] = "collective",
	[PFTRACE_NCCL_API] = "nccl",
};

static const char *const keys[PFTRACE_NR_KEYS] = {
	[PFTRACE_KEY_CORRELATION] = "correlation",
	[PFTRACE_KEY_RESULT] = "result",
	[PFTRACE_KEY_STACK] = "Python stack",
	[PFTRACE_KEY_SEQUENCE] = "sequence number",
	[PFTRACE_KEY_INPUTS] = "inputs",
	[PFTRACE_KEY_PAYLOAD] = "payload",
	[PFTRACE_KEY_DEVICE] = "device",
	[PFTRACE_KEY_CONTEXT] = "context",
	[PFTRACE_KEY_STREAM] = "stream",
	[PFTRACE_KEY_GRAPH] = "graph id",
	[PFTRACE_KEY_GRAPH_NODE] = "graph node id",
	[PFTRACE_KEY_BYTES] = "bytes",
	[PFTRACE_KEY_RATE] = "GB/s",
	[PFTRACE_KEY_GRID] = "grid",
	[PFTRACE_KEY_BLOCK] = "block",
	[PFTRACE_KEY_CLUSTER] = "cluster",
	[PFTRACE_KEY_REGISTERS] = "registers per thread",
	[PFTRACE_KEY_STATIC_SHARED] = "static shared memory (bytes)",
	[PFTRACE_KEY_DYNAMIC_SHARED] = "dynamic shared memory (bytes)",
	[PFTRACE_KEY_BLOCKS_PER_SM] = "blocks per SM",
	[PFTRACE_KEY_WARPS_PER_SM] = "warps per SM",
	[PFTRACE_KEY_OCCUPANCY] = "theoretical occupancy (%)",
	[PFTRACE_KEY_LIMITER] = "occupancy limited by",
	[PFTRACE_KEY_COUNT] = "events",
	[PFTRACE_KEY_CODE] = "code",
	[PFTRACE_KEY_ALGBW] = "GB/s of the algorithm, waiting included",
	[PFTRACE_KEY_COMM] = "communicator",
};

const char *pftrace_category_word(enum pftrace_category category)
{
	return categories[category];
}

const char *pftrace_key_word(enum pftrace_key key)
{
	return keys[key];
}
