/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends put together with the receives of what they sent, by communicator, ranks and number: how
 * long each waited for its other side. A group waits for the last of all of its other sides.
 *
 * Memory: 16 bytes a pair, and 16 for each operation of NCCL while times are set.
 */
#ifndef REPORT_COMM_NCCL_PAIR_H
#define REPORT_COMM_NCCL_PAIR_H

#include "report/comm/nccl_clock.h"

struct nccl_pairs {
	struct nccl_pair *pairs;
	size_t nr, capacity;
	uint64_t nr_differing; /* what is sent and what is received are of different sizes */
	const struct nccl_side
		*differing[2]; /* the first: send and receive, while the sides stay */
};

/* Sorts the sides. The operations stay where they are from here on. */
void nccl_pairs_find(struct nccl_pairs *pairs, struct nccl_ops *ops);
void nccl_pairs_fini(struct nccl_pairs *pairs);

/*
 * Sets what nccl_ops.h says of operations whose other sides are all here, with times on one clock.
 * Returns how many these are.
 */
uint64_t nccl_pairs_set_times(
	const struct nccl_pairs *pairs, const struct nccl_clocks *clocks, struct nccl_ops *ops);

#endif
