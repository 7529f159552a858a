/* SPDX-License-Identifier: Apache-2.0 */
/* What NCCL's operations, calls and communicators are called. */
#ifndef REPORT_COMM_NCCL_NAMES_H
#define REPORT_COMM_NCCL_NAMES_H

#include "report/model/model.h"

/* Kinds of operations, beside enum gprof_nccl, of groups whose calls are of several kinds. */
enum {
	NCCL_OPS_SEND_RECV = 100, /* sends and receives alone */
	NCCL_OPS_SEVERAL = 101,
	NCCL_OPS_BARRIER = 102, /* of libraries that have one */
};

/* Of an operation, as nccl_ops.h has its kind: "AllReduce" and so on, static. */
const char *nccl_names_op(uint8_t kind);

/* Of a call, any of enum gprof_nccl: "ncclAllReduce" and so on, of names.h. */
uint32_t nccl_names_call(uint8_t kind);

/*
 * What a framework's name for an operation means ("_allgather_base", "all_gather"), 0 if it is none
 * that is known.
 */
uint8_t nccl_names_kind(const char *name, size_t nr_bytes);

/*
 * A communicator of a process, 0 one that nobody knows: "00c0ffee00c0ffee, rank 0 of 2", "group 2,
 * mesh_dp, rank 0 of 2" where a fact nccl.group.ID has PyTorch's name of it, or "(unknown)". Of
 * names.h.
 */
uint32_t nccl_names_comm(struct process *process, uint32_t comm);

/* PyTorch's name of it alone, 0 where it is not known. */
uint32_t nccl_names_group(struct process *process, uint32_t comm);

#endif
