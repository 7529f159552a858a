/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the host carries out (host_comm.h) as operations beside NCCL's: of unknown
 * communicators and without numbers, which the framework does not tell, so none is matched with
 * those of other ranks. Their times are those of the calls, with the waiting in them.
 *
 * Memory: about 120 bytes a call.
 */
#ifndef REPORT_COMM_HOST_COLLECTIVE_OPS_H
#define REPORT_COMM_HOST_COLLECTIVE_OPS_H

#include "report/comm/host_collectives.h"
#include "report/comm/nccl_ops.h"

/* Batches of table op, of which HOST_COLLECTIVE_MASK is wanted, before the end of the process. */
void host_collective_ops_take(
	struct nccl_ops *ops, struct process *process, const struct batch *batch);

/* All of them, for a process that no scan reads. */
void host_collective_ops_read(struct nccl_ops *ops, struct process *process);

#endif
