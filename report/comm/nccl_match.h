/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of several ranks put together by communicator and sequence number: who came last, and
 * how long the others waited for it; sends with their receives. Times are those of one clock; see
 * nccl_clock.h, nccl_pair.h.
 */
#ifndef REPORT_COMM_NCCL_MATCH_H
#define REPORT_COMM_NCCL_MATCH_H

#include "report/comm/nccl_ops.h"
#include "report/util/buf.h"

/* ---- clocks ---- */

/*
 * One clock for ranks of several hosts, and of traces that do not tell theirs: collectives in which
 * everybody needs something of everybody end at about the same moment on all ranks. Offset and
 * drift of each clock are a line through the ends of those that it shares with clocks that are
 * known, beginning with the one that shares most, if these are 8 or more; ends that are far off
 * are left out of the line, not of its error. Clocks that are not known then are fitted by the ends
 * of sends and receives, if 4 or more go each way: a receive may end long after its send, so that
 * those of one way alone would move the clock.
 *
 * Memory: 16 bytes for each such collective and clock, and each such pair.
 */

struct nccl_clock_point {
	uint64_t from_ns;
	int64_t ahead_ns; /* of the one clock */
};

struct nccl_clock {
	bool is_known;
	/* from + base_ns + offset_ns + drift * (from - first_ns) */
	uint64_t first_ns;
	int64_t base_ns;
	double offset_ns, drift;
	uint64_t error_ns; /* 95 % of the ends are not further off; 0 for the first */
	struct nccl_clock_point *points;
	size_t nr_points, capacity;
	size_t nr_received; /* of points that are of pairs: it received */
};

/* Places of a send and of what received it, in the array of operations. */
struct nccl_pair {
	uint32_t send, receive;
	uint64_t bytes;
};

struct nccl_clocks {
	struct nccl_clock *clocks;
	size_t nr;
	uint32_t first; /* whose times stay: all others are fitted to it */
};

/*
 * Sets nccl_op.clock, and fits the clocks. The operations are sorted as nccl_match has them, and
 * lengths[i] is how many from place i on are one collective, each of another rank, all with times;
 * 0 where none begins.
 */
void nccl_clocks_fit(struct nccl_clocks *clocks, struct nccl_ops *ops, const uint32_t *lengths,
	const struct nccl_pair *pairs, size_t nr_pairs);
void nccl_clocks_fini(struct nccl_clocks *clocks);

/* Can times of both operations be compared? */
bool nccl_clocks_share(
	const struct nccl_clocks *clocks, const struct nccl_op *a, const struct nccl_op *b);

/* A time of the one clock; the clock must be known. */
uint64_t nccl_clock_time(const struct nccl_clock *clock, uint64_t from_ns);

/* Fits a clock to its points, of which it has some. */
void nccl_clock_fit(struct nccl_clock *clock);

/* ---- sends and receives ---- */

/*
 * Sends put together with the receives of what they sent, by communicator, ranks and number: how
 * long each waited for its other side. A group waits for the last of all of its other sides.
 *
 * Memory: 16 bytes a pair, and 16 for each operation of NCCL while times are set.
 */

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

/* ---- matching ---- */

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
