/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a multiprocessor the blocks of a kernel can fill: the theoretical occupancy, from the
 * launch and from what the device says of itself (the rules of CUDA's occupancy calculator).
 * Dynamic shared memory counts as it was granted, also above 48 KB; of blocks in clusters only
 * whole clusters are on the device at once. How many multiprocessors a cluster may choose from is
 * not known, nor how many barriers a kernel has: with those it may be less.
 */
#ifndef REPORT_MODEL_OCCUPANCY_H
#define REPORT_MODEL_OCCUPANCY_H

#include "report/model/model.h"

/* What keeps more blocks out; several at once if they stop at the same number. */
enum occupancy_limit {
	OCCUPANCY_WARPS = 1,
	OCCUPANCY_REGS = 2,
	OCCUPANCY_SMEM = 4,
	OCCUPANCY_BLOCKS = 8,
	OCCUPANCY_GRID = 16, /* the launch has no more blocks; alone */
};

/* Per multiprocessor; 0: the stream does not tell. */
struct occupancy_device {
	uint32_t multiprocessors;
	uint32_t warp_threads;
	uint32_t max_warps, max_blocks;
	uint32_t registers, shared_bytes;
	uint32_t reserved_shared_bytes; /* of each block, for the driver */
	uint32_t capability_major;
};

struct occupancy {
	double blocks_per_multiprocessor; /* of the launch, over all multiprocessors */
	double warps_per_multiprocessor;
	/* False: the device is not known well enough, or could not have run this. */
	bool has_estimate;
	uint8_t limits;		/* enum occupancy_limit */
	uint32_t active_blocks; /* that fit at once */
	uint32_t percent;	/* of the warps that could be there, rounded */
};

/* Of several launches, each counting by its time. Starts with all zeros. */
struct occupancy_mean {
	double blocks, blocks_ns;	     /* sum of blocks * ns, and of those ns */
	double percent, percent_ns;	     /* the same of those with an estimate */
	double limit_ns[2 * OCCUPANCY_GRID]; /* by enum occupancy_limit */
};

struct occupancy_device occupancy_device(const struct process *process, uint32_t device);

/* That of all the process ran on, as its places tell; false if these are not all alike. */
bool occupancy_only_device(const struct process *process, struct occupancy_device *device);

/* False if the number of multiprocessors is not known. */
bool occupancy_compute(const struct occupancy_device *device, const struct model_shape *shape,
	struct occupancy *occupancy);

void occupancy_mean_add(struct occupancy_mean *mean, const struct occupancy *occupancy, double ns);

/* Blocks per multiprocessor and percent of warps; false if no launch of that is known. */
bool occupancy_mean_blocks(const struct occupancy_mean *mean, double *blocks);
bool occupancy_mean_percent(const struct occupancy_mean *mean, double *percent);

/* What limited most of the time. 0 if nothing is known. */
uint8_t occupancy_mean_limits(const struct occupancy_mean *mean);

/* "REGS|SMEM", "GRID": a number of names.h; 0 for none. */
uint32_t occupancy_limit_name(uint8_t limits);

#endif
