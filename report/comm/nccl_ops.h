/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of NCCL and of host collectives of some processes: who called what on which
 * communicator, and when its kernels ran.
 *
 * The calls of a group on one communicator are one operation, since NCCL launches one kernel for
 * them. Kernels belong to calls by the correlation IDs of launches on their threads.
 *
 * Memory: about 230 bytes a call of NCCL, 40 more for a send or receive, and 16 for each launch
 * within one; with has_measured 72 bytes for each transfer of the current process.
 */
#ifndef REPORT_COMM_NCCL_OPS_H
#define REPORT_COMM_NCCL_OPS_H

#include "report/stream/stream.h"
#include "report/comm/nccl_inside.h"
#include "report/comm/nccl_names.h"
#include "report/model/model.h"

/* ---- launches ---- */

/*
 * Finds the operation of a CUDA launch: a thread launched it within a call of NCCL, so its
 * correlation ID lies between those at the start and the end of the call. All threads of a process
 * share the IDs, so launches of other threads may lie between them.
 *
 * Memory: 32 bytes per call that launched anything, and 16 per launch within a call.
 */

/* An unknown operation. */
#define NCCL_LAUNCH_NONE SIZE_MAX

/*
 * The launches of one thread in one call. thread 0: the thread is unknown, but there is one
 * launch.
 */
struct nccl_span {
	uint32_t thread;
	uint64_t after, last; /* correlation IDs: after < id <= last */
	size_t op;
};

struct nccl_launch {
	uint64_t correlation;
	uint32_t op;
};

/* Zero-initialized. */
struct nccl_launches {
	struct nccl_span *spans;
	size_t nr_spans, spans_capacity;
	struct nccl_launch *items;
	size_t nr, capacity;
	size_t last_span, last; /* where the last look-ups ended */
};

void nccl_launches_fini(struct nccl_launches *launches);

/* op: the index of the operation. Ignores a span without a launch. */
void nccl_launches_add(struct nccl_launches *launches, const struct nccl_span *span);

/* Reads all launches of the spans. Add all spans first. */
void nccl_launches_read(struct nccl_launches *launches, struct stream *stream);

/* Then: the operation of a launch, NCCL_LAUNCH_NONE if it belongs to none. */
size_t nccl_launches_find(struct nccl_launches *launches, uint64_t correlation);

/* Empties it for the next process. */
void nccl_launches_clear(struct nccl_launches *launches);

/* ---- operations ---- */

struct nccl_op {
	uint64_t key;	   /* of the communicator; 0: unknown */
	uint64_t bytes;	   /* as in nccl-tests: of all ranks if each contributes a part */
	uint64_t begin_ns; /* of its kernels, CLOCK_MONOTONIC; begin > end: unknown */
	uint64_t end_ns;
	uint32_t sequence; /* of its first call; 0: unknown */
	uint32_t nr_calls;
	uint32_t nr_ranks;    /* of the communicator; 0: unknown */
	int32_t rank;	      /* in the communicator; -1: unknown */
	int32_t peer;	      /* of its first call */
	uint32_t boot;	      /* its clock, see process_clock */
	uint32_t process;     /* index of the process */
	uint32_t name;	      /* of the communicator, of string_pool.h */
	uint32_t group;	      /* of the process group, of string_pool.h; 0: unknown */
	uint32_t clock;	      /* index in nccl_clocks; set by nccl_match */
	uint32_t id;	      /* numbers all operations from 0 */
	uint32_t step;	      /* of its first call: 1 + index in process.steps, 0: before */
	uint32_t device;      /* of its kernels; UINT32_MAX: unknown */
	uint64_t correlation; /* of its kernel; 0: there is none, or several */
	uint8_t kind;
	uint8_t library;  /* enum host_collective_library; 0: NCCL */
	bool is_unsized;  /* `bytes` is unknown */
	bool is_captured; /* into a CUDA graph: the call ran nothing */
	bool is_in_graph; /* a launch of a graph ran it, see nccl_graph.h; without a number */
	struct nccl_inside inside;
	struct measured_op measured; /* with nccl_ops.has_measured */
	/* Set by nccl_match, 0 before. */
	bool is_matched, is_last; /* times of all ranks are known; this one came last */
	uint64_t wait_ns;	  /* of its kernels' time: before the last rank began */
	uint64_t caused_ns;	  /* of the last rank: the sum of the others' waits */
	uint64_t transfer_ns;	  /* of the last rank: from its begin to the end of all */
	/*
	 * Sends and receives wait for their other sides, not for all ranks, and have no `is_last`:
	 */
	uint32_t late_rank; /* 1 + rank of the side that began last, if later; 0: none */
};

