/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of PyTorch's process groups that run on the host: those of gloo, MPI and UCC.
 *
 * The framework marks each with a range ("gloo:all_reduce") on any thread, from its begin to its
 * end, including the wait for other ranks. The name does not contain the group. NCCL's ranges
 * ("nccl:...") are not among them: NCCL runs kernels, which table nccl has.
 */
#ifndef REPORT_COMM_HOST_COLLECTIVES_H
#define REPORT_COMM_HOST_COLLECTIVES_H

#include "report/model/scan.h"
#include "report/comm/nccl_ops.h"

enum host_collective_library {
	HOST_COLLECTIVE_NONE,
	HOST_COLLECTIVE_GLOO,
	HOST_COLLECTIVE_MPI,
	HOST_COLLECTIVE_UCC,
};

struct host_collective {
	uint64_t begin, end; /* ticks */
	uint64_t bytes;	     /* of the rank's input tensors */
	bool has_bytes;	     /* else shapes were not recorded, or give no size */
	uint8_t library;     /* enum host_collective_library; NONE: a computing operator */
	uint8_t kind;	     /* as in nccl_ops.h; 0: unknown */
};

/* The columns of table op that this needs. */
#define HOST_COLLECTIVE_MASK COLS(op, begin, dur, op_name, name, op_shape, framework, scope)

/* For scan_view.needs: false for table op of a process without such calls, else true. */
bool host_collective_needs(void *context, struct process *process, unsigned int table);

/* Does the process have any such call? */
bool host_collective_is_in(const struct process *process);

/*
 * Calls on_call for the collectives in a batch of table op; with `has_operators` for computing
 * operators, too. These are PyTorch's operators without ranges, loaders, and those that only start
 * or await communication (c10d::, _c10d_functional::) or enclose others (autograd::engine::).
 */
void host_collective_scan(const struct process *process, const struct batch *batch,
	bool has_operators, void (*on_call)(void *context, const struct host_collective *comm),
	void *context);

/* The library of an operator name, HOST_COLLECTIVE_NONE for all others. */
enum host_collective_library host_collective_library_of(uint32_t name);

/* "gloo", "MPI", "UCC". */
extern const char *const host_collective_names[];

/* ---- operations beside NCCL's ---- */

/*
 * Adds host collectives to the operations of NCCL. Communicator and number are unknown, so they
 * match no operation of other ranks. Their times are those of the calls and include the wait.
 *
 * Memory: about 120 bytes a call.
 */

/*
 * Adds a batch of table op with the columns of HOST_COLLECTIVE_MASK, before the end of the process.
 */
void host_collective_add_batch(
	struct nccl_ops *ops, struct process *process, const struct batch *batch);

/* Adds all of a process that no scan reads. */
void host_collective_read(struct nccl_ops *ops, struct process *process);

/*
 * Matches the collectives among operations that are all of the host: the n-th of a library, kind
 * and size is the same one on each process that has any. Since the process group is unknown, that
 * counts only where the processes share a clock and none ends before all have begun. Sorts them,
 * and sets sequence, nr_ranks, the results of nccl_match, and as `key` 1 + the index of the first
 * of a collective. Returns how many collectives match.
 */
uint64_t host_collective_match(struct nccl_ops *ops);

#endif
