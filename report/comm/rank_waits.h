/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds how long the kernels and calls of a process that communicate wait for a rank that comes
 * later: those of collectives whose ranks are all recorded, and of sends and receives with their
 * other sides. The time budget and the replay use it; the waits are those of nccl_match.h and
 * host_collectives.h, as the views of communication have them. Where other ranks are missing, there
 * are the waits that NCCL's profiler plugin measured on this rank, see measured_waits.h.
 *
 * A scan of all processes gathers their operations; a walk over each process then looks up its own.
 *
 * Memory: that of nccl_ops.h for both kinds, 4 bytes for each known operation, and 20 for each of
 * the current process. Of one process alone nothing is read but operations that NCCL measured.
 */
#ifndef REPORT_COMM_RANK_WAITS_H
#define REPORT_COMM_RANK_WAITS_H

#include "report/comm/host_collectives.h"
#include "report/comm/nccl_ops.h"
#include "report/util/idmap.h"

struct rank_waits {
	size_t nr_processes;
	struct nccl_ops ops;	  /* of NCCL */
	struct nccl_ops host_ops; /* of hosts */
	/* Set when the first process begins: */
	uint64_t nr_matched;  /* collectives */
	uint64_t nr_measured; /* operations of which only one rank's measure is known */
	size_t nr_begun;
	/*
	 * For the current process, 1 + the index of an operation: by correlation ID in `ops`, by
	 * begin in `host_ops`
	 */
	struct idmap kernels, calls;
	uint32_t *places, *host_places; /* of known operations, process by process */
	size_t at, host_at;		/* where those of the next process begin */
	size_t nr_places, nr_host_places;
};

void rank_waits_init(struct rank_waits *waits, size_t nr_processes);
void rank_waits_fini(struct rank_waits *waits);

/* For a scan_view that gets all batches, also those that are not selected. */
#define RANK_WAITS_WANTS                                \
	{GPROF_TABLE_nccl, NCCL_OPS_MASK, 0},           \
	{                                               \
		GPROF_TABLE_op, HOST_COLLECTIVE_MASK, 0 \
	}
bool rank_waits_needs(const struct rank_waits *waits, struct process *process, unsigned int table);
/* Takes a batch of one of these tables, with the columns that it wants. */
void rank_waits_add_batch(
	struct rank_waits *waits, struct process *process, const struct batch *batch);
void rank_waits_end(struct rank_waits *waits, struct process *process);

/* Does all of it for processes that no scan reads. Of chosen steps it reads these alone. */
void rank_waits_read(
	struct rank_waits *waits, struct process *const *processes, size_t nr_processes);

/* After the scan, for each process in the same order. */
void rank_waits_begin(struct rank_waits *waits);
/* The same from the first process on again. */
void rank_waits_begin_again(struct rank_waits *waits);

/*
 * The operation of a kernel, and the one of the host that begins then, ns; its wait_ns is how long
 * it waits from its begin on. NULL: not all of its ranks are known, or it has several kernels.
 */
const struct nccl_op *rank_waits_kernel(const struct rank_waits *waits, uint64_t correlation);
const struct nccl_op *rank_waits_call(const struct rank_waits *waits, uint64_t begin_ns);

/* The parts into which communication is divided. */
enum rank_waits_part {
	RANK_WAITS_TRANSFER, /* all of its ranks have come, or data come */
	RANK_WAITS_UNKNOWN,
	RANK_WAITS_WAIT, /* a rank comes later, or data do */
};

/*
 * Divides the time of a kernel that communicates, or of a call of the host: calls add(context,
 * part, begin, end) for pieces that together are that time, the last one first; some may be empty.
 * What several ranks show together counts before what this one measured. waits NULL: all is
 * unknown.
 */
void rank_waits_divide_kernel(const struct rank_waits *waits, uint64_t correlation,
	uint64_t begin_ns, uint64_t end_ns,
	void (*add)(void *context, enum rank_waits_part part, uint64_t begin_ns, uint64_t end_ns),
	void *context);
void rank_waits_divide_call(const struct rank_waits *waits, uint64_t begin_ns, uint64_t end_ns,
	void (*add)(void *context, enum rank_waits_part part, uint64_t begin_ns, uint64_t end_ns),
	void *context);

#endif
