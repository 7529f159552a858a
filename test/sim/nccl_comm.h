/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exported functions of the simulated NCCL. As in the real one, pncclX is the function and
 * ncclX a weak name for it, so that a preloaded ncclX may call pncclX.
 */
#ifndef GPROF_SIM_NCCL_COMM_H
#define GPROF_SIM_NCCL_COMM_H

#include "test/sim/nccl.h"

struct sim_core *nccl_core(void);

/* The group that this thread is in: also each operation by itself is one. */
void nccl_group_start(void);
int nccl_group_end(void);
bool nccl_group_is_open(void);
void nccl_group_add(struct nccl_op *op);

/* Ends it; what is in it does not run. */
int nccl_group_drop(void);

/* NCCL's own name of a communicator, the same on all ranks; 0 for none. */
uint64_t nccl_comm_hash(const struct nccl_comm *comm);

/* Meets the other processes for the communicators that this thread's group has begun. */
int nccl_comms_join(void);

#define NCCL_FUNCTION(ret, name, params) \
	SIM_EXPORT ret p##name params;   \
	SIM_EXPORT ret name params __attribute__((weak, alias("p" #name)));

#define NCCL_GROUP_FUNCTIONS                                                                   \
	NCCL_FUNCTION(int, ncclGroupStart, (void))                                             \
	NCCL_FUNCTION(int, ncclGroupEnd, (void))                                               \
	NCCL_FUNCTION(int, ncclGroupSimulateEnd, (void *info))                                 \
	NCCL_FUNCTION(int, ncclAllReduce,                                                      \
		(const void *send, void *recv, size_t count, int type, int redop,              \
			struct nccl_comm *comm, void *stream))                                 \
	NCCL_FUNCTION(int, ncclReduce,                                                         \
		(const void *send, void *recv, size_t count, int type, int redop, int root,    \
			struct nccl_comm *comm, void *stream))                                 \
	NCCL_FUNCTION(int, ncclBroadcast,                                                      \
		(const void *send, void *recv, size_t count, int type, int root,               \
			struct nccl_comm *comm, void *stream))                                 \
	NCCL_FUNCTION(int, ncclBcast,                                                          \
		(void *buffer, size_t count, int type, int root, struct nccl_comm *comm,       \
			void *stream))                                                         \
	NCCL_FUNCTION(int, ncclAllGather,                                                      \
		(const void *send, void *recv, size_t count, int type, struct nccl_comm *comm, \
			void *stream))                                                         \
	NCCL_FUNCTION(int, ncclReduceScatter,                                                  \
		(const void *send, void *recv, size_t count, int type, int redop,              \
			struct nccl_comm *comm, void *stream))                                 \
	NCCL_FUNCTION(int, ncclAlltoAll,                                                       \
		(const void *send, void *recv, size_t count, int type, struct nccl_comm *comm, \
			void *stream))                                                         \
	NCCL_FUNCTION(int, ncclGather,                                                         \
		(const void *send, void *recv, size_t count, int type, int root,               \
			struct nccl_comm *comm, void *stream))                                 \
	NCCL_FUNCTION(int, ncclScatter,                                                        \
		(const void *send, void *recv, size_t count, int type, int root,               \
			struct nccl_comm *comm, void *stream))                                 \
	NCCL_FUNCTION(int, ncclSend,                                                           \
		(const void *send, size_t count, int type, int peer, struct nccl_comm *comm,   \
			void *stream))                                                         \
	NCCL_FUNCTION(int, ncclRecv,                                                           \
		(void *recv, size_t count, int type, int peer, struct nccl_comm *comm,         \
			void *stream))

#define NCCL_COMM_FUNCTIONS                                                                    \
	NCCL_FUNCTION(int, ncclGetVersion, (int *version))                                     \
	NCCL_FUNCTION(int, ncclGetUniqueId, (struct nccl_id * id))                             \
	NCCL_FUNCTION(int, ncclCommInitRank,                                                   \
		(struct nccl_comm * *comm, int nr_ranks, struct nccl_id id, int rank))         \
	NCCL_FUNCTION(int, ncclCommInitRankConfig,                                             \
		(struct nccl_comm * *comm, int nr_ranks, struct nccl_id id, int rank,          \
			void *config))                                                         \
	NCCL_FUNCTION(                                                                         \
		int, ncclCommInitAll, (struct nccl_comm * *comms, int nr, const int *devices)) \
	NCCL_FUNCTION(int, ncclCommSplit,                                                      \
		(struct nccl_comm * comm, int color, int key, struct nccl_comm **out,          \
			void *config))                                                         \
	NCCL_FUNCTION(int, ncclCommFinalize, (struct nccl_comm * comm))                        \
	NCCL_FUNCTION(int, ncclCommDestroy, (struct nccl_comm * comm))                         \
	NCCL_FUNCTION(int, ncclCommAbort, (struct nccl_comm * comm))                           \
	NCCL_FUNCTION(int, ncclCommCount, (const struct nccl_comm *comm, int *count))          \
	NCCL_FUNCTION(int, ncclCommUserRank, (const struct nccl_comm *comm, int *rank))        \
	NCCL_FUNCTION(int, ncclCommCuDevice, (const struct nccl_comm *comm, int *device))      \
	NCCL_FUNCTION(int, ncclCommGetAsyncError, (struct nccl_comm * comm, int *code))        \
	NCCL_FUNCTION(int, ncclMemAlloc, (void **p, size_t bytes))                             \
	NCCL_FUNCTION(int, ncclMemFree, (void *p))                                             \
	NCCL_FUNCTION(const char *, ncclGetErrorString, (int code))                            \
	NCCL_FUNCTION(const char *, ncclGetLastError, (struct nccl_comm * comm))

#endif
