/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of NCCL's operations, calls and communicators for tables and the timeline, and the way
 * back: from a framework's name of an operation to its kind. A communicator's name is built at the
 * first question and kept in the process.
 */
#include "report/comm/nccl_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report/util/buf.h"
#include "report/util/string_pool.h"

#define NAME_BYTES 40u

const char *nccl_names_op(uint8_t kind)
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
		[NCCL_OPS_BARRIER] = "Barrier",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "unknown";
}

/* Removes underscores: "allgatherbase", "allgather". */
static void clean(const char *name, size_t nr_bytes, char *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_bytes && nr + 1 < NAME_BYTES; i++) {
		if (name[i] != '_') {
			out[nr++] = name[i];
		}
	}
	out[nr] = '\0';
}

/* The order of the prefixes matters: "reducescatter" comes before "reduce". */
uint8_t nccl_names_kind(const char *name, size_t nr_bytes)
{
	/* Compared by prefix: "base", "oop", "coalesced" and others may follow. */
	static const struct {
		const char *begin;
		uint8_t kind;
	} kinds[] = {
		{"allreduce", GPROF_NCCL_ALL_REDUCE},
		{"sparseallreduce", GPROF_NCCL_ALL_REDUCE},
		{"barrier", GPROF_NCCL_ALL_REDUCE},
		{"allgather", GPROF_NCCL_ALL_GATHER},
		{"reducescatter", GPROF_NCCL_REDUCE_SCATTER},
		{"alltoall", GPROF_NCCL_ALL_TO_ALL},
		{"broadcast", GPROF_NCCL_BROADCAST},
		{"reduce", GPROF_NCCL_REDUCE},
		{"gather", GPROF_NCCL_GATHER},
		{"scatter", GPROF_NCCL_SCATTER},
		{"send", GPROF_NCCL_SEND},
		{"recv", GPROF_NCCL_RECV},
	};
	char cleaned[NAME_BYTES];

	clean(name, nr_bytes, cleaned);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strncasecmp(cleaned, kinds[i].begin, strlen(kinds[i].begin))) {
			return kinds[i].kind;
		}
	}
	return 0;
}

/* An operation made of several functions has the name of their common prefix. */
uint32_t nccl_names_call(uint8_t kind)
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

	return string_pool_intern(name, strlen(name));
}

/*
 * Prefers PyTorch's name of the group, then that which NCCL has; else uses the key, which is the
 * same on all ranks.
 */
static void make_comm(const struct process *process, uint32_t id, struct model_nccl_comm *comm)
{
	struct buf name = {0};
	char fact[24];
	const char *group;

	snprintf(fact, sizeof(fact), "nccl.group.%" PRIu32, id);
	group = process_fact(process, fact, NULL);
	if (!group && comm->text) {
		group = string_pool_text(process_string(process, comm->text), NULL);
	}
	if (group) {
		comm->group = string_pool_intern(group, strlen(group));
		buf_printf(&name, "group %s", group);
	} else {
		buf_printf(&name, "%016" PRIx64, comm->key);
	}
	if (comm->rank >= 0 && comm->nr_ranks) {
		buf_printf(&name, ", rank %" PRId32 " of %" PRIu32, comm->rank, comm->nr_ranks);
	}
	comm->name = string_pool_intern(name.bytes, name.nr_bytes);
	buf_fini(&name);
}

uint32_t nccl_names_comm(struct process *process, uint32_t id)
{
	static const char unknown[] = "(unknown)";
	struct model_nccl_comm *comm = idmap_get(&process->nccl_comms, id);

	if (!comm || !comm->key) {
		return string_pool_intern(unknown, sizeof(unknown) - 1);
	}
	if (!comm->name) {
		make_comm(process, id, comm);
	}
	return comm->name;
}

uint32_t nccl_names_group(struct process *process, uint32_t id)
{
	const struct model_nccl_comm *comm = idmap_get(&process->nccl_comms, id);

	nccl_names_comm(process, id);
	return comm ? comm->group : 0;
}

const char *nccl_names_short(struct process *process, uint32_t id, char text[NCCL_NAMES_ID_BYTES])
{
	const struct model_nccl_comm *comm = idmap_get(&process->nccl_comms, id);
	uint32_t group = nccl_names_group(process, id);

	if (group || !comm || !comm->key) {
		return group ? string_pool_text(group, NULL) : NULL;
	}
	snprintf(text, NCCL_NAMES_ID_BYTES, "%016" PRIx64, comm->key);
	return text;
}
