/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches the operations of several ranks: collectives by communicator and sequence number, sends
 * with their receives. It finds who came last and how long the others waited, on one clock.
 */
#ifndef REPORT_COMM_NCCL_MATCH_H
#define REPORT_COMM_NCCL_MATCH_H

#include "report/comm/nccl_ops.h"
#include "report/util/buf.h"

/* ---- clocks ---- */

/*
 * Aligns the clocks of hosts, and of traces without a host. In most collectives every rank needs
 * data of every other, so all ranks end at about the same time.
 *
 * Offset and drift of a clock are a line through the ends that it shares with aligned clocks, if
 * there are 8 or more. The clock that shares most comes first. Outliers are excluded from the line,
 * but not from its error.
 *
 * Remaining clocks use the ends of sends and receives, if 4 or more go each way: a receive may end
 * long after its send, so one direction alone would bias the clock.
 *
 * Memory: 16 bytes for each such collective and clock, and each such pair.
 */

struct nccl_clock_point {
	uint64_t from_ns;
	int64_t ahead_ns; /* of the reference clock */
};

struct nccl_clock {
	bool is_known;
	/* reference time = from + base_ns + offset_ns + drift * (from - first_ns) */
	uint64_t first_ns;
	int64_t base_ns;
	double offset_ns, drift;
	uint64_t error_ns; /* 95 % of the ends are within it; 0 for the reference */
	struct nccl_clock_point *points;
	size_t nr_points, capacity;
	size_t nr_received; /* points of pairs in which it received */
};

/* Indices of a send and its receive in the array of operations. */
struct nccl_pair {
	uint32_t send, receive;
	uint64_t bytes;
};

struct nccl_clocks {
	struct nccl_clock *clocks;
	size_t nr;
	uint32_t first; /* the reference: all others are fitted to it */
};

void nccl_clocks_fini(struct nccl_clocks *clocks);

/* A time on the reference clock. The clock must be known. */
uint64_t nccl_clock_time(const struct nccl_clock *clock, uint64_t from_ns);

/* ---- sends and receives ---- */

/*
 * Pairs sends with their receives by communicator, ranks and number, and finds how long each waited
 * for the other. A group waits for the last of its other sides.
 *
 * Memory: 16 bytes a pair, and 16 for each operation of NCCL while times are set.
 */

struct nccl_pairs {
	struct nccl_pair *pairs;
	size_t nr, capacity;
	uint64_t nr_differing; /* send and receive have different sizes */
	const struct nccl_side
		*differing[2]; /* the first such send and receive, valid while the sides are */
};

/* Sorts the sides. The operations must not move afterwards. */
void nccl_pairs_find(struct nccl_pairs *pairs, struct nccl_ops *ops);
void nccl_pairs_fini(struct nccl_pairs *pairs);

/* ---- matching ---- */

struct nccl_match {
	uint64_t nr_alone;	 /* without a number, so their counterparts are unknown */
	uint64_t nr_in_graphs;	 /* that launches of CUDA graphs ran, also without a number */
	uint64_t nr_collectives; /* distinct ones among the others */
	uint64_t nr_matched;
	/* Why others are not matched; the first reason counts: */
	uint64_t nr_differing; /* ranks call different collectives */
	uint64_t nr_missing;   /* not all ranks are here, or their number is unknown */
	uint64_t nr_untimed;   /* not all kernels are known */
	uint64_t nr_clocks;    /* the clocks share nothing that aligns them */
	size_t nr_fitted;      /* clocks that were aligned to another one */
	uint64_t error_ns;     /* the largest error of these */
	/* The first two that differ, in the array of nccl_ops; valid while that is. */
	const struct nccl_op *differing[2];
	uint64_t nr_p2p; /* operations of sends and receives only */
	uint64_t nr_p2p_matched;
	uint64_t nr_p2p_differing; /* sends whose receives have another size; the first pair: */
	const struct nccl_side *p2p_differing[2];
};

/*
 * Sorts the operations by communicator, sequence and rank, puts their times on one clock if
 * possible, and sets the results in nccl_ops.h.
 */
void nccl_match(struct nccl_ops *ops, struct nccl_match *match);

/* Sets these results of all ranks of one collective, which have times on one clock. */
void nccl_match_set_times(struct nccl_op *ops, size_t nr);

/* Only sorts them and fits their clocks; times stay. */
void nccl_match_clocks(struct nccl_ops *ops, struct nccl_clocks *clocks);

#endif
