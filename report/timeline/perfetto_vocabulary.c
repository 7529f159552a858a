/* SPDX-License-Identifier: Apache-2.0 */
/* What categories and arguments are called. */
#include "report/timeline/perfetto_out.h"

static const char *const categories[PERFETTO_NR_CATEGORIES] = {
	[PERFETTO_RUNTIME] = "cuda_runtime",
	[PERFETTO_DRIVER] = "cuda_driver",
	[PERFETTO_LIBRARY] = "library",
	[PERFETTO_OPERATOR] = "cpu_op",
	[PERFETTO_ANNOTATION] = "user_annotation",
	[PERFETTO_PYTHON] = "python_function",
	[PERFETTO_KERNEL] = "kernel",
	[PERFETTO_NCCL] = "kernel,nccl",
	[PERFETTO_COPY] = "gpu_memcpy",
	[PERFETTO_SET] = "gpu_memset",
	[PERFETTO_SYNC] = "cuda_sync",
	[PERFETTO_OVERHEAD] = "overhead",
	[PERFETTO_STEP] = "step",
	[PERFETTO_MARK] = "mark",
	[PERFETTO_COMM] = "collective",
	[PERFETTO_NCCL_API] = "nccl",
};

static const char *const keys[PERFETTO_NR_KEYS] = {
	[PERFETTO_KEY_CORRELATION] = "correlation",
	[PERFETTO_KEY_RESULT] = "result",
	[PERFETTO_KEY_STACK] = "Python stack",
	[PERFETTO_KEY_SEQUENCE] = "sequence number",
	[PERFETTO_KEY_INPUTS] = "inputs",
	[PERFETTO_KEY_PAYLOAD] = "payload",
	[PERFETTO_KEY_DEVICE] = "device",
	[PERFETTO_KEY_CONTEXT] = "context",
	[PERFETTO_KEY_STREAM] = "stream",
	[PERFETTO_KEY_GRAPH] = "graph id",
	[PERFETTO_KEY_GRAPH_NODE] = "graph node id",
	[PERFETTO_KEY_BYTES] = "bytes",
	[PERFETTO_KEY_RATE] = "GB/s",
	[PERFETTO_KEY_GRID] = "grid",
	[PERFETTO_KEY_BLOCK] = "block",
	[PERFETTO_KEY_CLUSTER] = "cluster",
	[PERFETTO_KEY_REGISTERS] = "registers per thread",
	[PERFETTO_KEY_STATIC_SHARED] = "static shared memory (bytes)",
	[PERFETTO_KEY_DYNAMIC_SHARED] = "dynamic shared memory (bytes)",
	[PERFETTO_KEY_BLOCKS_PER_SM] = "blocks per SM",
	[PERFETTO_KEY_WARPS_PER_SM] = "warps per SM",
	[PERFETTO_KEY_OCCUPANCY] = "theoretical occupancy (%)",
	[PERFETTO_KEY_LIMITER] = "occupancy limited by",
	[PERFETTO_KEY_COUNT] = "events",
	[PERFETTO_KEY_CODE] = "code",
	[PERFETTO_KEY_ALGBW] = "GB/s of the algorithm, waiting included",
	[PERFETTO_KEY_COMM] = "communicator",
};

const char *perfetto_category_word(enum perfetto_category category)
{
	return categories[category];
}

const char *perfetto_key_word(enum perfetto_key key)
{
	return keys[key];
}