/* A send or receive whose other side can be found. */
struct nccl_side {
	uint64_t key;
	uint64_t bytes;
	int32_t from, to;  /* ranks of the communicator */
	uint32_t sequence; /* number of the transfer between the two, from 1 */
	uint32_t op;	   /* the id of its operation */
	bool is_receive;
};

/* The calls of the current process. */
struct nccl_calls;

struct nccl_ops {
	struct nccl_op *ops;
	size_t nr_ops, capacity;
	uint32_t nr_processes;
	struct nccl_side *sides;
	size_t nr_sides, sides_capacity;
	struct nccl_calls *calls;
	bool has_measured; /* what one rank measured of its waits is wanted */
	struct measured_waits measured;
};

#define NCCL_OPS_MASK COL_ALL(NR_COL_nccl)

/* Zero-initialized. */
void nccl_ops_fini(struct nccl_ops *ops);

/* For each process: its batches of table nccl in file order, with all columns; then its end. */
void nccl_ops_add_batch(struct nccl_ops *ops, const struct batch *batch);
void nccl_ops_end(struct nccl_ops *ops, struct process *process);

/* Removes calls that were captured: they ran nothing. Their places move, so match before. */
void nccl_ops_drop_captured(struct nccl_ops *ops);

/* Does both for a process that no scan reads. */
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

/* Is it a collective that can be found on other ranks? */
static inline bool nccl_op_is_numbered(const struct nccl_op *op)
{
	return nccl_op_is_collective(op) && op->key && op->sequence;
}

/* Does a rank contribute or receive one of as many parts as there are ranks? */
static inline bool nccl_op_kind_is_wide(uint8_t kind)
{
	return kind >= GPROF_NCCL_ALL_GATHER && kind <= GPROF_NCCL_SCATTER;
}

/* Does a rank's size give the total? For kinds of parts the number of ranks must be known. */
static inline bool nccl_op_kind_is_sized(uint8_t kind, uint32_t nr_ranks)
{
	return nr_ranks || (!nccl_op_kind_is_wide(kind) && kind != NCCL_OPS_SEVERAL);
}

/* Is `bytes` what nccl-tests counts? */
static inline bool nccl_op_is_sized(const struct nccl_op *op)
{
	return !op->is_unsized && op->kind && op->kind != NCCL_OPS_BARRIER &&
	       nccl_op_kind_is_sized(op->kind, op->nr_ranks);
}

/* Is all that is known of its waits what this rank measured? Call it after nccl_match. */
static inline bool nccl_op_is_measured(const struct nccl_op *op)
{
	return !op->is_matched && op->measured.known_ns;
}

/* How long its kernel waited for other ranks; 0 as well if that is unknown. */
static inline uint64_t nccl_op_wait_ns(const struct nccl_op *op)
{
	return nccl_op_is_measured(op) ? op->measured.wait_ns : op->wait_ns;
}

/* Counts operations of which nccl_op_is_measured. */
uint64_t nccl_ops_measured(const struct nccl_ops *ops);

static inline bool nccl_op_has_time(const struct nccl_op *op)
{
	return op->begin_ns <= op->end_ns;
}

/*
 * Bus bandwidth / algorithm bandwidth, as in nccl-tests: the bytes that the slowest link of the
 * best algorithm carries for each byte.
 */
double nccl_op_bus_factor(uint8_t kind, uint32_t nr_ranks);

/*
 * Rows of operations by communicator have its name, and as their kind that of the operation with
 * the number of ranks, 0 unknown.
 */
#define NCCL_ROW_KIND(op, nr_ranks) ((uint32_t)(op) | (uint32_t)(nr_ranks) << 8)
#define NCCL_ROW_RANKS(kind)	    ((kind) >> 8)
#define NCCL_ROW_MAX_RANKS	    ((1u << 24) - 1)

#endif
