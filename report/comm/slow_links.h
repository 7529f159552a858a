/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds pairs of ranks, and communicators, whose transfers are slower than those of others, or than
 * their own were.
 *
 * A transfer is the part of an operation after all of its sides have come, so lateness of ranks is
 * not in it. Only equal transfers are compared: kind, size, number of ranks and calls, on one host
 * or several.
 *
 * Memory: 220 bytes a transfer.
 */
#ifndef REPORT_COMM_SLOW_LINKS_H
#define REPORT_COMM_SLOW_LINKS_H

#include "report/comm/straggler.h"

/* The basis that a path is compared with. */
enum slow_links_basis {
	SLOW_LINKS_OTHERS, /* the median of the other paths in the same step */
	SLOW_LINKS_OWN,	   /* the lower quartile of its own steps */
	NR_NETWORK_BASES,
};

/* The ranks of a transfer: two of a communicator, or all. */
struct transfer_path {
	uint64_t key; /* of the communicator */
	int32_t a, b; /* its ranks, a < b; both -1: all of them */
	/* The processes of a and b, as nccl_op.process; not compared. */
	uint32_t process_a, process_b;
};

struct transfer {
	struct transfer_path path;
	uint64_t bytes;
	uint32_t nr_calls, nr_ranks;
	uint8_t kind;	  /* as nccl_op.kind */
	bool spans_hosts; /* between several hosts */
	uint64_t step;
	int64_t transfer_ns;
	int64_t step_ns; /* length of the step */
	int64_t most_ns; /* the largest possible delay: the rest was hidden behind computation */
};

/* A path that delays steps; straggler.delay_ns is the extra time of its transfers. */
struct slow_link {
	struct transfer_path path;
	uint32_t nr_ranks;
	enum slow_links_basis basis; /* that with the longer delay */
	struct straggler straggler;
};

struct slow_links {
	struct slow_link *slow;
	size_t nr, capacity;
};

/* Zero-initialized. Sorts the transfers. */
void slow_links_find(struct slow_links *network, struct transfer *transfers, size_t nr);
void slow_links_fini(struct slow_links *network);

#endif
