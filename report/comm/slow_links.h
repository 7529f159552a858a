/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the network holds ranks up: pairs of ranks, and communicators, whose transfers take longer
 * than those of others, or than their own did. A transfer is what is left of an operation once all
 * of its sides have come, so nobody's lateness is in it. Compared is what is alike: the kind, the
 * size, how many ranks and calls, and whether all is on one host.
 *
 * Memory: 220 bytes a transfer.
 */
#ifndef REPORT_COMM_SLOW_LINKS_H
#define REPORT_COMM_SLOW_LINKS_H

#include "report/comm/straggler.h"

/* What a path is compared with. */
enum slow_links_basis {
	SLOW_LINKS_OTHERS, /* the median of the other paths in the same step */
	SLOW_LINKS_OWN,	   /* the time that a quarter of its own steps did not exceed */
	NR_NETWORK_BASES,
};

/* What moves are of: two ranks of a communicator, or all of them. */
struct transfer_path {
	uint64_t key; /* of the communicator */
	int32_t a, b; /* its ranks, a < b; both -1: all of them */
	/* That are a and b, as nccl_op.process; nothing is compared by them. */
	uint32_t process_a, process_b;
};

struct transfer {
	struct transfer_path path;
	uint64_t bytes;
	uint32_t nr_calls, nr_ranks;
	uint8_t kind;	  /* as nccl_op.kind */
	bool spans_hosts; /* of several ones */
	uint64_t step;
	int64_t transfer_ns;
	int64_t step_ns; /* how long the step took */
	int64_t most_ns; /* of it, what a delay may be: the rest was hidden behind computation */
};

/* One that delays steps; straggler.delay_ns is what its transfers took longer. */
struct slow_link {
	struct transfer_path path;
	uint32_t nr_ranks;
	enum slow_links_basis basis; /* the one by which the delay is longer */
	struct straggler straggler;
};

struct slow_links {
	struct slow_link *slow;
	size_t nr, capacity;
};

/* Starts with all zeros. Sorts the moves. */
void slow_links_find(struct slow_links *network, struct transfer *moves, size_t nr);
void slow_links_fini(struct slow_links *network);

#endif
