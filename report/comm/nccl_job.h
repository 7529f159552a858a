/* SPDX-License-Identifier: Apache-2.0 */
/* The communication of all processes of a job: its operations, matched, and what they add up to. */
#ifndef REPORT_COMM_NCCL_JOB_H
#define REPORT_COMM_NCCL_JOB_H

#include "report/comm/nccl_match.h"

/* The sums of some operations. Zero-initialized. */
struct nccl_sums {
	uint64_t nr_calls, bytes;
	bool is_unsized;		/* the sizes of some calls are unknown */
	bool lacks_speed;		/* `bytes` are not what nccl-tests divides by the time */
	uint64_t nr_in_graphs;		/* calls that launches of CUDA graphs ran */
	uint64_t nr_timed;		/* calls whose kernels are known */
	uint64_t timed_ns, timed_bytes; /* of these */
	uint64_t nr_with_wait;		/* calls of operations whose waits are known */
	uint64_t known_ns, wait_ns;	/* of their kernels: waits and transfers */
	uint64_t nr_matched;		/* collectives counted once, not by ranks */
	uint64_t transfer_ns, transfer_bytes;
};

void nccl_sums_add(struct nccl_sums *sums, const struct nccl_op *op);

struct nccl_job {
	struct nccl_ops ops;
	struct nccl_match match;
	struct process *const *processes; /* as nccl_op.process counts them */
};

/* Reads the selected operations of the processes, also those of hosts, and matches them. */
void nccl_job_read(struct nccl_job *job, struct process *const *processes, size_t nr_processes);
void nccl_job_fini(struct nccl_job *job);

#endif
