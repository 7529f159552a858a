/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of NCCL, and of what works like it on hosts, of some processes: who asked for what
 * on which communicator, and when the kernels of it ran. Calls of a group on one communicator are
 * one operation, as NCCL makes one kernel of them. Kernels are joined to calls by the ids of the
 * launches on the calls' threads.
 *
 * Memory: about 100 bytes a call of NCCL, 40 more of a send or receive, and 16 for each launch
 * within one.
 */
#ifndef REPORT_COMM_NCCL_OPS_H
#define REPORT_COMM_NCCL_OPS_H

#include "report/stream/stream.h"
#include "report/comm/nccl_names.h"
#include "report/model/model.h"

/* ---- launches ---- */

/*
 * Which launches of CUDA are of which operation of NCCL: those that a thread made within a call of
 * it, by the correlation ids between its begin and its end. Ids are one row for all threads of a
 * process, so that of another thread may lie between them.
 *
 * Memory: 24 bytes a call that launched anything, and 8 for each launch within one.
 */

/* The place of an operation that cannot be told. */
#define NCCL_LAUNCH_NONE SIZE_MAX

/* Of what one thread launched in one call; thread 0: it is not known, but its one launch is. */
struct nccl_span {
	uint32_t thread, after, last; /* ids: behind the one, up to the other */
	size_t op;
};

struct nccl_launch {
	uint32_t correlation;
	uint32_t op;
};

/* Starts with all zeros. */
struct nccl_launches {
	struct nccl_span *spans;
	size_t nr_spans, spans_capacity;
	struct nccl_launch *items;
	size_t nr, capacity;
	size_t last_span, last; /* where the last look-ups ended */
};

void nccl_launches_fini(struct nccl_launches *launches);

/* op: the place of the operation. A span without a launch is none. */
void nccl_launches_add(struct nccl_launches *launches, const struct nccl_span *span);

/* All launches of the spans, once these are all there. */
void nccl_launches_read(struct nccl_launches *launches, struct stream *stream);

/* Then: the operation that a launch is of, NCCL_LAUNCH_NONE if it is of none. */
size_t nccl_launches_find(struct nccl_launches *launches, uint32_t correlation);

/* For the next process. */
void nccl_launches_clear(struct nccl_launches *launches);

/* ---- operations ---- */

struct nccl_op {
	uint64_t key;	   /* of the communicator; 0 unknown */
	uint64_t bytes;	   /* as nccl-tests counts them: of all ranks where a rank brings or gets a
			      part */
	uint64_t begin_ns; /* of its kernels, CLOCK_MONOTONIC; begin > end: not known */
	uint64_t end_ns;
	uint32_t sequence; /* of its first call; 0 unknown */
	uint32_t nr_calls;
	uint32_t nr_ranks; /* of the communicator; 0 unknown */
	int32_t rank;	   /* in the communicator; -1 unknown */
	int32_t peer;	   /* of its first call */
	uint32_t boot;	   /* whose clock it is, of model.h */
	uint32_t process;  /* counts the processes from 0 */
	uint32_t name;	   /* of the communicator, of names.h */
	uint32_t group;	   /* of the communicator's process group, of names.h; 0 unknown */
	uint32_t clock;	   /* of nccl_clock.h; set by nccl_match */
	uint32_t id;	   /* counts all from 0 */
	uint32_t step;	   /* that its first call began in: 1 + place in process.steps, 0 before the
			      first */
	uint32_t device;   /* of its kernels; UINT32_MAX unknown */
	uint8_t kind;
	uint8_t library; /* enum host_collective_library: of the host; else NCCL's */
	bool is_unsized; /* `bytes` is not known */
	/* Set by nccl_match, 0 before. */
	bool is_matched, is_last; /* the times of all ranks are known; this one came last */
	uint64_t wait_ns;	  /* of the kernels' time: until the last rank's had begun */
	uint64_t caused_ns;	  /* of the last rank: the sum of what the others waited */
	uint64_t transfer_ns;	  /* of the last rank: from its begin to the end of all */
	/* Of sends and receives, which wait for other sides, not for all ranks; `is_last` of none:
	 */
	uint32_t late_rank; /* 1 + that of the side that began last, if it was later; 0 none */
};

/* A send or a receive whose other side can be found. */
struct nccl_side {
	uint64_t key;
	uint64_t bytes;
	int32_t from, to;  /* ranks of the communicator */
	uint32_t sequence; /* of what goes from there to there, from 1 */
	uint32_t op;	   /* the id of its operation */
	bool is_receive;
};

/* Of the process at hand. */
struct nccl_calls;

struct nccl_ops {
	struct nccl_op *ops;
	size_t nr_ops, capacity;
	uint32_t nr_processes;
	struct nccl_side *sides;
	size_t nr_sides, sides_capacity;
	struct nccl_calls *calls;
};

#define NCCL_OPS_MASK COL_ALL(NR_COL_nccl)

/* Starts with all zeros. */
void nccl_ops_fini(struct nccl_ops *ops);

/* For each process: its batches of table nccl in file order, all columns; then its end. */
void nccl_ops_add_batch(struct nccl_ops *ops, const struct batch *batch);
void nccl_ops_end(struct nccl_ops *ops, struct process *process);

/* Both, for a process that no scan reads. */
void nccl_ops_read(struct nccl_ops *ops, struct process *process);

/* Is every call of it a send or a receive? */
static inline bool nccl_op_is_p2p(const struct nccl_op *op)
{
	return op->kind == GPROF_NCCL_SEND || op->kind == GPROF_NCCL_RECV ||
	       op->kind == NCCL_OPS_SEND_RECV;
}

static inline bool nccl_op_is_collective(const struct nccl_op *op)
{
	return op->kind < GPROF_NCCL_SEND || op->kind == NCCL_OPS_SEVERAL ||
	       op->kind == NCCL_OPS_BARRIER;
}

/* A collective that can be found on other ranks. */
static inline bool nccl_op_is_numbered(const struct nccl_op *op)
{
	return nccl_op_is_collective(op) && op->key && op->sequence;
}

/* Kinds of which a rank brings or gets one of as many parts as there are ranks. */
static inline bool nccl_op_kind_is_wide(uint8_t kind)
{
	return kind >= GPROF_NCCL_ALL_GATHER && kind <= GPROF_NCCL_SCATTER;
}

/* Is the whole known by what a rank gives? Of parts one must know of how many ranks they are. */
static inline bool nccl_op_kind_is_sized(uint8_t kind, uint32_t nr_ranks)
{
	return nr_ranks || (!nccl_op_kind_is_wide(kind) && kind != NCCL_OPS_SEVERAL);
}

/* Are `bytes` what nccl-tests counts? */
static inline bool nccl_op_is_sized(const struct nccl_op *op)
{
	return !op->is_unsized && op->kind && op->kind != NCCL_OPS_BARRIER &&
	       nccl_op_kind_is_sized(op->kind, op->nr_ranks);
}

static inline bool nccl_op_has_time(const struct nccl_op *op)
{
	return op->begin_ns <= op->end_ns;
}

/*
 * Bus bandwidth as a part of the algorithm's, by nccl-tests: what the slowest link of the best
 * algorithm must carry for each byte.
 */
double nccl_op_bus_factor(uint8_t kind, uint32_t nr_ranks);

#endif
