/* SPDX-License-Identifier: Apache-2.0 */
#include "report/nccl_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/buf.h"
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

/* PyTorch's name of the group is for people; where there is none, the key is the same on all ranks.
 */
static uint32_t make_comm(
	const struct process *process, uint32_t id, const struct model_nccl_comm *comm)
{
	struct buf name = {0};
	char fact[24];
	const char *group;
	uint32_t interned;

	snprintf(fact, sizeof(fact), "nccl.group.%" PRIu32, id);
	group = process_fact(process, fact, NULL);
	if (group) {
		buf_printf(&name, "group %s", group);
	} else {
		buf_printf(&name, "%016" PRIx64, comm->key);
	}
	if (comm->rank >= 0 && comm->nr_ranks) {
		buf_printf(&name, ", rank %" PRId32 " of %" PRIu32, comm->rank, comm->nr_ranks);
	}
	interned = names_intern(name.bytes, name.nr_bytes);
	buf_fini(&name);
	return interned;
}

uint32_t nccl_name_comm(struct process *process, uint32_t id)
{
	static const char unknown[] = "(unknown)";
	struct model_nccl_comm *comm = idmap_get(&process->nccl_comms, id);

	if (!comm || !comm->key) {
		return names_intern(unknown, sizeof(unknown) - 1);
	}
	if (!comm->name) {
		comm->name = make_comm(process, id, comm);
	}
	return comm->name;
}
