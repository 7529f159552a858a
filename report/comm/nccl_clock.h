/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef REPORT_COMM_NCCL_CLOCK_H
#define REPORT_COMM_NCCL_CLOCK_H

#include "report/comm/nccl_ops.h"

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

#endif
