/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of PyTorch's process groups that the host carries out itself: gloo's, MPI's and UCC's. The
 * framework marks each with a range of its own ("gloo:all_reduce"), on whichever thread, from when
 * it is begun until it is done, waiting for other ranks included. Its name says nothing of the
 * group. NCCL's are none of them ("nccl:..."): what they do are kernels, and rows of table nccl.
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
	uint64_t bytes;	     /* of the tensors that the rank gives to it */
	bool has_bytes;	     /* else shapes were not recorded, or tell no size */
	uint8_t library;     /* enum host_collective_library; NONE: an operator that computes */
	uint8_t kind;	     /* as nccl_ops.h has it; 0 unknown */
};

/* What must be wanted of table op. */
#define HOST_COLLECTIVE_MASK                                                                  \
	(COL_BIT(COL_op_begin) | COL_BIT(COL_op_dur) | COL_BIT(COL_op_op_name) |              \
		COL_BIT(COL_op_name) | COL_BIT(COL_op_op_shape) | COL_BIT(COL_op_framework) | \
		COL_BIT(COL_op_scope))

/* For scan_view.needs: false for table op of a process without such calls, true for all others. */
bool host_collective_needs(void *context, struct process *process, unsigned int table);

/* Has the process any such call? */
bool host_collective_is_in(const struct process *process);

/*
 * Hands out the calls among the rows of a batch of table op; with `has_operators` the operators
 * that compute, too. These are PyTorch's: no ranges, loaders, nor what only begins communication or
 * waits for it (c10d::, _c10d_functional::) or for what lies in it (autograd::engine::).
 */
void host_collective_scan(const struct process *process, const struct batch *batch,
	bool has_operators, void (*on_call)(void *context, const struct host_collective *comm),
	void *context);

/* What a name says; HOST_COLLECTIVE_NONE for all others. */
enum host_collective_library host_collective_library_of(uint32_t name);

/* "gloo", "MPI", "UCC". */
extern const char *const host_collective_names[];

/* ---- operations beside NCCL's ---- */

/*
 * Calls that the host carries out (host_comm.h) as operations beside NCCL's: of unknown
 * communicators and without numbers, which the framework does not tell, so none is matched with
 * those of other ranks. Their times are those of the calls, with the waiting in them.
 *
 * Memory: about 120 bytes a call.
 */

/* Batches of table op, of which HOST_COLLECTIVE_MASK is wanted, before the end of the process. */
void host_collective_add_batch(
	struct nccl_ops *ops, struct process *process, const struct batch *batch);

/* All of them, for a process that no scan reads. */
void host_collective_read(struct nccl_ops *ops, struct process *process);

#endif
