/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of several ranks put together by communicator and sequence number: who came last, and
 * how long the others waited for it; sends with their receives. Times are those of one clock; see
 * nccl_clock.h, nccl_pair.h.
 */
#ifndef REPORT_COMM_NCCL_MATCH_H
#define REPORT_COMM_NCCL_MATCH_H

#include "report/comm/nccl_pair.h"

struct nccl_match {
	uint64_t nr_alone;	 /* without a number: whose they are on other ranks is not known */
	uint64_t nr_collectives; /* different ones of the others */
	uint64_t nr_matched;
	/* Why the others are not, the first that applies: */
	uint64_t nr_differing; /* ranks do not do the same */
	uint64_t nr_missing;   /* not all ranks are here, or none can say */
	uint64_t nr_untimed;   /* not all kernels are known */
	uint64_t nr_clocks; /* the clocks share no collective that tells how far apart they are */
	size_t nr_fitted;   /* clocks that were fitted to another one */
	uint64_t error_ns;  /* the largest of these */
	/* The first two that differ, in the array of nccl_ops; valid while that is. */
	const struct nccl_op *differing[2];
	uint64_t nr_p2p; /* operations of sends and receives alone */
	uint64_t nr_p2p_matched;
	uint64_t nr_p2p_differing; /* sends whose receives are of another size; the first: */
	const struct nccl_side *p2p_differing[2];
};

/*
 * Sorts the operations by communicator, sequence and rank, puts their times on one clock where that
 * can be, and sets what nccl_ops.h says.
 */
void nccl_match(struct nccl_ops *ops, struct nccl_match *match);

/* Sorts them, too, and fits their clocks alone; times stay. */
void nccl_match_clocks(struct nccl_ops *ops, struct nccl_clocks *clocks);

#endif
