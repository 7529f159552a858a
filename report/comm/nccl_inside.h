/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How NCCL ran operations, as its profiler plugin saw it: algorithm, protocol and channels (table
 * nccl_op), and what the network transfers of the channels waited for (table nccl_channel). Rows
 * belong to the operation of the call that they name, and channels to rows by number.
 */
#ifndef REPORT_COMM_NCCL_INSIDE_H
#define REPORT_COMM_NCCL_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/comm/measured_waits.h"
#include "report/model/model.h"
#include "report/util/idmap.h"

/* Where rows differ: not a number of enum gprof_nccl_algorithm, nor of the protocols. */
#define NCCL_INSIDE_SEVERAL 254u

/* Sums over the steps of transfers, which overlap. */
struct nccl_waits {
	uint64_t own_gpu_ns; /* until this GPU had made, or taken, the data */
	uint64_t peer_ns;    /* until the other side could receive */
	uint64_t network_ns; /* until the network had them sent, or flushed */
	uint64_t data_ns;    /* until the other side's data were here */
	uint64_t steps, bytes;
};

struct nccl_inside {
	uint64_t nr; /* rows of nccl_op; 0: nothing is known */
	uint8_t algorithm, protocol;
	uint8_t channels; /* the most; 0: unknown */
	struct nccl_waits waits;
};

/* Sums and names of both. */
void nccl_inside_add(struct nccl_inside *sum, const struct nccl_inside *one);
void nccl_waits_add(struct nccl_waits *sum, const struct nccl_waits *one);

static inline uint64_t nccl_waits_ns(const struct nccl_waits *waits)
{
	return waits->own_gpu_ns + waits->peer_ns + waits->network_ns + waits->data_ns;
}

/* Returns the largest of the waits: "own GPU", "peer", "data" or "network". */
const char *nccl_waits_most(const struct nccl_waits *waits);

/* "ring", "LL128" and so on; NULL: unknown. */
const char *nccl_inside_algorithm(const struct nccl_inside *inside);
const char *nccl_inside_protocol(const struct nccl_inside *inside);

/* A call of an operation: its first tick and its communicator, and where to add what is known. */
struct nccl_inside_call {
	uint64_t begin;
	uint32_t comm;
	uint32_t op; /* index */
};

/*
 * Reads both tables of a process. calls: in any order, and sorted by this. Calls add(context, op,
 * inside) for each row. transfers: gets those of the operations; may be NULL.
 */
void nccl_inside_read(struct process *process, struct nccl_inside_call *calls, size_t nr_calls,
	struct measured_transfers *transfers,
	void (*add)(void *context, uint32_t op, const struct nccl_inside *inside), void *context);

#endif
