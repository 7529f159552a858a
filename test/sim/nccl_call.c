/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated NCCL's functions that ask for operations. */
#include <stdlib.h>
#include <time.h>

#include "test/sim/nccl_comm.h"
#include "test/sim/nccl_plugin.h"
#include "test/sim/nccl_range.h"

NCCL_GROUP_FUNCTIONS

/* SIM_NCCL_SLOW=rank:ms: that rank's thread comes late to every operation. */
static void be_slow(int rank)
{
	const char *text = getenv("SIM_NCCL_SLOW");
	char *end;

	if (text && strtol(text, &end, 10) == rank && *end == ':') {
		long ms = strtol(end + 1, NULL, 10);
		struct timespec t = {ms / 1000, ms % 1000 * 1000000};

		nanosleep(&t, NULL);
	}
}

static int submit(struct nccl_comm *comm, enum nccl_kind kind, const void *send, void *recv,
	size_t count, int type, int redop, int peer, void *stream)
{
	NCCL_RANGE(kind, .hash = nccl_comm_hash(comm), .bytes = count * nccl_type_bytes(type),
		.redop = redop, .peer = peer);
	struct nccl_op *op = comm ? calloc(1, sizeof(*op)) : NULL;

	if (!op || !nccl_type_bytes(type) || peer < 0 || peer >= comm->clique->nr_ranks) {
		free(op);
		return NCCL_INVALID_ARGUMENT;
	}
	be_slow(comm->rank);
	op->comm = comm;
	op->kind = kind;
	op->send = send;
	op->recv = recv;
	op->count = count;
	op->type = type;
	op->redop = redop;
	op->peer = peer;
	op->stream = nccl_core()->resolve(stream);
	if (!op->stream) {
		free(op);
		return NCCL_INVALID_ARGUMENT;
	}
	/* Those of 2.21 call what a program would call. */
	bool is_said = kind >= NCCL_SEND && nccl_range_is_old();

	is_said ? (void)pncclGroupStart() : nccl_group_start();
	nccl_group_add(op);
	nccl_plugin_called(op);
	return is_said ? pncclGroupEnd() : nccl_group_end();
}

int pncclAllReduce(const void *send, void *recv, size_t count, int type, int redop,
	struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_ALL_REDUCE, send, recv, count, type, redop, 0, stream);
}

int pncclReduce(const void *send, void *recv, size_t count, int type, int redop, int root,
	struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_REDUCE, send, recv, count, type, redop, root, stream);
}

int pncclBroadcast(const void *send, void *recv, size_t count, int type, int root,
	struct nccl_comm *comm, void *stream)
{
	const void *from = comm && comm->rank == root ? send : NULL;

	return submit(comm, NCCL_BROADCAST, from, recv, count, type, 0, root, stream);
}

int pncclBcast(void *buffer, size_t count, int type, int root, struct nccl_comm *comm, void *stream)
{
	return pncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int pncclAllGather(
	const void *send, void *recv, size_t count, int type, struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_ALL_GATHER, send, recv, count, type, 0, 0, stream);
}

int pncclReduceScatter(const void *send, void *recv, size_t count, int type, int redop,
	struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_REDUCE_SCATTER, send, recv, count, type, redop, 0, stream);
}

int pncclAlltoAll(
	const void *send, void *recv, size_t count, int type, struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_ALL_TO_ALL, send, recv, count, type, 0, 0, stream);
}

int pncclGather(const void *send, void *recv, size_t count, int type, int root,
	struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_GATHER, send, recv, count, type, 0, root, stream);
}

int pncclScatter(const void *send, void *recv, size_t count, int type, int root,
	struct nccl_comm *comm, void *stream)
{
	const void *from = comm && comm->rank == root ? send : NULL;

	return submit(comm, NCCL_SCATTER, from, recv, count, type, 0, root, stream);
}

int pncclSend(
	const void *send, size_t count, int type, int peer, struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_SEND, send, NULL, count, type, 0, peer, stream);
}

int pncclRecv(void *recv, size_t count, int type, int peer, struct nccl_comm *comm, void *stream)
{
	return submit(comm, NCCL_RECV, NULL, recv, count, type, 0, peer, stream);
}

int pncclGroupStart(void)
{
	NCCL_RANGE(NCCL_RANGE_GROUP_START, .hash = 0);

	nccl_group_start();
	return NCCL_OK;
}

int pncclGroupEnd(void)
{
	NCCL_RANGE(NCCL_RANGE_GROUP_END, .hash = 0);

	return nccl_group_end();
}

/* What it would take is not modelled. */
int pncclGroupSimulateEnd(void *info)
{
	NCCL_RANGE(NCCL_RANGE_GROUP_SIMULATE_END, .hash = 0);

	(void)info;
	return nccl_group_drop();
}
