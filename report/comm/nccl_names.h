/* SPDX-License-Identifier: Apache-2.0 */
/* Names of NCCL's operations, calls and communicators. */
#ifndef REPORT_COMM_NCCL_NAMES_H
#define REPORT_COMM_NCCL_NAMES_H

#include "report/model/model.h"

/* Kinds of operations besides enum gprof_nccl: groups of different calls. */
enum {
	NCCL_OPS_SEND_RECV = 100, /* only sends and receives */
	NCCL_OPS_SEVERAL = 101,
	NCCL_OPS_BARRIER = 102, /* of libraries that have one */
};

/* The name of an operation of a kind of nccl_ops.h, static: "AllReduce" and so on. */
const char *nccl_names_op(uint8_t kind);

/* The name of a call of enum gprof_nccl, of string_pool.h: "ncclAllReduce" and so on. */
uint32_t nccl_names_call(uint8_t kind);

/*
 * The kind for a framework's name of an operation ("_allgather_base", "all_gather"), 0 if unknown.
 */
uint8_t nccl_names_kind(const char *name, size_t nr_bytes);

/*
 * The name of a process's communicator, of string_pool.h: "00c0ffee00c0ffee, rank 0 of 2", or
 * "group 2, mesh_dp, rank 0 of 2" if fact nccl.group.ID has PyTorch's name or NCCL has one. comm 0,
 * or one without a row, is "(unknown)".
 */
uint32_t nccl_names_comm(struct process *process, uint32_t comm);

/* PyTorch's name of it alone, or NCCL's; 0 if unknown. */
uint32_t nccl_names_group(struct process *process, uint32_t comm);

/* The same, or its ID, for which id has room; NULL if both are unknown. */
#define NCCL_NAMES_ID_BYTES 17
const char *nccl_names_short(struct process *process, uint32_t comm, char id[NCCL_NAMES_ID_BYTES]);

#endif
