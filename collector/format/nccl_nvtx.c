/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names as NCCL spells them, of which two stand for a number of bytes. The target looks a name
 * up once, when NCCL registers it, so a search through a list is fast enough.
 */
#include "collector/format/nccl_nvtx.h"

#include <stdbool.h>
#include <string.h>

#include "collector/format/format.h"

const struct nccl_nvtx_function nccl_nvtx_functions[] = {
	{"ncclAllReduce", GPROF_NCCL_ALL_REDUCE},
	{"ncclReduce", GPROF_NCCL_REDUCE},
	{"ncclBroadcast", GPROF_NCCL_BROADCAST},
	{"ncclAllGather", GPROF_NCCL_ALL_GATHER},
	{"ncclReduceScatter", GPROF_NCCL_REDUCE_SCATTER},
	{"ncclAlltoAll", GPROF_NCCL_ALL_TO_ALL},
	{"ncclGather", GPROF_NCCL_GATHER},
	{"ncclScatter", GPROF_NCCL_SCATTER},
	{"ncclSend", GPROF_NCCL_SEND},
	{"ncclRecv", GPROF_NCCL_RECV},
	{"ncclGroupStart", NCCL_NVTX_GROUP_START},
	{"ncclGroupEnd", GPROF_NCCL_GROUP_END},
	{"ncclGroupSimulateEnd", NCCL_NVTX_GROUP_SIMULATE_END},
	{"ncclCommInitRank", GPROF_NCCL_INIT},
	{"ncclCommInitRankConfig", GPROF_NCCL_INIT},
	{"ncclCommInitRankScalable", GPROF_NCCL_INIT},
	{"ncclCommInitAll", GPROF_NCCL_INIT},
	{"ncclCommSplit", GPROF_NCCL_SPLIT},
	{"ncclCommShrink", GPROF_NCCL_SPLIT},
	{"ncclCommFinalize", GPROF_NCCL_FINALIZE},
	{"ncclCommDestroy", GPROF_NCCL_DESTROY},
	{"ncclCommAbort", GPROF_NCCL_ABORT},
	{"", 0},
};

const struct nccl_nvtx_field nccl_nvtx_fields[] = {
	{"NCCL communicator ID", NCCL_NVTX_COMM},
	{"Message size [bytes]", NCCL_NVTX_BYTES},
	{"Bytes", NCCL_NVTX_BYTES},
	{"Reduction operation", NCCL_NVTX_REDOP},
	{"Root", NCCL_NVTX_PEER},
	{"Peer rank", NCCL_NVTX_PEER},
	{"No. of ranks", NCCL_NVTX_NR_RANKS},
	{"No. of devices", NCCL_NVTX_NR_DEVICES},
	{"Rank", NCCL_NVTX_RANK},
	{"CUDA device", NCCL_NVTX_DEVICE},
	{"", 0},
};

static bool is_name(const char *name, const char *bytes, size_t nr_bytes)
{
	return strlen(name) == nr_bytes && memcmp(name, bytes, nr_bytes) == 0;
}

int nccl_nvtx_find_function(const char *name, size_t nr_bytes)
{
	for (int i = 0; *nccl_nvtx_functions[i].name; i++) {
		if (is_name(nccl_nvtx_functions[i].name, name, nr_bytes)) {
			return i;
		}
	}
	return -1;
}

int nccl_nvtx_find_fact(const char *name, size_t nr_bytes)
{
	for (int i = 0; *nccl_nvtx_fields[i].name; i++) {
		if (is_name(nccl_nvtx_fields[i].name, name, nr_bytes)) {
			return (int)nccl_nvtx_fields[i].fact;
		}
	}
	return -1;
}
