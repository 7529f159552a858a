/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVTX ranges of the simulated NCCL, as the real one has them: of each function of the
 * program's one, in domain "NCCL", with a payload when it begins or when it ends. What they say is
 * what 2.28.9 says; with SIM_NCCL_RANGES=old what 2.21.5 says. NCCL_NVTX_DISABLE=1: none.
 */
#ifndef GPROF_SIM_NCCL_RANGE_H
#define GPROF_SIM_NCCL_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/sim/nccl.h"

/* Beside enum nccl_kind, whose values come first. */
enum nccl_range_kind {
	NCCL_RANGE_GROUP_START = NCCL_KINDS,
	NCCL_RANGE_GROUP_END,
	NCCL_RANGE_GROUP_SIMULATE_END,
	NCCL_RANGE_INIT_RANK,
	NCCL_RANGE_INIT_RANK_CONFIG,
	NCCL_RANGE_INIT_ALL,
	NCCL_RANGE_SPLIT,
	NCCL_RANGE_FINALIZE,
	NCCL_RANGE_DESTROY,
	NCCL_RANGE_ABORT,
	NCCL_RANGE_KINDS,
};

/* All that payloads may say. */
struct nccl_said {
	uint64_t hash, parent;
	size_t bytes;
	int redop, peer, nr_ranks, nr_devices, rank, device, color, key;
};

struct nccl_range {
	int kind;
	bool has_more; /* to be said in the end */
	struct nccl_said said;
};

void nccl_range_begin(const struct nccl_range *range);
void nccl_range_end(const struct nccl_range *range);
bool nccl_range_is_old(void);

/* From here to the end of the block. */
#define NCCL_RANGE(kind_, ...)                                               \
	struct nccl_range range __attribute__((cleanup(nccl_range_end))) = { \
		.kind = (int)(kind_), .said = {__VA_ARGS__}};                \
                                                                             \
	nccl_range_begin(&range)

#endif
