/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated NCCL share. A clique is one communicator seen as a whole. Where
 * all its ranks live in this process, an operation waits until every rank has asked for it, and the
 * first of the kernels moves everybody's data. Where they live in several processes, each rank's
 * kernel meets the others through shared memory.
 */
#ifndef GPROF_SIM_NCCL_H
#define GPROF_SIM_NCCL_H

#include <pthread.h>

#include "test/sim/sim.h"

enum nccl_code {
	NCCL_OK = 0,
	NCCL_UNHANDLED_CUDA = 1,
	NCCL_SYSTEM = 2,
	NCCL_INTERNAL = 3,
	NCCL_INVALID_ARGUMENT = 4,
	NCCL_INVALID_USAGE = 5,
};

enum nccl_kind {
	NCCL_ALL_REDUCE,
	NCCL_REDUCE,
	NCCL_BROADCAST,
	NCCL_ALL_GATHER,
	NCCL_REDUCE_SCATTER,
	NCCL_ALL_TO_ALL,
	NCCL_GATHER,
	NCCL_SCATTER,
	NCCL_SEND,
	NCCL_RECV,
	NCCL_KINDS,
};

enum { NCCL_MAX_RANKS = 64, NCCL_ID_BYTES = 128 };

struct nccl_id {
	char bytes[NCCL_ID_BYTES];
};

struct nccl_comm {
	struct nccl_clique *clique;
	int rank;
	int device;
	void *profiler; /* of nccl_plugin.h */
	uint64_t sequences[NCCL_KINDS];
};

/* One rank's part of an operation. */
struct nccl_op {
	struct nccl_op *next;
	struct nccl_comm *comm;
	enum nccl_kind kind;
	const void *send;
	void *recv;
	size_t count;
	int type;  /* ncclDataType_t */
	int redop; /* ncclRedOp_t */
	int peer;  /* root, or the other side */
	struct sim_stream *stream;
	bool is_launched;	/* under the clique's lock */
	void *called, *started; /* of nccl_plugin.h */
};

/* The parts that go together; freed by the last kernel. */
struct nccl_batch {
	pthread_mutex_t lock;
	int nr_parts, nr_kernels, nr_done;
	bool is_moved;
	bool is_captured;
	struct nccl_batch *next; /* of the captured ones */
	struct nccl_op parts[];
};

struct nccl_clique {
	struct nccl_clique *next;
	struct nccl_id id;
	int nr_ranks;
	int nr_here;	/* ranks in this process */
	bool is_shared; /* ranks in other processes too */
	struct nccl_shared *shared;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct nccl_op *waiting[NCCL_MAX_RANKS]; /* per rank, oldest first */
};

/* The same for the same ids alone, as good as always. */
uint64_t nccl_id_hash(const struct nccl_id *id);

/* Bytes of an element, 0 for a type that is not simulated. */
size_t nccl_type_bytes(int type);

/* Moves the data of all parts; every rank's part is there, in order of ranks (or send, receive). */
int nccl_move(struct nccl_op *parts, int nr_ranks);

/* Meets the other ranks of a shared clique, process by process. */
int nccl_join(struct nccl_clique *clique, int nr_joining);
void nccl_leave(struct nccl_clique *clique);
int nccl_move_shared(struct nccl_op *op);

/* Sends and receives of one rank at once, at most one from here to each rank, and one back. */
int nccl_pass_shared(const struct nccl_op *ops, int nr);

#endif
