/* SPDX-License-Identifier: Apache-2.0 */
#include "report/nccl_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/names.h"
#include "report/nccl_ops.h"

const char *nccl_name_op(uint8_t kind)
{
	static const char *const names[] = {
		[GPROF_NCCL_ALL_REDUCE] = "AllReduce",
		[GPROF_NCCL_REDUCE] = "Reduce",
		[GPROF_NCCL_BROADCAST] = "Broadcast",
		[GPROF_NCCL_ALL_GATHER] = "AllGather",
		[GPROF_NCCL_REDUCE_SCATTER] = "ReduceScatter",
		[GPROF_NCCL_ALL_TO_ALL] = "AlltoAll",
		[GPROF_NCCL_GATHER] = "Gather",
		[GPROF_NCCL_SCATTER] = "Scatter",
		[GPROF_NCCL_SEND] = "Send",
		[GPROF_NCCL_RECV] = "Recv",
		[NCCL_OPS_SEND_RECV] = "Send and Recv",
		[NCCL_OPS_SEVERAL] = "of several kinds",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "unknown";
}

/* What several functions of NCCL make has a name that begins as theirs. */
uint32_t nccl_name_call(uint8_t kind)
{
	static const char *const names[] = {
		[GPROF_NCCL_ALL_REDUCE] = "ncclAllReduce",
		[GPROF_NCCL_REDUCE] = "ncclReduce",
		[GPROF_NCCL_BROADCAST] = "ncclBroadcast",
		[GPROF_NCCL_ALL_GATHER] = "ncclAllGather",
		[GPROF_NCCL_REDUCE_SCATTER] = "ncclReduceScatter",
		[GPROF_NCCL_ALL_TO_ALL] = "ncclAlltoAll",
		[GPROF_NCCL_GATHER] = "ncclGather",
		[GPROF_NCCL_SCATTER] = "ncclScatter",
		[GPROF_NCCL_SEND] = "ncclSend",
		[GPROF_NCCL_RECV] = "ncclRecv",
		[GPROF_NCCL_GROUP_END] = "ncclGroupEnd",
		[GPROF_NCCL_INIT] = "ncclCommInit",
		[GPROF_NCCL_SPLIT] = "ncclCommSplit",
		[GPROF_NCCL_FINALIZE] = "ncclCommFinalize",
		[GPROF_NCCL_DESTROY] = "ncclCommDestroy",
		[GPROF_NCCL_ABORT] = "ncclCommAbort",
	};
	const char *name = kind < sizeof(names) / sizeof(names[0]) && names[kind]
				   ? names[kind]
				   : "a call of NCCL";

	return names_intern(name, strlen(name));
}

uint32_t nccl_name_comm(uint64_t key, int32_t rank, uint32_t nr_ranks)
{
	char name[64];
	int nr_bytes = key ? snprintf(name, sizeof(name), "%016" PRIx64, key)
			   : snprintf(name, sizeof(name), "(unknown)");

	if (key && rank >= 0 && nr_ranks) {
		nr_bytes += snprintf(name + nr_bytes, sizeof(name) - (size_t)nr_bytes,
			", rank %" PRId32 " of %" PRIu32, rank, nr_ranks);
	}
	return names_intern(name, (size_t)nr_bytes);
}
